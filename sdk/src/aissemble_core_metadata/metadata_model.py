"""The metadata event."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Annotated, Any
from uuid import uuid4

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from aissemble_core_metadata.moments import seconds


def _texts(values: Any) -> Any:
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        return values
    return {str(key): as_text(value) for key, value in values.items()}


def as_text(value: Any) -> str:
    """A value as the text that is kept: `str` of it, nothing for None, JSON for lists and objects."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, default=str)
    return str(value)


class MetadataModel(BaseModel):
    """One thing that happened to some data. May be subclassed.

    resource: what the data is called; a fresh random id for each object unless given.
    subject: who or what acts.
    action: what is done.
    timestamp: when, in seconds since 1970 with a fraction; the present moment unless given. A number, ISO 8601
        text, a datetime and the jsonpickled datetime of earlier producers are taken.
    additionalValues: more, text by text. Other values become text (`str`).
    """

    model_config = ConfigDict(validate_assignment=True)

    resource: str = Field(default_factory=lambda: uuid4().hex)
    subject: str = ""
    action: str = ""
    timestamp: Annotated[float, BeforeValidator(seconds)] = Field(default_factory=time.time)
    additionalValues: Annotated[dict[str, str], BeforeValidator(_texts)] = Field(  # noqa: N815
        default_factory=dict
    )

    def to_wire(self) -> dict[str, Any]:
        """The event as it travels: the five published keys, the timestamp as a number of seconds.

        What a subclass added as fields is in `additionalValues`, so that every consumer can read it.
        """
        values = self.model_dump(warnings=False)
        published = {name: values.pop(name) for name in MetadataModel.model_fields}
        more = {name: as_text(value) for name, value in values.items()}
        published["additionalValues"] = {**more, **_texts(self.additionalValues)}
        return published
