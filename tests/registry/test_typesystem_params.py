"""Parameters are checked against JSON Schema and told in plain words."""

from __future__ import annotations

from typing import Any

import pytest

from registry.seeding import bundled_catalogue
from registry.typesystem import TypeDef, check_params, check_schema


def told(flavor: str, code: str, params: Any) -> list[tuple[str, str]]:
    typedef = bundled_catalogue(flavor).get(code)
    assert typedef is not None
    return [(error.path, error.message) for error in check_params(typedef, params)]


@pytest.mark.parametrize(
    ("flavor", "code", "params", "expected"),
    [
        ("postgresql", "numeric", {}, []),
        ("postgresql", "numeric", {"precision": 12, "scale": 2}, []),
        ("postgresql", "numeric", {"precision": 12, "scale": None}, []),
        ("postgresql", "numeric", {"precision": 2, "scale": -3}, []),
        ("postgresql", "numeric", {"precision": 12, "scale": 13},
         [("scale", "scale must not be larger than precision")]),
        ("postgresql", "numeric", {"scale": 2}, [("precision", "scale needs precision")]),
        ("postgresql", "numeric", {"precision": 0}, [("precision", "precision must be at least 1")]),
        ("postgresql", "numeric", {"precision": 1001}, [("precision", "precision must be at most 1000")]),
        ("postgresql", "numeric", {"precision": "12"}, [("precision", "precision must be a whole number")]),
        ("postgresql", "numeric", {"precision": True}, [("precision", "precision must be a whole number")]),
        ("postgresql", "integer", {"length": 3}, [("length", "length is not a parameter of this type")]),
        ("postgresql", "enum", {}, [("type_name", "type_name is required")]),
        ("postgresql", "enum", {"type_name": "x; drop"},
         [("type_name", "type_name has characters or a form that is not allowed here")]),
        ("postgresql", "enum", {"type_name": "mood\n"},
         [("type_name", "type_name has characters or a form that is not allowed here")]),
        ("postgresql", "interval", {"fields": "year", "precision": 3},
         [("fields", "precision is only possible without fields, or with fields that end in second")]),
        ("mysql", "varchar", {}, [("length", "length is required")]),
        ("mysql", "set", {"values": ["a,b"]},
         [("values.0", "values.0 has characters or a form that is not allowed here")]),
        ("mysql", "enum", {"values": []}, [("values", "values must not be empty")]),
        ("mysql", "enum", {"values": ["a", "a"]}, [("values", "values must not hold the same entry twice")]),
        ("mysql", "decimal", {"precision": 3, "scale": 5}, [("scale", "scale must not be larger than precision")]),
        ("mysql", "decimal", [], [("", "parameters must be a set of named values")]),
    ],
)  # fmt: skip
def test_faults_are_told_at_their_place(flavor: str, code: str, params: Any, expected: list[Any]) -> None:
    assert told(flavor, code, params) == expected


def test_what_a_server_reports_is_taken_although_nobody_should_type_it() -> None:
    numeric = bundled_catalogue("postgresql").get("numeric")
    assert numeric is not None
    assert check_params(numeric, {"precision": 3, "scale": 5}, reported=True) == ()


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"type": "nothing"}, "type"),
        ({"properties": {"a": {"pattern": "("}}}, "properties.a.pattern"),
        ({"properties": {"a": {"$ref": "https://example.org/schema"}}}, "properties.a.$ref"),
        ({"patternProperties": {"(a+)+$": {}}}, "patternProperties"),
        ([], ""),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused(schema: Any, place: str) -> None:
    assert [error.path for error in check_schema(schema)] == [place]


def test_a_schema_that_refers_to_other_hosts_is_never_fetched() -> None:
    typedef = TypeDef("x", "t", "t", params_schema={"$ref": "http://127.0.0.1:9/schema"})
    assert check_params(typedef, {})[0].message == "the schema of t refers to something outside of itself"


def test_a_schema_that_refers_to_itself_without_end_is_told() -> None:
    typedef = TypeDef("x", "t", "t", params_schema={"$ref": "#"})
    assert "cannot be applied" in check_params(typedef, {})[0].message


def without_end() -> dict[str, Any]:
    """A small schema whose parts refer to each other a billion times."""
    parts = {f"p{n}": {"allOf": [{"$ref": f"#/$defs/p{n + 1}"}] * 2} for n in range(30)}
    return {"$defs": {**parts, "p30": {}}, "$ref": "#/$defs/p0"}


@pytest.mark.parametrize(
    ("schema", "params"),
    [
        ({"properties": {"a": {"pattern": "(a+)+$"}}}, {"a": "a" * 200 + "!"}),
        ({"properties": {"a": {"pattern": "(.*,)*x"}}}, {"a": "," * 5_000}),
        (without_end(), {}),
    ],
    ids=["nested repetition", "many commas", "many references"],
)
def test_a_schema_that_would_take_for_ever_is_told(schema: Any, params: Any) -> None:
    assert check_schema(schema) == ()
    assert check_params(TypeDef("x", "t", "t", params_schema=schema), params)


def test_equal_entries_of_a_long_mixed_list_are_found() -> None:
    typedef = TypeDef("x", "t", "t", params_schema={"properties": {"a": {"uniqueItems": True}}})
    unlike: list[Any] = [each for n in range(50_000) for each in (n, {"n": n})]
    assert check_params(typedef, {"a": unlike}) == ()
    assert check_params(typedef, {"a": [*unlike, {"n": 7}]})[0].path == "a"
