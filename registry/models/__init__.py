"""What data there is: systems, types, datasets, schema versions and personal data."""

from registry.models.datasets import Dataset, Field
from registry.models.pii import FieldShapes, FieldTag, PIIRule, PIITag, TagScan
from registry.models.schemas import DatasetSchema, FieldBinding, TypeInstance
from registry.models.systems import CredentialRef, System, SystemFlavor, SystemKind, SystemNamespace
from registry.models.types import CastRule, DataType

__all__ = [
    "CastRule",
    "CredentialRef",
    "DataType",
    "Dataset",
    "DatasetSchema",
    "Field",
    "FieldBinding",
    "FieldShapes",
    "FieldTag",
    "PIIRule",
    "PIITag",
    "System",
    "SystemFlavor",
    "SystemKind",
    "SystemNamespace",
    "TagScan",
    "TypeInstance",
]
