"""Driving the product as people and programs do: over the API, and by letting its worker work."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from rest_framework.test import APIClient

from aide.work.runner import drain
from registry.models import System
from tests.factories import api_client, make_user

API = "/api/v1"


class Desk:
    """The people of a company around one system, each with a client of the API."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.engineer = make_user("engineer")
        self.steward = make_user("steward")
        self.approver = make_user("approver")
        system.stewards.add(self.steward)
        self.by_engineer = api_client(self.engineer)
        self.by_steward = api_client(self.steward)
        self.by_approver = api_client(self.approver)

    def crawl(self, client: APIClient | None = None, **body: Any) -> dict[str, Any]:
        """Start a crawl over the API, let the worker work, and read the run."""
        client = client or self.by_engineer
        answer = client.post(f"{API}/crawl-runs", {"system": self.system.code, **body}, format="json")
        assert answer.status_code == 202, answer.content
        drain()
        return self.run(answer.json()["id"])

    def run(self, run_id: int) -> dict[str, Any]:
        return ok(self.by_engineer.get(f"{API}/crawl-runs/{run_id}"))

    def report(self, run_id: int) -> dict[str, Any]:
        return ok(self.by_engineer.get(f"{API}/crawl-runs/{run_id}/report"))

    def proposals(self, **filters: Any) -> list[dict[str, Any]]:
        """The open proposals of the system, in the order of their datasets' names."""
        query = {"system": self.system.code, "status__in": "open,partly_applied", "size": 500, **filters}
        return ok(self.by_steward.get(f"{API}/proposals", {**query, "sort": "dataset_name"}))["items"]

    def changes(self, **filters: Any) -> list[dict[str, Any]]:
        """The undecided changes of the open proposals."""
        found = [change for each in self.proposals(**filters) for change in each["changes"]]
        return [each for each in found if each["decision"]["state"] in {"open", "waiting", "stale"}]

    def decide(
        self, run: dict[str, Any], client: APIClient | None = None, **body: Any
    ) -> dict[str, list[dict[str, Any]]]:
        """Decide and apply a whole run."""
        client = client or self.by_steward
        return ok(client.post(f"{API}/crawl-runs/{run['id']}/decide-and-apply", body, format="json"))

    def approve_all(self, run: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
        """Everything by the steward, what is breaking confirmed by the approver."""
        outcome = self.decide(run, approve="all")
        if outcome["waiting"] or self.changes():
            again = self.decide(run, self.by_approver, approve="all")
            outcome = {key: outcome[key] + again[key] for key in outcome} | {"waiting": again["waiting"]}
        return outcome

    def schema(self, name: str, **query: Any) -> dict[str, Any]:
        return ok(self.by_steward.get(f"{API}/datasets/{self.dataset(name)['id']}/schema", query))

    def dataset(self, name: str) -> dict[str, Any]:
        items = ok(self.by_steward.get(f"{API}/datasets", {"system": self.system.code, "name": name}))[
            "items"
        ]
        assert len(items) == 1, [each["name"] for each in items]
        return items[0]


def ok(response: Any) -> Any:
    assert response.status_code < 300, (response.status_code, response.content.decode()[:2000])
    return response.json()


def counts(*, besides: tuple[str, ...] = ()) -> dict[str, int]:
    """How many rows each table has."""
    return {
        model._meta.label: model._base_manager.count()
        for model in apps.get_models(include_auto_created=True)
        if model._meta.label not in besides and model._meta.managed
    }


def contents() -> dict[str, list[dict[str, Any]]]:
    """Every row of every table but the runs', for telling whether anything at all was written."""
    return {
        model._meta.label: sorted(model._base_manager.values(), key=lambda row: str(row.get("id")))
        for model in apps.get_models(include_auto_created=True)
        if model._meta.label not in {"crawling.CrawlRun", "work.WorkerBeat"}
    }


def brief(changes: list[dict[str, Any]]) -> set[tuple[str, str | None, str]]:
    """(op, field, risk) of changes."""
    return {(each["op"], each["path"]["field"], each["risk"]) for each in changes}
