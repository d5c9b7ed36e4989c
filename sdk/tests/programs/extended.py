"""A model of one's own with chained methods, and a service around the service."""

import json
from datetime import datetime

from aissemble_core_metadata.hive_metadata_api_service import HiveMetadataAPIService
from aissemble_core_metadata.metadata_model import MetadataModel


class RichMetadata(MetadataModel):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)

    def add_ml_context(self, model_version: str, experiment_id: str):
        self.additionalValues.update(
            {
                "ml_model_version": model_version,
                "ml_experiment_id": experiment_id,
                "ml_context_added": str(datetime.now().timestamp()),
            }
        )
        return self

    def add_infrastructure(self, cluster_id: str, node_count: int, usage: dict):
        self.additionalValues.update(
            {
                "infra_cluster_id": cluster_id,
                "infra_node_count": str(node_count),
                "infra_usage": json.dumps(usage),
            }
        )
        return self


class DomainService:
    def __init__(self):
        self.base_service = HiveMetadataAPIService()

    def track_inference(self, model_id: str, request_count: int, latency_ms: float):
        metadata = (
            RichMetadata(
                resource=f"inference_{model_id}_{datetime.now().strftime('%Y%m%d_%H%M%S')}",
                subject="inference",
                action="INFERENCE_EXECUTED",
            )
            .add_ml_context(model_version="v2.1.0", experiment_id="exp_001")
            .add_infrastructure(cluster_id="prod", node_count=5, usage={"cpu_percent": 75})
        )
        metadata.additionalValues.update(
            {
                "request_count": str(request_count),
                "average_latency_ms": str(latency_ms),
                "throughput_rps": str(request_count / (latency_ms / 1000)),
            }
        )
        self.base_service.create_metadata(metadata)
        return metadata


told = DomainService().track_inference(model_id="fraud", request_count=1000, latency_ms=45.0)
print(f"Tracked {told.resource}")
