"""The forms of datasets, proposals, casts and deleted things in a browser: accessible, quiet, and narrow."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from crawling import crawl
from registry import diagrams
from registry.models import CastRule, CredentialRef, Dataset, DataType, System, SystemFlavor
from tests.api.test_dataset_kinds import KINDS
from tests.browser.shop import Shop
from tests.browser.test_every_screen import NARROW, violations
from tests.factories import make_user

SHOTS = os.environ.get("AIDE_TEST_SHOTS", "")


def data_type(flavor: str, code: str) -> DataType:
    return DataType.objects.get(flavor__code=flavor, code=code)


def addresses(shop: Shop) -> dict[str, str]:
    """Each page by its name."""
    shop.grown()
    found = {}
    for kind, (flavor, location, name, object_kind, *_) in KINDS.items():
        system = System.objects.create(
            code=f"sys-{kind}", name=f"The {kind} system", flavor=SystemFlavor.objects.get(code=flavor)
        )
        made = Dataset.objects.create(
            system=system, kind=kind, name=name, location=location, object_kind=object_kind
        )
        page = f"/admin/registry/dataset/{made.pk}"
        found |= {
            f"new {kind}": f"/admin/registry/dataset/add/?kind={kind}",
            f"{kind} page": f"{page}/change/",
            f"{kind} place": f"{page}/place/",
        }
    table = Dataset.objects.exclude(current_schema=None).order_by("pk")[0]
    drawn = diagrams.of_system(shop.system)
    drawn["tables"][0]["fields"].append({**drawn["tables"][0]["fields"][1], "id": "added", "name": "added"})
    author = shop.engineer  # type: ignore[attr-defined]
    (proposal,) = crawl.bring_chartdb(shop.system, drawn, by=author, comment="Whiteboard").offered.proposals
    reference = CredentialRef.objects.create(provider="env", path="OLD_PASSWORD")
    reference.deleted_at, reference.deleted_by = reference.created_at, author
    reference.save()
    rule = CastRule.objects.create(
        source_data_type=data_type("postgresql", "inet"),
        target_data_type=data_type("hive", "string"),
        safety="lossless",
        template="host({{ column }})",
    )
    rules = "/admin/registry/castrule"
    return found | {
        "propose": f"/admin/registry/dataset/{table.pk}/propose/",
        "proposal": f"/admin/crawling/proposal/{proposal.pk}/review/",
        "finish a proposal": f"/admin/crawling/proposal/{proposal.pk}/review/finish/",
        "deleted": "/admin/registry/credentialref/deleted/",
        "nothing deleted": "/admin/registry/system/deleted/",
        "rules": f"{rules}/",
        "rule": f"{rules}/{rule.pk}/change/",
        "new rule": f"{rules}/add/",
        "try": f"{rules}/try/?dataset={table.pk}&to=hive",
        "try, nothing chosen": f"{rules}/try/",
        "matrix": f"{rules}/matrix/",
        "matrix, a cell": f"{rules}/matrix/?from=postgresql&to=hive&source=numeric&target=decimal",
        "matrix as a list": f"{rules}/matrix/?view=list&missing=1",
        "audit of one kind": "/admin/audit/auditentry/?about=dataset&risk=breaking",
        "keys": "/admin/accounts/apikey/",
    }


def shoot(page: Page, name: str) -> None:
    """Keep a picture for people to look at, where AIDE_TEST_SHOTS names a folder."""
    if SHOTS:
        page.screenshot(
            path=str(Path(SHOTS) / f"{name.replace(' ', '_').replace(',', '')}.png"), full_page=True
        )


def found_faults(page: Page, *, is_wide: bool) -> Iterator[str]:
    yield from violations(page)
    if is_wide and page.evaluate("document.documentElement.scrollWidth") > NARROW:
        yield "wider than a phone"


@pytest.mark.slow
@pytest.mark.parametrize("look", ["light", "dark", "narrow"])
def test_forms_of_the_registry_are_accessible_quiet_and_narrow(visit: Any, shop: Shop, look: str) -> None:
    pages = addresses(shop)
    visitor = visit(dark=look == "dark", width=NARROW if look == "narrow" else 0)
    make_user("engineer", "approver", "admin", email="all@example.com", full_name="All Roles")
    visitor.sign_in("all@example.com", shop.password)
    found = {}
    for name, address in pages.items():
        page = visitor.open(address)
        expect(page.locator("h1")).to_have_count(1)
        shoot(page, f"{look} {name}")
        if faults := list(found_faults(page, is_wide=look == "narrow")):
            found[name] = faults
    assert found == {}
    assert visitor.trouble == []
