"""The event as it comes in and goes out."""

from __future__ import annotations

import datetime as dt
import json
import pickle

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lineage import metadata
from lineage.metadata import RefusedError

NOW = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)


def read(**members):
    return metadata.read(members, now=NOW)


def pickled(text, *zone):
    return {
        "py/object": "datetime.datetime",
        "__reduce__": [{"py/type": "datetime.datetime"}, [text, *zone]],
    }


def test_missing_members_take_the_original_defaults():
    first, second = read(), read()
    assert (first.subject, first.action, first.additional_values, first.happened_at) == ("", "", {}, NOW)
    assert len(first.resource) == 32
    assert first.resource != second.resource
    assert first.event_id != second.event_id


def test_null_is_a_missing_member_and_empty_is_a_value():
    assert len(read(resource=None, subject=None, timestamp=None).resource) == 32
    assert read(resource="").resource == ""


@pytest.mark.parametrize(
    ("given_time", "expected"),
    [
        (0, "1970-01-01T00:00:00+00:00"),
        (1725530400.25, "2024-09-05T10:00:00.250000+00:00"),
        (-0.5, "1969-12-31T23:59:59.500000+00:00"),
        ("1725530400.25", "2024-09-05T10:00:00.250000+00:00"),
        ("2024-09-05", "2024-09-05T00:00:00+00:00"),
        ("2024-09-05T10:00:00", "2024-09-05T10:00:00+00:00"),
        ("2024-09-05T10:00:00.123456789Z", "2024-09-05T10:00:00.123456+00:00"),
        ("2024-09-05 12:00:00+02:00", "2024-09-05T10:00:00+00:00"),
        (pickled("B+gJBQoAAAPQkA=="), "2024-09-05T10:00:00.250000+00:00"),
        (pickled("B+gJBQoAAAAAAA==", {"py/reduce": []}), "2024-09-05T10:00:00+00:00"),
    ],
    ids=str,
)
def test_times_come_as_numbers_texts_and_pickled_objects(given_time, expected):
    assert read(timestamp=given_time).happened_at.isoformat() == expected


@pytest.mark.parametrize(
    "value",
    [
        *(True, [], "soon", "", "2024-13-01", "2024-09-05T25:00", float("inf"), float("nan")),
        *(1e300, 10**400, -(10**400), 1725530400000, "1725530400000", "9999-12-31T23:59:59-12:00"),
        *("0001-01-01T00:00:00+14:00", {}, {"py/object": "os.system"}, pickled("AAAA"), pickled(7)),
        *(pickled("!!!!"), pickled("/////////////w=="), {"py/object": "datetime.datetime", "__reduce__": []}),
        pickled("B+gJBQoAAAPQkA==") | {"__reduce__": [{"py/type": "subprocess.Popen"}, ["B+gJBQoAAAPQkA=="]]},
    ],
    ids=lambda value: str(value)[:40],
)
def test_times_that_mean_nothing_are_refused_with_a_reason(value):
    with pytest.raises(RefusedError) as refusal:
        read(timestamp=value)
    assert refusal.value.field == "timestamp"
    assert refusal.value.reason


def test_milliseconds_are_named_as_such():
    with pytest.raises(RefusedError, match="milliseconds"):
        read(timestamp=1725530400000)


def test_nothing_is_ever_unpickled(monkeypatch):
    monkeypatch.setattr(pickle, "loads", None)
    bomb = {"py/object": "datetime.datetime", "__reduce__": [{"py/function": "os.system"}, ["echo"]]}
    with pytest.raises(RefusedError):
        read(timestamp=bomb)


def test_values_become_texts():
    found = read(additionalValues={"n": 1, "f": 1.5, "b": True, "none": None, "list": [1, "ä"], "t": "x"})
    assert found.additional_values == {
        "n": "1",
        "f": "1.5",
        "b": "true",
        "none": "",
        "list": '[1,"ä"]',
        "t": "x",
    }


def test_unknown_members_are_ignored_as_the_original_does():
    assert metadata.write(read(resource="r", event_id="e", colour="red")) == {
        "resource": "r",
        "subject": "",
        "action": "",
        "timestamp": NOW.timestamp(),
        "additionalValues": {},
        "event_id": "e",
    }


@pytest.mark.parametrize(
    ("members", "field"),
    [
        ({"resource": 7}, "resource"),
        ({"resource": "x" * 1001}, "resource"),
        ({"resource": "\U0001f600" * 600}, "resource"),
        ({"subject": "a\x00"}, "subject"),
        ({"action": "\ud800"}, "action"),
        ({"action": "x" * 256}, "action"),
        ({"event_id": ""}, "event_id"),
        ({"event_id": 5}, "event_id"),
        ({"event_id": "x" * 201}, "event_id"),
        ({"additionalValues": []}, "additionalValues"),
        ({"additionalValues": {"k": float("inf")}}, "additionalValues.k"),
        ({"additionalValues": {"k": [float("nan")]}}, "additionalValues.k"),
        ({"additionalValues": {"k" * 256: "v"}}, "additionalValues." + "k" * 50),
        ({"additionalValues": {"k": "v" * 65_537}}, "additionalValues.k"),
        ({"additionalValues": {"k": "\x00"}}, "additionalValues"),
        ({"additionalValues": {str(n): "" for n in range(1001)}}, "additionalValues"),
        ({"additionalValues": {str(n): "v" * 60_000 for n in range(17)}}, "additionalValues"),
    ],
    ids=lambda value: str(value)[:40].encode("ascii", "backslashreplace").decode(),
)
def test_what_cannot_be_kept_is_refused_with_its_place(members, field):
    with pytest.raises(RefusedError) as refusal:
        read(**members)
    assert refusal.value.field == field


@pytest.mark.parametrize("value", [None, [], "text", 5, True], ids=str)
def test_an_event_is_an_object(value):
    with pytest.raises(RefusedError):
        metadata.read(value, now=NOW)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.dictionaries(
        st.sampled_from(["resource", "subject", "action", "timestamp", "additionalValues", "event_id", "x"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
            max_leaves=8,
        ),
    )
)
def test_whatever_comes_is_read_or_refused_and_what_is_read_stays_the_same(value):
    try:
        event = metadata.read(value, now=NOW)
    except RefusedError:
        return
    again = metadata.read(json.loads(json.dumps(metadata.write(event))), now=NOW)
    assert again.additional_values == event.additional_values
    assert (again.event_id, again.resource, again.subject) == (event.event_id, event.resource, event.subject)
    assert abs(again.happened_at - event.happened_at) < dt.timedelta(milliseconds=1)
