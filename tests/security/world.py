"""A small company to knock at: one thing of each kind, all marked, and everybody who may come."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from aide.accounts import tokens
from aide.accounts.models import ApiKey, User
from aide.audit.models import AuditEntry
from aide.desk.models import Batch, Selection
from crawling import crawl
from crawling.models import CrawlPlan, CrawlRun, Proposal
from lineage import drawing, events, merging, resolve, schemas
from lineage.models import ColumnEdge, Edge, Event, EventSchema, NodeName, OutboxMessage
from registry import tagging, versions
from registry.models import (
    CastRule,
    CredentialRef,
    Dataset,
    DatasetSchema,
    DataType,
    Field,
    FieldBinding,
    FieldTag,
    PIIRule,
    PIITag,
    System,
    SystemFlavor,
    SystemKind,
    TypeInstance,
)
from tests import factories
from tests.security.matrix import API_CALLERS, Caller

MARK = "zebrafinch"  # in every name that belongs to the target's system, and in nothing else
NOW = timezone.now()


@dataclass
class World:
    """What the doors lead to. `here` is the target's system."""

    here: System
    elsewhere: System
    empty_system: System
    unreachable: System
    gone_system: System
    kind: SystemKind
    gone_kind: SystemKind
    flavor: SystemFlavor
    gone_flavor: SystemFlavor
    data_type: DataType
    gone_data_type: DataType
    numeric: DataType
    text: DataType
    cast_rule: CastRule
    gone_cast_rule: CastRule
    credential: CredentialRef
    gone_credential: CredentialRef
    spare_tag: PIITag
    gone_tag: PIITag
    pii_rule: PIIRule
    gone_rule: PIIRule
    dataset: Dataset
    spare_dataset: Dataset
    gone_dataset: Dataset
    field: Field
    spare_field: Field
    draft: DatasetSchema
    binding: FieldBinding
    type_instance: TypeInstance
    suggestion: FieldTag
    confirmed: FieldTag
    asked_to_go: FieldTag
    refused: FieldTag
    plan: CrawlPlan
    run: CrawlRun
    queued_run: CrawlRun
    proposal: Proposal
    corrected: Proposal
    brought: Proposal
    entry: AuditEntry
    event: Event
    event_schema: EventSchema
    message: OutboxMessage
    dead_message: OutboxMessage
    free_name: NodeName
    bound_name: NodeName
    edge: Edge | ColumnEdge
    selection: Selection
    batch: Batch
    person: User
    gone_person: User
    key: ApiKey
    secret: str
    refresh_token: str
    password: str = factories.PASSWORD

    @property
    def document(self) -> dict[str, Any]:
        return factories.make_document(("id", "bigint"), ("email", "varchar(200)"))

    @property
    def snapshot(self) -> dict[str, Any]:
        return snapshot_of(self.spare_dataset.location["table"])

    def change(self, op: str) -> int:
        """The id of a change that waits."""
        return self.corrected.changes.get(op=op).pk

    @property
    def dataset_body(self) -> dict[str, Any]:
        return {
            "system": self.here.code,
            "kind": self.dataset.kind,
            "name": self.dataset.name,
            "location": self.dataset.location,
        }


def snapshot_of(table: str) -> dict[str, Any]:
    """What a crawl of `here` would read: one new table."""
    return {
        "snapshot_version": 1,
        "dialect": "postgresql",
        "database": "db",
        "scope": {"schemas": [], "tables": [f"public.{table}"], "exclude_schemas": [], "exclude_tables": []},
        "datasets": [
            {
                "schema": "public",
                "name": table,
                "kind": "table",
                "fields": [{"name": "id", "position": 1, "native_type": "bigint", "nullable": False}],
            }
        ],
        "coverage": {
            "schemas": [{"name": "public", "status": "listed"}],
            "listed": 1,
            "read": 1,
            "skipped": [],
            "failed": [],
        },
    }


def _lineage(dataset: Dataset, maker: User) -> tuple[NodeName, NodeName, Edge | ColumnEdge]:
    """A name that nobody knows, one that was bound to the dataset, and an edge between two unknown ones."""
    names = [{"namespace": "legacy", "name": name} for name in ("free", "bound")]
    event = {
        "eventTime": "2026-03-01T10:00:00Z",
        "run": {"runId": "night"},
        "job": {"namespace": "jobs", "name": "nightly"},
        "inputs": names,
    }
    merging.receive([merging.Incoming(event, "{}")])
    free, bound = (NodeName.objects.get(name=each["name"]) for each in names)
    resolve.bind(bound.pk, dataset_id=dataset.pk, by=maker)
    ends = [drawing.End(namespace="legacy", name=name) for name in ("one", "other")]
    return free, bound, drawing.draw(*ends, by=maker, reason="by hand")


def build() -> World:
    """Makes the world in the present database."""
    deleted = {"deleted_at": NOW}
    maker = factories.make_user("admin", "engineer", "approver", email="maker@example.com")
    url = "postgresql://reader@db.example.com/shop"
    here = factories.make_system(f"{MARK}-shop", connection_url=url)
    elsewhere = factories.make_system("elsewhere", connection_url=url)
    flavor = here.flavor
    kind = SystemKind.objects.create(code="SPARE", name="Spare")
    numeric, text = (DataType.objects.get(flavor=flavor, code=code) for code in ("numeric", "text"))
    dataset = factories.make_dataset(
        f"{MARK}_customers", system=here, status=Dataset.Status.ACTIVE, description="Old words"
    )
    factories.publish(dataset, ("id", "bigint"), ("email", "varchar(120)"), ("phone", "text"), by=maker)
    dataset.refresh_from_db()
    field = dataset.fields.get(name="phone")
    Field.objects.filter(dataset=dataset).update(source_comment=MARK)
    spare_field = versions.add_field(dataset, name=f"{MARK}_spare", by=maker)
    in_draft = versions.add_field(dataset, name=f"{MARK}_in_draft", by=maker)
    draft = versions.add_draft(dataset, by=maker, comment=MARK)
    binding = versions.add_binding(draft, field=in_draft, by=maker, position=1, native_type="text")
    tag = PIITag.objects.create(code=f"phone_{MARK}", name="Phone", sensitivity=2)
    suggestion = FieldTag.objects.create(
        field=field,
        tag=tag,
        state=FieldTag.State.SUGGESTED,
        origin=FieldTag.Origin.RULE,
        since=NOW,
        batch="b1",
    )
    confirmed = tagging.confirm(dataset.fields.get(name="email"), tag, by=maker)
    removable = PIITag.objects.create(code=f"removable_{MARK}", name="Removable", sensitivity=2)
    asked_to_go = tagging.confirm(field, removable, by=maker)
    FieldTag.objects.filter(pk=asked_to_go.pk).update(removal_by=maker, removal_at=NOW)
    refused = FieldTag.objects.create(
        field=dataset.fields.get(name="id"), tag=tag, state=FieldTag.State.REJECTED,
        origin=FieldTag.Origin.RULE, reason="no", decided_by=maker, decided_at=NOW, since=NOW,
    )  # fmt: skip
    spare_dataset = factories.make_dataset(f"{MARK}_spare", system=here)
    corrected = _renamed(here, maker)
    run = crawl.upload(here, snapshot_of(f"{MARK}_new"), by=maker)
    queued = CrawlRun.objects.create(
        system=here, status=CrawlRun.Status.LOST, trigger=CrawlRun.Trigger.API, config={}
    )
    person = factories.make_user("viewer", email=f"{MARK}@example.com", full_name="Zebra finch")
    key, secret = factories.make_api_key(person, "registry:read", note=MARK)
    free, bound, edge = _lineage(dataset, maker)
    events.accept([{"resource": "stock", "event_id": "first"}, {"resource": "stock", "event_id": "second"}])
    message, dead = OutboxMessage.objects.filter(key="stock").order_by("pk")
    OutboxMessage.objects.filter(pk=dead.pk).update(status=OutboxMessage.Status.DEAD, last_error="Too large")
    return World(
        here=here,
        elsewhere=elsewhere,
        empty_system=factories.make_system(f"{MARK}-empty"),
        unreachable=factories.make_system(
            f"{MARK}-off", connection_url="postgresql://reader@127.0.0.1:1/nothing"
        ),
        gone_system=factories.make_system(f"{MARK}-gone", **deleted),
        kind=kind,
        gone_kind=SystemKind.objects.create(code="GONE", name="Gone", **deleted),
        flavor=SystemFlavor.objects.create(kind=flavor.kind, code="spare", name="Spare"),
        gone_flavor=SystemFlavor.objects.create(kind=flavor.kind, code="gone", name="Gone", **deleted),
        data_type=DataType.objects.create(flavor=flavor, code="spare", name="Spare"),
        gone_data_type=DataType.objects.create(flavor=flavor, code="gone", name="Gone", **deleted),
        numeric=numeric,
        text=text,
        cast_rule=CastRule.objects.create(source_data_type=numeric, target_data_type=text),
        gone_cast_rule=CastRule.objects.create(source_data_type=text, target_data_type=numeric, **deleted),
        credential=CredentialRef.objects.create(provider="env", path="SPARE_PASSWORD"),
        gone_credential=CredentialRef.objects.create(provider="env", path="GONE_PASSWORD", **deleted),
        spare_tag=PIITag.objects.create(code="spare_tag", name="Spare", sensitivity=1),
        gone_tag=PIITag.objects.create(code="gone_tag", name="Gone", sensitivity=1, **deleted),
        dataset=dataset,
        spare_dataset=spare_dataset,
        gone_dataset=factories.make_dataset(f"{MARK}_gone", system=here, **deleted),
        field=field,
        spare_field=spare_field,
        draft=draft,
        binding=binding,
        type_instance=versions.add_type_instance(numeric, type_params={"precision": 9, "scale": 3}),
        suggestion=suggestion,
        confirmed=confirmed,
        pii_rule=PIIRule.objects.create(code="spare.rule", tag=tag, words=["zebra"]),
        gone_rule=PIIRule.objects.create(code="gone.rule", tag=tag, words=["zebra"], **deleted),
        asked_to_go=asked_to_go,
        refused=refused,
        plan=CrawlPlan.objects.create(system=here, cron="0 3 * * *", note=MARK),
        run=run,
        queued_run=queued,
        proposal=Proposal.objects.get(crawl_run=run),
        corrected=corrected,
        brought=crawl.bring_document(
            spare_dataset, {"fields": [{"name": f"{MARK}_brought", "native_type": "text"}]}, by=maker
        ),
        entry=AuditEntry.objects.filter(system_code=here.code).latest("pk"),
        event=Event.objects.get(event_id="first"),
        event_schema=schemas.register(name="stock", schema={}, by=maker),
        message=message,
        dead_message=dead,
        free_name=free,
        bound_name=bound,
        edge=edge,
        selection=Selection.objects.create(person=maker, subject="field", ids=[field.pk], count=1),
        batch=Batch.objects.create(
            person=maker, subject="field", words=MARK, state="done", changed=1, finished_at=NOW
        ),
        person=person,
        gone_person=factories.make_user("viewer", email="gone@example.com", is_active=False),
        key=key,
        secret=secret,
        refresh_token=str(tokens.issue(person).refresh_token),
    )


def _renamed(system: System, maker: User) -> Proposal:
    """What waits for a table of which one column was renamed, one dropped and one added."""
    dataset = factories.make_dataset(f"{MARK}_renamed", system=system)
    factories.publish(
        dataset, ("id", "bigint"), ("customer_name", "varchar(50)"), ("quantity", "integer"), by=maker
    )
    snapshot = snapshot_of(f"{MARK}_renamed")
    columns = (("id", "bigint"), ("customer_names", "varchar(50)"), ("shipped", "timestamp"))
    snapshot["datasets"][0]["fields"] = [
        {"name": name, "position": place, "native_type": native, "nullable": True}
        for place, (name, native) in enumerate(columns, start=1)
    ]
    return Proposal.objects.get(crawl_run=crawl.upload(system, snapshot, by=maker))


@dataclass(frozen=True)
class Visitor:
    """A caller with a user, and a key's secret if they come with one."""

    caller: Caller
    user: User | None
    secret: str = ""


def visitors(world: World) -> dict[str, Visitor]:
    """Everybody of the matrix, by name."""
    return {each.name: _visitor(world, each) for each in API_CALLERS}


def _visitor(world: World, caller: Caller) -> Visitor:
    if caller.name == "anonymous":
        return Visitor(caller, None)
    email = f"v{API_CALLERS.index(caller)}@example.com"
    is_program = caller.scopes is not None or caller.roles == ("service",)
    user = factories.make_user(
        *caller.roles,
        email=email,
        is_active=True,
        user_type=User.Type.TECHNICAL if is_program else User.Type.REGULAR,
    )
    User.objects.filter(pk=user.pk).update(is_superuser=caller.is_superuser)
    if "steward" in caller.roles:
        user.systems.set(
            [world.here, world.empty_system, world.unreachable] if caller.here else [world.elsewhere]
        )
    secret = ""
    if caller.scopes is not None:
        limit = {"system_codes": [world.elsewhere.code]} if caller.limited else {}
        key, secret = factories.make_api_key(user, *caller.scopes, **limit)
        if not caller.usable:
            ends = {"revoked_at": NOW} if "revoked" in caller.name else {"expires_at": NOW}
            ApiKey.objects.filter(pk=key.pk).update(**ends)
    return Visitor(caller, User.objects.get(pk=user.pk), secret)


def switch_off(people: dict[str, Visitor]) -> None:
    """The inactive become so after they got their tokens and sessions."""
    for visitor in people.values():
        if visitor.user is not None and not visitor.caller.is_active:
            User.objects.filter(pk=visitor.user.pk).update(is_active=False)


LATER = dt.timedelta(days=1)
