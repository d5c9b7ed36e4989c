"""The screens of events and lineage, as a person reads them."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from lineage import events
from lineage.models import NodeName, OutboxMessage
from tests import factories
from tests.lineage.events import PG, columns, dataset, run_event, send

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk() -> Client:
    client = Client(headers={"accept": "text/html"})
    client.force_login(
        factories.make_user("engineer", email="e@example.com"), "aide.accounts.backends.EmailBackend"
    )
    return client


@pytest.fixture
def chain() -> None:
    """a is made into b, b into c and d; the e-mail column goes along to b."""
    email = columns(email=[("db.public.a", "email")])
    send(
        run_event(
            run=1, job="build_b", reads=["db.public.a"], writes=[dataset("db.public.b", columnLineage=email)]
        ),
        run_event(run=2, job="build_c", reads=["db.public.b"], writes=["db.public.c", "db.public.d"]),
    )


def explore(desk: Client, name: str, **query: str) -> Any:
    return desk.get(reverse("admin:lineage_explore"), {"namespace": PG, "name": name, **query})


@pytest.mark.usefixtures("chain")
def test_the_list_tells_the_hop_the_job_and_the_way(desk: Client) -> None:
    rows = json.loads(explore(desk, "db.public.a", format="json").content)
    assert [(row["hop"], row["name"], row["jobs"]) for row in rows] == [
        (1, "db.public.b", "build_b"),
        (2, "db.public.c", "build_c"),
        (2, "db.public.d", "build_c"),
    ]
    assert rows[1]["path"] == "db.public.a → db.public.b → db.public.c"
    page = explore(desk, "db.public.a").content.decode()
    assert "3 datasets" in page
    assert "Changing db.public.a affects 3 datasets" in page


@pytest.mark.usefixtures("chain")
def test_upstream_and_both_ways_and_fewer_steps(desk: Client) -> None:
    def names(**query: str) -> list[str]:
        return [
            row["name"] for row in json.loads(explore(desk, "db.public.b", format="json", **query).content)
        ]

    assert names(dir="up") == ["db.public.a"]
    assert names(dir="both") == ["db.public.a", "db.public.c", "db.public.d"]
    assert (
        json.loads(explore(desk, "db.public.a", format="json", depth="1").content)[-1]["name"]
        == "db.public.b"
    )


@pytest.mark.usefixtures("chain")
def test_a_column_leads_to_columns(desk: Client) -> None:
    rows = json.loads(explore(desk, "db.public.a", field="email", format="json").content)
    assert [(row["name"], row["field"]) for row in rows] == [("db.public.b", "email")]


@pytest.mark.usefixtures("chain")
def test_the_drawing_says_the_same_as_the_list(desk: Client) -> None:
    page = explore(desk, "db.public.a", view="drawing").content.decode()
    assert page.count('class="box') == 4
    assert page.count('class="edge"') == 3


@pytest.mark.usefixtures("chain")
def test_one_may_begin_without_knowing_a_name(desk: Client) -> None:
    page = desk.get(reverse("admin:lineage_explore")).content.decode()
    assert "db.public.b" in page
    assert "based on events of 1 Mar 2026" in page


@pytest.mark.usefixtures("chain")
def test_a_sentence_for_a_ticket_counts_one_as_one(desk: Client) -> None:
    page = explore(desk, "db.public.a", field="email").content.decode()
    assert "affects 1 column in 1 dataset." in page


def test_sessions_offer_the_resources_of_the_latest_events(desk: Client) -> None:
    assert "No event has arrived yet." in desk.get(reverse("admin:lineage_sessions")).content.decode()
    record(4)
    assert desk.get(reverse("admin:lineage_sessions")).content.decode().count('href="?resource=') == 3


def test_an_event_that_only_the_log_has_is_not_called_sent(desk: Client) -> None:
    record(1)
    OutboxMessage.objects.update(status="delivered", sink="log")
    page = desk.get(reverse("admin:lineage_event_changelist")).content.decode()
    assert "to the log" in page
    assert ">sent<" not in page


@pytest.mark.usefixtures("chain")
def test_what_nobody_reads_is_no_proof_of_that(desk: Client) -> None:
    assert "That is not proof that nobody does." in explore(desk, "db.public.d").content.decode()


def test_a_file_for_spreadsheets_holds_no_formula(desk: Client) -> None:
    send(run_event(job="=HYPERLINK(1)", reads=["db.public.a"], writes=["db.public.b"]))
    text = explore(desk, "db.public.a", format="csv").content.decode()
    [row] = csv.DictReader(io.StringIO(text))
    assert row["jobs"] == "'=HYPERLINK(1)"


def test_a_name_in_no_registry_can_be_bound_and_freed(desk: Client) -> None:
    meant = factories.make_dataset("orders", system=factories.make_system("pg-x"))
    send(run_event(reads=["elsewhere.orders_v7"], writes=["db.public.out"]))
    row = NodeName.objects.get(name="elsewhere.orders_v7")
    page = reverse("admin:lineage_nodename_change", args=[row.pk])
    assert "public.orders" in desk.get(page, {"q": "orders"}).content.decode()
    bind = reverse("admin:lineage_nodename_bind", args=[row.pk])
    told = desk.post(bind, {"dataset": meant.pk}, follow=True).content.decode()
    assert "The name is bound." in told
    assert NodeName.objects.get(pk=row.pk).node.dataset_id == meant.pk
    desk.post(reverse("admin:lineage_nodename_unbind", args=[row.pk]))
    assert NodeName.objects.get(pk=row.pk).node.dataset_id is None


def record(count: int, **values: str) -> None:
    events.accept(
        [
            {"resource": f"r{number % 3}", "subject": "s", "action": "READ", "additionalValues": values}
            for number in range(count)
        ]
    )


def test_events_are_found_by_a_whole_word_or_a_value(desk: Client) -> None:
    record(3, model="fraud")
    record(2, model="churn")
    address = reverse("admin:lineage_event_changelist")
    assert "5 events" in desk.get(address).content.decode()
    assert "2 events" in desk.get(address, {"q": "model=churn"}).content.decode()
    assert "2 events" in desk.get(address, {"q": "r1"}).content.decode()
    assert "Nothing here matches" in desk.get(address, {"q": "r"}).content.decode()


def test_the_list_of_events_takes_as_many_statements_for_many(desk: Client) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as seen:
            assert desk.get(reverse("admin:lineage_event_changelist")).status_code == 200
        return len(seen)

    record(3)
    count()
    few = count()
    record(60)
    assert count() == few <= 10


def test_a_resource_is_told_as_sessions(desk: Client) -> None:
    steps = (
        ("TRAINING_STARTED", {"param_max_depth": "10"}),
        ("DATA_LOADED", {"records_count": "1000"}),
        ("MODEL_EVALUATED", {"metric_accuracy": "0.94"}),
        ("TRAINING_COMPLETED", {"final_status": "SUCCESS"}),
    )
    events.accept(
        [
            {
                "resource": "t1",
                "subject": "ml",
                "action": action,
                "timestamp": 1.79e9 + place,
                "additionalValues": values,
            }
            for place, (action, values) in enumerate(steps)
        ]
    )
    text = desk.get(reverse("admin:lineage_sessions"), {"resource": "t1"}).content.decode()
    assert "1 session, 4 events" in text
    assert "completed" in text
    for word in ("param_max_depth", "records_count", "metric_accuracy", "Parameters", "Metrics", "Records"):
        assert word in text


def test_the_quality_page_names_what_never_ended(desk: Client) -> None:
    yesterday = timezone.now().timestamp() - 7200
    events.accept([{"resource": "t1", "subject": "ml", "action": "LOAD_STARTED", "timestamp": yesterday}])
    text = desk.get(reverse("admin:lineage_quality")).content.decode()
    assert "It never ended" in text
    assert "0 % without fault" in text


def test_a_dataset_shows_its_events_and_neighbours(desk: Client) -> None:
    orders = factories.make_dataset("orders", system=factories.make_system("pg-x"))
    events.accept([{"resource": "pg-x/public.orders", "subject": "etl", "action": "DATA_WRITTEN"}])
    address = reverse("admin:registry_dataset_change", args=[orders.pk])
    assert "DATA_WRITTEN" in desk.get(address, {"tab": "events"}).content.decode()
    assert "not proof that nobody does" in desk.get(address, {"tab": "lineage"}).content.decode()


def test_dead_messages_are_sent_again_from_the_screen(desk: Client) -> None:
    events.accept([{"resource": "a", "event_id": "one"}, {"resource": "b", "event_id": "two"}])
    OutboxMessage.objects.filter(event_id="one").update(status="dead", last_error="MessageSizeTooLarge")
    address = reverse("admin:lineage_outboxmessage_changelist")
    page = desk.get(address).content.decode()
    assert "MessageSizeTooLarge" in page
    assert "Retry all 1" in page
    told = desk.post(reverse("admin:lineage_outbox_retry_dead"), follow=True).content.decode()
    assert "1 message will be sent again." in told
    assert not OutboxMessage.objects.filter(status="dead").exists()


def test_a_viewer_sees_the_outbox_but_no_content_as_a_file(desk: Client) -> None:
    events.accept([{"resource": "a", "event_id": "one"}])
    viewer = Client(headers={"accept": "text/html"})
    viewer.force_login(
        factories.make_user("viewer", email="v@example.com"), "aide.accounts.backends.EmailBackend"
    )
    row = OutboxMessage.objects.get(event_id="one")
    assert (
        "Send again"
        not in viewer.get(reverse("admin:lineage_outboxmessage_change", args=[row.pk])).content.decode()
    )
    assert viewer.get(reverse("admin:lineage_outbox_payload", args=[row.pk])).status_code == 403
