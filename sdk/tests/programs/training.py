"""A training run: six events of one session."""

import uuid

from aissemble_core_metadata.hive_metadata_api_service import HiveMetadataAPIService
from aissemble_core_metadata.metadata_model import MetadataModel


class TrainingTracker:
    def __init__(self):
        self.metadata_service = HiveMetadataAPIService()
        self.session = str(uuid.uuid4())

    def tell(self, subject: str, action: str, **values):
        metadata = MetadataModel(
            resource=self.session,
            subject=subject,
            action=action,
            additionalValues={k: str(v) for k, v in values.items()},
        )
        self.metadata_service.create_metadata(metadata)


tracker = TrainingTracker()
tracker.tell("ml-pipeline", "TRAINING_STARTED", model_name="fraud_v2", framework="scikit-learn")
tracker.tell("data-loader", "DATA_LOADED", records_count=1_000_000, features_count=47)
tracker.tell("feature-engineer", "FEATURES_ENGINEERED", original=5, selected=3)
hyperparameters = {"n_estimators": 100, "max_depth": 10}
tracker.tell(
    "trainer", "MODEL_TRAINED", algorithm="forest", **{f"param_{k}": v for k, v in hyperparameters.items()}
)
metrics = {"accuracy": 0.94, "recall": 0.96}
tracker.tell("evaluator", "MODEL_EVALUATED", **{f"metric_{k}": v for k, v in metrics.items()})
tracker.tell("ml-pipeline", "TRAINING_COMPLETED", final_status="SUCCESS", model_size_mb="12.5")
print(tracker.session)
