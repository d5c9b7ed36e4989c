"""Numbers: whole, decimal and floating ones in each other. Pure; used by `judging` only."""

from __future__ import annotations

from registry.values.model import LOSSLESS, LOSSY, Exact, Float, Verdict, Whole


def _kept(why: str) -> Verdict:
    return Verdict(LOSSLESS, why)


def _lost(why: str) -> Verdict:
    return Verdict(LOSSY, why)


def whole_to_whole(source: Whole, target: Whole) -> Verdict:
    if target.high is not None and (source.high is None or source.high > target.high):
        return _lost(f"Numbers above {target.high} do not fit")
    if target.low is not None and (source.low is None or source.low < target.low):
        return _lost(
            "Negative numbers do not fit" if target.low == 0 else f"Numbers below {target.low} do not fit"
        )
    return _kept("Every whole number fits")


def whole_to_exact(source: Whole, target: Exact) -> Verdict:
    if not target.signed and (source.low is None or source.low < 0):
        return _lost("Negative numbers do not fit")
    digits = digits_of(source)
    if target.scale is not None and target.scale < 0:
        return _lost(f"Numbers are rounded to {10**-target.scale}")
    room = _smaller(target.whole, target.digits)
    if room is not None and (digits is None or digits > room):
        return _lost(f"Numbers of more than {room} digits do not fit")
    return _kept("Every whole number fits")


def whole_to_float(source: Whole, target: Float) -> Verdict:
    if not target.signed and (source.low is None or source.low < 0):
        return _lost("Negative numbers do not fit")
    largest = _largest(source)
    if largest is None or largest > 2**target.bits:
        return _lost(f"Whole numbers above 2^{target.bits} are rounded")
    return _kept("Every whole number is held exactly")


def exact_to_whole(source: Exact, target: Whole) -> Verdict:
    if source.specials:
        return _lost("NaN and infinity do not fit")
    if source.scale is None or source.scale > 0:
        return _lost("Digits behind the point are rounded away")
    if source.whole is None:
        return whole_to_whole(Whole(None, None), target)
    most = 10**source.whole - 1
    return whole_to_whole(Whole(-most if source.signed else 0, most), target)


def exact_to_exact(source: Exact, target: Exact) -> Verdict:
    if source.signed and not target.signed:
        return _lost("Negative numbers do not fit")
    if target.whole is not None and (source.whole is None or source.whole > target.whole):
        if target.whole < 0:
            return _lost(f"Only numbers below {10**target.whole} fit")
        return _lost(f"Numbers of more than {target.whole} digits before the point do not fit")
    if target.scale is not None and (source.scale is None or source.scale > target.scale):
        if target.scale < 0:
            return _lost(f"Numbers are rounded to {10**-target.scale}")
        if target.scale == 0:
            return _lost("Digits behind the point are rounded away")
        return _lost(f"Digits after place {target.scale} behind the point are rounded away")
    if target.digits is not None:
        needs = _smaller(_plus(source.whole, source.scale), source.digits)
        if needs is None or needs > target.digits:
            return _lost(f"Only {target.digits} digits are kept")
    if source.specials and not target.specials:
        return _lost("NaN and infinity do not fit")
    return _kept("Every digit before and behind the point fits")


def exact_to_float(source: Exact, target: Float) -> Verdict:
    if source.signed and not target.signed:
        return _lost("Negative numbers do not fit")
    if (
        source.scale is not None
        and source.scale <= 0
        and source.whole is not None
        and 10**source.whole <= 2**target.bits
        and not source.specials
    ):
        return _kept("Every whole number is held exactly")
    return _lost("Decimal digits are rounded to the nearest floating number")


def float_to_float(source: Float, target: Float) -> Verdict:
    if source.signed and not target.signed:
        return _lost("Negative numbers do not fit")
    if source.bits > target.bits:
        return _lost(f"Numbers are rounded to {target.bits} bits")
    if source.specials and not target.specials:
        return _lost("NaN and infinity do not fit")
    return _kept("Every floating number is held exactly")


def float_to_exact(source: Float, target: Exact) -> Verdict:
    return _lost("Very large and very small floating numbers do not fit a decimal number")


def float_to_whole(source: Float, target: Whole) -> Verdict:
    return _lost("Digits behind the point are rounded away")


def digits_of(whole: Whole) -> int | None:
    """The most decimal digits that a number of the range has."""
    largest = _largest(whole)
    return None if largest is None else len(str(largest))


def _largest(whole: Whole) -> int | None:
    if whole.low is None or whole.high is None:
        return None
    return int(max(abs(whole.low), abs(whole.high)))


def _smaller(one: int | None, other: int | None) -> int | None:
    return min((each for each in (one, other) if each is not None), default=None)


def _plus(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other
