"""Validators of sampled values: they count shapes and keep no value. Pure.

A shape says what a value could be, not whose it is. Whoever samples hands over values and keeps the counts.
"""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from collections.abc import Iterable
from datetime import date, datetime

import phonenumbers
from stdnum import iban, luhn

from registry.pii.columns import Evidence

LONGEST = 320  # characters of a value that are looked at: an e-mail address has no more
MOST = 10_000  # values of one column that are looked at
OLDEST = 120  # years of the oldest living person
_EMAIL = re.compile(r"[^\s@\"(),:;<>\[\]\\]{1,64}@(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.)+[^\W\d_]{2,63}")
_DIGITS = re.compile(r"[\d -]{12,26}")
_IBAN = re.compile(r"[A-Za-z]{2}\d{2}[A-Za-z0-9 ]{10,40}")
_PHONE = re.compile(r"[+(]?[\d(][\d\s().\-/]{5,24}\d")
_DATE = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})(?:[T ]00:00(?::00(?:\.0+)?)?Z?)?|(\d{1,2})[./](\d{1,2})[./](\d{4})"
)
_CARD_STARTS = re.compile(r"3[47]|3[068]|4|5[1-5]|2[2-7]|6(?:011|5|4[4-9])|35|62|50|5[6-9]|6")
_CARD_LENGTHS = range(13, 20)


def is_email(text: str) -> bool:
    """Whether it is written like an e-mail address with a domain of two parts or more."""
    return _EMAIL.fullmatch(text) is not None


def is_iban(text: str) -> bool:
    """Whether it is an IBAN with right length and check digits."""
    return _IBAN.fullmatch(text) is not None and iban.is_valid(text, check_country=False)


def is_card(text: str) -> bool:
    """Whether it is a payment card's number: known beginning, 13 to 19 digits, right check digit."""
    if _DIGITS.fullmatch(text) is None:
        return False
    digits = text.replace(" ", "").replace("-", "")
    if len(digits) not in _CARD_LENGTHS or len(set(digits)) == 1 or _CARD_STARTS.match(digits) is None:
        return False
    return luhn.is_valid(digits)


def is_phone(text: str) -> bool:
    """Whether it is a possible number of some country, with its country code."""
    if not text.startswith(("+", "00")) or _PHONE.fullmatch(text) is None:
        return False
    try:
        number = phonenumbers.parse(f"+{text[2:]}" if text.startswith("00") else text, None)
    except phonenumbers.NumberParseException:
        return False
    return phonenumbers.is_valid_number(number)


def is_local_phone(text: str) -> bool:
    """Whether it is written like a phone number without a country code: only a hint beside a name."""
    return _PHONE.fullmatch(text) is not None and 6 <= sum(each.isdigit() for each in text) <= 15


def is_ip(text: str) -> bool:
    """Whether it is an IPv4 or IPv6 address, with or without a network's length."""
    if "." not in text and ":" not in text:
        return False
    try:
        ipaddress.ip_interface(text)
    except ValueError:
        return False
    return True


def is_birth_date(value: object, *, today: date) -> bool:
    """Whether a living person may be born on it: a date without a time, in the last 120 years."""
    found = _day(value)
    return found is not None and date(today.year - OLDEST, 1, 1) <= found <= today


def shapes_of(values: Iterable[object], *, today: date) -> Evidence:
    """How many of the values have which shape; empty and missing ones are not counted. Keeps no value."""
    counts: Counter[str] = Counter()
    sampled = 0
    for value in values:
        if value is None or value == "":
            continue
        sampled += 1
        counts.update(_shapes(value, today))
        if sampled >= MOST:
            break
    return Evidence(sampled, dict(sorted(counts.items())))


def _shapes(value: object, today: date) -> Iterable[str]:
    if isinstance(value, bool | bytes | bytearray | memoryview | float):
        return
    if is_birth_date(value, today=today):
        yield "birth_date"
    if isinstance(value, date):
        return
    text = str(value).strip()
    if not text or len(text) > LONGEST:
        return
    for shape, fits in _TESTS:
        if fits(text):
            yield shape


_TESTS = (
    ("email", is_email),
    ("iban", is_iban),
    ("card", is_card),
    ("phone", is_phone),
    ("local_phone", is_local_phone),
    ("ip", is_ip),
)


def _day(value: object) -> date | None:
    if isinstance(value, datetime):
        midnight = not (value.hour or value.minute or value.second or value.microsecond)
        return value.date() if midnight else None
    if isinstance(value, date):
        return value
    found = _DATE.fullmatch(value.strip()) if isinstance(value, str) and len(value) <= LONGEST else None
    if found is None:
        return None
    year, month, day, first, second, last = (int(each) if each else 0 for each in found.groups())
    for candidate in ((year, month, day), (last, second, first), (last, first, second)):
        try:
            return date(*candidate)
        except ValueError:
            continue
    return None
