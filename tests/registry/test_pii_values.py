"""Sampled values become counts of shapes; no value is kept."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from registry.pii import Evidence
from registry.pii.values import (
    MOST,
    is_birth_date,
    is_card,
    is_email,
    is_iban,
    is_ip,
    is_local_phone,
    is_phone,
    shapes_of,
)

TODAY = date(2026, 3, 1)


@pytest.mark.parametrize(
    ("check", "right", "wrong"),
    [
        (
            is_email,
            ["a@b.example", "first.last+tag@mail.example.co", "ü@bücher.example"],
            [
                "a@b",
                "a b@c.example",
                "@b.example",
                "a@b..example",
                "a@@b.example",
                "a" * 70 + "@b.example",
                "",
            ],
        ),
        (
            is_iban,
            ["GB82 WEST 1234 5698 7654 32", "DE89370400440532013000", "de89370400440532013000"],
            ["GB82 WEST 1234 5698 7654 33", "XX00 0000 0000 0000", "12345678901234567890", ""],
        ),
        (
            is_card,
            ["4111 1111 1111 1111", "378282246310005", "5500-0000-0000-0004", "6011000000000004"],
            ["4111 1111 1111 1112", "0000 0000 0000 0000", "1234567890123", "4111", "411111111111111a", ""],
        ),
        (
            is_phone,
            ["+49 30 901820", "0049 30 901820", "+1 (650) 253-0000"],
            ["030 901820", "+49 1", "+999 123456789", "2026-03-01", "+", ""],
        ),
        (is_local_phone, ["030 901820", "(650) 253-0000"], ["12345", "hello", "12345678901234567890"]),
        (is_ip, ["10.0.0.1", "2001:db8::1", "10.0.0.0/8"], ["1", "10.0.0.256", "12:34", "1.5"]),
    ],
)
def test_a_shape_is_told_from_what_only_looks_like_it(check, right, wrong) -> None:
    assert [each for each in right if not check(each)] == []
    assert [each for each in wrong if check(each)] == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (date(1980, 2, 3), True),
        (date(1800, 2, 3), False),
        (date(2026, 3, 2), False),
        (datetime(1980, 2, 3, tzinfo=UTC), True),
        (datetime(1980, 2, 3, 14, 5, tzinfo=UTC), False),
        ("1980-02-03", True),
        ("3.2.1980", True),
        ("02/30/1980", False),
        ("1980-02-03 14:05:00", False),
        (19800203, False),
    ],
)
def test_a_day_on_which_somebody_living_was_born(value, expected) -> None:
    assert is_birth_date(value, today=TODAY) is expected


def test_counts_are_kept_and_values_are_not() -> None:
    secret = "canary.7f3a@example.com"
    found = shapes_of([secret, None, "", "x", b"a@b.example", True, 1.5], today=TODAY)
    assert found == Evidence(5, {"email": 1})
    assert secret not in repr(found)


def test_a_sample_ends() -> None:
    def endless():
        while True:
            yield "a@b.example"

    assert shapes_of(endless(), today=TODAY) == Evidence(MOST, {"email": MOST})


def test_very_long_values_are_not_read() -> None:
    assert shapes_of(["a@" + "b." * 500_000 + "example", "1" * 1_000_000], today=TODAY) == Evidence(2, {})
