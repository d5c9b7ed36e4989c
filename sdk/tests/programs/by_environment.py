"""The service that ENVIRONMENT asks for, and events told by keywords, one and many."""

import os

from aissemble_core_metadata.hive_metadata_api_service import HiveMetadataAPIService
from aissemble_core_metadata.logging_metadata_api_service import LoggingMetadataAPIService
from aissemble_core_metadata.metadata_model import MetadataModel


class ServiceFactory:
    @staticmethod
    def create_metadata_service():
        environment = os.getenv("ENVIRONMENT", "development")
        if environment == "production":
            return HiveMetadataAPIService()
        else:
            return LoggingMetadataAPIService()


class Tracker:
    def __init__(self):
        self.metadata_service = ServiceFactory.create_metadata_service()

    def track_event(self, resource: str, subject: str, action: str, **additional_values):
        metadata = MetadataModel(
            resource=resource,
            subject=subject,
            action=action,
            additionalValues={str(k): str(v) for k, v in additional_values.items()},
        )
        self.metadata_service.create_metadata(metadata)
        return metadata

    def track_batch_events(self, events: list):
        return [self.track_event(**event) for event in events]


tracker = Tracker()
tracker.track_event(
    resource="behaviour", subject="analytics", action="ANALYSIS_COMPLETED", user_count=150000, kind="segments"
)
batch = [
    {"resource": "report", "subject": "generator", "action": "REPORT_STARTED", "report_type": "sales"},
    {"resource": "report", "subject": "aggregator", "action": "DATA_AGGREGATED", "records": 500000},
    {"resource": "report", "subject": "generator", "action": "REPORT_COMPLETED", "path": "s3://r/daily.pdf"},
]
tracked = tracker.track_batch_events(batch)
print(f"Tracked {len(tracked)} events with {type(tracker.metadata_service).__name__}")
