"""Forms of acts, where a misspelt member must not be taken for one that was left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers


class StrictForm(serializers.Serializer[Any]):
    """A body whose every member is known; another one is refused with the names that there are."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            unknown = sorted(str(key) for key in data if key not in self.fields)
            if unknown:
                known = ", ".join(self.fields)
                raise serializers.ValidationError(
                    {
                        name: serializers.ErrorDetail(f"This is not known here. Known: {known}.", "unknown")
                        for name in unknown[:20]
                    }
                )
        return super().to_internal_value(data)
