"""A pipeline of stages, each a resource of its own, and its end."""

import json
from datetime import datetime

from aissemble_core_metadata.hive_metadata_api_service import HiveMetadataAPIService
from aissemble_core_metadata.metadata_model import MetadataModel


class StageTracker:
    def __init__(self, pipeline_id: str):
        self.pipeline_id = pipeline_id
        self.metadata_service = HiveMetadataAPIService()
        self.stage_counter = 0

    def stage(self, subject: str, action: str, **values):
        self.stage_counter += 1
        metadata = MetadataModel(
            resource=f"{self.pipeline_id}_stage_{self.stage_counter}",
            subject=subject,
            action=action,
            additionalValues={
                "pipeline_id": self.pipeline_id,
                "stage_number": str(self.stage_counter),
                "told_at": str(datetime.now().timestamp()),
                **values,
            },
        )
        self.metadata_service.create_metadata(metadata)

    def end(self, status: str):
        metadata = MetadataModel(
            resource=self.pipeline_id,
            subject="orchestrator",
            action="PIPELINE_COMPLETED",
            additionalValues={"final_status": status, "total_stages": str(self.stage_counter)},
        )
        self.metadata_service.create_metadata(metadata)


tracker = StageTracker("customers_20260905")
tracker.stage("ingestion", "DATA_INGESTED", records_ingested=str(2_500_000), source_path="s3://raw/c.parquet")
tracker.stage("transformer", "DATA_TRANSFORMED", input_records="2500000", output_records="2450000")
tracker.stage("transformer", "DATA_TRANSFORMED", input_records="2450000", output_records="2450000")
rules = {"completeness": 0.95, "validity": 0.98}
tracker.stage("checker", "QUALITY_VALIDATED", rules=json.dumps(rules), passed=str(0.95 >= 0.8))
tracker.stage("writer", "DATA_WRITTEN", records_written="2450000", write_format="delta")
tracker.end("SUCCESS")
