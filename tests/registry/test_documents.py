"""Schema documents from outside are checked within bounds, completed, and reduced to their content."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry.documents import (
    DocumentInvalid,
    canonical,
    checking,
    clean,
    field_path,
    fingerprint,
    split_path,
    walk,
)
from registry.documents.expressions import normal_default, normal_expression, rename_in_expression
from registry.seeding import bundled_catalogue
from tests.crawling.strategies import schema_documents

POSTGRESQL = bundled_catalogue("postgresql")
FULL = {
    "schema", "name", "kind", "comment", "attributes", "fields", "primary_key", "unique", "foreign_keys",
}  # fmt: skip


def field(name: str = "x", native: str = "text", **rest: Any) -> dict[str, Any]:
    return {"name": name, "native_type": native, **rest}


def errors(document: Any) -> dict[str, str]:
    with pytest.raises(DocumentInvalid) as caught:
        clean(document)
    return dict(caught.value.errors)


def test_a_field_needs_only_a_name_and_a_native_type():
    document = clean({"fields": [field()]})
    assert set(document) == FULL
    assert document["fields"] == [
        {
            "name": "x", "position": 1, "native_type": "text", "type_name": None, "parameters": {}, "nullable": True,
            "default": None, "primary_key": None, "comment": None, "generated": None, "identity": None,
            "hidden": False,
        }
    ]  # fmt: skip
    assert (document["kind"], document["primary_key"], document["unique"]) == ("table", None, [])


def test_what_the_registry_adds_to_its_answers_may_be_sent_back():
    sent = clean({"name": "t", "fields": [field()]})
    answer = copy.deepcopy(sent) | {
        "dataset_id": 3,
        "version": 2,
        "fingerprint": "0",
        "published_at": "2026-03-01",
    }
    answer["fields"][0] |= {
        "field_id": 9, "data_type": "text", "type_params": {}, "rendered": "text", "description": "", "pii_tags": [],
    }  # fmt: skip
    assert clean(answer) == sent


def test_cleaning_twice_changes_nothing_and_leaves_its_input_alone():
    given_ = {"fields": [field(parameters={"values": ["a"]}), field("y", primary_key=1)]}
    before = copy.deepcopy(given_)
    once = clean(given_)
    once["fields"][0]["parameters"]["values"].append("b")
    assert given_ == before
    assert clean(once) == once


def test_positions_give_the_order_and_are_then_counted_from_one():
    document = clean({"fields": [field("b", position=7), field("a", position=3)]})
    assert [(f["name"], f["position"]) for f in document["fields"]] == [("a", 1), ("b", 2)]


def test_the_key_and_its_places_in_the_fields_complete_each_other():
    by_field = clean({"fields": [field("a", primary_key=2), field("b", primary_key=1), field("c")]})
    assert by_field["primary_key"] == {"name": None, "columns": ["b", "a"]}
    by_key = clean({"fields": [field("a"), field("b")], "primary_key": {"columns": ["b", "a"]}})
    assert [f["primary_key"] for f in by_key["fields"]] == [2, 1]
    both = {"fields": [field("a", primary_key=1), field("b")], "primary_key": {"columns": ["b"]}}
    assert "primary_key" in errors(both)


REFUSED = [
    ([], ""),
    ("text", ""),
    ({"columns": []}, "columns"),
    ({"fields": {}}, "fields"),
    ({"fields": ["x"]}, "fields[0]"),
    ({"fields": [{"native_type": "text"}]}, "fields[0].name"),
    ({"fields": [{"name": "x"}]}, "fields[0].native_type"),
    ({"fields": [field(nulable=False)]}, "fields[0].nulable"),
    ({"fields": [field(nullable="no")]}, "fields[0].nullable"),
    ({"fields": [field(position=0)]}, "fields[0].position"),
    ({"fields": [field(position=True)]}, "fields[0].position"),
    ({"fields": [field(position=10**30)]}, "fields[0].position"),
    ({"fields": [field("a", position=1), field("b", position=1)]}, "fields"),
    ({"fields": [field(), field()]}, "fields[1].name"),
    ({"fields": [field("x\0")]}, "fields[0].name"),
    ({"fields": [field("\ud800")]}, "fields[0].name"),
    ({"fields": [field("x" * 1001)]}, "fields[0].name"),
    ({"fields": [field(comment="x" * 100_001)]}, "fields[0].comment"),
    ({"fields": [field(parameters={"values": ["a\0"]})]}, "fields[0].parameters.values[0]"),
    ({"fields": [field(parameters={"n": float("nan")})]}, "fields[0].parameters.n"),
    ({"fields": [field(parameters={"n": 10**400})]}, "fields[0].parameters.n"),
    ({"fields": [field(parameters=[])]}, "fields[0].parameters"),
    ({"fields": [field(generated={"expression": "a"})]}, "fields[0].generated.kind"),
    ({"fields": [field(identity={"kind": 3})]}, "fields[0].identity.kind"),
    ({"kind": "A table", "fields": []}, "kind"),
    ({"fields": [field()], "primary_key": {"columns": ["y"]}}, "primary_key.columns"),
    ({"fields": [field()], "primary_key": {"columns": ["x", "x"]}}, "primary_key.columns"),
    ({"fields": [field()], "unique": [{"columns": ["y"]}]}, "unique[0].columns"),
    ({"fields": [field()], "unique": {"columns": ["x"]}}, "unique"),
    ({"fields": [field()], "unique": [[]]}, "unique[0]"),
    ({"fields": [field()], "foreign_keys": [{"columns": ["x"]}]}, "foreign_keys[0]"),
    (
        {"fields": [field()], "foreign_keys": [{"columns": ["y"], "ref_table": "t"}]},
        "foreign_keys[0].columns",
    ),
    ({"fields": [field()], "attributes": []}, "attributes"),
]


@pytest.mark.parametrize(
    ("document", "path"), REFUSED, ids=lambda value: value if isinstance(value, str) else ""
)
def test_what_is_wrong_is_refused_with_its_path(document, path):
    found = errors(document)
    assert path in found
    assert all(message.endswith(".") for message in found.values())


def test_nesting_and_size_are_bounded():
    deep: Any = field("leaf")
    for n in range(40):
        deep = field(f"n{n}", "struct", fields=[deep])
    assert any(path.count(".fields") == 32 for path in errors({"fields": [deep]}))
    value: Any = 1
    for _ in range(100_000):
        value = [value]
    assert errors({"fields": [field(parameters={"deep": value})]})
    assert "fields" in errors({"fields": [field(str(n)) for n in range(10_001)]})
    assert len(clean({"fields": [field(str(n)) for n in range(10_000)]})["fields"]) == 10_000
    assert len(errors({f"k{n}": 1 for n in range(1000)})) == 50


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["fields", "name", "native_type", "primary_key", "columns", "unique", "foreign_keys", "kind"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@settings(max_examples=200, deadline=None)
@given(document=JSON)
def test_anything_is_either_cleaned_or_refused(document):
    try:
        done = clean(document)
    except DocumentInvalid:
        return
    assert clean(done) == done
    fingerprint(done, catalogue=POSTGRESQL)


ODD = st.sampled_from(
    [
        *(None, "", "a", "é", "\ud800", "\0", "x" * 1_001, 0, 1, -1, 2**31, 2**200, 1.0, float("nan")),
        *(True, False, [], {}, ()),
    ]
)
FIELD_KEYS = sorted(checking._FIELD)


def _closely(monkeypatch, document):
    with monkeypatch.context() as patched:
        patched.setattr(checking, "usual_field", lambda value: None)
        patched.setattr(checking, "usual_json", _refuse)
        return _outcome(document)


def _refuse(value, depth):
    raise checking.UnusualError


def _outcome(document):
    try:
        return repr(clean(document))
    except DocumentInvalid as error:
        return error.errors


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    document=schema_documents("postgresql"), odd=st.dictionaries(st.sampled_from(FIELD_KEYS), ODD, max_size=3)
)
def test_the_quick_look_at_a_field_finds_what_the_close_one_does(monkeypatch, document, odd):
    plain = {"name": "plain", "native_type": "int"}
    for fields in ([*document["fields"], {**plain, **odd}], [{**plain, "parameters": {"p": odd}}]):
        changed = {**document, "fields": fields}
        assert _outcome(changed) == _closely(monkeypatch, changed)


def test_the_quick_look_knows_the_bounds_of_nesting(monkeypatch):
    for depth in range(checking.MAX_DEPTH - 1, checking.MAX_DEPTH + 3):
        value: Any = "x"
        for _ in range(depth):
            value = {"x": value}
        document = {"fields": [field(parameters=value)], "attributes": value}
        assert _outcome(document) == _closely(monkeypatch, document)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(document=schema_documents("postgresql"), order=st.randoms())
def test_the_fingerprint_does_not_depend_on_order_and_names_of_keys(document, order):
    other = copy.deepcopy(document)
    order.shuffle(other["fields"])
    order.shuffle(other["unique"])
    order.shuffle(other["foreign_keys"])
    for key in (*other["unique"], *other["foreign_keys"]):
        key["name"] = "another"
    other["attributes"] = {"partition_count": 99}
    assert fingerprint(document, catalogue=POSTGRESQL) == fingerprint(other, catalogue=POSTGRESQL)


def test_only_what_counts_is_in_the_canonical_form():
    document = clean(
        {
            "schema": "s",
            "name": "t",
            "comment": "",
            "attributes": {"engine": "InnoDB"},
            "fields": [field("b", "int4", hidden=True, native_position=4), field("a", default="NULL")],
            "primary_key": {"name": "k", "columns": ["b"]},
        }
    )
    form = canonical(document, catalogue=POSTGRESQL)
    assert set(form) == {"kind", "comment", "fields", "primary_key", "unique", "foreign_keys"}
    assert form["comment"] is None
    assert form["primary_key"] == ["b"]
    assert form["fields"]["a"]["default"] is None
    assert form["fields"]["b"]["type"]["base"] == {"code": "integer"}
    assert canonical(document, catalogue=POSTGRESQL, positional=True)["order"] == ["b", "a"]


@given(st.lists(st.text(alphabet="ab.\"' é", max_size=4), min_size=1, max_size=4))
def test_field_paths_are_read_back_as_they_were_written(names):
    assert split_path(field_path(names)) == tuple(names)


@pytest.mark.parametrize(
    ("names", "path"), [(["a"], "a"), (["a", "b"], "a.b"), (["a.b"], '"a.b"'), (['a"', ""], '"a""".""')]
)
def test_field_paths(names, path):
    assert field_path(names) == path


@pytest.mark.parametrize("path", ["", ".", "a.", ".a", "a..b", '"a', '"a"b', '"a"'])
def test_what_is_no_field_path_is_refused(path):
    with pytest.raises(ValueError, match="not a field path"):
        split_path(path)


def test_walking_gives_parents_before_their_nested_fields():
    document = clean({"fields": [field("a", "struct", fields=[field("b"), field("c.d")]), field("e")]})
    assert [path for path, _ in walk(document)] == ["a", "a.b", 'a."c.d"', "e"]


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("  A  +  B ", "a+b"),
        ("((a > 0))", "a>0"),
        ("(a) + (b)", "(a)+(b)"),
        ("Concat('A  b', `x`)", "concat('A  b',x)"),
        ('"Total" IS NOT NULL', '"Total" is not null'),
        ("'it''s'", "'it''s'"),
    ],
)
def test_expressions_have_one_spelling(text, normal):
    assert normal_expression(text) == normal
    assert normal_expression(normal) == normal


TOKENS = st.sampled_from(
    [
        "a",
        "Total",
        '"Total"',
        '"a"',
        "`b`",
        "'it''s'",
        "'(x'",
        " ",
        "\n",
        "(",
        ")",
        "+",
        "::",
        "text",
        "NULL",
        "1",
        "now",
        "()",
    ]
)


def test_brackets_around_the_whole_are_left_out_however_many_there_are():
    assert normal_expression("(" * 5_000 + "a" + ")" * 5_000) == "a"
    assert normal_expression("(" * 5_000 + "a" + ")" * 4_999) == "(" * 5_000 + "a" + ")" * 4_999
    assert normal_expression("((a) + (b))") == "(a)+(b)"
    assert normal_expression("((')'))") == "')'"


@given(st.lists(TOKENS, max_size=10).map("".join))
def test_normal_expressions_stay_as_they_are(text):
    assert normal_expression(normal_expression(text)) == normal_expression(text)
    assert normal_default(normal_default(text)) == normal_default(text)


@pytest.mark.parametrize(
    ("text", "renamed"),
    [
        ("(mail IS NOT NULL)", "(email IS NOT NULL)"),
        ("MAIL || 'mail' || x.mail", "email || 'mail' || x.email"),
        ("mail(mail)::mail", "mail(email)::mail"),
        ('"mail" + `mail`', '"email" + `email`'),
    ],
)
def test_columns_are_renamed_in_expressions(text, renamed):
    assert rename_in_expression(text, {"mail": "email"}) == renamed
