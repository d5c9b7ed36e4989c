"""One event, sent by a program that ends right after."""

from datetime import datetime

from aissemble_core_metadata.hive_metadata_api_service import HiveMetadataAPIService
from aissemble_core_metadata.metadata_model import MetadataModel

event = MetadataModel(
    resource="sales-2026-11",
    subject="nightly-load",
    action="DATA_PROCESSED",
    timestamp=datetime.now().timestamp(),
    additionalValues={"rows": "1500000", "took": "45_minutes", "quality": "0.95"},
)
service = HiveMetadataAPIService()
service.create_metadata(event)
print(f"Sent {event.resource}")
