"""The demo's story holds what the screens' checks are told of it: every number, by queries."""

from __future__ import annotations

import io
import shutil
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from aide.accounts.models import User
from aide.audit import checking
from aide.desk.compare import chosen, compare, versions_of
from aide.desk.demo import next_night, story
from aide.desk.demo.clock import Clock, first_of_march, last_time
from aide.work.models import WorkItem
from crawling import crawl, review, stand_in
from crawling.models import Change, CrawlRun, Decision, Mute
from lineage import graph, tag_propagation
from lineage.models import Edge, Event, LineageEvent, NodeColumn, OutboxMessage
from lineage.readers import readers
from registry import suggesting
from registry.admin.cast_matrix import Matrix
from registry.models import Dataset, Field, FieldTag, System
from registry.tasks import look_again_with_new_rules

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("told")]


@pytest.fixture(autouse=True)
def _own_files(told: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a test does to the bundled sources is undone after it, too."""
    shutil.copytree(told, tmp_path / "demo")
    monkeypatch.setattr(stand_in, "folder", lambda: tmp_path / "demo")


SYSTEMS = {
    "pg-crm": 12, "pg-billing": 14, "kafka-events": 16, "s3-lake": 14, "sftp-partners": 8, "hive-dwh": 20,
}  # fmt: skip


def person(role: str) -> User:
    return User.objects.get(email=f"{role}@demo.aide")


def dataset(name: str) -> Dataset:
    return Dataset.objects.get(name=name)


def tonight() -> CrawlRun:
    return CrawlRun.objects.filter(system__code="pg-crm").latest("pk")


def found(**values: Any) -> Change:
    return Change.objects.get(proposal__crawl_run=tonight(), **values)


def window() -> datetime:
    return timezone.now() - timedelta(days=90)


def test_six_systems_hold_84_datasets_of_all_five_kinds_and_two_have_nested_fields() -> None:
    assert Counter(Dataset.objects.values_list("system__code", flat=True)) == SYSTEMS
    assert set(Dataset.objects.values_list("kind", flat=True)) == set(Dataset.Kind.values)
    nested = Field.objects.filter(parent__isnull=False).values("dataset").distinct()
    assert nested.count() == 2
    assert not Dataset.objects.filter(current_schema__isnull=True).exists()


def test_tonights_crawl_found_37_changes_in_12_datasets() -> None:
    rows = Change.objects.filter(proposal__crawl_run=tonight())
    assert Counter(rows.values_list("risk", flat=True)) == {"safe": 24, "risky": 4, "breaking": 9}
    assert rows.values("proposal").distinct().count() == 12
    assert set(rows.values_list("state", flat=True)) == {Change.State.OPEN}
    assert Change.objects.filter(state__in=Change.UNDECIDED, proposal__status__in=["open"]).count() == 37


def test_the_rename_carries_a_confirmed_tag_and_has_four_readers() -> None:
    rename = found(op=Change.Op.RENAME_FIELD)
    assert (rename.dataset_name, rename.before, rename.after) == ("crm.customers", "phone", "mobile_phone")
    assert rename.touches_pii
    assert "4 readers are known" in rename.why
    codes = {each["code"] for each in rename.evidence}
    assert {"same_type", "same_place", "gone_and_new"} <= codes


def test_two_of_the_drops_are_still_read_by_billing() -> None:
    drops = Change.objects.filter(proposal__crawl_run=tonight(), op=Change.Op.DROP_FIELD)
    read = set()
    for change in drops:
        of = [each for each in readers([change.proposal.dataset_id]) if each.field == change.field_path]
        nodes = Edge.objects.filter(target__in=[each.node_id for each in of]).values_list(
            "target__dataset__system__code", flat=True
        )
        if nodes:
            assert set(nodes) == {"pg-billing"}
            read.add(change.field_path)
    assert read == {"fax_number", "region_code"}


def test_the_engineer_edited_the_sum_of_invoices_after_the_crawl() -> None:
    change = found(op=Change.Op.CHANGE_GENERATED)
    assert (change.dataset_name, change.field_path, change.risk) == ("crm.invoices", "amount", "risky")
    edit = dataset("crm.invoices").current_schema
    assert edit is not None
    assert edit.published_by == person("engineer")
    assert edit.published_at is not None
    assert (edit.published_at.hour, edit.published_at.minute) == (2, 40)
    started = tonight().started_at
    assert started is not None
    assert (started.hour, started.minute) == (2, 12)
    values = {str(change.before), str(change.after), str(edit.bindings.get(name="amount").generated)}
    assert len(values) == 3
    review.decide([change.proposal], approve=[change.pk], by=person("steward"))
    outcome = review.apply([change.proposal], by=person("steward"))
    assert outcome.stale == [{"change_id": change.pk}]


def test_214_suggestions_wait_in_8_groups_with_six_traps_and_one_column_with_two_equal_ones() -> None:
    rows = FieldTag.objects.filter(state=FieldTag.State.SUGGESTED, until__isnull=True)
    assert rows.count() == 214
    assert rows.filter(confidence__gte=0.9).count() == 168
    assert rows.values("tag", "rule").distinct().count() == 8
    systems = set(rows.values_list("field__dataset__system__code", flat=True))
    assert systems == {"pg-crm", "pg-billing"}
    assert {each.code for each in person("steward").systems.all()} == systems
    traps = Counter(
        rows.filter(field__name__in=["email_verified", "order_code"]).values_list("field__name", flat=True)
    )
    assert traps == {"email_verified": 4, "order_code": 2}
    types = rows.filter(field__name="email_verified").values_list("native_type", flat=True)
    assert set(types) == {"boolean"}
    twice = [pk for pk, count in Counter(rows.values_list("field", flat=True)).items() if count > 1]
    assert len(twice) == 1
    assert rows.filter(field=twice[0]).values("confidence").distinct().count() == 1
    assert not suggesting.stale().exists()
    assert not WorkItem.objects.filter(task=suggesting.SUGGEST).exists()


def test_the_product_finds_nothing_to_add_to_the_suggestions_by_itself() -> None:
    rows = FieldTag.objects.filter(state=FieldTag.State.SUGGESTED, until__isnull=True)
    offered = tag_propagation.propagate().offered
    assert (offered.new, offered.withdrawn) == (0, 0)
    look_again_with_new_rules()
    assert not WorkItem.objects.filter(task__startswith="registry.suggest").exists()
    assert rows.count() == 214


def test_the_drop_of_the_nickname_is_muted_since_last_week() -> None:
    mute = Mute.objects.get(lifted_at__isnull=True)
    assert (mute.dataset_name, mute.op, mute.field_path) == ("crm.employees", "drop_field", "nickname")
    assert timedelta(days=6) < timezone.now() - mute.created_at < timedelta(days=9)
    assert not Change.objects.filter(proposal__crawl_run=tonight(), field_path="nickname").exists()


def test_one_crawl_failed_one_was_lost_and_the_other_systems_are_well() -> None:
    latest = {code: CrawlRun.objects.filter(system__code=code).latest("pk") for code in SYSTEMS}
    states = {code: run.status for code, run in latest.items()}
    failed, lost = latest["sftp-partners"], latest["kafka-events"]
    assert states.pop("sftp-partners") == "failed"
    assert states.pop("kafka-events") == "lost"
    assert set(states.values()) == {"completed"}
    assert "host key changed" in failed.error.lower()
    assert (failed.tables_done, failed.tables_total, len(failed.coverage["failed"])) == (5, 8, 3)
    assert lost.heartbeat_at is not None
    silent = timezone.now() - lost.heartbeat_at
    assert timedelta(hours=2, minutes=59) < silent < timedelta(hours=4)


def test_the_failed_crawl_is_tried_again_for_the_three_that_were_not_read(settings: Any) -> None:
    settings.DEBUG = True
    failed = CrawlRun.objects.filter(system__code="sftp-partners").latest("pk")
    System.objects.filter(code="sftp-partners").update(extra={"stand_in": "sftp-partners.sqlite3"})
    failed.refresh_from_db()
    run = crawl.retry(failed, by=person("engineer"), trigger="person")
    crawl.crawl(run.pk)
    run.refresh_from_db()
    assert (run.status, run.tables_done) == ("completed", 3)
    assert run.error == ""


def test_customers_have_nine_versions_since_january_and_four_since_march() -> None:
    rows = versions_of(dataset("crm.customers"))
    march = first_of_march(timezone.now())
    assert len(rows) == 9
    assert rows[-1].published_at is not None
    assert (rows[-1].published_at.month, rows[-1].published_at.day) == (1, 5)
    assert sum(each.published_at > march for each in rows if each.published_at) == 4


def test_what_changed_in_customers_since_march() -> None:
    march = first_of_march(timezone.now())
    pair = chosen(versions_of(dataset("crm.customers")), {"since": f"{march:%Y-%m-%d}"})
    assert pair is not None
    told = compare(dataset("crm.customers"), *pair)
    assert told.counts == {"added": 3, "removed": 1, "changed": 1}
    assert [each.name for each in told.came_and_went] == ["tmp_import_ref"]
    changed = next(row.pair for row in told.rows if row.pair.state == "changed")
    assert (changed.path, changed.type_words) == ("loyalty_points", "integer")
    tags = FieldTag.objects.filter(field__dataset__name="crm.customers", since__gt=march)
    assert set(tags.values_list("state", "tag__code")) == {
        ("confirmed", "birth_date"),
        ("confirmed", "online_id"),
    }


def test_the_email_of_customers_goes_to_nine_columns_in_six_datasets_over_three_hops() -> None:
    column = NodeColumn.objects.get(node__dataset__name="crm.customers", path="email")
    walk = graph.walk([column.pk], level=graph.COLUMN)
    reached = NodeColumn.objects.filter(pk__in=walk.depths).exclude(pk=column.pk)
    assert reached.count() == 9
    assert reached.values("node").distinct().count() == 6
    assert max(walk.depths.values()) == 3
    last = reached.filter(pk__in=[pk for pk, depth in walk.depths.items() if depth == 3])
    assert set(last.values_list("node__dataset__kind", flat=True)) == {"kafka", "sftp"}


def test_the_customer_dimension_has_312_nodes_after_it_and_one_dataset_has_none() -> None:
    node = dataset("dwh.dim_customer").lineage_node  # type: ignore[attr-defined]
    assert len(graph.everything([node.pk]) - {node.pk}) == 312
    joined = {pk for pair in Edge.objects.values_list("source__dataset", "target__dataset") for pk in pair}
    alone = Dataset.objects.exclude(pk__in=[pk for pk in joined if pk])
    assert [each.name for each in alone] == ["lake/archive/letters-2019"]
    assert not Event.objects.filter(resource__contains="letters-2019").exists()


def test_there_are_1200_events_in_ninety_days() -> None:
    assert Event.objects.filter(happened_at__gte=window()).count() == Event.objects.count() == 1200
    assert LineageEvent.objects.filter(event_time__gte=window(), state="merged").count() == 1200


def test_1204_messages_are_delivered_three_are_dead_and_none_waits() -> None:
    assert Counter(OutboxMessage.objects.values_list("status", flat=True)) == {"delivered": 1204, "dead": 3}
    reasons = Counter(OutboxMessage.objects.filter(status="dead").values_list("last_error", flat=True))
    assert sorted(reasons.values()) == [1, 2]
    large = OutboxMessage.objects.get(last_error__contains="TooLarge")
    assert len(large.payload) > 1024 * 1024


def test_38_postgresql_types_are_used_and_three_have_no_hive_type() -> None:
    matrix = Matrix.of("postgresql", "hive", used=True)
    assert len(matrix.considered) == 38
    assert {row.typedef.code for row in matrix.without} == {"inet", "tsvector", "money"}
    missing = Matrix.of("postgresql", "hive", missing=True)
    assert {row.typedef.code for row in missing.rows} == {"inet", "tsvector", "money"}


def test_every_role_has_an_account_and_programs_have_theirs() -> None:
    for role in ("viewer", "steward", "approver", "engineer", "admin"):
        user = person(role)
        assert user.role_names == {role}
        assert user.is_staff
        assert user.check_password("demo")
    for name in ("svc-crawler", "svc-pipeline"):
        user = person(name)
        assert (user.role_names, user.user_type) == ({"service"}, User.Type.TECHNICAL)
        assert not user.has_usable_password()


def test_there_are_640_decisions_in_ninety_days_and_breaking_ones_have_two_people() -> None:
    assert Decision.objects.filter(at__gte=window()).count() == 640
    breaking = Change.objects.filter(risk="breaking", state=Change.State.APPLIED)
    assert breaking.count() > 10
    for change in breaking.prefetch_related("decisions"):
        first, second = change.decisions.all()
        assert first.person_id != second.person_id
        assert first.at < second.at
        assert first.reason
        assert second.reason


def test_the_chain_holds_and_is_in_the_order_of_time() -> None:
    verdict = checking.verify()
    assert verdict.ok
    assert verdict.unsealed == 0


def test_three_columns_of_every_dataset_are_times() -> None:
    rows = Field.objects.filter(path__contains="_at", retired_at__isnull=True)
    assert rows.count() == 252
    assert set(Counter(rows.values_list("dataset", flat=True)).values()) == {3}
    assert rows.filter(dataset__system__code__in=["pg-crm", "pg-billing"]).count() == 78


def test_the_next_night_has_six_leftovers_two_new_ones_and_the_muted_one_again() -> None:
    before = {each.fingerprint for each in Change.objects.filter(proposal__crawl_run=tonight())}
    kept = found(op=Change.Op.RENAME_FIELD)
    review.decide([kept.proposal], approve=[kept.pk], by=person("steward"))
    run = next_night.come(story.PLOT["next_night"])
    live = Change.objects.filter(proposal__in=review.proposals_of(run), state__in=Change.UNDECIDED)
    leftovers = [each for each in live if each.fingerprint in before]
    assert (len(leftovers), live.count()) == (6, 8)
    carried = next(each for each in leftovers if each.op == Change.Op.RENAME_FIELD)
    assert carried.draft.person == person("steward")
    gone = run.report["removed_fields"]["crm.employees"]
    assert [each["name"] for each in gone] == ["nickname"]
    assert Mute.objects.filter(lifted_at__isnull=True, field_path="nickname").exists()


def test_after_the_review_was_finished_the_next_night_brings_what_waits_and_two_new_ones() -> None:
    steward = person("steward")
    drops = [found(op=Change.Op.DROP_FIELD, field_path=name) for name in ("fax_number", "region_code")]
    no = [review.Rejection(each.pk, "billing still reads it") for each in drops]
    proposals = review.proposals_of(tonight())
    conflict = found(op=Change.Op.CHANGE_GENERATED)
    no.append(review.Rejection(conflict.pk, "ours is right", "once"))
    review.decide(proposals, approve="all", reject=no, by=steward)
    outcome = review.apply(proposals, by=steward)
    assert len(outcome.waiting) == 7
    assert sum(len(each["change_ids"]) for each in outcome.applied) == 27
    run = next_night.come(story.PLOT["next_night"])
    live = Change.objects.filter(proposal__in=review.proposals_of(run), state__in=Change.UNDECIDED)
    assert Counter(live.values_list("state", flat=True)) == {"waiting": 6, "open": 2}
    again = next_night.come(story.PLOT["next_night"])
    assert again.status == "completed"


def test_a_crawl_of_a_bundled_source_is_slow_enough_to_be_watched_and_finds_the_same(
    settings: Any,
) -> None:
    settings.DEBUG = True
    for code, tables in SYSTEMS.items():
        extra = System.objects.get(code=code).extra
        assert extra["stand_in"] == f"{code}.sqlite3"
        assert 8 <= extra["seconds_a_table"] * tables <= 12
    System.objects.filter(code="pg-crm").update(extra={"stand_in": "pg-crm.sqlite3"})
    run = crawl.crawl_now(System.objects.get(code="pg-crm"), trigger="person")
    assert (run.status, run.tables_done, run.proposals.count()) == ("completed", 12, 0)
    settings.DEBUG = False
    run = crawl.crawl_now(System.objects.get(code="pg-crm"), trigger="person")
    assert run.status == "failed"


def test_a_second_run_keeps_everything_and_says_what_there_is(settings: Any) -> None:
    settings.DEBUG = True
    before = (CrawlRun.objects.count(), Change.objects.count(), Dataset.objects.count())
    out = io.StringIO()
    call_command("seed_demo", stdout=out)
    printed = out.getvalue()
    assert (CrawlRun.objects.count(), Change.objects.count(), Dataset.objects.count()) == before
    assert "Customer relations: 37 changes wait for review, 9 of them breaking." in printed
    for role in ("viewer", "steward", "approver", "engineer", "admin"):
        assert f"{role}@demo.aide" in printed


def test_the_times_of_the_story_are_relative_to_now() -> None:
    now = timezone.now().replace(month=7, day=3, hour=1, minute=0)
    assert last_time(2, 12, before=now).day == 2
    assert (first_of_march(now).month, first_of_march(now).year) == (3, now.year)
    assert first_of_march(now.replace(month=3, day=4)).year == now.year - 1
    clock, real = Clock(now), timezone.now
    with clock.running():
        assert timezone.now() > now
        assert timezone.now() - now < timedelta(seconds=1)
    assert timezone.now is real
