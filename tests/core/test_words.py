"""The small words and pieces of HTML that screens share."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from aide.core import html
from aide.core.forms import LinesField, PrettyJSONField, WordsField
from aide.desk import charts

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("distance", "words"),
    [
        (timedelta(seconds=5), "just now"),
        (timedelta(minutes=5), "5 min ago"),
        (timedelta(hours=2), "2 h ago"),
        (timedelta(days=1), "1 day ago"),
        (timedelta(days=3), "3 days ago"),
        (timedelta(days=60), "3 Jan 2026"),
        (-timedelta(hours=3), "in 3 h"),
    ],
)
def test_moments_are_told_as_people_say_them(distance: timedelta, words: str) -> None:
    assert html.ago_in_words(NOW - distance, now=NOW) == words


def test_a_moment_carries_its_exact_time() -> None:
    assert 'datetime="2026-03-04T12:00:00+00:00"' in html.ago(NOW)
    assert html.ago(None) == html.NOTHING


def test_long_names_are_cut_in_the_middle_and_escaped() -> None:
    name = "crm.<b>" + "x" * 100 + ".end"
    short = str(html.short_name(name, length=20))
    assert "&lt;b&gt;" in short
    assert "<b>" not in short
    assert short.endswith(".end</span>")
    assert html.short_name("crm.customers") == "crm.customers"


def test_counts_and_actions_are_words() -> None:
    assert [html.count_in_words(n, "entry", "entries") for n in (0, 1, 1204)] == [
        "0 entries",
        "1 entry",
        "1,204 entries",
    ]
    assert html.action_in_words("dataset.publish") == "published dataset"
    assert html.action_in_words("crawl_plan.rest_a_while") == "crawl plan: rest a while"


def test_lists_are_written_with_commas_or_lines() -> None:
    assert WordsField().clean(" a, b,, a ,c") == ["a", "b", "c"]
    assert WordsField().prepare_value(["a", "b"]) == "a, b"
    assert LinesField().clean("one\n\n two \none") == ["one", "two"]


def test_json_is_shown_indented_and_empty_means_empty() -> None:
    assert PrettyJSONField().prepare_value({"a": 1}) == '{\n  "a": 1\n}'
    assert PrettyJSONField().clean("") == {}
    assert PrettyJSONField(empty=list).clean("") == []


def test_a_chart_of_nothing_is_still_a_chart() -> None:
    assert charts.pairs_by_day([]).bars == ()
    chart = charts.shares([("Empty", 0, 0)])
    assert chart.texts[-1].text == "0% of 0"


def test_bars_stay_inside_the_chart() -> None:
    chart = charts.pairs_by_day([(str(n), n * 7, n) for n in range(30)])
    assert all(bar.x + bar.width <= chart.width and bar.y >= 0 for bar in chart.bars)
