"""The quick way of reading a batch and the careful one answer the same."""

from __future__ import annotations

import pytest
from rest_framework.exceptions import ParseError

from lineage.api import bodies

DEEP = b"[" * 120 + b"]" * 120


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b'[ {"a": 1} , {"b": [1e5, 1.0, -0, 123456789012345678901234567890]} ] ', id="numbers"),
        pytest.param('[{"a": "ü😀"}, {"a": "\\ud83d\\ude00"}]'.encode(), id="texts"),
        pytest.param(b'[{"a": 1, "a": 2}, 3, null, "x", []]', id="no-objects"),
        pytest.param(b'[{"a": "\\u0000"}, {"a": 1}]', id="nul"),
        pytest.param(b'[{"a": "\\ud800"}, {"a": 1}]', id="half-a-pair"),
        pytest.param(b'[{"a": ' + DEEP + b'}, {"a": 1}]', id="deep"),
        pytest.param(b'\xef\xbb\xbf[{"a": 1}]', id="byte-order-mark"),
        pytest.param(b"[]", id="empty"),
    ],
)
def test_both_ways_read_the_same(raw: bytes) -> None:
    assert bodies.many_events(raw) == bodies._carefully(raw)


@pytest.mark.parametrize(
    "raw",
    [b"[NaN]", b"[1e400]", b"[1,]", b"[1] x", b"{}", b'["\xff"]', b"", b"[" * 5000],
    ids=[str(n) for n in range(8)],
)
def test_what_is_no_json_is_refused_in_the_careful_ways_words(raw: bytes) -> None:
    with pytest.raises(ParseError) as careful:
        bodies._carefully(raw)
    with pytest.raises(ParseError) as both:
        bodies.many_events(raw)
    assert str(both.value) == str(careful.value)
