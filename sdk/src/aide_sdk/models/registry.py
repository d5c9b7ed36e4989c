"""Answers about what data there is: systems, types, datasets, fields, versions, tags."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from aide_sdk.models.base import Model, Row, Verdict

Json = dict[str, Any]


class SystemKind(Row):
    """`RDBMS`, `MESSAGE_QUEUE`, …"""

    code: str
    name: str = ""


class SystemFlavor(Row):
    """A technology: `postgresql`, `kafka_avro`, …"""

    code: str
    name: str = ""
    kind: str = ""
    vendor: str = ""
    versions: list[str] = Field(default_factory=list)
    sqlalchemy_dialects: list[str] = Field(default_factory=list)


class DataType(Row):
    """A parametric type of a flavor. `params_schema` is JSON Schema 2020-12."""

    flavor: str
    code: str
    name: str = ""
    category: str = ""
    logical_type: str = ""
    params_schema: Json = Field(default_factory=dict)
    render_template: str | None = None
    slots: list[Any] = Field(default_factory=list)
    aliases: list[Any] = Field(default_factory=list)
    examples: list[Any] = Field(default_factory=list)


class CredentialRef(Row):
    """Where a password is found; never the password."""

    provider: str
    path: str = ""
    version: int | None = None


class System(Row):
    """A database, broker or store that holds datasets."""

    code: str
    name: str = ""
    flavor: str = ""
    connection_url: str = ""
    credential_ref_id: int | None = None
    environment: str = ""
    owner: str = ""
    tags: list[str] = Field(default_factory=list)
    extra: Json = Field(default_factory=dict)
    namespaces: list[str] = Field(default_factory=list)
    is_active: bool = True


class Dataset(Row):
    """A table, topic, file or the like. `location` has the keys of its kind."""

    system: str
    kind: str
    name: str
    object_kind: str = ""
    status: str = ""
    layer: str | None = None
    location: Json = Field(default_factory=dict)
    description: str = ""
    source_comment: str = ""
    owner: str = ""
    tags: list[str] = Field(default_factory=list)
    compatibility: str = ""
    extra: Json = Field(default_factory=dict)
    current_version: int | None = None


class FieldRow(Row):
    """A column through all versions, with what people wrote about it."""

    dataset_id: int
    parent_id: int | None = None
    name: str = ""
    path: str = ""
    description: str = ""
    source_comment: str = ""
    owner: str = ""
    tags: list[str] = Field(default_factory=list)
    pii_tags: list[Any] = Field(default_factory=list)
    retired_at: str | None = None


class DatasetSchema(Row):
    """A version of a dataset; a draft until it is published."""

    dataset_id: int
    version_num: int | None = None
    status: str = ""
    fingerprint: str = ""
    origin: str = ""
    published_at: str | None = None
    published_by: str | None = None


class FieldBinding(Row):
    """A field in one version: its name, type and place there."""

    dataset_schema_id: int
    field_id: int
    name: str = ""
    position: int | None = None
    is_nullable: bool | None = None
    type_instance_id: int | None = None
    native_type: str = ""
    default: str | None = None
    primary_key: int | None = None
    comment: str = ""
    generated: Json | None = None
    identity: Json | None = None


class TypeInstance(Row):
    """A type with its parameters; `data_type_id` None means that the native type is not known."""

    data_type_id: int | None = None
    type_params: Json = Field(default_factory=dict)
    parent_id: int | None = None
    slot: str = ""
    rendered: str = ""


class CastRule(Row):
    """How one type becomes another. `safety`: `lossless`, `lossy` or `unsafe`."""

    source_data_type_id: int
    target_data_type_id: int
    param_mapping: Json = Field(default_factory=dict)
    safety: str = ""
    template: str = ""


class PIITag(Row):
    """A kind of personal data; sensitivity 1 to 4."""

    code: str
    name: str = ""
    sensitivity: int | None = None
    regimes: list[str] = Field(default_factory=list)


class FieldTag(Row):
    """A tag on a field: suggested, confirmed, rejected or removed."""

    field_id: int
    tag: str
    state: str = ""
    origin: str = ""
    confidence: float | None = None
    rule: str = ""
    rule_version: str = ""
    evidence: Any = None
    native_type: str = ""
    name_only: bool = False
    path: list[str] = Field(default_factory=list)
    returned: str = ""
    reason: str = ""
    decided_by: str | None = None
    decided_at: str | None = None
    second_by: str | None = None
    removal_by: str | None = None
    removal_at: str | None = None
    removal_reason: str = ""
    batch: str = ""


class TagDecisions(Model):
    """The tags that were accepted and rejected, and those chosen instead of what was suggested."""

    accepted: list[Any] = Field(default_factory=list)
    rejected: list[Any] = Field(default_factory=list)
    changed: list[Any] = Field(default_factory=list)


class SchemaDiff(Model):
    """The net difference of two versions."""

    from_: int | None = Field(default=None, alias="from")
    to: int | None = None
    changes: list[Json] = Field(default_factory=list)


class Check(Verdict):
    """A verdict with those who read what changes: `readers` `[{dataset_id, field, owner}]`."""

    level: str = ""
    readers: list[Json] = Field(default_factory=list)


class CastPlan(Model):
    """A dataset for another technology. `fields`: `[{name, from, to, safety, why}]`."""

    fields: list[Json] = Field(default_factory=list)
    ddl: str = ""


class ParsedType(Model):
    """A native type, understood."""

    data_type: str | None = None
    type_params: Json = Field(default_factory=dict)
    rendered: str = ""


class Cast(Model):
    """One type in another flavor; `safety` is also `none` when there is no way."""

    type: str
    rendered: str | None = None
    safety: str = ""
    why: str = ""


class Rendered(Model):
    """A type as SQL."""

    sql: str


class Classified(Model):
    """What a column may hold, best first: `tags` `[{tag, confidence, rule, rule_version, evidence, name_only}]`."""

    tags: list[Json] = Field(default_factory=list)
