"""Do the values of one set survive in another? One rule for each pair of families. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from registry.values.limits import AS_WRITTEN
from registry.values.model import (
    LOSSLESS,
    LOSSY,
    NONE,
    NULL,
    UNSAFE,
    Bits,
    Choice,
    Clock,
    Day,
    Exact,
    Flag,
    Float,
    Labels,
    Listed,
    Mapped,
    Moment,
    Named,
    Octets,
    Record,
    Span,
    Text,
    Values,
    Verdict,
    Whole,
    worst,
)
from registry.values.numbers import (
    exact_to_exact,
    exact_to_float,
    exact_to_whole,
    float_to_exact,
    float_to_float,
    float_to_whole,
    whole_to_exact,
    whole_to_float,
    whole_to_whole,
)
from registry.values.texts import bits_to_bits, octets_to_octets, text_to_text, written
from registry.values.times import (
    clock_to_clock,
    clock_to_span,
    day_to_day,
    day_to_moment,
    moment_to_day,
    moment_to_moment,
    span_to_span,
)

Rule = Callable[[Any, Any], Verdict]


def judge(source: Values, target: Values) -> Verdict:
    """What becomes of the values of `source` when they are kept as `target`."""
    if source == NULL:
        return Verdict(LOSSLESS, "Only null is kept, and any column may hold that")
    rule = _RULES.get((type(source), type(target)))
    if rule is not None:
        return rule(source, target)
    if isinstance(source, Choice) and not isinstance(target, Choice):
        return _choice_to_one(source, target)
    if isinstance(target, Choice):
        return _one_to_choice(source, target)
    if isinstance(target, Named) and target.name == "json":
        return _as_json(source)
    if isinstance(target, Text):
        if isinstance(source, Listed | Mapped | Record):
            return _json_text(source, target)
        return written(source, target)
    if isinstance(target, Named) and target.name == "variant" and target.variant == "sqlite":
        return Verdict(LOSSLESS, "A column of any type keeps every value as it is")
    return Verdict(NONE, "There is no such conversion")


def _yes(why: str) -> Rule:
    return lambda source, target: Verdict(LOSSLESS, why)


def _flag_to_whole(source: Flag, target: Whole) -> Verdict:
    return Verdict(LOSSLESS, "True and false become 1 and 0")


def _whole_to_flag(source: Whole, target: Flag) -> Verdict:
    if source.low == 0 and source.high == 1:
        return Verdict(LOSSLESS, "0 and 1 become false and true")
    return Verdict(LOSSY, "Every number but 0 becomes true")


def _bits_to_flag(source: Bits, target: Flag) -> Verdict:
    if source.fixed and source.length == 1:
        return Verdict(LOSSLESS, "The single bit becomes true or false")
    return Verdict(NONE, "Several bits are no truth value")


def _bits_to_whole(source: Bits, target: Whole) -> Verdict:
    if not source.fixed or source.length is None:
        return Verdict(LOSSY, "How many bits there were is not kept")
    found = whole_to_whole(Whole(0, 2**source.length - 1), target)
    return found if found.safety != LOSSLESS else Verdict(LOSSLESS, "The bits become a number")


def _bits_to_exact(source: Bits, target: Exact) -> Verdict:
    if not source.fixed or source.length is None:
        return Verdict(LOSSY, "How many bits there were is not kept")
    found = whole_to_exact(Whole(0, 2**source.length - 1), target)
    return found if found.safety != LOSSLESS else Verdict(LOSSLESS, "The bits become a number")


def _bits_to_octets(source: Bits, target: Octets) -> Verdict:
    return Verdict(LOSSY, "How many bits there were is not kept")


def _labels_to_labels(source: Labels, target: Labels) -> Verdict:
    if source.several and not target.several:
        return Verdict(LOSSY, "Only one of the values could be kept")
    if target.labels is None:
        return Verdict(LOSSLESS, "Any value may be kept")
    if source.labels is None:
        return Verdict(UNSAFE, "The values are not known")
    missing = [label for label in source.labels if label not in target.labels]
    if missing:
        return Verdict(LOSSY, f"There is no value {missing[0]!r}")
    return Verdict(LOSSLESS, "Every value is there")


def _text_to_labels(source: Text, target: Labels) -> Verdict:
    return Verdict(LOSSY, "Texts that are not listed could not be kept")


def _named_to_named(source: Named, target: Named) -> Verdict:
    if target.name == "variant" and target.variant == "sqlite":
        return Verdict(LOSSLESS, "A column of any type keeps every value as it is")
    if source.name != target.name:
        if target.name != "json":
            return Verdict(NONE, "There is no such conversion")
        if source.name == "bson":
            return Verdict(LOSSY, "Types that JSON does not have are lost")
        if source.name == "variant":
            return Verdict(UNSAFE, "The type of each value is not kept")
        kept = Verdict(LOSSLESS, "Written as text in JSON")
        return kept if source.writable else Verdict(NONE, "There is no such conversion")
    if source.name == "json" and target.variant == AS_WRITTEN:
        return Verdict(LOSSLESS, "The text is kept as it is")
    if source.name == "inet":
        return _inet(source, target)
    if source.name == "geometry" and source.variant == target.variant:
        return Verdict(LOSSLESS, "Both hold the same values")
    if source.name in _SAME_NAME:
        return _SAME_NAME[source.name]
    if source.variant != target.variant:
        return Verdict(UNSAFE, "The two do not hold the same values")
    return Verdict(LOSSLESS, "Both hold the same values")


def _inet(source: Named, target: Named) -> Verdict:
    if (target.written or 0) >= (source.written or 0) and target.written != 15:
        return Verdict(LOSSLESS, "Every address fits")
    if source.written == target.written:
        return Verdict(LOSSLESS, "Every address fits")
    return Verdict(LOSSY, "The mask and addresses of the other kind do not fit")


_SAME_NAME = {
    "json": Verdict(LOSSY, "Blanks, repeated keys and digits of long numbers may not be kept as written"),
    "xml": Verdict(LOSSY, "Blanks and the declaration may not be kept as written"),
    "geometry": Verdict(LOSSY, "The reference system of each value may not be kept"),
}


def _named_to_octets(source: Named, target: Octets) -> Verdict:
    if target.length is not None:
        return Verdict(NONE, "There is no such conversion")
    if source.name == "geometry":
        return Verdict(LOSSY, "Kept as well-known binary; the reference system is not in it")
    if source.name == "bson":
        return Verdict(LOSSLESS, "The bytes are kept as they are")
    if source.name == "uuid":
        return Verdict(LOSSLESS, "The 16 bytes are kept")
    return Verdict(NONE, "There is no such conversion")


def _uuid_from_text(source: Text, target: Named) -> Verdict:
    if target.name == "json":
        return Verdict(LOSSLESS, "Written as text in JSON")
    if target.name == "variant" and target.variant == "sqlite":
        return Verdict(LOSSLESS, "A column of any type keeps every value as it is")
    return Verdict(NONE, "There is no such conversion")


def _listed_to_listed(source: Listed, target: Listed) -> Verdict:
    if target.length is not None and source.length != target.length:
        return Verdict(LOSSY, f"Only lists of {target.length} elements fit")
    return _of("each element", judge(source.element, target.element))


def _mapped_to_mapped(source: Mapped, target: Mapped) -> Verdict:
    keys, held = judge(source.key, target.key), judge(source.value, target.value)
    return max(_of("each key", keys), _of("each value", held), key=lambda verdict: verdict.rank)


def _record_to_record(source: Record, target: Record) -> Verdict:
    fields = dict(target.fields)
    missing = [name for name, _ in source.fields if name not in fields]
    if missing:
        return Verdict(LOSSY, f"There is no field {missing[0]}")
    found = worst(_of(f"the field {name}", judge(held, fields[name])) for name, held in source.fields)
    return found or Verdict(LOSSLESS, "There are no fields that could be lost")


def _record_to_mapped(source: Record, target: Mapped) -> Verdict:
    found = worst(_of(f"the field {name}", judge(held, target.value)) for name, held in source.fields)
    return found or Verdict(LOSSY, "Which fields there are is not kept")


def _choice_to_choice(source: Choice, target: Choice) -> Verdict:
    found = worst(_one_to_choice(member, target) for member in source.present)
    return found or Verdict(LOSSLESS, "Only null is kept")


def _one_to_choice(source: Values, target: Choice) -> Verdict:
    found = min((judge(source, member) for member in target.present), key=lambda v: v.rank, default=None)
    return found or Verdict(NONE, "There is no such conversion")


def _choice_to_one(source: Choice, target: Values) -> Verdict:
    members = source.present
    if len(members) == 1:
        return judge(members[0], target)
    if isinstance(target, Record) and len(target.fields) == len(members):
        pairs = zip(members, target.fields, strict=True)
        found = worst(_of(f"the choice {name}", judge(member, held)) for member, (name, held) in pairs)
        return found or Verdict(LOSSLESS, "Only null is kept")
    found = worst(judge(member, target) for member in members)
    if found is None or found.safety == NONE:
        return found or Verdict(LOSSLESS, "Only null is kept")
    return Verdict(UNSAFE, "Which of the types a value had is not kept")


def _json_text(source: Values, target: Text) -> Verdict:
    if target.length is not None:
        return Verdict(NONE, "There is no such conversion")
    found = _as_json(source)
    return Verdict(found.safety, f"Written as JSON text: {found.why[:1].lower()}{found.why[1:]}")


def _as_json(source: Values) -> Verdict:
    """Anything as a JSON value."""
    if isinstance(source, Flag | Labels):
        return Verdict(LOSSLESS, "Kept as a JSON value")
    if isinstance(source, Listed):
        return _of("each element", _as_json(source.element))
    if isinstance(source, Mapped):
        if not isinstance(source.key, Text):
            return Verdict(LOSSY, "The keys become texts")
        return _of("each value", _as_json(source.value))
    if isinstance(source, Record):
        found = worst(_of(f"the field {name}", _as_json(held)) for name, held in source.fields)
        return found or Verdict(LOSSLESS, "Kept as a JSON object")
    if isinstance(source, Whole):
        bounded = source.low is not None and source.high is not None
        if bounded and max(-(source.low or 0), source.high or 0) <= 2**53:
            return Verdict(LOSSLESS, "Kept as a JSON number")
        return Verdict(LOSSY, "Readers of JSON may round whole numbers above 2^53")
    if isinstance(source, Float):
        return (
            Verdict(LOSSY, "NaN and infinity cannot be written in JSON")
            if source.specials
            else Verdict(LOSSLESS, "Kept as a JSON number")
        )
    if isinstance(source, Exact):
        if source.whole is not None and source.scale is not None and source.whole + source.scale <= 15:
            return Verdict(LOSSLESS, "Kept as a JSON number")
        return Verdict(LOSSY, "Readers of JSON may round long numbers")
    if isinstance(source, Text):
        return Verdict(LOSSLESS, "Kept as a JSON text")
    if isinstance(source, Octets):
        return Verdict(LOSSLESS, "Written in base64")
    if isinstance(source, Choice):
        return _choice_to_one(source, Named("json"))
    if isinstance(source, Named):
        return _named_to_named(source, Named("json"))
    return written(source, Text())


def _of(part: str, verdict: Verdict) -> Verdict:
    why = verdict.why
    return Verdict(verdict.safety, f"Of {part}: {why[:1].lower()}{why[1:]}")


_RULES: dict[tuple[type, type], Rule] = {
    (Flag, Flag): _yes("True and false stay"),
    (Flag, Whole): _flag_to_whole,
    (Flag, Exact): _flag_to_whole,
    (Flag, Bits): _yes("True and false become 1 and 0"),
    (Whole, Whole): whole_to_whole,
    (Whole, Exact): whole_to_exact,
    (Whole, Float): whole_to_float,
    (Whole, Flag): _whole_to_flag,
    (Exact, Exact): exact_to_exact,
    (Exact, Whole): exact_to_whole,
    (Exact, Float): exact_to_float,
    (Float, Float): float_to_float,
    (Float, Exact): float_to_exact,
    (Float, Whole): float_to_whole,
    (Text, Text): text_to_text,
    (Text, Labels): _text_to_labels,
    (Text, Named): _uuid_from_text,
    (Octets, Octets): octets_to_octets,
    (Bits, Bits): bits_to_bits,
    (Bits, Flag): _bits_to_flag,
    (Bits, Whole): _bits_to_whole,
    (Bits, Exact): _bits_to_exact,
    (Bits, Octets): _bits_to_octets,
    (Day, Day): day_to_day,
    (Day, Moment): day_to_moment,
    (Moment, Moment): moment_to_moment,
    (Moment, Day): moment_to_day,
    (Clock, Clock): clock_to_clock,
    (Clock, Span): clock_to_span,
    (Span, Span): span_to_span,
    (Labels, Labels): _labels_to_labels,
    (Named, Named): _named_to_named,
    (Named, Octets): _named_to_octets,
    (Listed, Listed): _listed_to_listed,
    (Mapped, Mapped): _mapped_to_mapped,
    (Record, Record): _record_to_record,
    (Record, Mapped): _record_to_mapped,
    (Choice, Choice): _choice_to_choice,
}
