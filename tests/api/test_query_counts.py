"""How many statements each list and page takes: as many for fifty rows as for five, and as many as written down.

The numbers are in `query_counts.json`. After a change that is meant, write them anew and look at the difference:
`AIDE_TEST_WRITE_QUERY_COUNTS=1 .venv/bin/python -m pytest tests/api/test_query_counts.py`
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from aide.accounts.models import ApiKey, User
from aide.audit.models import AuditEntry
from crawling import crawl
from crawling.models import CrawlPlan, CrawlRun, Proposal
from lineage import events, schemas
from lineage.models import Event, EventSchema, NodeName, OutboxMessage
from registry import tagging, versions
from registry.models import (
    CastRule,
    CredentialRef,
    Dataset,
    DataType,
    FieldBinding,
    FieldTag,
    PIITag,
    SystemFlavor,
    SystemKind,
    TypeInstance,
)
from tests import factories
from tests.lineage.events import dataset as dataset_of
from tests.lineage.events import run_event, send
from tests.security.api_rules import RULES
from tests.security.doors import other_doors
from tests.security.world import snapshot_of

pytestmark = pytest.mark.django_db
FILE = Path(__file__).with_name("query_counts.json")
FEW, MANY = 5, 50
# What answers without rows, or with the whole of something that is made in one piece.
NO_ROWS = {"GET schema", "GET docs", "GET audit/verify"}


@pytest.fixture(autouse=True)
def _cache_that_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept for some seconds is kept throughout, however slow the machine is."""
    for seconds in (
        "aide.desk.work_counts.BADGE_SECONDS",
        "aide.desk.home.CHART_SECONDS",
        "crawling.admin.review_loading.NAMES_SECONDS",
    ):
        monkeypatch.setattr(seconds, 3600)
    cache.clear()


def fill(rows: int) -> dict[str, Any]:
    """So many rows of everything, and for detail pages one thing with so many parts."""
    maker = factories.make_user("admin", "engineer", "approver", email="maker@example.com")
    base = factories.make_flavor()
    types = list(DataType.objects.filter(flavor=base).order_by("pk"))
    for n in range(rows):
        kind = SystemKind.objects.create(code=f"KIND{n}", name=f"Kind {n}")
        flavor = SystemFlavor.objects.create(kind=kind, code=f"flavor{n}", name=f"Flavor {n}")
        DataType.objects.create(flavor=flavor, code=f"type{n}", name=f"Type {n}")
        credential = CredentialRef.objects.create(provider="env", path=f"PASSWORD{n}")
        system = factories.make_system(f"system{n}", credential_ref=credential)
        system.namespace_rows.create(namespace=f"postgres://host{n}:5432")
        person = factories.make_user("steward", "viewer", email=f"person{n}@example.com")
        person.systems.set([system])
        factories.make_api_key(person, "registry:read")
        CrawlPlan.objects.create(system=system, cron="0 3 * * *")
        dataset = factories.make_dataset(f"table{n}", system=system)
        factories.publish(dataset, ("id", "bigint"), ("email", f"varchar({n + 10})"), by=maker)
        tag = PIITag.objects.create(code=f"tag{n}", name=f"Tag {n}", sensitivity=2)
        tagging.confirm(dataset.fields.get(name="email"), tag, by=maker)
        versions.add_draft(dataset, by=maker)
        crawl.upload(system, snapshot_of(f"new{n}"), by=maker)
        events.accept([{"resource": f"resource {n}", "event_id": f"event {n}"}])
        send(
            run_event(
                run=n,
                job=f"job{n}" if n else "nightly",
                reads=[dataset_of("free", "legacy")],
                writes=[f"made{n}"],
            )
        )
        schemas.register(name=f"schema {n}", schema={}, by=maker)
    for source in types[: rows // 5 + 1]:
        for target in types[:5]:
            CastRule.objects.get_or_create(source_data_type=source, target_data_type=target)
    return {"maker": maker, "large": _large(rows, maker)}


def _large(rows: int, maker: Any) -> Dataset:
    """A dataset with many fields, nested ones, tags, versions and changes that wait."""
    system = factories.make_system("large")
    dataset = factories.make_dataset("large", system=system)
    for version in range(2 + rows // 10):
        fields = [(f"f{n}", f"varchar({n + 10 + version})") for n in range(rows)]
        factories.publish(dataset, *fields, by=maker)
    dataset.refresh_from_db()
    tag = PIITag.objects.get(code="tag0")
    for field in dataset.fields.all():
        tagging.confirm(field, tag, by=maker)
    parent = dataset.fields.get(name="f0")
    for n in range(rows):
        versions.add_field(dataset, name=f"part{n}", parent=parent, by=maker)
    snapshot = snapshot_of("large")
    shrunk = [
        {"name": f"f{n}", "position": n + 1, "native_type": "varchar(5)", "nullable": False}
        for n in range(rows)
    ]
    snapshot["datasets"][0]["fields"] = shrunk
    crawl.upload(system, snapshot, by=maker)
    return dataset


def parts(dataset: Dataset) -> dict[str, Any]:
    """The ids that detail pages are asked with."""
    run = CrawlRun.objects.get(system=dataset.system)
    field = dataset.fields.get(path="f0")
    binding = FieldBinding.objects.filter(dataset_schema=dataset.current_schema).first()
    assert binding is not None
    return {
        "users": User.objects.get(email="person0@example.com").pk,
        "api-keys": ApiKey.objects.latest("pk").pk,
        "system-kinds": SystemKind.objects.latest("pk").pk,
        "system-flavors": dataset.system.flavor_id,
        "data-types": DataType.objects.latest("pk").pk,
        "cast-rules": CastRule.objects.latest("pk").pk,
        "credential-refs": CredentialRef.objects.latest("pk").pk,
        "systems": dataset.system_id,
        "datasets": dataset.pk,
        "fields": field.pk,
        "fields/tree": dataset.pk,
        "dataset-schemas": dataset.current_schema_id,
        "field-bindings": binding.pk,
        "type-instances": TypeInstance.objects.latest("pk").pk,
        "pii-tags": PIITag.objects.latest("pk").pk,
        "field-tags": FieldTag.objects.latest("pk").pk,
        "crawl-plans": CrawlPlan.objects.latest("pk").pk,
        "crawl-runs": run.pk,
        "proposals": Proposal.objects.get(crawl_run=run).pk,
        "audit": AuditEntry.objects.latest("pk").pk,
        "metadata/sessions": "resource 1",
        "metadata/schemas": EventSchema.objects.latest("pk").pk,
        "metadata": Event.objects.latest("pk").pk,
        "lineage/names": NodeName.objects.latest("pk").pk,
        "namespaces": "jobs/jobs",
        "outbox": OutboxMessage.objects.latest("pk").pk,
        "contracts": dataset.pk,
    }


def api_addresses(ids: dict[str, Any]) -> dict[str, str]:
    found = {}
    for door, cases in sorted(RULES.items()):
        method, _, route = door.partition(" ")
        if method != "GET" or door in NO_ROWS:
            continue
        path = route
        if "{" in route:
            start = route.partition("/{")[0]
            path = route.replace("{pk}", str(ids[start])).replace("{dataset_id}", str(ids[start]))
            path = path.replace("{resource}", str(ids[start]))
        query = cases[0].query.replace("{pk}", str(ids["datasets"]))
        is_list = "{" not in route and route != "users/me" and not cases[0].query
        found[door] = f"/api/v1/{path}{'?size=500' if is_list else query}"
    return found


def screen_addresses(dataset: Dataset, ids: dict[str, Any]) -> dict[str, str]:
    """Every list of the screens, and the pages of the large dataset and its review."""
    lists = [route for route in other_doors() if route.startswith("admin/") and route.count("/") == 3]
    found = {f"GET {route}": f"/{route}" for route in lists if "<" not in route and "(" not in route}
    page = reverse("admin:registry_dataset_change", args=[dataset.pk])
    for tab in ("fields", "versions", "crawls", "history"):
        found[f"dataset page, {tab}"] = f"{page}?tab={tab}"
    found["review page"] = reverse("admin:crawling_review", args=[ids["crawl-runs"]])
    found["open reviews"] = reverse("admin:crawling_reviews")
    found["field page"] = reverse("admin:registry_field_change", args=[ids["fields"]])
    found["system page"] = reverse("admin:registry_system_change", args=[dataset.system_id])
    found["home"] = reverse("admin:index")
    found["search"] = f"{reverse('admin:desk_search')}?q=f"
    return found


def measured(rows: int) -> dict[str, int]:
    """Statements of each address with so many rows; each is asked once before, so that caches are warm."""
    made = fill(rows)
    ids = parts(made["large"])
    api = factories.api_client(made["maker"])
    browser = Client(headers={"accept": "text/html"})
    browser.force_login(made["maker"], "aide.accounts.backends.EmailBackend")
    counts = {name: _count(api.get, address) for name, address in api_addresses(ids).items()}
    screens = screen_addresses(made["large"], ids)
    return counts | {name: _count(browser.get, address) for name, address in screens.items()}


def _count(get: Callable[[str], Any], address: str) -> int:
    assert get(address).status_code == 200, address
    with CaptureQueriesContext(connection) as statements:
        get(address)
    return len(statements)


def undone(rows: int) -> dict[str, int]:
    with transaction.atomic():
        counts = measured(rows)
        transaction.set_rollback(True)
    cache.clear()
    return counts


def test_lists_and_pages_take_the_statements_that_are_written_down() -> None:
    few, many = undone(FEW), undone(MANY)
    grown = {name: (few[name], many[name]) for name in few if few[name] != many[name]}
    assert grown == {}, "statements grow with the rows"
    if os.environ.get("AIDE_TEST_WRITE_QUERY_COUNTS"):
        FILE.write_text(json.dumps(many, indent=1, sort_keys=True) + "\n")
    written = json.loads(FILE.read_text())
    assert many == written, "see the first lines of this file for how to write the numbers anew"
