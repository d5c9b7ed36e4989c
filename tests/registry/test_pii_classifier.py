"""What the classifier says of single columns, and why: names, types, tables, comments, rules of admins."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.pii import (
    NAME_ONLY_CAP,
    Column,
    Evidence,
    Rule,
    RuleInvalid,
    RuleSet,
    Suggestion,
    classify,
    default_rules,
    read_language,
    read_rule,
)
from registry.pii.kinds import family_of
from registry.pii.tokens import split


def one(table: str, name: str, native_type: str = "", **more: object) -> list[Suggestion]:
    return classify([Column(table, name, native_type, **more)])[0]  # type: ignore[arg-type]


def tag(table: str, name: str, native_type: str = "", **more: object) -> str:
    found = one(table, name, native_type, **more)
    return found[0].tag if found else ""


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("first_name", ("first", "name")),
        ("firstName", ("first", "name")),
        ("first-name", ("first", "name")),
        ("FIRST NAME", ("first", "name")),
        ("homeAddress_2", ("home", "address", "2")),
        ("IPAddress", ("ip", "address")),
        ("userID", ("user", "id")),
        ("Geburtsdatum", ("geburtsdatum",)),
        ("Straße", ("strasse",)),
        ("prénom", ("prenom",)),
        ("płeć", ("plec",)),
        ("", ()),
    ],
)
def test_a_name_is_split_into_words(name: str, words: tuple[str, ...]) -> None:
    assert split(name) == words


@pytest.mark.parametrize(
    ("table", "name", "native", "expected"),
    [
        # The same thing in many spellings and languages.
        ("customers", "EmailAddress", "text", "email"),
        ("customers", "custemail", "text", "email"),
        ("t1", "dateofbirth", "date", "birth_date"),
        ("t1", "dob", "date", "birth_date"),
        ("kunden", "geburtsdatum", "date", "birth_date"),
        ("clients", "date_naissance", "date", "birth_date"),
        ("clientes", "fechaNacimiento", "date", "birth_date"),
        ("clienti", "data_di_nascita", "date", "birth_date"),
        ("clientes", "dt_nascimento", "date", "birth_date"),
        ("klanten", "geboortedatum", "date", "birth_date"),
        ("klienci", "data_urodzenia", "date", "birth_date"),
        ("pelanggan", "tgl_lahir", "date", "birth_date"),
        ("musteriler", "dogum_tarihi", "date", "birth_date"),
        ("khach_hang", "ngay_sinh", "date", "birth_date"),
        ("clienti", "data_nasterii", "date", "birth_date"),
        ("wateja", "tarehe_ya_kuzaliwa", "date", "birth_date"),
        ("zakaznici", "datum_narozeni", "date", "birth_date"),
        ("klienty", "data_rozhdeniya", "date", "birth_date"),
        # The table decides about a bare name.
        ("customers", "name", "text", "person_name"),
        ("products", "name", "text", ""),
        ("user_groups", "name", "text", ""),
        ("suppliers", "name", "text", ""),
        ("suppliers", "contact_name", "text", "person_name"),
        ("suppliers", "phone", "text", ""),
        ("employees", "phone", "text", "phone"),
        ("servers", "ip_address", "inet", ""),
        ("visits", "ip_address", "inet", "online_id"),
        ("warehouses", "city", "text", ""),
        ("email_addresses", "address", "text", "email"),
        # The type decides about what is only about a personal thing.
        ("users", "email", "boolean", ""),
        ("users", "phone", "tinyint(1)", ""),
        ("users", "notify_password", "interval", ""),
        ("users", "email", "varchar(1)", ""),
        # Words that speak against it.
        ("tickets", "season_pass", "text", ""),
        ("users", "user_pass", "text", "credential"),
        ("users", "email_verified", "varchar(5)", ""),
        ("users", "phone_count", "integer", ""),
        ("users", "password_changed_at", "timestamp", ""),
        ("users", "address_id", "integer", ""),
        ("users", "gender_type", "varchar(10)", ""),
        ("files", "filename", "text", ""),
        ("models", "classname", "text", ""),
        ("stats", "cardinality", "integer", ""),
        ("jobs", "discarded_at", "timestamp", ""),
        ("terms", "latest", "text", ""),
        # The same word in two languages: the other words of the table tell which.
        ("cours", "nombre_heures", "integer", ""),
        ("alumnos", "nombre", "varchar(50)", "person_name"),
    ],
)
def test_a_column_is_suspected_of(table: str, name: str, native: str, expected: str) -> None:
    assert tag(table, name, native) == expected


def test_columns_of_a_table_help_each_other_in_any_order() -> None:
    columns = [Column("t42", "name", "text"), Column("t42", "vorname", "text"), Column("t43", "name", "text")]
    forwards = classify(columns)
    assert [bool(each) for each in forwards] == [True, True, False]
    assert classify(columns[::-1]) == forwards[::-1]
    assert "as its columns tell" in forwards[0][0].evidence


def test_a_name_alone_is_marked_and_capped() -> None:
    (found,) = one("t1", "password_hash")
    assert (found.name_only, found.confidence) == (True, NAME_ONLY_CAP)
    assert "Nothing else speaks for it." in found.evidence
    (typed,) = one("t1", "password_hash", "text")
    assert not typed.name_only
    assert typed.confidence > found.confidence


def test_the_evidence_names_what_was_found() -> None:
    (found,) = one("customers", "eMail_addr", "varchar(80)", comment="Private e-mail")
    assert found.evidence == (
        "The name has “e mail addr”: an e-mail address. The type varchar(80) holds text. "
        "The table customers is about people. The comment has “e mail”."
    )
    assert (found.rule, found.rule_version) == ("email.address", "1")


def test_a_short_comment_speaks_where_the_name_is_silent() -> None:
    (found,) = one("t1", "c017", "text", comment="Geburtsdatum des Kunden")
    assert found.tag == "birth_date"
    assert found.confidence < 0.75
    assert (
        one("t1", "c017", "text", comment="Whether the e-mail was verified by the customer at log-in") == []
    )
    assert one("t1", "c017", "boolean", comment="E-mail verified") == []


def test_a_language_that_is_told_decides() -> None:
    assert tag("t1", "ort", "text") == ""
    assert tag("t1", "ort", "text", language="de") == "address"


def test_values_raise_lower_and_speak_for_themselves() -> None:
    plain = one("t1", "email", "text")[0]
    good = one("t1", "email", "text", values=Evidence(100, {"email": 98}))[0]
    assert good.confidence > plain.confidence
    assert "98 of 100 sampled values look like an e-mail address." in good.evidence
    assert one("t1", "email", "text", values=Evidence(100, {"email": 2})) == []
    (alone,) = one("t1", "c017", "text", values=Evidence(50, {"iban": 50}))
    assert (alone.tag, alone.rule, alone.name_only) == ("financial", "values.iban", False)
    assert one("t1", "c017", "text", values=Evidence(3, {"iban": 3})) == []


def test_rules_are_switched_off_and_extended() -> None:
    rules = default_rules()
    badge = read_rule(
        {
            "code": "own.badge",
            "tag": "identifier",
            "title": "a badge",
            "words": ["turnstile chip"],
            "vetoes": ["color"],
        }
    )
    own = rules.extended([badge])
    asked = [Column("t1", "turnstileChip_no", "text"), Column("t1", "turnstile_chip_color", "text")]
    assert [[each.rule for each in found] for found in classify(asked, rules=own)] == [["own.badge"], []]
    assert classify([Column("t1", "email")], rules=rules.without(["email.address", "no.such"])) == [[]]
    versions = {rules.version, own.version, rules.without(["email.address"]).version}
    assert len(versions) == 3
    assert rules.extended([]).version == rules.version
    assert own.extended([read_rule({"code": "own.badge", "tag": "photo", "words": ["x"]})]).rule(
        "own.badge"
    ) == (Rule("own.badge", "photo", words=("x",)))


@pytest.mark.parametrize(
    "data",
    [
        None,
        {"tag": "email", "words": ["x"]},
        {"code": "a", "tag": "email"},
        {"code": "a", "tag": "email", "words": ["x"], "confidence": 2},
        {"code": "a", "tag": "email", "words": ["x"], "confidence": "high"},
        {"code": "a", "tag": "email", "words": [1]},
        {"code": "a", "tag": "email", "words": ["x"], "types": ["txt"]},
        {"code": "a", "tag": "email", "words": ["x"], "only": ["person", "martians"]},
        {"code": "a", "tag": "email", "words": ["x"], "weight": 1},
    ],
)
def test_a_rule_that_is_written_wrong_is_refused(data: object) -> None:
    with pytest.raises(RuleInvalid):
        read_rule(data)


@pytest.mark.parametrize("data", [None, {"language": "xx"}, {"language": "xx", "words": {"name": "a, ?"}}])
def test_words_that_are_written_wrong_are_refused(data: object) -> None:
    with pytest.raises(RuleInvalid):
        read_language(data)


def test_every_rule_looks_for_concepts_that_some_language_has() -> None:
    rules = default_rules()
    known = {sense.concept for language in rules.languages for sense in language.senses}
    wanted = {
        (rule.code, concept)
        for rule in rules.rules
        for each in (*rule.concepts, rule.unless, rule.despite)
        for concept in each
    }
    assert {pair for pair in wanted if pair[1] not in known} == set()
    assert set(rules.vetoes) <= known


@pytest.mark.parametrize(
    ("native", "family"),
    [
        ("character varying(20)", "text"),
        ("VARCHAR2(30 CHAR)", "text"),
        ("char(1)", "letter"),
        ("tinyint(1)", "flag"),
        ("bit", "flag"),
        ("int(11) unsigned", "integer"),
        ("NUMBER(10,2)", "number"),
        ("timestamp(6) with time zone", "moment"),
        ("datetime2(7)", "moment"),
        ("Nullable(String)", "text"),
        ("text[]", "array"),
        ("array<string>", "array"),
        ("enum('a','b')", "choice"),
        ("inet", "network"),
        ("geometry(Point,4326)", "place"),
        ("my_domain", ""),
        ("", ""),
    ],
)
def test_native_types_fall_into_families(native: str, family: str) -> None:
    assert family_of(native) == family


@given(st.lists(st.builds(Column, *[st.text(max_size=40)] * 5), max_size=8))
def test_any_names_get_an_answer_of_a_fixed_shape(columns: list[Column]) -> None:
    answers = classify(columns)
    assert len(answers) == len(columns)
    for found in answers:
        assert [each.confidence for each in found] == sorted(
            (each.confidence for each in found), reverse=True
        )
        assert len({each.tag for each in found}) == len(found)
        for each in found:
            assert 0 < each.confidence <= 0.99
            assert not each.name_only or each.confidence <= NAME_ONLY_CAP


def test_an_empty_rule_set_says_nothing() -> None:
    assert classify([Column("users", "email", "text")], rules=RuleSet("0", ())) == [[]]
