"""A plan as a file of Protobuf messages (proto3). Pure; used by `registry.casting.ddl` only."""

from __future__ import annotations

from registry.casting.documents import TablePlan
from registry.casting.fitting import identity, type_name
from registry.typesystem import TypeExpr

_IMPORTS = {
    "google.protobuf.Timestamp": "google/protobuf/timestamp.proto",
    "google.protobuf.Duration": "google/protobuf/duration.proto",
    "google.protobuf.Any": "google/protobuf/any.proto",
    "google.protobuf.FieldMask": "google/protobuf/field_mask.proto",
    "google.protobuf.Struct": "google/protobuf/struct.proto",
    "google.protobuf.Value": "google/protobuf/struct.proto",
    "google.protobuf.ListValue": "google/protobuf/struct.proto",
    "google.type.Date": "google/type/date.proto",
    "google.type.TimeOfDay": "google/type/timeofday.proto",
    "google.type.Money": "google/type/money.proto",
    "confluent.type.Decimal": "confluent/type/decimal.proto",
}
_META = "confluent/meta.proto"


def write(plan: TablePlan) -> str:
    """One message for the rows, after the messages that its fields need."""
    file = _File()
    rows = file.message(
        type_name(plan.name),
        [(field.name, field.target, field.nullable, field.comment) for field in plan.known if field.target],
        comment=plan.comment,
    )
    head = ['syntax = "proto3";', ""]
    if plan.schema:
        head += [f"package {identity(plan.schema)};", ""]
    imports = [f'import "{path}";' for path in sorted(file.imports)]
    return "\n".join([*head, *imports, *([""] if imports else []), *file.written, rows])


class _File:
    """What has been written so far: messages of nested types, and imports."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.imports: set[str] = set()

    def message(self, name: str, fields: list[tuple[str, TypeExpr, bool, str]], *, comment: str = "") -> str:
        lines = [*_comment(comment), f"message {name} {{"]
        taken: set[str] = set()
        for number, (field, expr, nullable, words) in enumerate(fields, 1):
            number += 1000 if number >= 19_000 else 0
            label = identity(field)
            while label in taken:
                label += "_"
            taken.add(label)
            lines += [f"  {line}" for line in _comment(words)]
            lines.append(f"  {self._field(expr, label, number, nullable=nullable)}")
        return "\n".join([*lines, "}", ""])

    def _field(self, expr: TypeExpr, label: str, number: int, *, nullable: bool) -> str:
        if expr.code == "repeated":
            return f"repeated {self._type(expr.children['element'])} {label} = {number};"
        if expr.code == "map":
            key, value = (self._type(expr.children[slot]) for slot in ("key", "value"))
            return f"map<{key}, {value}> {label} = {number};"
        options = ""
        if expr.code == "decimal" and "precision" in expr.params:
            self.imports.add(_META)
            told = [("precision", expr.params["precision"]), ("scale", expr.params.get("scale", 0))]
            pairs = ", ".join(f'{{ key: "{key}", value: "{value}" }}' for key, value in told)
            options = f" [(confluent.field_meta) = {{ params: [{pairs}] }}]"
        found = self._type(expr)
        return f"{'optional ' if nullable else ''}{found} {label} = {number}{options};"

    def _type(self, expr: TypeExpr) -> str:
        if expr.code in ("message", "enum"):
            name = str(expr.params["type_name"])
            if expr.code == "message" and expr.children:
                parts = [(field, expr.children[field], True, "") for field in expr.params["fields"]]
                self.written.append(self.message(name, parts))
            return name
        base = expr.rendered.partition("(")[0]
        if base.startswith("google.protobuf.") and base.endswith("Value") and base not in _IMPORTS:
            self.imports.add("google/protobuf/wrappers.proto")
        elif base in _IMPORTS:
            self.imports.add(_IMPORTS[base])
        return base


def _comment(text: str) -> list[str]:
    return [f"// {line.strip()}" for line in text.splitlines() if line.strip()]
