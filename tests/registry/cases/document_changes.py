"""Changes of a document, labelled by hand: what BACKWARD and FORWARD say to each, its risk and the rule that tells it.

Every change of a field is met alone, inside a nested field, beside a harmless change, and together with each other
change of another field; two changes are allowed where both are.
"""

# ruff: noqa: E501 (a table reads best with a line for each case)

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

YES, NO = True, False


@dataclass(frozen=True)
class Labelled:
    """A change with its labels. `rule` and `risk` are those of the gravest difference; empty where nothing differs."""

    name: str
    before: Any
    after: Any
    backward: bool
    forward: bool
    rule: str
    risk: str


@dataclass(frozen=True)
class Evolution:
    """Types that a field had, the oldest first, a new one, and the versions that each level finds broken."""

    name: str
    earlier: tuple[str, ...]
    new: str
    broken: dict[str, tuple[int, ...]] = field(default_factory=dict)


def column(native_type: str = "integer", **values: Any) -> dict[str, Any]:
    return {"name": "x", "native_type": native_type, **values}


REQUIRED = {"nullable": False}
COMPUTED = {"generated": {"kind": "stored", "expression": "id + 1"}}
COMPUTED_OTHERWISE = {"generated": {"kind": "stored", "expression": "id + 2"}}
NUMBERED = {"identity": {"kind": "always"}}
NUMBERED_OTHERWISE = {"identity": {"kind": "by default"}}

# fmt: off
FIELDS = (
    # name                            before                                after                                 BACKWARD FORWARD rule  risk
    Labelled("nothing",               column(),                             column(),                             YES, YES, "", "safe"),
    Labelled("spelling of a type",    column("int4"),                       column("integer"),                    YES, YES, "", "safe"),
    Labelled("spelling of a default", column(default="'a'::text"),          column(default="'a'"),                YES, YES, "", "safe"),
    Labelled("add nullable",          None,                                 column(),                             YES, YES, "field_added_nullable", "safe"),
    Labelled("add nullable, default", None,                                 column(default="1"),                  YES, YES, "field_added_default", "safe"),
    Labelled("add required",          None,                                 column(**REQUIRED),                   NO,  YES, "field_added_required", "risky"),
    Labelled("add required, default", None,                                 column(**REQUIRED, default="1"),      YES, YES, "field_added_default", "safe"),
    Labelled("add required, null",    None,                                 column(**REQUIRED, default="NULL"),   NO,  YES, "field_added_required", "risky"),
    Labelled("add required, computed", None,                                column(**REQUIRED, **COMPUTED),       YES, YES, "field_added_generated", "safe"),
    Labelled("add required, numbered", None,                                column(**REQUIRED, **NUMBERED),       YES, YES, "field_added_identity", "safe"),
    Labelled("drop nullable",         column(),                             None,                                 YES, YES, "field_dropped", "breaking"),
    Labelled("drop required",         column(**REQUIRED),                   None,                                 YES, NO,  "field_dropped", "breaking"),
    Labelled("drop required, default", column(**REQUIRED, default="1"),     None,                                 YES, YES, "field_dropped", "breaking"),
    Labelled("required to nullable",  column(**REQUIRED),                   column(),                             YES, NO,  "optional", "safe"),
    Labelled("nullable to required",  column(),                             column(**REQUIRED),                   NO,  YES, "required", "risky"),
    Labelled("to required, default",  column(),                             column(**REQUIRED, default="1"),      NO,  YES, "required", "risky"),
    Labelled("wider",                 column("integer"),                    column("bigint"),                     YES, NO,  "type_wider", "safe"),
    Labelled("narrower",              column("bigint"),                     column("integer"),                    NO,  YES, "type_narrower", "breaking"),
    Labelled("longer text",           column("varchar(50)"),                column("varchar(100)"),               YES, NO,  "type_wider", "safe"),
    Labelled("shorter text",          column("varchar(100)"),               column("varchar(50)"),                NO,  YES, "type_narrower", "breaking"),
    Labelled("same values",           column("text"),                       column("varchar"),                    YES, YES, "type_wider", "safe"),
    Labelled("digits move",           column("numeric(10,2)"),              column("numeric(10,4)"),              NO,  NO,  "type_other", "breaking"),
    Labelled("number to text",        column("integer"),                    column("text"),                       NO,  NO,  "type_other", "breaking"),
    Labelled("text to bytes",         column("text"),                       column("bytea"),                      NO,  NO,  "type_other", "breaking"),
    Labelled("time zone comes",       column("timestamp"),                  column("timestamptz"),                NO,  NO,  "type_other", "breaking"),
    Labelled("time zone goes",        column("timestamptz"),                column("timestamp"),                  NO,  NO,  "type_other", "breaking"),
    Labelled("unknown type",          column("integer"),                    column("no_such_type"),               NO,  NO,  "type_other", "breaking"),
    Labelled("collation",             column("text"),                       column('text COLLATE "de_DE"'),       YES, YES, "collation", "risky"),
    Labelled("wider and nullable",    column("integer", **REQUIRED),        column("bigint"),                     YES, NO,  "type_wider", "safe"),
    Labelled("wider and required",    column("integer"),                    column("bigint", **REQUIRED),         NO,  NO,  "required", "risky"),
    Labelled("narrower and nullable", column("bigint", **REQUIRED),         column("integer"),                    NO,  NO,  "type_narrower", "breaking"),
    Labelled("narrower and required", column("bigint"),                     column("integer", **REQUIRED),        NO,  YES, "type_narrower", "breaking"),
    Labelled("another default",       column(default="1"),                  column(default="2"),                  YES, YES, "default", "safe"),
    Labelled("default goes",          column(**REQUIRED, default="1"),      column(**REQUIRED),                   YES, YES, "default", "safe"),
    Labelled("comment",               column(),                             column(comment="In euros"),           YES, YES, "comment", "safe"),
    Labelled("computed otherwise",    column(**COMPUTED),                   column(**COMPUTED_OTHERWISE),         YES, YES, "generated", "risky"),
    Labelled("numbered otherwise",    column(**NUMBERED),                   column(**NUMBERED_OTHERWISE),         YES, YES, "identity", "risky"),
    Labelled("numbered no more",      column(**NUMBERED),                   column(),                             YES, YES, "identity", "risky"),
)

ID, NOTE = {"name": "id", "native_type": "integer", "nullable": False}, {"name": "note", "native_type": "text"}
KEY = {"columns": ["id"]}
UNIQUE = {"columns": ["note"]}
FOREIGN = {"columns": ["id"], "ref_schema": "s", "ref_table": "t", "ref_columns": ["id"]}


def table(*fields: dict[str, Any], **values: Any) -> dict[str, Any]:
    return {"fields": list(fields or (ID, NOTE)), **values}


DATASETS = (
    Labelled("nothing",               table(),                              table(),                              YES, YES, "", "safe"),
    Labelled("order of fields",       table(ID, NOTE),                      table(NOTE, ID),                      YES, YES, "", "safe"),
    Labelled("name of a key",         table(primary_key=KEY),               table(primary_key=KEY | {"name": "k"}), YES, YES, "", "safe"),
    Labelled("comment",               table(),                              table(comment="Orders"),              YES, YES, "comment", "safe"),
    Labelled("attributes",            table(),                              table(attributes={"engine": "x"}),    YES, YES, "", "safe"),
    Labelled("primary key comes",     table(),                              table(primary_key=KEY),               NO,  NO,  "primary_key", "breaking"),
    Labelled("primary key goes",      table(primary_key=KEY),               table(),                              NO,  NO,  "primary_key", "breaking"),
    Labelled("another primary key",   table(primary_key=KEY),               table(primary_key={"columns": ["id", "note"]}), NO, NO, "primary_key", "breaking"),
    Labelled("order of the key",      table(primary_key={"columns": ["id", "note"]}), table(primary_key={"columns": ["note", "id"]}), NO, NO, "primary_key", "breaking"),
    Labelled("unique comes",          table(),                              table(unique=[UNIQUE]),               NO,  YES, "unique_added", "risky"),
    Labelled("unique goes",           table(unique=[UNIQUE]),               table(),                              NO,  NO,  "unique_dropped", "breaking"),
    Labelled("another unique",        table(unique=[UNIQUE]),               table(unique=[{"columns": ["id"]}]),  NO,  NO,  "unique_dropped", "breaking"),
    Labelled("foreign key comes",     table(),                              table(foreign_keys=[FOREIGN]),        YES, YES, "foreign_key_added", "safe"),
    Labelled("foreign key goes",      table(foreign_keys=[FOREIGN]),        table(),                              YES, YES, "foreign_key_dropped", "risky"),
    Labelled("actions of a key",      table(foreign_keys=[FOREIGN]),        table(foreign_keys=[FOREIGN | {"on_delete": "CASCADE"}]), YES, YES, "foreign_key_actions", "safe"),
    Labelled("table to view",         table(),                              table(kind="view"),                   NO,  NO,  "kind", "breaking"),
    Labelled("kinds of view",         table(kind="view"),                   table(kind="materialized_view"),      YES, YES, "view_kind", "risky"),
    Labelled("rename nullable",       table(ID, NOTE),                      table(ID, NOTE | {"name": "text"}),   YES, YES, "field_dropped", "breaking"),
    Labelled("rename required",       table(ID, NOTE),                      table(ID | {"name": "key"}, NOTE),    NO,  NO,  "field_dropped", "breaking"),
    Labelled("case of a name",        table(ID, NOTE),                      table(ID, NOTE | {"name": "Note"}),   YES, YES, "field_dropped", "breaking"),
)
# fmt: on

EVOLUTIONS = (
    Evolution("only ever wider", ("varchar(10)", "varchar(20)"), "varchar(30)", {"FORWARD": (2, 1), "FULL": (2, 1)}),
    Evolution("only ever narrower", ("varchar(30)", "varchar(20)"), "varchar(10)", {"BACKWARD": (2, 1), "FULL": (2, 1)}),
    Evolution("wider than the last, narrower than the first", ("varchar(30)", "varchar(10)"), "varchar(20)",
              {"BACKWARD": (1,), "FORWARD": (2,), "FULL": (2, 1)}),
    Evolution("narrower than the last, wider than the first", ("varchar(10)", "varchar(30)"), "varchar(20)",
              {"BACKWARD": (2,), "FORWARD": (1,), "FULL": (2, 1)}),
    Evolution("back to the first", ("integer", "bigint"), "integer", {"BACKWARD": (2,), "FULL": (2,)}),
    Evolution("the same for ever", ("integer", "integer", "integer"), "integer"),
    Evolution("a break in the middle", ("integer", "text", "integer"), "bigint",
              {"BACKWARD": (2,), "FORWARD": (3, 2, 1), "FULL": (3, 2, 1)}),
    Evolution("a break at the beginning", ("text", "integer", "integer"), "integer",
              {"BACKWARD": (1,), "FORWARD": (1,), "FULL": (1,)}),
    Evolution("another type", ("integer", "integer"), "text",
              {"BACKWARD": (2, 1), "FORWARD": (2, 1), "FULL": (2, 1)}),
)  # fmt: skip
