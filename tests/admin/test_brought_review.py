"""What people bring is reviewed on the page of reviews: a file as a whole, a change by hand by itself."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.urls import reverse

from crawling import crawl
from crawling.models import Change, Proposal
from registry import diagrams
from registry.models import Dataset, System
from tests.admin.conftest import Screen
from tests.factories import make_dataset, make_user, publish

pytestmark = pytest.mark.django_db


@pytest.fixture
def file(system: System, dataset: Dataset) -> list[Proposal]:
    """A file that adds a column to two tables and shortens one."""
    publish(make_dataset("orders", system=system), ("id", "bigint"), ("note", "varchar(50)"))
    drawn = diagrams.of_system(system)
    for table in drawn["tables"]:
        fields = table["fields"]
        fields.append({**fields[1], "id": table["id"] + "x", "name": "added"})
    drawn["tables"][0]["fields"][1]["characterMaximumLength"] = "9"
    author = make_user("engineer", full_name="Drawing Person")
    return crawl.bring_chartdb(system, drawn, by=author, comment="Whiteboard of May").offered.proposals


def address(proposal: Proposal, page: str = "") -> str:
    return f"/admin/crawling/proposal/{proposal.pk}/review/{page}"


def test_a_file_is_one_review_whichever_of_its_proposals_is_named(
    screen: Callable[..., Screen], file: list[Proposal]
) -> None:
    assert [each.dataset_name for each in file] == ["public.customers", "public.orders"]
    for each in file:
        page = screen("viewer").get(address(each))
        assert page.context["page"].datasets == 2
        text = page.content.decode()
        assert f"ChartDB file {each.pk}" in text
        assert "Drawing Person" in text
        assert "Whiteboard of May" in text


def test_the_address_of_a_review_tells_runs_and_files_apart(file: list[Proposal]) -> None:
    assert reverse("admin:crawling_review", args=[7]) == "/admin/crawling/crawlrun/7/review/"
    assert reverse("admin:crawling_review", args=["p7"]) == "/admin/crawling/proposal/7/review/"


def test_a_steward_decides_finishes_and_reads_the_result(
    screen: Callable[..., Screen], file: list[Proposal]
) -> None:
    steward = screen("approver")
    here = address(file[0])
    answer = steward.post(f"{here}decide/", {"safe": "all"})
    assert answer.headers["Location"] == here
    change = Change.objects.get(risk="breaking")
    form = {"reject": change.pk, "why": "other", "text": "Too short", "mode": "once"}
    assert steward.post(f"{here}decide/", form).status_code == 302

    assert "Apply 2 now" in steward.get(f"{here}finish/").content.decode()
    answer = steward.post(f"{here}finish/")
    assert answer.headers["Location"] == f"{here}result/"
    assert "2 changes applied" in steward.get(f"{here}result/").content.decode()
    for each in file:
        each.refresh_from_db()
    assert {each.status for each in file} == {"applied"}
    assert {each.dataset.current_schema.origin for each in file} == {"chartdb"}
    assert "This review is finished" in steward.get(here).content.decode()


def test_a_breaking_change_of_a_file_needs_a_second_person(
    screen: Callable[..., Screen], file: list[Proposal]
) -> None:
    here = address(file[0])
    change = Change.objects.get(risk="breaking")
    first, second = screen("approver"), screen("approver")
    first.post(f"{here}decide/", {"approve": change.pk})
    first.post(f"{here}finish/")
    change.refresh_from_db()
    assert change.state == "waiting"
    listed = second.get("/admin/crawling/crawlrun/reviews/?need=second&all=1").content.decode()
    assert f"{here}?need=second" in listed
    second.post(f"{here}confirm/")
    second.post(f"{here}finish/?need=second")
    change.refresh_from_db()
    assert change.state == "applied"


def test_the_list_of_reviews_has_a_line_for_a_file(
    screen: Callable[..., Screen], file: list[Proposal]
) -> None:
    page = screen("approver").get("/admin/crawling/crawlrun/reviews/")
    (line,) = page.context["lines"]
    assert (line.changes, line.datasets, line.counts["breaking"]) == (3, 2, 1)
    assert address(file[0]) in page.content.decode()


def test_a_proposal_by_hand_leads_to_its_own_review(
    screen: Callable[..., Screen], dataset: Dataset, system: System
) -> None:
    engineer = screen("engineer")
    columns = (("id", "bigint"), ("email", "text"), ("born", "date"))
    fields = ", ".join(f"{{name: {name}, native_type: {native}}}" for name, native in columns)
    text = f"fields: [{fields}]"
    answer = engineer.post(f"/admin/registry/dataset/{dataset.pk}/propose/", {"text": text})
    proposal = Proposal.objects.get()
    assert answer.headers["Location"] == address(proposal)
    page = engineer.get(address(proposal)).content.decode()
    assert "change by hand" in page
    assert "Nothing changes here until you press Finish review" in page
    assert engineer.post(f"{address(proposal)}decide/", {"safe": "all"}).status_code == 403


def test_only_what_a_crawl_found_is_split_or_paired(
    screen: Callable[..., Screen], file: list[Proposal]
) -> None:
    change = Change.objects.first()
    assert screen("approver").post(f"{address(file[0])}decide/", {"split": change.pk}).status_code == 404


def test_the_list_of_proposals_leads_to_reviews(screen: Callable[..., Screen], file: list[Proposal]) -> None:
    viewer = screen("viewer")
    assert "public.orders" in viewer.get("/admin/crawling/proposal/").content.decode()
    answer = viewer.get(f"/admin/crawling/proposal/{file[1].pk}/change/")
    assert answer.headers["Location"] == address(file[1])
    for missing in ("999", "9" * 30, "x"):
        assert viewer.get(f"/admin/crawling/proposal/{missing}/change/").status_code == 404
    assert viewer.get("/admin/crawling/proposal/999/review/").status_code == 404
