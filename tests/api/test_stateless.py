"""Questions that write nothing."""

from __future__ import annotations

import pytest

from tests.factories import api_client, make_document, make_flavor, make_user

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("native", "code", "params", "rendered"),
    [
        ("numeric(12,2)", "numeric", {"precision": 12, "scale": 2}, "numeric(12,2)"),
        ("varchar(20)", "varchar", {"length": 20}, "character varying(20)"),
        ("no_such_type(3)", None, {}, "no_such_type(3)"),
    ],
)
def test_a_native_type_is_read(native, code, params, rendered):
    make_flavor()
    viewer = api_client(make_user("viewer"))
    answer = viewer.post("/api/v1/types/parse", {"flavor": "postgresql", "native_type": native})
    assert answer.status_code == 200
    found = answer.json()
    assert found == {"data_type": code, "type_params": params, "rendered": rendered}


def test_an_unknown_flavor_and_a_stranger_are_refused():
    viewer = api_client(make_user("viewer"))
    assert viewer.post("/api/v1/types/parse", {"flavor": "x", "native_type": "int"}).status_code == 422
    assert api_client().post("/api/v1/types/parse", {}).status_code == 401


@pytest.mark.parametrize(
    ("old", "new", "level", "compatible"),
    [
        ("integer", "bigint", "BACKWARD", True),
        ("integer", "bigint", "FORWARD", False),
        ("bigint", "integer", "BACKWARD", False),
        ("bigint", "integer", "NONE", True),
        ("varchar(20)", "varchar(30)", "BACKWARD", True),
        ("text", "text", "FULL_TRANSITIVE", True),
    ],
)
def test_a_change_is_judged_by_its_level(old, new, level, compatible):
    make_flavor()
    body = {
        "flavor": "postgresql",
        "level": level,
        "before": make_document(("a", old)),
        "after": make_document(("a", new)),
    }
    found = api_client(make_user("viewer")).post("/api/v1/compatibility", body)
    assert found.status_code == 200, found.content
    assert found.json()["compatible"] is compatible
    assert set(found.json()) == {"compatible", "risk", "reasons"}
    assert bool(found.json()["reasons"]) is (old != new)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"level": "backward"}, "level"),
        ({"before": {"fields": [{"name": "a"}]}}, "before.fields"),
        ({"after": []}, "after"),
        ({"flavor": "x"}, "flavor"),
    ],
)
def test_what_cannot_be_judged_is_refused(values, field):
    make_flavor(types=False)
    body = {"flavor": "postgresql", "level": "FULL", "before": make_document(), "after": make_document()}
    answer = api_client(make_user("viewer")).post("/api/v1/compatibility", body | values)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"].startswith(field)


@pytest.mark.parametrize("flavor", ["postgresql", "mariadb", "sqlite", "oracle"])
def test_a_type_with_a_number_of_thousands_of_digits_is_answered(flavor):
    make_flavor(flavor)
    native = f"numeric({'9' * 5000})"
    before = {"fields": [{"name": "a", "native_type": "numeric(10)"}]}
    after = {"fields": [{"name": "a", "native_type": native}]}
    body = {"flavor": flavor, "level": "BACKWARD", "before": before, "after": after}
    assert api_client(make_user("viewer")).post("/api/v1/compatibility", body).status_code == 200
    body |= {"before": after}
    assert api_client(make_user("viewer")).post("/api/v1/compatibility", body).status_code == 200
