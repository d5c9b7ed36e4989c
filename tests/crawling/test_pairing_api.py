"""Splitting, pairing and comments over the API."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from crawling.models import CrawlRun
from tests.browser.shop import Shop
from tests.factories import api_client, make_groups


@pytest.fixture
def shop(db: None, tmp_path: Path, type_catalogues: None) -> Shop:
    make_groups()
    return Shop(tmp_path / "shop.sqlite3")


@pytest.fixture
def run(shop: Shop) -> CrawlRun:
    return shop.grown()


def post(client: APIClient, proposal_id: int, action: str, **body: Any) -> Any:
    return client.post(f"/api/v1/proposals/{proposal_id}/{action}", body, format="json")


def changes(answer: Any) -> dict[tuple[str, str], dict[str, Any]]:
    assert answer.status_code == 200, answer.json()
    return {(each["op"], each["path"]["field"]): each for each in answer.json()["changes"]}


def test_a_rename_is_split_and_paired_with_another(shop: Shop, run: CrawlRun) -> None:
    client, rename = api_client(shop.steward), shop.change(run, "rename_field", "phone")
    proposal = rename.proposal_id
    found = changes(post(client, proposal, "split", change_id=rename.pk))
    assert ("rename_field", "phone") not in found
    drop, add = found["drop_field", "fax"]["id"], found["add_field", "mobile_phone"]["id"]
    found = changes(post(client, proposal, "pair", drop_id=drop, add_id=add))
    assert found["rename_field", "fax"]["after"] == "mobile_phone"
    assert found["drop_field", "phone"]["decision"]["state"] == "open"


def test_what_cannot_be_corrected_is_refused(shop: Shop, run: CrawlRun) -> None:
    rename, drop = shop.change(run, "rename_field", "phone"), shop.change(run, "drop_field", "fax")
    proposal, client = rename.proposal_id, api_client(shop.steward)
    assert post(api_client(shop.viewer), proposal, "split", change_id=rename.pk).status_code == 403
    assert post(client, proposal, "split", change_id=10**6).status_code == 404
    assert post(client, proposal, "split").status_code == 422
    assert post(client, proposal, "split", change_id=drop.pk).status_code == 422
    assert post(client, proposal, "pair", drop_id=drop.pk, add_id=drop.pk).status_code == 422
    client.post(f"/api/v1/proposals/{proposal}/decide", {"approve": [rename.pk]}, format="json")
    client.post(f"/api/v1/proposals/{proposal}/apply")
    refused = post(api_client(shop.approver), proposal, "split", change_id=rename.pk)
    assert (refused.status_code, refused.json()["error_code"]) == (409, "STALE_CHANGE")


def test_who_split_it_is_no_second_person(shop: Shop, run: CrawlRun) -> None:
    rename = shop.change(run, "rename_field", "phone")
    proposal, approver = rename.proposal_id, api_client(shop.approver)
    drop = changes(post(approver, proposal, "split", change_id=rename.pk))["drop_field", "phone"]["id"]
    steward = api_client(shop.steward)
    steward.post(f"/api/v1/proposals/{proposal}/decide", {"approve": [drop]}, format="json")
    steward.post(f"/api/v1/proposals/{proposal}/apply")
    refused = approver.post(f"/api/v1/proposals/{proposal}/decide", {"approve": [drop]}, format="json")
    assert (refused.status_code, refused.json()["error_code"]) == (403, "FOUR_EYES_REQUIRED")


def test_a_comment_is_kept_with_its_person(shop: Shop, run: CrawlRun) -> None:
    change = shop.change(run, "drop_field", "fax")
    answer = post(api_client(shop.engineer), change.proposal_id, "comment", change_id=change.pk, text="Why?")
    assert answer.status_code == 201
    assert (answer.json()["by"], answer.json()["text"]) == (shop.engineer.email, "Why?")
    assert (
        post(api_client(shop.viewer), change.proposal_id, "comment", change_id=1, text="x").status_code == 403
    )
    assert post(api_client(shop.engineer), change.proposal_id, "comment", change_id=0).status_code == 422
