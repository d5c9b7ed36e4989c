"""Name patterns: quoting, wildcards, and what a scope covers."""

from __future__ import annotations

import re
import time

import pytest
from aide_crawler import Scope, ScopeInvalid
from aide_crawler.dialects.mysql import effective_scope
from aide_crawler.names import qualified_name, quote_part, split_qualified_name
from aide_crawler.scope import literal, split_list
from hypothesis import given
from hypothesis import strategies as st

NAMES = st.text(min_size=1, max_size=12)
AWKWARD = st.text(alphabet='ab.*?"` ,%_\n\\[é', min_size=1, max_size=8)


@given(AWKWARD | NAMES, AWKWARD | NAMES)
def test_a_quoted_pattern_means_exactly_its_table(schema: str, name: str) -> None:
    scope = Scope(tables=(f"{literal(schema)}.{literal(name)}",))

    assert scope.covers(schema, name)
    assert not scope.covers(schema, name + "x")
    assert not scope.covers(schema + "x", name)


@given(AWKWARD, AWKWARD)
def test_two_datasets_never_share_a_qualified_name(schema: str, name: str) -> None:
    assert split_qualified_name(qualified_name(schema, name)) == (schema, name)


@given(st.lists(AWKWARD, min_size=1, max_size=4))
def test_a_comma_list_of_quoted_names_gives_them_back(names: list[str]) -> None:
    assert split_list(",".join(map(literal, names))) == [literal(name).strip() for name in names]


@given(AWKWARD | NAMES, AWKWARD | NAMES)
def test_a_star_covers_everything(schema: str, name: str) -> None:
    assert Scope(tables=("*",)).covers(schema, name)
    assert Scope(tables=("*.*",)).covers(schema, name)
    assert Scope(schemas=("*",)).covers(schema, name)
    assert not Scope(exclude_tables=("*",)).covers(schema, name)
    assert not Scope(exclude_schemas=("*",)).covers(schema, name)


@pytest.mark.parametrize(
    ("pattern", "schema", "name", "covered"),
    [
        ("orders", "public", "orders", True),
        ("orders", "public", "Orders", False),
        ("order?", "public", "orders", True),
        ("order?", "public", "order", False),
        ("sales.*", "sales", "anything", True),
        ("sales.*", "hr", "anything", False),
        ("t_1", "public", "tx1", False),
        ("t%", "public", "t%", True),
        ("t%", "public", "t1", False),
        ('"a.b"', "public", "a.b", True),
        ("a.b", "a", "b", True),
        ("a.b", "public", "a.b", False),
        ('"a.b".c', "a.b", "c", True),
        ('a."b*"', "a", "b*", True),
        ('a."b*"', "a", "bc", False),
        ('a."b.c"*', "a", "b.cde", True),
        ('"say ""x"""', "s", 'say "x"', True),
        (" orders ", "public", "orders", True),
    ],
)
def test_a_table_pattern(pattern: str, schema: str, name: str, covered: bool) -> None:
    assert Scope(tables=(pattern,)).covers(schema, name) is covered
    assert Scope(exclude_tables=(pattern,)).covers(schema, name) is not covered


def test_a_schema_that_can_hold_nothing_of_the_scope_is_not_covered() -> None:
    scope = Scope(schemas=("s*",), tables=("sales.*", "stock.t?"), exclude_schemas=("stock",))

    assert scope.covers_schema("sales")
    assert not scope.covers_schema("stock")
    assert not scope.covers_schema("shop")
    assert not scope.covers_schema("hr")


def test_a_schema_pattern_may_hold_a_dot_without_quotes() -> None:
    assert Scope(schemas=("a.b",)).covers_schema("a.b")
    assert Scope(schemas=('"a.b"',)).covers_schema("a.b")


@pytest.mark.parametrize("text", ["", " ", '"open', "a..b", ".", "a.b.c", 'a."b', '""'])
def test_a_pattern_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(ScopeInvalid):
        Scope(tables=(text,))


def test_a_text_in_place_of_a_list_is_refused() -> None:
    with pytest.raises(ScopeInvalid):
        Scope(tables="orders")  # type: ignore[arg-type]
    with pytest.raises(ScopeInvalid):
        Scope.from_dict({"tables": "orders"})
    with pytest.raises(ScopeInvalid):
        Scope.from_dict({"table": ["orders"]})


def test_a_scope_survives_its_json() -> None:
    scope = Scope(("a",), ('"b.c"',), ("d",), ("e*",))

    assert Scope.from_dict(scope.to_dict()) == scope
    assert Scope.from_dict(None) == Scope()


def test_a_database_in_the_url_limits_a_scope_without_schemas() -> None:
    assert effective_scope(Scope(), "sho.p").covers("sho.p", "t")
    assert not effective_scope(Scope(), "shop").covers("other", "t")
    assert effective_scope(Scope(schemas=("other",)), "shop").covers("other", "t")
    both = effective_scope(Scope(tables=("t", "other.u")), "shop")
    assert both.covers("shop", "t")
    assert both.covers("other", "u")
    assert not both.covers("other", "t")
    assert effective_scope(Scope(), None) == Scope()


@pytest.mark.parametrize("part", ["plain", "two words", "a%b"])
def test_a_part_without_dot_and_quote_stays_as_it_is(part: str) -> None:
    assert quote_part(part) == part


@pytest.mark.parametrize("text", ["one", "a.b.c", '"open', '"a"b.c'])
def test_what_is_no_qualified_name_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\."):
        split_qualified_name(text)


@given(st.text(alphabet="ab*?", min_size=1, max_size=8), st.text(alphabet="abc", max_size=10))
def test_wildcards_mean_what_their_regular_expression_would(pattern: str, name: str) -> None:
    expression = pattern.replace("*", ".*").replace("?", ".")

    assert Scope(tables=(pattern,)).covers("s", name) is (re.fullmatch(expression, name) is not None)


@pytest.mark.parametrize(
    "pattern", ["*" * 900 + "x", "*a" * 490 + "*b", "?*" * 400 + "x"], ids=["stars", "letters", "marks"]
)
def test_many_wildcards_are_matched_at_once(pattern: str) -> None:
    scope = Scope(tables=(pattern,), schemas=(pattern + "*",))
    start = time.monotonic()

    assert not scope.covers("a" * 2000, "a" * 2000)
    assert not Scope(tables=(pattern,)).covers("s", "a" * 2000)
    assert time.monotonic() - start < 5


def test_a_pattern_too_long_and_patterns_too_many_are_refused() -> None:
    assert Scope(tables=("a" * 1000,)).covers("s", "a" * 1000)
    with pytest.raises(ScopeInvalid, match="at most 1000 characters"):
        Scope(tables=("a" * 1001,))
    with pytest.raises(ScopeInvalid, match="at most 10000"):
        Scope(schemas=["a"] * 10_001)  # type: ignore[arg-type]
