"""Generated tables with known truth: columns and tables renamed among real drops beside adds, as servers do them."""

from __future__ import annotations

import copy
import random
from typing import Any

Document = dict[str, Any]


def _words(text: str) -> list[str]:
    return text.split()


ENTITIES = _words(
    "customer order invoice payment product supplier shipment employee contract address account ticket campaign "
    "warehouse stock refund rating voucher session device branch vehicle route policy claim patient visit course"
)
ATTRIBUTES = _words(
    "name email phone street city zip country birth_date created_at updated_at status amount price quantity vat_rate "
    "currency note title description is_active score weight height color brand sku iban token locale time_zone "
    "discount due_date paid_at shipped_at latitude longitude rank level reference external_id source channel kind"
)
TYPES = {
    "name": "character varying(100)", "email": "character varying(255)", "phone": "character varying(32)",
    "street": "text", "city": "character varying(100)", "zip": "character varying(12)", "country": "character(2)",
    "birth_date": "date", "created_at": "timestamp with time zone", "updated_at": "timestamp with time zone",
    "amount": "numeric(12,2)", "price": "numeric(12,2)", "quantity": "integer", "vat_rate": "numeric(5,2)",
    "currency": "character(3)", "note": "text", "description": "text", "is_active": "boolean", "score": "integer",
    "weight": "numeric(8,3)", "height": "numeric(8,3)", "due_date": "date", "latitude": "double precision",
    "longitude": "double precision", "rank": "integer", "level": "integer", "external_id": "uuid", "token": "text",
    "paid_at": "timestamp with time zone", "shipped_at": "timestamp with time zone", "discount": "numeric(5,2)",
}  # fmt: skip
COMMENTS = ("shown to the customer", "from the old system", "in euros", "do not use", "set by the import")


class Generator:
    """One seed gives one sequence of tables and changes. `numbered` servers keep a column's number (PostgreSQL)."""

    def __init__(self, seed: int, *, numbered: bool) -> None:
        self.random = random.Random(seed)
        self.numbered = numbered

    def column(self, taken: set[str]) -> Document:
        while True:
            attribute = self.random.choice(ATTRIBUTES)
            prefix = self.random.choice(("", "", "", *ENTITIES[:12]))
            name = f"{prefix}_{attribute}" if prefix else attribute
            if name not in taken:
                break
        return {
            "name": name,
            "native_type": TYPES.get(attribute, "character varying(50)"),
            "type_name": None,
            "parameters": {},
            "nullable": self.random.random() < 0.7,
            "default": self.random.choice((None, None, None, "0", "now()")),
            "primary_key": None,
            "comment": self.random.choice((None, None, None, *COMMENTS)),
            "generated": None,
            "identity": None,
            "hidden": False,
        }

    def table(self, name: str) -> Document:
        fields = [
            {**self.column(set()), "name": "id", "native_type": "bigint", "nullable": False, "default": None}
        ]
        for _ in range(self.random.randint(3, 18)):
            fields.append(self.column({field["name"] for field in fields}))
        document = {
            "schema": "shop", "name": name, "kind": "table",
            "comment": self.random.choice((None, None, f"every {name}")), "attributes": {}, "fields": fields,
            "primary_key": {"name": f"{name}_pkey" if self.numbered else "PRIMARY", "columns": ["id"]},
            "unique": [], "foreign_keys": [],
        }  # fmt: skip
        if self.numbered:
            number = 0
            for field in fields:
                number += self.random.choice((1, 1, 1, 1, 1, 2))
                field["native_position"] = number
        return self.placed(document)

    def placed(self, document: Document) -> Document:
        for n, field in enumerate(document["fields"], 1):
            field["position"] = n
        document["fields"][0]["primary_key"] = 1 if document["primary_key"] else None
        return document

    def new_name(self, name: str, taken: set[str]) -> str:
        """As people rename: another word, a prefix, an abbreviation, another style, or a wholly other name."""
        words = name.split("_")
        while True:
            way = self.random.random()
            if way < 0.3:
                new = f"{self.random.choice(ENTITIES)}_{name}"
            elif way < 0.45 and len(words) > 1:
                new = "_".join(words[1:])
            elif way < 0.6:
                new = "_".join(word[:4] for word in words)
            elif way < 0.7:
                new = (
                    words[0] + "".join(word.title() for word in words[1:]) + ("2" if len(words) == 1 else "")
                )
            elif way < 0.85:
                new = f"{name}_{self.random.choice(('old', 'value', 'text', 'code', 'raw'))}"
            else:
                new = self.random.choice(ATTRIBUTES)
            if new not in taken and new != name:
                return new

    def rename_column(self, document: Document) -> tuple[str, str]:
        taken = {field["name"] for field in document["fields"]}
        field = self.random.choice(document["fields"][1:])
        old, field["name"] = field["name"], self.new_name(field["name"], taken)
        return old, field["name"]

    def drop_and_add(self, document: Document, *, not_these: set[str]) -> None:
        """A column goes and another comes, as servers do it: at the end, with the next number."""
        fields = document["fields"]
        taken = {field["name"] for field in fields} | not_these
        able = [field for field in fields[1:] if field["name"] not in not_these]
        if not able:
            return
        gone = self.random.choice(able)
        new = self.column(taken)
        if self.random.random() < 0.5:
            new["native_type"] = gone["native_type"]
        if self.numbered:
            new["native_position"] = max(field["native_position"] for field in fields) + 1
        fields.remove(gone)
        place = (
            len(fields)
            if self.numbered or self.random.random() < 0.9
            else self.random.randint(1, len(fields))
        )
        fields.insert(place, new)

    def changed(self, before: Document) -> tuple[Document, set[tuple[str, str]]]:
        """A changed copy, and the true renames in it."""
        after = copy.deepcopy(before)
        renames = {self.rename_column(after)} if self.random.random() < 0.6 else set()
        if len(renames) == 0 or self.random.random() < 0.4:
            touched = {name for pair in renames for name in pair}
            self.drop_and_add(after, not_these=touched | {field["name"] for field in before["fields"]} - {
                field["name"] for field in after["fields"]
            })  # fmt: skip
        return self.placed(after), renames
