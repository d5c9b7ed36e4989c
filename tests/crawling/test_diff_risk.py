"""Each kind of change is rated as the table of risks says, with the rule and a sentence that a steward can use."""

from __future__ import annotations

from typing import Any

import pytest

from crawling.diff import Change, Context, diff
from registry.documents import clean
from registry.seeding import bundled_catalogue


def document(*fields: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return clean({"schema": "s", "name": "t", "fields": list(fields), **rest})


def field(name: str = "x", native: str = "text", **rest: Any) -> dict[str, Any]:
    return {"name": name, "native_type": native, **rest}


def changes(before: Any, after: Any, flavor: str = "postgresql", **rest: Any) -> tuple[Change, ...]:
    return diff(before, after, catalogue=bundled_catalogue(flavor), **rest)


def rated(before: Any, after: Any, flavor: str = "postgresql", **rest: Any) -> list[tuple[str, str]]:
    return [(change.op, change.risk) for change in changes(before, after, flavor, **rest)]


TYPES = [
    ("postgresql", "smallint", "integer", "change_type", "safe"),
    ("postgresql", "integer", "bigint", "change_type", "safe"),
    ("postgresql", "bigint", "integer", "change_type", "breaking"),
    ("postgresql", "integer", "numeric(10,0)", "change_type", "safe"),
    ("postgresql", "integer", "numeric(9,0)", "change_type", "breaking"),
    ("postgresql", "integer", "double precision", "change_type", "safe"),
    ("postgresql", "bigint", "double precision", "change_type", "breaking"),
    ("postgresql", "real", "double precision", "change_type", "safe"),
    ("postgresql", "numeric(12,2)", "numeric(14,2)", "change_parameters", "safe"),
    ("postgresql", "numeric(12,2)", "numeric(12,4)", "change_parameters", "breaking"),
    ("postgresql", "numeric(12,2)", "numeric", "change_parameters", "safe"),
    ("postgresql", "character varying(20)", "varchar(40)", "change_parameters", "safe"),
    ("postgresql", "varchar(40)", "varchar(20)", "change_parameters", "breaking"),
    ("postgresql", "varchar(40)", "text", "change_type", "safe"),
    ("postgresql", "text", "varchar(40)", "change_type", "breaking"),
    ("postgresql", "text", "uuid", "change_type", "breaking"),
    (
        "postgresql",
        "timestamp(3) without time zone",
        "timestamp without time zone",
        "change_parameters",
        "safe",
    ),
    ("postgresql", "timestamp without time zone", "timestamp with time zone", "change_type", "breaking"),
    ("postgresql", "timestamp with time zone", "timestamp without time zone", "change_type", "breaking"),
    ("postgresql", "integer[]", "bigint[]", "change_type", "safe"),
    ("postgresql", "bigint[]", "integer[]", "change_type", "breaking"),
    ("postgresql", "geometry(Point,4326)", "geometry(Point,3857)", "change_parameters", "breaking"),
    ("mariadb", "int(11)", "bigint(20)", "change_type", "safe"),
    ("mariadb", "int(10) unsigned", "int(11)", "change_parameters", "breaking"),
    ("mariadb", "varchar(20)", "varchar(10)", "change_parameters", "breaking"),
]


@pytest.mark.parametrize(("flavor", "old", "new", "op", "risk"), TYPES)
def test_a_type_change_is_safe_only_when_every_old_value_fits(flavor, old, new, op, risk):
    assert rated(document(field(native=old)), document(field(native=new)), flavor) == [(op, risk)]


SPELLINGS = [
    ("postgresql", "int4", "integer"),
    ("postgresql", "varchar(20)", "character varying(20)"),
    ("postgresql", "decimal(10,2)", "numeric(10, 2)"),
    ("postgresql", "timestamptz", "timestamp with time zone"),
    ("mariadb", "int(11)", "int(4)"),
    ("mariadb", "tinyint(1)", "tinyint(4)"),
    ("sqlite", "VARCHAR( 20 )", "varchar(20)"),
]


@pytest.mark.parametrize(("flavor", "old", "new"), SPELLINGS)
def test_another_spelling_of_a_type_is_no_change(flavor, old, new):
    assert rated(document(field(native=old)), document(field(native=new)), flavor) == []


DEFAULTS = [
    ("'x'::character varying", "'x'::text"),
    ("now()", "CURRENT_TIMESTAMP"),
    ("current_timestamp()", "CURRENT_TIMESTAMP"),
    ("(1 + 2)", "1+2"),
    ("'-1'::integer", "-1"),
    (None, "NULL::character varying"),
    ("nextval('a_seq'::regclass)", "nextval('public.a_seq'::regclass)"),
]


@pytest.mark.parametrize(("old", "new"), DEFAULTS)
def test_another_spelling_of_a_default_is_no_change(old, new):
    assert rated(document(field(default=old)), document(field(default=new))) == []


@pytest.mark.parametrize(("old", "new"), [("'x'", "'X'"), ("0", "1"), (None, "0"), ("'a b'", "'a  b'")])
def test_another_default_is_a_safe_change(old, new):
    assert rated(document(field(default=old)), document(field(default=new))) == [("change_default", "safe")]


def test_order_attributes_and_names_of_keys_are_no_change():
    keys = {"primary_key": {"name": "k", "columns": ["x"]}, "unique": [{"name": "u", "columns": ["x", "y"]}]}
    other = {"primary_key": {"name": "l", "columns": ["x"]}, "unique": [{"name": "v", "columns": ["y", "x"]}]}
    before = document(field("x"), field("y"), attributes={"partition_count": 1}, **keys)
    after = document(field("y"), field("x"), attributes={"partition_count": 9}, **other)
    assert rated(before, after) == []


def test_restrict_is_no_action_only_where_the_server_makes_no_difference():
    def with_rule(rule: str) -> dict[str, Any]:
        key = {"columns": ["x"], "ref_schema": "s", "ref_table": "p", "ref_columns": ["i"], "on_delete": rule}
        return document(field(), foreign_keys=[key])

    assert rated(with_rule("RESTRICT"), with_rule("NO ACTION"), "mariadb") == []
    assert rated(with_rule("RESTRICT"), with_rule("NO ACTION")) == [("change_foreign_key", "safe")]


def test_defaults_that_mariadb_invents_for_views_are_no_change():
    before, after = document(field(default="0"), kind="view"), document(field(default=None), kind="view")
    assert rated(before, after, "mariadb") == []
    assert rated(before, after) == [("change_default", "safe")]


@pytest.mark.parametrize(
    ("rest", "risk"),
    [
        ({"nullable": True}, "safe"),
        ({"nullable": False, "default": "0"}, "safe"),
        ({"nullable": False}, "risky"),
        ({"nullable": False, "identity": {"kind": "always"}}, "safe"),
        ({"nullable": False, "generated": {"kind": "stored", "expression": "1"}}, "safe"),
    ],
)
def test_an_added_column_is_risky_when_writers_must_fill_it(rest, risk):
    assert rated(document(), document(field(**rest))) == [("add_field", risk)]


def test_a_new_dataset_is_one_safe_change_with_the_whole_document():
    after = document(field())
    (change,) = changes(None, after)
    assert (change.op, change.risk, change.after) == ("add_dataset", "safe", after)


def test_a_dropped_dataset_is_one_breaking_change_that_tells_readers_and_tags():
    context = Context(readers={"s.t": 2}, pii={("s.t", "x"): ("email",)})
    (change,) = changes(document(field()), None, context=context)
    assert (change.op, change.risk, change.touches_pii) == ("drop_dataset", "breaking", True)
    assert "2 readers are known." in change.why
    assert "The PII tag email goes with it." in change.why


def test_a_dropped_column_tells_readers_and_tags():
    context = Context(readers={("s.t", "x"): 1}, pii={("s.t", "x"): ("email", "phone")})
    (change,) = changes(document(field(), field("y")), document(field("y")), context=context)
    assert (change.op, change.risk, change.touches_pii) == ("drop_field", "breaking", True)
    assert change.why == (
        "Whoever reads the column will fail. One reader is known. The PII tags email, phone go with it."
    )


def test_nullability_depends_on_known_readers():
    required, optional = document(field(nullable=False)), document(field(nullable=True))
    assert rated(optional, required) == [("change_nullable", "risky")]
    assert rated(required, optional) == [("change_nullable", "safe")]
    for readers in ({("s.t", "x"): 1}, {"s.t": 1}):
        assert rated(required, optional, context=Context(readers=readers)) == [("change_nullable", "risky")]
    elsewhere = Context(readers={("s.t", "y"): 1})
    assert rated(required, optional, context=elsewhere) == [("change_nullable", "safe")]


def test_a_type_and_a_nullability_change_are_two_changes():
    before, after = document(field(native="integer")), document(field(native="bigint", nullable=False))
    assert rated(before, after) == [("change_type", "safe"), ("change_nullable", "risky")]


@pytest.mark.parametrize(
    ("key", "old", "new", "op", "risk"),
    [
        ("comment", None, "note", "change_comment", "safe"),
        ("generated", None, {"kind": "stored", "expression": "a"}, "change_generated", "risky"),
        ("identity", None, {"kind": "always"}, "change_identity", "risky"),
        ("on_update", None, "current_timestamp()", "change_on_update", "risky"),
    ],
)
def test_other_properties_of_a_column(key, old, new, op, risk):
    assert rated(document(field(**{key: old})), document(field(**{key: new}))) == [(op, risk)]


def test_a_widened_identity_column_is_one_change():
    def numbered(native: str, most: int) -> dict[str, Any]:
        rule = {
            "kind": "always",
            "start": 1,
            "increment": 1,
            "min": 1,
            "max": most,
            "cycle": False,
            "cache": 1,
        }
        return document(field(native=native, identity=rule))

    assert rated(numbered("integer", 2**31 - 1), numbered("bigint", 2**63 - 1)) == [("change_type", "safe")]


@pytest.mark.parametrize(
    ("old", "new", "risk", "rule"),
    [
        (["a", "b"], ["a", "b", "c"], "safe", "enum_added"),
        (["a", "b"], ["a", "x", "b"], "safe", "enum_added"),
        (["a", "b", "c"], ["a", "b"], "risky", "enum_removed"),
        (["a", "b"], ["b", "a"], "risky", "enum_reordered"),
        (["a", "b"], ["a", "c"], "risky", "enum_removed"),
    ],
)
@pytest.mark.parametrize("flavor", ["postgresql", "mariadb"])
def test_enum_values(flavor, old, new, risk, rule):
    def chosen(values: list[str]) -> dict[str, Any]:
        if flavor == "mariadb":
            return document(
                field(native=f"enum({','.join(repr(v) for v in values)})", parameters={"values": values})
            )
        return document(field(native="lvl", type_name="lvl", type_kind="enum", parameters={"values": values}))

    (change,) = changes(chosen(old), chosen(new), flavor)
    assert (change.op, change.risk, change.rule) == ("change_parameters", risk, rule)


def test_the_gravest_aspect_of_a_parameter_change_counts():
    def text(length: int, collation: str) -> dict[str, Any]:
        parameters = {"length": length, "charset": "utf8mb4", "collation": collation}
        return document(field(native=f"varchar({length})", type_name="varchar", parameters=parameters))

    assert rated(text(9, "utf8mb4_general_ci"), text(9, "utf8mb4_bin"), "mariadb") == [
        ("change_parameters", "risky")
    ]
    assert rated(text(9, "a_ci"), text(20, "b_ci"), "mariadb") == [("change_parameters", "risky")]
    assert rated(text(9, "a_ci"), text(8, "b_ci"), "mariadb") == [("change_parameters", "breaking")]


def test_values_and_collations_are_read_from_the_spelling_too():
    def chosen(native: str) -> dict[str, Any]:
        return document(field(native=native))

    assert rated(chosen("enum('a','b')"), chosen("enum('a','b','c')"), "mariadb") == [
        ("change_parameters", "safe")
    ]
    assert rated(chosen("enum('a','b')"), chosen("enum('a')"), "mariadb") == [("change_parameters", "risky")]


def test_the_usual_character_set_and_its_collation_may_be_told_or_not():
    told = {"length": 9, "charset": "utf8mb4", "collation": "utf8mb4_general_ci"}
    before = document(field(native="varchar(9)", type_name="varchar", parameters=told))
    assert rated(before, document(field(native="varchar(9)")), "mariadb") == []
    assert rated(before, document(field(native="varchar(19)")), "mariadb") == [("change_parameters", "safe")]


@pytest.mark.parametrize(
    ("old", "new", "risk"),
    [
        ("view", "materialized_view", "risky"),
        ("materialized_view", "view", "risky"),
        ("table", "view", "breaking"),
        ("table", "partitioned_table", "breaking"),
    ],
)
def test_kinds(old, new, risk):
    assert rated(document(field(), kind=old), document(field(), kind=new)) == [("change_kind", risk)]


def test_keys():
    key = {"name": "f", "columns": ["x"], "ref_schema": "s", "ref_table": "p", "ref_columns": ["i"]}
    plain, linked = document(field()), document(field(), foreign_keys=[key])
    cascading = document(field(), foreign_keys=[{**key, "on_delete": "CASCADE"}])
    elsewhere = document(field(), foreign_keys=[{**key, "ref_table": "q"}])
    unique = document(field(), unique=[{"name": "u", "columns": ["x"]}])
    primary = document(field(nullable=False), primary_key={"name": "k", "columns": ["x"]})
    assert rated(plain, linked) == [("change_foreign_key", "safe")]
    assert rated(linked, cascading) == [("change_foreign_key", "safe")]
    assert rated(linked, elsewhere) == [("change_foreign_key", "risky")]
    assert rated(linked, plain) == [("change_foreign_key", "risky")]
    assert rated(plain, unique) == [("add_unique", "risky")]
    assert rated(unique, plain) == [("drop_unique", "breaking")]
    assert rated(document(field(nullable=False)), primary) == [("change_primary_key", "breaking")]


def test_in_a_positional_file_the_order_of_columns_is_breaking():
    before, after = document(field("x"), field("y")), document(field("y"), field("x"))
    assert rated(before, after, positional=True) == [("change_position", "breaking")]
    longer = document(field("x"), field("y"), field("z"))
    assert rated(before, longer, positional=True) == [("add_field", "safe")]


def test_an_unknown_type_is_compared_by_its_spelling():
    assert rated(document(field(native="box3d")), document(field(native="BOX3D"))) == []
    assert rated(document(field(native="frobs(1)")), document(field(native="frobs(2)"))) == [
        ("change_parameters", "breaking")
    ]


def _domain(native_base: str, **said: Any) -> dict[str, Any]:
    parameters = {"base_type": native_base, "not_null": False, "default": None, "checks": [], **said}
    return field(
        native="d", type_name="d", type_schema="public", type_kind="domain", parameters=parameters,
        nullable=not parameters["not_null"],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("after", "op", "risk"),
    [
        (_domain("text", not_null=True), "change_parameters", "risky"),
        (_domain("text", default="'x'::text"), "change_parameters", "safe"),
        (_domain("text", not_null=True, default="'x'::text"), "change_parameters", "risky"),
        (
            _domain("text", checks=[{"name": "c", "definition": "CHECK (VALUE <> '')"}]),
            "change_parameters",
            "risky",
        ),
        (_domain("varchar(9)", default="'x'::text"), "change_type", "breaking"),
    ],
)
def test_a_domain_is_rated_aspect_by_aspect(after, op, risk):
    assert dict(rated(document(_domain("text")), document(after)))[op] == risk
