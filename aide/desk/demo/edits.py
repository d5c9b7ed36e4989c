"""What developers do to a table, as lines such as `rename phone mobile_phone`, carried out on documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aide.desk.demo.tables import Document, field_of, make_field, numbered


def edited(document: Document, lines: Sequence[str], *, flavor: str) -> Document:
    """The document after these edits, in their order; the one given stays as it is."""
    fields = [dict(each) for each in document["fields"]]
    out: Document = {**document, "fields": fields, "unique": list(document["unique"])}
    for line in lines:
        verb, _, rest = line.partition(" ")
        name, _, value = rest.partition(" ")
        if verb == "add":
            fields.append(make_field(rest, flavor=flavor, schema=document["schema"] or ""))
        elif verb == "drop":
            fields[:] = [each for each in fields if each["name"] != name]
        elif verb == "unique":
            key = {"name": f"{document['name']}_once", "columns": rest.split(), "kind": "constraint"}
            out["unique"].append(key)
        elif verb == "repeatable":
            out["unique"] = [each for each in out["unique"] if each["columns"] != rest.split()]
        else:
            _change(field_of(out, name), verb, value, flavor=flavor)
    return numbered(out)


def _change(field: dict[str, Any], verb: str, value: str, *, flavor: str) -> None:
    if verb == "rename":
        field["name"] = value
    elif verb == "type":
        made = make_field(f"{field['name']} {value}", flavor=flavor)
        for key in ("type_name", "type_schema", "type_kind", "parameters"):
            field.pop(key, None)
        field["native_type"] = made["native_type"]
    elif verb == "comment":
        field["comment"] = value
    elif verb == "default":
        field["default"] = value
    elif verb == "required":
        field["nullable"] = False
    elif verb == "generated":
        field["generated"] = {"kind": "stored", "expression": value}
    else:
        raise ValueError(f"There is no edit {verb}.")
