"""Databases that evolve as real ones do, with known truth: renames among drops beside adds, splits and look-alikes.

Made apart from `generated`: other words, other habits of naming, whole databases with schemas instead of single
tables. One seed gives one history; `numbered` servers keep a column's number when it is renamed (PostgreSQL).
"""

from __future__ import annotations

import copy
import random
from dataclasses import dataclass, field
from typing import Any

Document = dict[str, Any]
Pair = tuple[str, str, str]

# A word, what people call the same thing otherwise, and how they shorten it.
WORDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "customer": (("client", "buyer"), ("cust", "cstmr")),
    "number": (("no", "nr"), ("num", "nbr")),
    "telephone": (("phone", "tel_line"), ("tel",)),
    "postcode": (("zip_code", "postal_code"), ("plz",)),
    "surname": (("last_name", "family_name"), ("sname",)),
    "quantity": (("amount", "pieces"), ("qty",)),
    "amount": (("total", "sum"), ("amt",)),
    "date": (("day",), ("dt",)),
    "description": (("details", "remark"), ("descr", "desc_txt")),
    "department": (("division", "unit"), ("dept",)),
    "identifier": (("reference", "key"), ("ident", "idf")),
    "address": (("location",), ("addr",)),
    "category": (("class", "group_name"), ("cat", "catg")),
    "status": (("state", "phase"), ("sts", "stat")),
    "percentage": (("share", "rate"), ("pct",)),
    "manager": (("supervisor", "owner"), ("mgr",)),
    "invoice": (("bill",), ("inv",)),
    "delivery": (("dispatch",), ("dlv", "deliv")),
    "product": (("article", "item"), ("prod",)),
    "reason": (("cause",), ("rsn",)),
    "language": (("locale",), ("lang",)),
    "weight": (("mass",), ("wgt",)),
}
QUALIFIERS = (
    "first",
    "last",
    "billing",
    "contact",
    "gross",
    "net",
    "planned",
    "actual",
    "parent",
    "source",
    "legal",
)
FOREIGN = (
    "bezeichnung",
    "betrag",
    "menge",
    "kunde",
    "gueltig_ab",
    "vorgang",
    "libelle",
    "montant",
    "statut",
    "codice",
)
TABLES = (
    "account", "agreement", "asset", "budget", "carrier", "complaint", "consignment", "dealer", "depot", "dispute",
    "engagement", "facility", "forecast", "guarantee", "incident", "journal", "ledger", "licence", "meter",
    "milestone", "parcel", "permit", "premium", "quote", "reading", "register", "rental", "roster", "settlement",
    "tariff",
)  # fmt: skip
SCHEMAS = ("sales", "finance", "ops")
TYPES = {
    True: ("integer", "bigint", "text", "character varying(40)", "character varying(200)", "numeric(14,2)", "date",
           "timestamp without time zone", "boolean", "uuid", "double precision"),
    False: ("int(11)", "bigint(20)", "varchar(40)", "varchar(200)", "varchar(40)", "decimal(14,2)", "date",
            "datetime", "tinyint(1)", "text", "double"),
}  # fmt: skip
WIDER = {
    "integer": "bigint", "int(11)": "bigint(20)", "character varying(40)": "character varying(80)",
    "varchar(40)": "varchar(80)", "numeric(14,2)": "numeric(18,2)", "decimal(14,2)": "decimal(18,2)",
}  # fmt: skip
REMARKS = ("as agreed with the auditors", "entered by hand", "computed nightly", "see the handbook", "legacy")


@dataclass
class Truth:
    """What really happened: (table before, column before, column after) and (table before, table after)."""

    columns: set[Pair] = field(default_factory=set)
    tables: set[tuple[str, str]] = field(default_factory=set)


class Evolution:
    """A sequence of databases, each before and after a night of changes."""

    def __init__(self, seed: int, *, numbered: bool) -> None:
        self.random = random.Random(seed)
        self.numbered = numbered

    def night(self) -> tuple[dict[str, Document], dict[str, Document], Truth]:
        before = self._database()
        after = copy.deepcopy(before)
        truth = Truth()
        renamed = self._tables_change(after, truth)
        for name in list(before):
            now = renamed.get(name, name)
            if now in after and self.random.random() < 0.7:
                self._columns_change(name, after[now], truth)
        for document in after.values():
            for place, each in enumerate(document["fields"], 1):
                each["position"] = place
        return before, after, truth

    def _database(self) -> dict[str, Document]:
        names = self.random.sample(TABLES, 14)
        tables = {}
        for name in names:
            document = self._table(self.random.choice(SCHEMAS), name)
            tables[_name(document)] = document
        # One family of tables of the same shape, as people keep a table a year.
        first = self._table("ops", "readings_2021")
        for year in (2021, 2022, 2023):
            twin = self._twin(first, f"readings_{year}")
            tables[_name(twin)] = twin
        return tables

    def _twin(self, document: Document, name: str) -> Document:
        twin = copy.deepcopy(document) | {"name": name}
        if self.numbered:
            twin["primary_key"]["name"] = f"{name}_pkey"
            for place, each in enumerate(twin["fields"], 1):
                each["native_position"] = place
        return twin

    def _table(self, schema: str, name: str) -> Document:
        fields: list[Document] = []
        self._append(fields, "id", self.random.choice(TYPES[self.numbered][:2]), nullable=False)
        for _ in range(self.random.randint(4, 22)):
            self._append(fields, self._word(fields), self.random.choice(TYPES[self.numbered]))
        if self.random.random() < 0.5:
            for audit in ("created_at", "updated_at"):
                self._append(fields, audit, TYPES[self.numbered][7], comment="set by the system")
        document: Document = {
            "schema": schema, "name": name, "kind": "table", "attributes": {}, "fields": fields, "unique": [],
            "comment": f"one row is a {name}" if self.random.random() < 0.3 else None,
            "primary_key": {"name": f"{name}_pkey" if self.numbered else "PRIMARY", "columns": ["id"]},
            "foreign_keys": [],
        }  # fmt: skip
        for place, each in enumerate(fields, 1):
            each["position"] = place
            if self.numbered:
                each["native_position"] = place
        if self.numbered and self.random.random() < 0.4:  # columns were dropped in earlier years
            for each in fields[self.random.randint(1, len(fields) - 1) :]:
                each["native_position"] += self.random.randint(1, 3)
        return document

    def _append(self, fields: list[Document], name: str, native: str, **values: Any) -> None:
        remark = self.random.choice((None, None, None, None, *REMARKS))
        fields.append(
            {
                "name": name, "native_type": native, "type_name": None, "parameters": {}, "nullable": True,
                "default": None, "primary_key": None, "comment": remark, "generated": None, "identity": None,
                "hidden": False, **values,
            }
        )  # fmt: skip

    def _word(self, fields: list[Document]) -> str:
        taken = {each["name"] for each in fields}
        while True:
            words = [self.random.choice(list(WORDS))]
            if self.random.random() < 0.7:
                words.insert(0, self.random.choice((*QUALIFIERS, *WORDS)))
            name = "_".join(words)
            if name not in taken and len(set(words)) == len(words):
                return name

    def _renamed(self, name: str, taken: set[str]) -> str:
        """Another name for the same thing, in one of the ways in which people rename."""
        while True:
            parts = name.split("_")
            way = self.random.random()
            known = [n for n, part in enumerate(parts) if part in WORDS]
            if way < 0.30 and known:
                at = self.random.choice(known)
                parts[at] = self.random.choice(WORDS[parts[at]][1])
                new = "_".join(parts)
            elif way < 0.50 and known:
                at = self.random.choice(known)
                parts[at] = self.random.choice(WORDS[parts[at]][0])
                new = "_".join(parts)
            elif way < 0.62:
                new = f"{self.random.choice(('c', 'fld', 'src', 'x'))}_{name}"
            elif way < 0.72 and len(parts) > 1:
                new = "_".join(reversed(parts))
            elif way < 0.82:
                new = parts[0] + "".join(part.title() for part in parts[1:])
            elif way < 0.90:
                new = f"{name}_{self.random.choice(('eur', 'utc', 'v2', 'id', 'txt'))}"
            else:
                new = self.random.choice(FOREIGN)
            if new != name and new not in taken:
                return new

    def _columns_change(self, table: str, document: Document, truth: Truth) -> None:
        fields = document["fields"]
        originals = {each["name"] for each in fields}
        touched: set[str] = set()
        for _ in range(self.random.choice((0, 1, 1, 1, 2))):
            able = [each for each in fields[1:] if each["name"] in originals - touched]
            if not able:
                return
            each = self.random.choice(able)
            old = each["name"]
            each["name"] = self._renamed(old, {f["name"] for f in fields} | originals)
            touched |= {old, each["name"]}
            truth.columns.add((table, old, each["name"]))
            self._along_with_a_rename(each, fields)
        for _ in range(self.random.choice((0, 0, 1, 1, 2))):
            self._replace_one(document, originals, touched)

    def _along_with_a_rename(self, each: Document, fields: list[Document]) -> None:
        luck = self.random.random()
        if luck < 0.08:
            each["comment"] = self.random.choice(REMARKS)
        elif luck < 0.14 and each["native_type"] in WIDER:
            each["native_type"] = WIDER[each["native_type"]]
        elif luck < 0.18:
            each["nullable"] = not each["nullable"]
        elif luck < 0.22 and not self.numbered:  # CHANGE … AFTER another
            fields.remove(each)
            fields.insert(self.random.randint(1, len(fields)), each)

    def _replace_one(self, document: Document, originals: set[str], touched: set[str]) -> None:
        """One column goes for good, and another that means something else comes."""
        fields = document["fields"]
        able = [each for each in fields[1:] if each["name"] in originals - touched]
        if not able:
            return
        gone = self.random.choice(able)
        number = max(each.get("native_position", 0) for each in fields) + 1
        fields.remove(gone)
        taken = [{"name": name} for name in originals | {each["name"] for each in fields}]
        name = self._word(taken)
        if self.random.random() < 0.3:  # of the same kind: billing_address goes, contact_address comes
            last = gone["name"].split("_")[-1]
            name = next(
                (f"{q}_{last}" for q in QUALIFIERS if f"{q}_{last}" not in {t["name"] for t in taken}), name
            )
        native = (
            gone["native_type"] if self.random.random() < 0.6 else self.random.choice(TYPES[self.numbered])
        )
        self._append(fields, name, native)
        touched |= {gone["name"], name}
        if self.numbered:
            fields[-1]["native_position"] = number
        elif self.random.random() < 0.08:  # ADD … AFTER another
            fields.insert(self.random.randint(1, len(fields) - 1), fields.pop())

    def _tables_change(self, after: dict[str, Document], truth: Truth) -> dict[str, str]:
        """Some tables get another name or schema, some go beside others that come. Returns old to new."""
        renamed = {}
        names = [name for name in after if "readings_" not in name]
        self.random.shuffle(names)
        for name in names[:3]:
            document = after.pop(name)
            if self.random.random() < 0.4:
                document["schema"] = self.random.choice([s for s in SCHEMAS if s != document["schema"]])
            else:
                document["name"] = self.random.choice(
                    (f"{document['name']}s", f"tbl_{document['name']}", f"{document['name']}_history",
                     document["name"][:4], f"dim_{document['name']}", self.random.choice(TABLES) + "_record")
                )  # fmt: skip
            new = _name(document)
            if new in after:
                after[name] = document | dict(zip(("schema", "name"), name.split("."), strict=True))
                continue
            after[new] = document
            truth.tables.add((name, new))
            renamed[name] = new
        self._go_and_come(after, names[3:6])
        return renamed

    def _go_and_come(self, after: dict[str, Document], names: list[str]) -> None:
        gone, split, replaced = names
        del after[gone]
        whole = after.pop(split)
        half = len(whole["fields"]) // 2 + 1
        for part, fields in (("core", whole["fields"][:half]), ("extra", whole["fields"][half:])):
            document = copy.deepcopy(whole) | {"name": f"{whole['name']}_{part}", "comment": None}
            document["fields"] = [copy.deepcopy(whole["fields"][0]), *copy.deepcopy(fields[part == "core" :])]
            document["primary_key"]["name"] = f"{document['name']}_pkey" if self.numbered else "PRIMARY"
            for place, each in enumerate(document["fields"], 1):
                each |= {"native_position": place} if self.numbered else {}
            after[_name(document)] = document
        schema = after.pop(replaced)["schema"]
        fresh = self._table(schema, self.random.choice(TABLES) + "_new")
        after[_name(fresh)] = fresh
        # The oldest year goes, the next one comes; their sisters stay.
        oldest = after.pop("ops.readings_2021")
        after["ops.readings_2024"] = self._twin(oldest, "readings_2024")


def _name(document: Document) -> str:
    return f"{document['schema']}.{document['name']}"
