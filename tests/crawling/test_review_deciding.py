"""Deciding and applying: drafts, requirements, staleness, carrying over, excluding."""

from __future__ import annotations

from typing import Any

import pytest

from crawling.models import Change, Draft, Mute, Proposal
from registry.models import DatasetSchema
from tests.flows.desk import API, Desk, brief
from tests.flows.sources import Source, sqlite_source

SOURCE = """
CREATE TABLE parts (id integer NOT NULL PRIMARY KEY, name varchar(50), colour varchar(20));
CREATE TABLE bins (id integer NOT NULL PRIMARY KEY, part_id integer);
"""


@pytest.fixture
def source(tmp_path: Any, type_catalogues: None) -> Source:
    source = sqlite_source(tmp_path / "parts.sqlite3")
    source.execute(SOURCE)
    return source


@pytest.fixture
def desk(source: Source) -> Desk:
    desk = Desk(source.system())
    desk.decide(desk.crawl(), approve="all")
    return desk


def _decide(desk: Desk, proposal: dict[str, Any], **body: Any) -> Any:
    return desk.by_steward.post(f"{API}/proposals/{proposal['id']}/decide", body, format="json")


def _apply(desk: Desk, proposal: dict[str, Any]) -> Any:
    return desk.by_steward.post(f"{API}/proposals/{proposal['id']}/apply", {}, format="json")


def test_drafts_take_effect_only_when_applied(desk: Desk, source: Source) -> None:
    source.execute("ALTER TABLE parts ADD size integer; ALTER TABLE parts ADD shape text;")
    desk.crawl()
    (proposal,) = desk.proposals()
    size, shape = (
        next(each for each in proposal["changes"] if each["path"]["field"] == name)
        for name in ("size", "shape")
    )
    answer = _decide(
        desk, proposal, approve=[size["id"]], reject=[{"id": shape["id"], "reason": "no"}], comment="ok"
    )
    assert answer.status_code == 200
    states = {each["path"]["field"]: each["decision"] for each in answer.json()["changes"]}
    assert (states["size"]["state"], states["size"]["by"]) == ("approved", desk.steward.email)
    assert (states["shape"]["state"], states["shape"]["reason"]) == ("rejected", "no")
    assert desk.schema("main.parts")["version"] == 1
    answer = _apply(desk, proposal)
    assert answer.status_code == 200
    assert answer.json()["applied"] == [
        {"dataset_id": desk.dataset("main.parts")["id"], "version_num": 2, "change_ids": [size["id"]]}
    ]
    assert answer.json()["rejected"] == [{"change_id": shape["id"], "reason": "no", "mode": "mute"}]
    assert Draft.objects.count() == 0
    empty = {"applied": [], "waiting": [], "stale": [], "rejected": [], "failed": []}
    assert _apply(desk, proposal).json() == empty


def test_nothing_to_decide_is_an_empty_answer(desk: Desk) -> None:
    run = desk.crawl()
    empty = {"applied": [], "waiting": [], "stale": [], "rejected": [], "failed": []}
    assert desk.decide(run, approve="all") == empty
    assert desk.decide(run) == empty


def test_a_later_note_on_a_change_replaces_the_earlier_one(desk: Desk, source: Source) -> None:
    source.execute("ALTER TABLE parts ADD size integer;")
    desk.crawl()
    (proposal,) = desk.proposals()
    (change,) = proposal["changes"]
    _decide(desk, proposal, approve=[change["id"]])
    _decide(desk, proposal, reject=[{"id": change["id"], "reason": "changed my mind", "mode": "once"}])
    assert [each["mode"] for each in _apply(desk, proposal).json()["rejected"]] == ["once"]
    assert desk.schema("main.parts")["version"] == 1


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"approve": [10**9]}, 404, "CHANGE_NOT_FOUND"),
        ({"approve": "everything"}, 422, "VALIDATION_ERROR"),
        ({"approve": [True]}, 422, "VALIDATION_ERROR"),
        ({"approve": {"id": 1}}, 422, "VALIDATION_ERROR"),
        ({"reject": [{"id": "x", "reason": "r"}]}, 422, "VALIDATION_ERROR"),
        ({"reject": "all"}, 422, "VALIDATION_ERROR"),
        ({"reject": [{"id": 10**9, "reason": "r"}]}, 404, "CHANGE_NOT_FOUND"),
        ({"reject": [{"reason": "r"}]}, 422, "VALIDATION_ERROR"),
        ({"comment": ["x"]}, 422, "VALIDATION_ERROR"),
        ([], 422, "VALIDATION_ERROR"),
    ],
)
def test_a_decision_that_cannot_be_is_refused_whole(
    desk: Desk, source: Source, body: Any, status: int, code: str
) -> None:
    source.execute("ALTER TABLE parts ADD size integer;")
    run = desk.crawl()
    (proposal,) = desk.proposals()
    for path in (f"proposals/{proposal['id']}/decide", f"crawl-runs/{run['id']}/decide-and-apply"):
        answer = desk.by_steward.post(f"{API}/{path}", body, format="json")
        assert (answer.status_code, answer.json()["error_code"]) == (status, code), answer.json()
    assert Draft.objects.count() == 0


def test_a_rejection_needs_a_reason_and_a_change_has_one_verdict(desk: Desk, source: Source) -> None:
    source.execute("ALTER TABLE parts ADD size integer;")
    desk.crawl()
    (proposal,) = desk.proposals()
    change = proposal["changes"][0]["id"]
    for reject in ([{"id": change}], [{"id": change, "reason": "  "}]):
        answer = _decide(desk, proposal, reject=reject)
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "reject")
    twice = _decide(desk, proposal, approve=[change], reject=[{"id": change, "reason": "no"}])
    assert twice.status_code == 422
    twice = _decide(desk, proposal, reject=[{"id": change, "reason": "no"}, {"id": change, "reason": "no"}])
    assert twice.status_code == 422


def test_a_change_goes_only_with_those_it_requires(desk: Desk, source: Source) -> None:
    source.execute("ALTER TABLE parts ADD code text; CREATE UNIQUE INDEX one_code ON parts (code);")
    run = desk.crawl()
    changes = {each["op"]: each for each in desk.changes()}
    assert set(changes) == {"add_field", "add_unique"}
    assert changes["add_unique"]["requires"] == [changes["add_field"]["id"]]
    body = {"approve": [changes["add_unique"]["id"]]}
    answer = desk.by_steward.post(f"{API}/crawl-runs/{run['id']}/decide-and-apply", body, format="json")
    assert (answer.status_code, answer.json()["error_code"]) == (422, "VALIDATION_ERROR")
    body["reject"] = [{"id": changes["add_field"]["id"], "reason": "no"}]
    answer = desk.by_steward.post(f"{API}/crawl-runs/{run['id']}/decide-and-apply", body, format="json")
    assert answer.status_code == 422
    outcome = desk.decide(run, reject=[{"id": changes["add_field"]["id"], "reason": "no"}], approve="all")
    assert outcome["applied"] == [], "what needs the rejected one is left open"
    assert len(outcome["rejected"]) == 1
    desk.crawl()
    assert desk.changes() == [], "what needs a muted one is not asked about"


def test_all_never_takes_what_is_rejected_in_the_same_call(desk: Desk, source: Source) -> None:
    source.execute("ALTER TABLE parts ADD size integer; ALTER TABLE parts ADD shape text;")
    run = desk.crawl()
    shape = next(each for each in desk.changes() if each["path"]["field"] == "shape")
    outcome = desk.decide(run, approve="all", reject=[{"id": shape["id"], "reason": "no"}])
    assert len(outcome["rejected"]) == 1
    assert [len(each["change_ids"]) for each in outcome["applied"]] == [1]
    assert {f["name"] for f in desk.schema("main.parts")["fields"]} == {"id", "name", "colour", "size"}


def test_safe_takes_the_safe_ones_only(desk: Desk, source: Source) -> None:
    source.execute(
        "ALTER TABLE parts ADD size integer; ALTER TABLE parts DROP colour; CREATE TABLE racks (id integer);"
    )
    outcome = desk.decide(desk.crawl(), approve="safe")
    assert sum(len(each["change_ids"]) for each in outcome["applied"]) == 2
    assert outcome["waiting"] == []
    assert {(each["op"], each["decision"]["state"]) for each in desk.changes()} == {("drop_field", "open")}
    (left,) = desk.proposals()
    assert left["status"] == "partly_applied"


def test_a_change_from_which_the_registry_moved_away_is_stale(desk: Desk, source: Source) -> None:
    source.execute("ALTER TABLE parts ADD size integer; ALTER TABLE parts DROP colour;")
    run = desk.crawl()
    changes = {each["op"]: each for each in desk.changes()}
    document = _document(desk, "main.parts")
    document["fields"] = [field for field in document["fields"] if field["name"] != "colour"]
    body = {"dataset_id": desk.dataset("main.parts")["id"], "document": document}
    answer = desk.by_engineer.post(f"{API}/dataset-schemas", body, format="json")
    assert answer.status_code == 201, answer.content

    outcome = desk.decide(run, approve="all")
    assert [each["change_id"] for each in outcome["stale"]] == [changes["drop_field"]["id"]]
    assert [each["change_ids"] for each in outcome["applied"]] == [[changes["add_field"]["id"]]], (
        "that another change moved the version makes nothing stale"
    )
    (stale,) = desk.changes()
    assert stale["decision"]["state"] == "stale"
    answer = desk.by_steward.post(
        f"{API}/crawl-runs/{run['id']}/decide-and-apply", {"approve": [stale["id"]]}, format="json"
    )
    assert (answer.status_code, answer.json()["error_code"]) == (409, "STALE_CHANGE")
    desk.crawl()
    assert desk.proposals() == [], "the next crawl finds nothing left to ask"


def test_a_change_decided_meanwhile_is_refused(desk: Desk, source: Source) -> None:
    source.execute("ALTER TABLE parts ADD size integer;")
    run = desk.crawl()
    (change,) = desk.changes()
    desk.decide(run, approve="all")
    body = {"approve": [change["id"]]}
    path = f"{API}/proposals/{Change.objects.get(pk=change['id']).proposal_id}/decide"
    answer = desk.by_steward.post(path, body, format="json")
    assert (answer.status_code, answer.json()["error_code"]) == (409, "STALE_CHANGE")


def test_drafts_go_over_to_the_proposal_that_supersedes(desk: Desk, source: Source) -> None:
    source.execute("ALTER TABLE parts ADD size integer; ALTER TABLE parts ADD shape text;")
    desk.crawl()
    (first,) = desk.proposals()
    size = next(each for each in first["changes"] if each["path"]["field"] == "size")
    _decide(desk, first, approve=[size["id"]], comment="fine")
    source.execute("ALTER TABLE parts ADD volume integer;")
    desk.crawl()
    (second,) = desk.proposals()
    assert second["id"] != first["id"]
    old = desk.by_steward.get(f"{API}/proposals/{first['id']}").json()
    assert (old["status"], old["superseded_by_id"]) == ("superseded", second["id"])
    decisions = {each["path"]["field"]: each["decision"] for each in second["changes"]}
    assert {name: each["state"] for name, each in decisions.items()} == {
        "size": "approved",
        "shape": "open",
        "volume": "open",
    }
    assert decisions["size"]["by"] == desk.steward.email
    answer = _decide(desk, first, approve=[size["id"]])
    assert (answer.status_code, answer.json()["error_code"]) == (409, "STALE_CHANGE")


def test_an_unchanged_finding_keeps_its_proposal(desk: Desk, source: Source) -> None:
    source.execute("ALTER TABLE parts ADD size integer;")
    desk.crawl()
    (first,) = desk.proposals()
    run = desk.crawl()
    (same,) = desk.proposals()
    assert same["id"] == first["id"]
    outcome = desk.decide(run, approve="all")
    assert len(outcome["applied"]) == 1, "a later run that found the same decides it too"


def test_what_went_back_at_the_source_is_superseded(desk: Desk, source: Source) -> None:
    source.execute("ALTER TABLE parts ADD size integer;")
    desk.crawl()
    source.execute("ALTER TABLE parts DROP size;")
    desk.crawl()
    assert desk.proposals() == []
    assert Proposal.objects.filter(status="superseded").count() == 1


def test_an_excluded_table_is_not_looked_at_again(desk: Desk, source: Source) -> None:
    source.execute("CREATE TABLE scratch (id integer);")
    run = desk.crawl()
    (change,) = desk.changes()
    desk.decide(run, reject=[{"id": change["id"], "reason": "Temporary", "mode": "exclude"}])
    source.execute("ALTER TABLE scratch ADD more text;")
    desk.crawl()
    assert desk.proposals() == []
    source.execute("DROP TABLE scratch;")
    desk.crawl()
    source.execute("CREATE TABLE scratch (id integer, other text);")
    desk.crawl()
    assert desk.proposals() == []
    assert Mute.objects.get().mode == "exclude"


def test_a_muted_difference_is_asked_about_again_when_it_went_and_came(desk: Desk, source: Source) -> None:
    source.execute("ALTER TABLE parts ADD size integer;")
    run = desk.crawl()
    (change,) = desk.changes()
    desk.decide(run, reject=[{"id": change["id"], "reason": "no"}])
    source.execute("ALTER TABLE parts DROP size;")
    desk.crawl()
    assert Mute.objects.get().lifted_at is not None
    source.execute("ALTER TABLE parts ADD size integer;")
    desk.crawl()
    assert brief(desk.changes()) == {("add_field", "size", "safe")}


def test_rejecting_everything_closes_the_proposal_as_rejected(desk: Desk, source: Source) -> None:
    source.execute("ALTER TABLE parts ADD size integer;")
    run = desk.crawl()
    (change,) = desk.changes()
    desk.decide(run, reject=[{"id": change["id"], "reason": "no"}])
    proposal = Proposal.objects.get(changes=change["id"])
    assert proposal.status == "rejected"
    assert DatasetSchema.objects.filter(dataset__name="main.parts").count() == 1


def test_one_broken_dataset_does_not_hold_up_the_others(desk: Desk, source: Source, monkeypatch: Any) -> None:
    from crawling.review import putting

    source.execute("ALTER TABLE parts ADD size integer; ALTER TABLE bins ADD label text;")
    run = desk.crawl()
    real = putting._publication

    def broken(case: Any) -> Any:
        if case.proposal.dataset_name == "main.bins":
            raise ValueError("This dataset cannot be put together.")
        return real(case)

    monkeypatch.setattr(putting, "_publication", broken)
    outcome = desk.decide(run, approve="all")
    assert len(outcome["applied"]) == 1
    assert [each["reason"] for each in outcome["failed"]] == ["This dataset cannot be put together."]
    monkeypatch.undo()
    (left,) = desk.proposals()
    assert left["dataset_name"] == "main.bins"
    assert left["changes"][0]["decision"]["state"] == "approved", "the note is kept for another try"
    assert len(desk.decide(run, approve="all")["applied"]) == 1


def _document(desk: Desk, name: str) -> dict[str, Any]:
    served = desk.schema(name)
    for key in ("dataset_id", "version", "fingerprint", "published_at"):
        served.pop(key)
    for field in served["fields"]:
        for key in ("field_id", "data_type", "type_params", "rendered", "description", "pii_tags"):
            field.pop(key)
    return served
