"""Two different people for what is breaking, over the API as in the rules; nobody is exempt."""

from __future__ import annotations

from typing import Any

import pytest

from aide.core.errors import Forbidden
from crawling import review
from crawling.models import Change, Decision, Proposal
from tests.factories import api_client, make_user
from tests.flows.desk import API, Desk
from tests.flows.sources import Source, sqlite_source

SOURCE = """
CREATE TABLE parts (id integer NOT NULL PRIMARY KEY, name varchar(50), colour varchar(20), weight integer);
CREATE TABLE bins (id integer NOT NULL PRIMARY KEY, part_id integer);
"""
DROPS = "ALTER TABLE parts DROP colour; ALTER TABLE parts DROP weight; ALTER TABLE bins ADD label text;"


@pytest.fixture
def source(tmp_path: Any, type_catalogues: None) -> Source:
    source = sqlite_source(tmp_path / "parts.sqlite3")
    source.execute(SOURCE)
    return source


@pytest.fixture
def desk(source: Source) -> Desk:
    """Two breaking changes and a safe one wait."""
    desk = Desk(source.system())
    desk.decide(desk.crawl(), approve="all")
    source.execute(DROPS)
    return desk


def test_the_first_person_cannot_be_the_second(desk: Desk) -> None:
    run = desk.crawl()
    first = desk.decide(run, desk.by_approver, approve="all")
    assert len(first["waiting"]) == 2
    assert [len(each["change_ids"]) for each in first["applied"]] == [1]
    again = desk.by_approver.post(
        f"{API}/crawl-runs/{run['id']}/decide-and-apply", {"approve": "all"}, format="json"
    )
    assert (again.status_code, again.json()["error_code"]) == (403, "FOUR_EYES_REQUIRED")
    ids = [each["change_id"] for each in first["waiting"]]
    again = desk.by_approver.post(
        f"{API}/crawl-runs/{run['id']}/decide-and-apply", {"approve": ids}, format="json"
    )
    assert (again.status_code, again.json()["error_code"]) == (403, "FOUR_EYES_REQUIRED")
    assert Decision.objects.filter(change_id__in=ids).count() == 2
    assert not Change.objects.filter(pk__in=ids, state="applied").exists()


def test_no_rank_makes_one_person_two(desk: Desk) -> None:
    root = make_user("admin", "approver", "steward", is_superuser=True)
    client = api_client(root)
    run = desk.crawl()
    assert len(desk.decide(run, client, approve="all")["waiting"]) == 2
    again = client.post(f"{API}/crawl-runs/{run['id']}/decide-and-apply", {"approve": "all"}, format="json")
    assert (again.status_code, again.json()["error_code"]) == (403, "FOUR_EYES_REQUIRED")


def test_an_admin_decides_nothing_even_as_superuser(desk: Desk) -> None:
    run = desk.crawl()
    client = api_client(make_user("admin", is_superuser=True))
    answer = client.post(f"{API}/crawl-runs/{run['id']}/decide-and-apply", {"approve": "all"}, format="json")
    assert (answer.status_code, answer.json()["error_code"]) == (403, "FORBIDDEN")
    assert "steward" in answer.json()["detail"]


def test_who_started_the_crawl_cannot_confirm_it(desk: Desk) -> None:
    run = desk.crawl(desk.by_approver)
    waiting = desk.decide(run, approve="all")["waiting"]
    answer = desk.by_approver.post(
        f"{API}/crawl-runs/{run['id']}/decide-and-apply", {"approve": "all"}, format="json"
    )
    assert (answer.status_code, answer.json()["error_code"]) == (403, "FOUR_EYES_REQUIRED")
    assert "started the crawl" in answer.json()["detail"]
    other = api_client(make_user("approver"))
    outcome = desk.decide(run, other, approve=[each["change_id"] for each in waiting])
    assert sum(len(each["change_ids"]) for each in outcome["applied"]) == 2


def test_a_second_steward_lacks_the_role(desk: Desk) -> None:
    run = desk.crawl()
    waiting = desk.decide(run, approve="all")["waiting"]
    steward = make_user("steward")
    desk.system.stewards.add(steward)
    answer = api_client(steward).post(
        f"{API}/crawl-runs/{run['id']}/decide-and-apply",
        {"approve": [each["change_id"] for each in waiting]},
        format="json",
    )
    assert (answer.status_code, answer.json()["error_code"]) == (403, "FORBIDDEN")


def test_a_steward_of_other_systems_decides_nothing_here(desk: Desk) -> None:
    desk.crawl()
    stranger = api_client(make_user("steward"))
    (first, *_) = desk.proposals()
    for verb in ("decide", "apply"):
        answer = stranger.post(f"{API}/proposals/{first['id']}/{verb}", {"approve": "all"}, format="json")
        assert answer.status_code == 403, verb


def test_both_names_and_times_are_kept(desk: Desk) -> None:
    run = desk.crawl()
    desk.decide(run, approve="all", comment="Seen with the team")
    waiting = [each for each in desk.changes() if each["decision"]["state"] == "waiting"]
    assert {each["decision"]["by"] for each in waiting} == {desk.steward.email}
    assert {each["decision"]["second_by"] for each in waiting} == {None}
    desk.decide(run, desk.by_approver, approve="all")
    proposal = Proposal.objects.get(dataset_name="main.parts", crawl_run_id=run["id"])
    shown = desk.by_steward.get(f"{API}/proposals/{proposal.pk}").json()
    assert shown["status"] == "applied"
    for change in shown["changes"]:
        decision = change["decision"]
        assert decision["state"] == "applied"
        assert (decision["by"], decision["second_by"]) == (desk.steward.email, desk.approver.email)
        assert decision["reason"] == "Seen with the team"
        assert decision["at"]
        assert change["applied_version"] == 2


def test_the_second_person_may_say_no(desk: Desk) -> None:
    run = desk.crawl()
    waiting = desk.decide(run, approve="all")["waiting"]
    outcome = desk.decide(
        run,
        desk.by_approver,
        reject=[{"id": each["change_id"], "reason": "Billing reads it"} for each in waiting],
    )
    assert len(outcome["rejected"]) == 2
    assert {f["name"] for f in desk.schema("main.parts")["fields"]} == {"id", "name", "colour", "weight"}
    desk.crawl()
    assert desk.proposals() == []


def test_two_drafts_of_one_person_are_still_one_person(desk: Desk) -> None:
    desk.crawl()
    proposal = Proposal.objects.get(dataset_name="main.parts", status="open")
    review.decide([proposal], approve="all", by=desk.approver)
    review.decide([proposal], approve="all", by=desk.approver)
    outcome = review.apply([proposal], by=desk.approver)
    assert len(outcome.waiting) == 2
    with pytest.raises(Forbidden):
        review.decide([proposal], approve="all", by=desk.approver)
    # Whoever calls apply does not count: only who noted.
    outcome = review.apply([proposal], by=desk.steward)
    assert not outcome.applied


@pytest.mark.parametrize(("mode", "waits"), [("off", 0), ("breaking", 2), ("all", 3)])
def test_the_setting_says_which_changes_need_two(desk: Desk, settings: Any, mode: str, waits: int) -> None:
    settings.AIDE_FOUR_EYES = mode
    assert len(desk.decide(desk.crawl(), approve="all")["waiting"]) == waits


def test_the_first_decision_goes_over_to_the_next_crawl(desk: Desk, source: Source) -> None:
    run = desk.crawl()
    desk.decide(run, approve="all")
    source.execute("ALTER TABLE parts ADD size integer;")
    run = desk.crawl()
    states = {each["path"]["field"]: each["decision"]["state"] for each in desk.changes()}
    assert states == {"colour": "waiting", "weight": "waiting", "size": "open"}
    again = desk.by_steward.post(
        f"{API}/crawl-runs/{run['id']}/decide-and-apply",
        {"approve": [each["id"] for each in desk.changes()]},
        format="json",
    )
    assert (again.status_code, again.json()["error_code"]) == (403, "FOUR_EYES_REQUIRED")
    outcome = desk.decide(run, desk.by_approver, approve="all")
    assert sum(len(each["change_ids"]) for each in outcome["applied"]) == 3
    assert len(outcome["applied"]) == 1, "one new version"


def test_what_has_two_approvals_but_waits_for_another_change_takes_no_third(
    desk: Desk, source: Source, settings: Any
) -> None:
    settings.AIDE_FOUR_EYES = "all"
    source.execute("ALTER TABLE bins ADD code text; CREATE UNIQUE INDEX one_code ON bins (code);")
    run = desk.crawl()
    desk.decide(run, approve="all")
    changes = {each["op"]: each["id"] for each in desk.changes() if each["path"]["field"] in {"code", None}}
    outcome = desk.decide(run, desk.by_approver, approve=[changes["add_unique"]])
    assert [each["change_id"] for each in outcome["waiting"]] == [changes["add_unique"]]
    assert outcome["waiting"][0]["needs"] == f"change {changes['add_field']}"
    third = api_client(make_user("approver"))
    outcome = desk.decide(run, third, approve="all")
    assert outcome["failed"] == []
    assert desk.changes() == []
    assert Decision.objects.filter(change=changes["add_unique"]).count() == 2
