"""Seed files: YAML lists of kinds, flavors and their types, read and checked without a database.

A file has `kind`, `flavor` and `types`, or lists of `kinds` and `flavors`. Nothing wrong is let through:
`SeedInvalid` names the file and the place. `registry.catalogues` carries what is read here into the database.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from registry.typesystem import (
    Catalogue,
    Example,
    Slot,
    TemplateInvalid,
    TypeDef,
    TypeSystemError,
    check_schema,
    check_template,
    render,
)

BUNDLED = Path(__file__).parent / "seeds"
NO_PARAMS: Mapping[str, Any] = {"type": "object", "additionalProperties": False, "properties": {}}

_FILE_KEYS = {"schema_version", "kind", "kinds", "flavor", "flavors", "types"}
_KIND_KEYS = {"code", "name"}
_FLAVOR_KEYS = {"code", "name", "kind", "vendor", "versions", "sqlalchemy_dialects"}
_TYPE_KEYS = {"code", "name", "category", "logical_type", "kind", "aliases", "slots", "params_schema",
              "render_template", "examples", "notes"}  # fmt: skip
_EXAMPLE_KEYS = {"params", "sql", "canonical", "setup", "since", "unchecked"}
_SLOT_KEYS = {"name", "required"}


class SeedInvalid(ValueError):  # noqa: N818 - reads like the errors of forms
    """A seed file is refused; `str()` names the file, the place in it and what is wrong there."""

    def __init__(self, file: str, place: str, message: str) -> None:
        super().__init__(f"{file}: {place}: {message}" if place else f"{file}: {message}")
        self.file = file
        self.place = place
        self.message = message


@dataclass(frozen=True)
class KindSeed:
    code: str
    name: str


@dataclass(frozen=True)
class FlavorSeed:
    code: str
    name: str
    kind: str
    vendor: str = ""
    versions: tuple[str, ...] = ()
    sqlalchemy_dialects: tuple[str, ...] = ()


@dataclass(frozen=True)
class Seed:
    """What one file holds; every type belongs to its one flavor."""

    file: str
    kinds: tuple[KindSeed, ...]
    flavors: tuple[FlavorSeed, ...]
    types: tuple[TypeDef, ...]


def bundled_files() -> tuple[Path, ...]:
    """The files that come with AIDE."""
    return tuple(sorted(BUNDLED.glob("*.yaml")))


def read_all(paths: Iterable[Path]) -> tuple[Seed, ...]:
    """Reads the files and refuses codes that two of them define. Raises `SeedInvalid`."""
    seeds = tuple(read(path) for path in paths)
    seen: dict[str, str] = {}
    for seed in seeds:
        for flavor in seed.flavors:
            if flavor.code in seen:
                raise SeedInvalid(seed.file, f"flavor {flavor.code}", f"{seen[flavor.code]} defines it, too")
            seen[flavor.code] = seed.file
    return seeds


def read(path: Path) -> Seed:
    """Reads and checks one file, every example included. Raises `SeedInvalid`."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise SeedInvalid(
            str(path), "", f"cannot be read: {getattr(fault, 'strerror', None) or fault}"
        ) from None
    return read_text(text, file=str(path))


def read_text(text: str, *, file: str) -> Seed:
    """As `read`, for a file's text."""
    try:
        content = yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader that refuses a key given twice
    except yaml.YAMLError as fault:
        mark = getattr(fault, "problem_mark", None)
        place = f"line {mark.line + 1}" if mark else ""
        raise SeedInvalid(file, place, getattr(fault, "problem", None) or "is not YAML") from None
    return _Reader(file).seed(content)


@lru_cache(maxsize=32)
def bundled_catalogue(flavor: str) -> Catalogue:
    """The types of a flavor as the bundled files have them; empty for a flavor without a list."""
    path = BUNDLED / f"{flavor}.yaml"
    known = {each.stem: each for each in bundled_files()}
    return Catalogue(
        flavor, read(known[path.stem]).types if path.stem in known and flavor != "flavors" else ()
    )


_FastestLoader: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_FastestLoader):
    """YAML in which a key may stand once, read by the C library where PyYAML has it."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for n, key in enumerate(keys):
            if key in keys[:n]:
                raise yaml.constructor.ConstructorError(None, None, f"{key} is given twice", node.start_mark)
        return super().construct_mapping(node, deep)


@dataclass(frozen=True)
class _Reader:
    file: str

    def seed(self, content: Any) -> Seed:
        top = self._mapping(content, "", allowed=_FILE_KEYS)
        if top.get("schema_version", 1) != 1:
            raise SeedInvalid(self.file, "schema_version", "this is not a version that can be read (1)")
        kinds = [self._kind(each, place) for each, place in self._both(top, "kind", "kinds")]
        usual = kinds[0].code if "kind" in top else ""
        flavors = [self._flavor(each, place, usual) for each, place in self._both(top, "flavor", "flavors")]
        types = self._list(top.get("types"), "types")
        if types and "flavor" not in top:
            raise SeedInvalid(self.file, "types", "types need one flavor that they belong to")
        self._once([each.code for each in kinds], "kind")
        self._once([each.code for each in flavors], "flavor")
        read = tuple(self._type(each, n, flavors[0].code) for n, each in enumerate(types))
        self._once([each.code for each in read], "type")
        self._examples(Catalogue(flavors[0].code, read) if flavors else Catalogue(""))
        return Seed(self.file, tuple(kinds), tuple(flavors), read)

    def _kind(self, value: Any, place: str) -> KindSeed:
        data = self._mapping(value, place, allowed=_KIND_KEYS, required=("code", "name"))
        return KindSeed(self._text(data, "code", place), self._text(data, "name", place))

    def _flavor(self, value: Any, place: str, kind: str) -> FlavorSeed:
        data = self._mapping(value, place, allowed=_FLAVOR_KEYS, required=("code", "name"))
        place = f"flavor {self._text(data, 'code', place)}"
        kind = self._text(data, "kind", place) or kind
        if not kind:
            raise SeedInvalid(self.file, place, "kind is missing")
        return FlavorSeed(
            self._text(data, "code", place),
            self._text(data, "name", place),
            kind,
            self._text(data, "vendor", place),
            self._texts(data.get("versions"), f"{place}: versions"),
            self._texts(data.get("sqlalchemy_dialects"), f"{place}: sqlalchemy_dialects"),
        )

    def _type(self, value: Any, n: int, flavor: str) -> TypeDef:
        data = self._mapping(value, f"types[{n}]", allowed=_TYPE_KEYS, required=("code",))
        place = f"type {self._text(data, 'code', f'types[{n}]')}"
        name = self._text(data, "name", place) or self._text(data, "code", place)
        schema = data.get("params_schema", NO_PARAMS)
        for error in check_schema(schema):
            raise SeedInvalid(self.file, f"{place}: params_schema {error.path}".rstrip(), error.message)
        template = self._text(data, "render_template", place) or name
        try:
            check_template(template)
        except TemplateInvalid as fault:
            raise SeedInvalid(self.file, f"{place}: render_template", str(fault)) from None
        examples = self._list(data.get("examples"), f"{place}: examples")
        if "examples" not in data and schema == NO_PARAMS and "render_template" not in data:
            examples = [{"params": {}, "sql": name}]
        return TypeDef(
            flavor=flavor,
            code=self._text(data, "code", place),
            name=name,
            category=self._text(data, "category", place),
            logical_type=self._text(data, "logical_type", place),
            kind=self._text(data, "kind", place) or "base",
            aliases=self._texts(data.get("aliases"), f"{place}: aliases"),
            slots=tuple(self._slot(each, place) for each in self._list(data.get("slots"), f"{place}: slots")),
            params_schema=schema,
            render_template=template,
            examples=tuple(self._example(each, f"{place}: examples[{m}]") for m, each in enumerate(examples)),
        )

    def _slot(self, value: Any, place: str) -> Slot:
        if isinstance(value, str) and value:
            return Slot(value)
        data = self._mapping(value, f"{place}: slots", allowed=_SLOT_KEYS, required=("name",))
        return Slot(self._text(data, "name", place), bool(data.get("required", True)))

    def _example(self, value: Any, place: str) -> Example:
        data = self._mapping(value, place, allowed=_EXAMPLE_KEYS, required=("sql",))
        params = self._mapping(data.get("params", {}), f"{place}: params")
        texts = {key: self._text(data, key, place) for key in data if key != "params"}
        return Example(params=params, **texts)

    def _examples(self, catalogue: Catalogue) -> None:
        for typedef in catalogue:
            for n, example in enumerate(typedef.examples):
                place = f"type {typedef.code}: examples[{n}]"
                try:
                    sql = render(catalogue, typedef.code, example.params)
                except TypeSystemError as fault:
                    raise SeedInvalid(self.file, place, str(fault)) from None
                if sql != example.sql:
                    raise SeedInvalid(self.file, place, f"renders to {sql!r}, not to {example.sql!r}")

    def _both(self, top: Mapping[str, Any], one: str, many: str) -> list[tuple[Any, str]]:
        listed = self._list(top.get(many), many)
        return ([(top[one], one)] if one in top else []) + [(v, f"{many}[{n}]") for n, v in enumerate(listed)]

    def _mapping(
        self, value: Any, place: str, *, allowed: set[str] | None = None, required: tuple[str, ...] = ()
    ) -> Mapping[str, Any]:
        if not isinstance(value, Mapping):
            raise SeedInvalid(self.file, place, "must be a mapping of keys to values")
        for key in value:
            if not isinstance(key, str) or (allowed is not None and key not in allowed):
                raise SeedInvalid(self.file, place, f"unknown key {key}")
        for key in required:
            if not value.get(key):
                raise SeedInvalid(self.file, place, f"{key} is missing")
        return value

    def _list(self, value: Any, place: str) -> list[Any]:
        if value is None:
            return []
        if not isinstance(value, list):
            raise SeedInvalid(self.file, place, "must be a list")
        return value

    def _text(self, data: Mapping[str, Any], key: str, place: str) -> str:
        value = data.get(key, "")
        if not isinstance(value, str):
            raise SeedInvalid(self.file, place, f"{key} must be text (quote it)")
        return value

    def _texts(self, value: Any, place: str) -> tuple[str, ...]:
        values = self._list(value, place)
        if not all(isinstance(each, str) for each in values):
            raise SeedInvalid(self.file, place, "every entry must be text (quote it)")
        return tuple(values)

    def _once(self, codes: list[str], what: str) -> None:
        for n, code in enumerate(codes):
            if code in codes[:n]:
                raise SeedInvalid(self.file, f"{what} {code}", "the code is used twice")
