"""Every page of the screens: route as the resolver writes it, method, what it asks for, and what to post.

A route that is not here fails the test. Forms are posted as the page gives them to someone who may save, with
the values of `body` instead of what they held.
"""

from __future__ import annotations

from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from tests.security.matrix import (
    ANYONE,
    AUDIT,
    CRAWL,
    CURATE,
    DECIDE,
    DRAW,
    KEYS,
    NOBODY,
    PEOPLE,
    PUBLISH,
    RETRY,
    SCREENS,
    SEE,
    SYSTEMS,
    TYPES,
    anywhere,
    everything,
    of_system,
    own_rows,
    rows_of_systems,
)  # fmt: skip
from tests.security.pages import Page, Pages, catalogue, page, recorded, restorable, stock
from tests.security.world import LATER, MARK

RUN = "admin/crawling/crawlrun/"
ONE_RUN = f"{RUN}<int:run_id>/"
BROUGHT = "admin/crawling/proposal/<proposal_batch:run_id>/review/"
SYSTEM = "admin/registry/system/<int:object_id>/"
DATASET = "admin/registry/dataset/<int:object_id>/"
FIELD = "admin/registry/field/<int:field_id>/"
KEY = "admin/accounts/apikey/"


def a_file() -> dict[str, Any]:
    """A file of the round trip, without lines."""
    return {"file": SimpleUploadedFile("words.csv", b"id,seen,owner\n")}


def _next_week() -> str:
    return (timezone.now() + 7 * LATER).date().isoformat()


PAGES: Pages = {
    # Outside of the screens.
    "GET ": page(ANYONE),
    "GET health/live": page(ANYONE),
    "GET health/ready": page(ANYONE),
    "GET metrics": page(ANYONE),
    # The shell.
    "GET admin/": page(SCREENS),
    "GET admin/login/": page(ANYONE),
    "POST admin/logout/": page(ANYONE),
    "POST admin/preferences/": page(ANYONE, body=lambda w: {"theme": "dark"}),
    "GET admin/search/": page(SCREENS, query=f"?q={MARK}"),
    "GET admin/password_change/": page(SCREENS),
    "GET admin/password_change/done/": page(SCREENS),
    "GET admin/jsi18n/": page(ANYONE),
    "GET admin/autocomplete/": (
        *page(SCREENS, query="?app_label=registry&model_name=dataset&field_name=system"),
        *page(
            anywhere(PEOPLE),
            query="?app_label=crawling&model_name=crawlrun&field_name=started_by",
            name="people",
        ),
    ),
    "GET admin/r/<path:content_type_id>/<path:object_id>/": (
        Page(NOBODY, lambda w: {"content_type_id": 1, "object_id": w.here.pk}),
    ),
    "GET admin/^(?P<app_label>APPS)/$": (
        Page(anywhere(SEE), lambda w: {"app_label": "registry"}),
        Page(anywhere(SEE), lambda w: {"app_label": "crawling"}),
        Page(anywhere(PEOPLE, KEYS), lambda w: {"app_label": "accounts"}),
        Page(anywhere(AUDIT), lambda w: {"app_label": "audit"}),
    ),
    "GET admin/(?P<url>.*)$": (Page(NOBODY, lambda w: {"url": "nowhere/"}),),
    # People.
    **recorded(
        "accounts/user",
        lambda w: w.person,
        lists=anywhere(PEOPLE),
        sees=anywhere(PEOPLE),
        adds=anywhere(PEOPLE),
        changes=anywhere(PEOPLE),
        new=lambda w: {
            "email": "new@example.com",
            "user_type": "regular",
            "new_password": "correct horse 8 battery",
        },
        edit={"full_name": "Someone else"},
    ),
    **stock(
        "accounts/apikey",
        lambda w: w.key,
        lists=own_rows(PEOPLE, KEYS, others=PEOPLE),
        sees=anywhere(PEOPLE),
        adds=anywhere(PEOPLE, KEYS),
    ),
    f"POST {KEY}add/": page(
        anywhere(PEOPLE),
        body=lambda w: {
            "user": w.person.pk,
            "name": "theirs",
            "scopes": ["registry:read"],
            "expires_on": _next_week(),
        },
        form=True,
        may_err=True,
    ),
    f"POST {KEY}<int:key_id>/revoke/": page(anywhere(PEOPLE), lambda w: w.key, "key_id"),
    # What pipelines reported.
    **stock("lineage/event", lambda w: w.event, lists=anywhere(SEE), sees=anywhere(SEE)),
    **stock("lineage/nodename", lambda w: w.free_name, lists=anywhere(SEE), sees=anywhere(SEE)),
    "POST admin/lineage/nodename/<int:object_id>/bind/": page(
        of_system(DECIDE, DRAW), lambda w: w.free_name, body=lambda w: {"dataset": w.dataset.pk}, quiet=True
    ),
    "POST admin/lineage/nodename/<int:object_id>/unbind/": page(
        of_system(DECIDE, DRAW), lambda w: w.bound_name
    ),
    **stock("lineage/outboxmessage", lambda w: w.message, lists=anywhere(SEE), sees=anywhere(SEE)),
    "POST admin/lineage/outboxmessage/retry-dead/": page(anywhere(RETRY)),
    "POST admin/lineage/outboxmessage/<int:object_id>/retry/": page(
        anywhere(RETRY), lambda w: w.dead_message
    ),
    "GET admin/lineage/outboxmessage/<int:object_id>/payload/": page(anywhere(RETRY), lambda w: w.message),
    "GET admin/lineage/sessions/": (
        Page(anywhere(SEE)),
        Page(anywhere(SEE), query="?resource=stock", name="of a resource"),
    ),
    "GET admin/lineage/quality/": page(anywhere(SEE)),
    "GET admin/lineage/explore/": (
        Page(anywhere(SEE)),
        Page(anywhere(SEE), query="?q=a", name="searched"),
    ),
    **stock(
        "audit/auditentry",
        lambda w: w.entry,
        lists=rows_of_systems(AUDIT),
        sees=of_system(AUDIT),
    ),
    # The catalogue.
    **catalogue("registry/systemkind", lambda w: w.kind, anywhere(TYPES), {"code": "NEW", "name": "New"}),
    **catalogue(
        "registry/systemflavor",
        lambda w: w.flavor,
        anywhere(TYPES),
        lambda w: {"kind": w.kind.pk, "code": "new", "name": "New"},
    ),
    **catalogue(
        "registry/datatype",
        lambda w: w.data_type,
        anywhere(TYPES),
        lambda w: {"flavor": w.flavor.pk, "code": "new", "name": "New"},
    ),
    "GET admin/registry/datatype/<int:data_type_id>/preview/": page(
        anywhere(SEE), lambda w: w.numeric, "data_type_id", query="?precision=5"
    ),
    **catalogue(
        "registry/castrule",
        lambda w: w.cast_rule,
        anywhere(TYPES),
        lambda w: {"source_data_type": w.text.pk, "target_data_type": w.text.pk, "safety": "lossy"},
    ),
    "GET admin/registry/castrule/matrix/": page(anywhere(SEE)),
    "GET admin/registry/castrule/try/": page(anywhere(SEE)),
    **catalogue(
        "registry/piitag",
        lambda w: w.spare_tag,
        anywhere(PEOPLE),
        {"code": "new_tag", "name": "New", "sensitivity": 2},
    ),
    **catalogue(
        "registry/credentialref",
        lambda w: w.credential,
        anywhere(SYSTEMS),
        {"provider": "env", "path": "NEW_PASSWORD"},
    ),
    **catalogue(
        "registry/piirule",
        lambda w: w.pii_rule,
        anywhere(PEOPLE),
        lambda w: {"code": "own.new", "tag": w.spare_tag.pk, "words": "shoe colour", "confidence": "0.8"},
    ),
    **restorable("registry/piirule", anywhere(PEOPLE), lambda w: w.gone_rule),
    # Tags of fields, and the workbench in which they are decided.
    **stock("registry/fieldtag", lambda w: w.suggestion, lists=anywhere(SEE), sees=of_system(SEE)),
    "GET admin/registry/fieldtag/workbench/": (
        Page(anywhere(SEE)),
        *(
            Page(anywhere(SEE), query=f"?tab={tab}", name=tab)
            for tab in ("accepted", "removals", "rejected", "coverage")
        ),
    ),
    "POST admin/registry/fieldtag/workbench/decide/": (
        *(
            Page(of_system(DECIDE), body=lambda w, act=act: {act: w.suggestion.pk, "why": "1"}, name=act)
            for act in ("accept", "reject")
        ),
        Page(of_system(DECIDE), body=lambda w: {"remove": w.confirmed.pk, "text": "gone"}, name="remove"),
        Page(of_system(DECIDE), body=lambda w: {"keep": w.asked_to_go.pk}, name="keep"),
        Page(of_system(DECIDE), body=lambda w: {"undo": w.suggestion.batch}, name="undo"),
        Page(of_system(DECIDE), body=lambda w: {"reopen": w.refused.pk}, name="reopen"),
    ),
    "POST admin/registry/fieldtag/workbench/suggest/": page(
        of_system(DECIDE), body=lambda w: {"system": w.here.code}
    ),
    "GET admin/registry/fieldtag/workbench/columns.csv": page(anywhere(SEE)),
    **restorable("registry/systemkind", anywhere(TYPES), lambda w: w.gone_kind),
    **restorable("registry/systemflavor", anywhere(TYPES), lambda w: w.gone_flavor),
    **restorable("registry/datatype", anywhere(TYPES), lambda w: w.gone_data_type),
    **restorable("registry/castrule", anywhere(TYPES), lambda w: w.gone_cast_rule),
    **restorable("registry/piitag", anywhere(PEOPLE), lambda w: w.gone_tag),
    **restorable("registry/credentialref", anywhere(SYSTEMS), lambda w: w.gone_credential),
    # Systems.
    **restorable("registry/system", of_system(SYSTEMS), lambda w: w.gone_system, lists=anywhere(SYSTEMS)),
    **restorable("registry/dataset", of_system(SYSTEMS), lambda w: w.gone_dataset, lists=anywhere(SYSTEMS)),
    **recorded(
        "registry/system",
        lambda w: w.empty_system,
        lists=anywhere(SEE),
        sees=of_system(SEE),
        adds=anywhere(SYSTEMS),
        changes=of_system(SYSTEMS),
        deletes=of_system(SYSTEMS),
        new=lambda w: {"code": "brand-new", "name": "New", "flavor": w.here.flavor_id},
        shadowed=True,
    ),
    f"GET {SYSTEM}change/": page(of_system(SEE), lambda w: w.here),
    f"GET {SYSTEM}edit/": page(of_system(SYSTEMS), lambda w: w.here),
    f"POST {SYSTEM}edit/": page(
        of_system(SYSTEMS), lambda w: w.here, body=lambda w: {"note": "other"}, form=True
    ),
    f"POST {SYSTEM}test/": page(of_system(CRAWL), lambda w: w.unreachable, quiet=True),
    # Data.
    **stock(
        "registry/dataset",
        lambda w: w.dataset,
        lists=anywhere(SEE),
        sees=of_system(SEE),
        adds=anywhere(SYSTEMS),
        changes=of_system(CURATE),
        deletes=of_system(SYSTEMS),
        new=lambda w: {"system": w.here.pk, "location_schema": "s", "location_table": "new"},
        shadowed=True,
    ),
    f"GET {DATASET}change/": tuple(
        Page(of_system(SEE), lambda w: {"object_id": w.dataset.pk}, query=f"?tab={tab}", name=tab)
        for tab in ("fields", "versions", "crawls", "history")
    ),
    f"GET {DATASET}place/": page(of_system(SYSTEMS), lambda w: w.dataset),
    f"POST {DATASET}place/": page(
        of_system(SYSTEMS),
        lambda w: w.spare_dataset,
        body=lambda w: {"object_kind": "table", "location_schema": "s", "location_table": "moved"},
    ),
    f"GET {DATASET}propose/": page(of_system(PUBLISH), lambda w: w.dataset),
    f"POST {DATASET}propose/": page(
        of_system(PUBLISH),
        lambda w: w.dataset,
        body=lambda w: {"text": "fields: [{name: proposed, native_type: text}]"},
    ),
    f"GET {DATASET}edit/": page(of_system(CURATE), lambda w: w.dataset),
    f"POST {DATASET}edit/": page(
        of_system(CURATE), lambda w: w.dataset, body=lambda w: {"description": "Mine"}, form=True
    ),
    **stock(
        "registry/field",
        lambda w: w.field,
        lists=anywhere(SEE),
        sees=of_system(SEE),
        changes=of_system(CURATE),
        edit={"description": "Mine"},
    ),
    f"GET {FIELD}line/": page(of_system(CURATE), lambda w: w.field, "field_id"),
    f"POST {FIELD}line/": page(
        of_system(CURATE),
        lambda w: w.field,
        "field_id",
        body=lambda w: {"description": "Mine", "seen_version": w.field.row_version},
    ),
    f"POST {FIELD}tag/": page(
        of_system(CURATE), lambda w: w.field, "field_id", body=lambda w: {"add_tags": w.spare_tag.code}
    ),
    "GET admin/registry/field/export-for-editing/": page(anywhere(CURATE)),
    "GET admin/registry/dataset/export-for-editing/": page(anywhere(CURATE)),
    "GET admin/registry/field/upload/": page(anywhere(CURATE)),
    "POST admin/registry/field/upload/": page(anywhere(CURATE), body=lambda w: a_file(), quiet=True),
    "GET admin/registry/dataset/upload/": page(anywhere(CURATE)),
    "POST admin/registry/dataset/upload/": page(anywhere(CURATE), body=lambda w: a_file(), quiet=True),
    "GET admin/go/<str:urn>/": (Page(SCREENS, lambda w: {"urn": f"urn:aide:dataset:{w.dataset.pk}"}),),
    "GET admin/audit/evidence/": page(rows_of_systems(AUDIT)),
    "POST admin/audit/evidence/": page(rows_of_systems(AUDIT)),
    # Changing many rows together: a selection is its maker's alone, a batch also theirs who read the whole log.
    "GET admin/bulk/batches/": page(anywhere(CURATE)),
    "GET admin/bulk/<uuid:selection_id>/": page(NOBODY, lambda w: w.selection, "selection_id"),
    "POST admin/bulk/<uuid:selection_id>/": page(
        NOBODY, lambda w: w.selection, "selection_id", body=lambda w: {"step": "apply", "owner": "CRM"}
    ),
    "GET admin/bulk/batches/<uuid:batch_id>/": page(everything(AUDIT), lambda w: w.batch, "batch_id"),
    "POST admin/bulk/batches/<uuid:batch_id>/undo/": page(NOBODY, lambda w: w.batch, "batch_id"),
    **stock("registry/datasetschema", lambda w: w.draft, lists=anywhere(SEE), sees=of_system(SEE)),
    # Crawls and reviews.
    **recorded(
        "crawling/crawlplan",
        lambda w: w.plan,
        lists=anywhere(SEE),
        sees=of_system(SEE),
        adds=anywhere(SYSTEMS),
        changes=of_system(SYSTEMS),
        deletes=of_system(SYSTEMS),
        new=lambda w: {"system": w.here.pk, "frequency": "day", "time": "02:00", "time_zone": "UTC"},
        edit={"time": "05:15"},
    ),
    "POST admin/crawling/crawlplan/preview/": page(
        of_system(CRAWL), body=lambda w: {"system": w.here.pk, "tables": "a*"}, quiet=True
    ),
    **stock("crawling/crawlrun", lambda w: w.run, lists=anywhere(SEE), sees=of_system(SEE)),
    # The run's page has no form; it shows itself to a post as well.
    f"POST {RUN}<path:object_id>/change/": page(of_system(SEE), lambda w: w.run, quiet=True),
    f"GET {RUN}reviews/": page(anywhere(SEE)),
    f"POST {RUN}start/": page(of_system(CRAWL), body=lambda w: {"system": w.here.pk}, quiet=True),
    f"GET {ONE_RUN}progress/": page(of_system(SEE), lambda w: w.run, "run_id"),
    f"GET {ONE_RUN}report/": page(of_system(SEE), lambda w: w.run, "run_id"),
    f"POST {ONE_RUN}cancel/": page(of_system(CRAWL), lambda w: w.queued_run, "run_id", quiet=True),
    f"POST {ONE_RUN}retry/": page(of_system(CRAWL), lambda w: w.run, "run_id", quiet=True),
    **stock("crawling/proposal", lambda w: w.proposal, lists=anywhere(SEE), sees=of_system(SEE)),
    # A proposal has no form; its address leads to its review for a post as well.
    "POST admin/crawling/proposal/<path:object_id>/change/": page(
        of_system(SEE), lambda w: w.proposal, quiet=True
    ),
    f"GET {BROUGHT}": page(of_system(SEE), lambda w: w.brought, "run_id"),
    f"POST {BROUGHT}decide/": page(
        of_system(DECIDE),
        lambda w: w.brought,
        "run_id",
        body=lambda w: {"approve": w.brought.changes.first().pk},
        quiet=True,
    ),
    f"POST {BROUGHT}confirm/": page(of_system(DECIDE), lambda w: w.brought, "run_id", quiet=True),
    f"GET {BROUGHT}finish/": page(of_system(DECIDE), lambda w: w.brought, "run_id"),
    f"POST {BROUGHT}finish/": page(of_system(DECIDE), lambda w: w.brought, "run_id", quiet=True),
    f"GET {BROUGHT}result/": page(of_system(SEE), lambda w: w.brought, "run_id"),
    f"GET {ONE_RUN}review/": page(of_system(SEE), lambda w: w.run, "run_id"),
    f"POST {ONE_RUN}review/decide/": page(
        of_system(DECIDE),
        lambda w: w.run,
        "run_id",
        body=lambda w: {"approve": w.proposal.changes.first().pk},
        quiet=True,
    ),
    f"POST {ONE_RUN}review/confirm/": page(of_system(DECIDE), lambda w: w.run, "run_id", quiet=True),
    f"GET {ONE_RUN}review/finish/": page(of_system(DECIDE), lambda w: w.run, "run_id"),
    f"POST {ONE_RUN}review/finish/": page(of_system(DECIDE), lambda w: w.run, "run_id", quiet=True),
    f"GET {ONE_RUN}review/result/": page(of_system(SEE), lambda w: w.run, "run_id"),
}
