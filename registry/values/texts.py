"""Texts, bytes and bits in each other, and what other values look like when they are written down. Pure."""

from __future__ import annotations

from registry.values.model import (
    LOSSLESS,
    LOSSY,
    NONE,
    UNSAFE,
    Bits,
    Clock,
    Day,
    Exact,
    Flag,
    Float,
    Labels,
    Moment,
    Named,
    Octets,
    Span,
    Text,
    Values,
    Verdict,
    Whole,
)
from registry.values.numbers import digits_of

# How much one unit of a length may need in another one, by repertoire.
_BYTES = {"unicode": 4, "bmp": 3, "latin1": 3, "ascii": 1}
_WIDER = {"ascii": {"ascii", "latin1", "bmp", "unicode"}, "latin1": {"latin1", "bmp", "unicode"},
          "bmp": {"bmp", "unicode"}, "unicode": {"unicode"}}  # fmt: skip


def length_in(text: Text, unit: str) -> int | None:
    """The longest text in another unit; None without limit."""
    if text.length is None or text.unit == unit:
        return text.length
    wide = text.characters == "unicode"
    if unit == "byte":
        return text.length * (_BYTES.get(text.characters, 4) if text.unit == "character" else 3)
    if unit == "utf16" and text.unit == "character" and wide:
        return text.length * 2
    return text.length


def text_to_text(source: Text, target: Text) -> Verdict:
    if target.characters not in _WIDER.get(source.characters, {source.characters, "unicode"}):
        return Verdict(LOSSY, f"Characters that are not in {target.characters} are lost")
    needs = length_in(source, target.unit)
    if target.length is not None and (needs is None or needs > target.length):
        counted = {"character": "characters", "byte": "bytes", "utf16": "UTF-16 units"}[target.unit]
        return Verdict(LOSSY, f"Texts of more than {target.length} {counted} are cut")
    if target.padded and not source.padded:
        return Verdict(LOSSY, "Blanks at the end are lost")
    if source.empty and not target.empty:
        return Verdict(LOSSY, "An empty text becomes null")
    return Verdict(LOSSLESS, "Every text fits")


def octets_to_octets(source: Octets, target: Octets) -> Verdict:
    if target.fixed and not (source.fixed and source.length == target.length):
        return Verdict(LOSSY, f"Only values of exactly {target.length} bytes stay as they are")
    if target.length is not None and (source.length is None or source.length > target.length):
        return Verdict(LOSSY, f"Values of more than {target.length} bytes are cut")
    if source.empty and not source.fixed and not target.empty:
        return Verdict(LOSSY, "An empty value becomes null")
    return Verdict(LOSSLESS, "Every value fits")


def bits_to_bits(source: Bits, target: Bits) -> Verdict:
    if target.fixed and not (source.fixed and source.length == target.length):
        return Verdict(LOSSY, f"Only values of exactly {target.length} bits stay as they are")
    if target.length is not None and (source.length is None or source.length > target.length):
        return Verdict(LOSSY, f"Values of more than {target.length} bits are cut")
    return Verdict(LOSSLESS, "Every bit is kept")


def written(source: Values, target: Text) -> Verdict:
    """Any value in its written form."""
    if isinstance(source, Octets):
        return _base64(source, target)
    if isinstance(source, Named) and not source.writable:
        if source.name in ("opaque", "variant") and target.length is None:
            return Verdict(UNSAFE, "Written as text, which cannot always be read back")
        return Verdict(NONE, "There is no such conversion")
    form = written_form(source)
    if form is None:
        return Verdict(NONE, "There is no such conversion")
    longest, how = form
    labels = isinstance(source, Labels)
    text = Text(longest, "character", "unicode" if labels else "ascii", not labels, _may_be_empty(source))
    found = text_to_text(text, target)
    return found if found.safety != LOSSLESS else Verdict(LOSSLESS, f"Written {how}")


def _base64(source: Octets, target: Text) -> Verdict:
    longest = None if source.length is None else 4 * -(-source.length // 3)
    empty = source.empty and not source.fixed
    found = text_to_text(Text(longest, "character", "ascii", padded=True, empty=empty), target)
    return found if found.safety != LOSSLESS else Verdict(LOSSLESS, "Written in base64")


def written_form(source: Values) -> tuple[int | None, str] | None:
    """The longest written form in characters, and how it is written."""
    match source:
        case Flag():
            return 5, "as true or false"
        case Whole():
            digits = digits_of(source)
            return (None if digits is None else digits + 1), "in digits"
        case Exact():
            if source.whole is None or source.scale is None or source.digits:
                return None, "in digits"
            return max(source.whole, 1) + max(source.scale, 0) + 2, "in digits"
        case Float():
            return 26, "with as many digits as it takes"
        case Day():
            return 13, "in ISO 8601"
        case Clock():
            return 32, "in ISO 8601"
        case Moment():
            return 42, "in ISO 8601"
        case Span():
            return 80, "in ISO 8601"
        case Bits():
            return source.length, "as digits 0 and 1"
        case Labels():
            return _labels(source), "as the value's own text"
        case Named():
            return source.written, "as text"
    return None


def _labels(source: Labels) -> int | None:
    if source.labels is None:
        return None
    lengths = [len(label) for label in source.labels]
    return sum(lengths) + len(lengths) - 1 if source.several else max(lengths)


def _may_be_empty(source: Values) -> bool:
    if isinstance(source, Labels):
        return source.several or source.labels is None or "" in source.labels
    return isinstance(source, Bits) and not source.fixed
