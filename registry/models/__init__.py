"""What data there is: systems, types, datasets, schema versions and personal data."""

from registry.models.datasets import Dataset, Field
from registry.models.pii import FieldTag, PIITag
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
    "FieldTag",
    "PIITag",
    "System",
    "SystemFlavor",
    "SystemKind",
    "SystemNamespace",
    "TypeInstance",
]
