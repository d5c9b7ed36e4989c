"""Dates, times of day, moments and durations in each other. Pure; used by `judging` only."""

from __future__ import annotations

from registry.values.model import (
    ANY_ZONE,
    INSTANT,
    LOCAL,
    LOSSLESS,
    LOSSY,
    OFFSET,
    UNSAFE,
    Clock,
    Day,
    Instant,
    Moment,
    Span,
    Verdict,
)


def day_to_day(source: Day, target: Day) -> Verdict:
    return _outside(source, target, day=True) or Verdict(LOSSLESS, "Every date fits")


def day_to_moment(source: Day, target: Moment) -> Verdict:
    if target.zone not in (LOCAL, ANY_ZONE):
        return Verdict(UNSAFE, "A date is no moment: the time zone would be guessed")
    lost = _outside(source, target, day=True)
    return lost or Verdict(LOSSLESS, "Every date fits, at midnight")


def moment_to_day(source: Moment, target: Day) -> Verdict:
    return Verdict(LOSSY, "The time of day is lost")


def moment_to_moment(source: Moment, target: Moment) -> Verdict:
    zones = _zones(source.zone, target.zone)
    if zones is not None and zones.safety == UNSAFE:
        return zones
    lost = _outside(source, target, day=False)
    if target.step and target.step != source.step:
        lost = lost or Verdict(LOSSY, f"Times are kept {target.step}")
    return (
        lost or _fraction(source.fraction, target.fraction) or zones or Verdict(LOSSLESS, "Every moment fits")
    )


def clock_to_clock(source: Clock, target: Clock) -> Verdict:
    if source.zone and not target.zone:
        return Verdict(LOSSY, "The time zone is lost")
    if target.zone and not source.zone:
        return Verdict(UNSAFE, "The time zone would be guessed")
    if source.high > target.high:
        last = "24:00:00 does" if source.high == 86_400 else "Times of a day or more do"
        return Verdict(LOSSY, f"{last} not fit")
    if source.low < target.low:
        return Verdict(LOSSY, "Negative times do not fit")
    return _fraction(source.fraction, target.fraction) or Verdict(LOSSLESS, "Every time fits")


def clock_to_span(source: Clock, target: Span) -> Verdict:
    if source.zone or not target.seconds:
        return Verdict(LOSSY, "The time zone is lost" if source.zone else "The time of day is lost")
    if source.low < 0 and not target.negative:
        return Verdict(LOSSY, "Negative times do not fit")
    return _fraction(source.fraction, target.fraction) or Verdict(LOSSLESS, "The time is kept as a duration")


def span_to_span(source: Span, target: Span) -> Verdict:
    for part, had, has in (("months", source.months, target.months), ("days", source.days, target.days)):
        if had != 0 and has == 0:
            return Verdict(LOSSY, f"Durations of {part} do not fit")
        if has is not None and (had is None or had > has):
            return Verdict(LOSSY, f"More than {has} {part} do not fit")
    if source.seconds and not target.seconds:
        return Verdict(LOSSY, "Hours, minutes and seconds do not fit")
    if source.negative and not target.negative:
        return Verdict(LOSSY, "Negative durations do not fit")
    return _fraction(source.fraction, target.fraction) or Verdict(LOSSLESS, "Every duration fits")


def _zones(source: str, target: str) -> Verdict | None:
    """What becomes of the time zone; None when nothing does."""
    if source == target or target == ANY_ZONE or (source, target) == (INSTANT, OFFSET):
        return None
    if (source, target) == (OFFSET, INSTANT):
        return Verdict(LOSSY, "The moment is kept, the offset it was told with is not")
    if LOCAL in (source, target):
        return Verdict(UNSAFE, "A time with and one without a time zone do not mean the same moment")
    return Verdict(UNSAFE, "Whether there is a time zone differs from value to value")


def _outside(source: Day | Moment, target: Day | Moment, *, day: bool) -> Verdict | None:
    what = "Dates" if day else "Times"
    if target.high is not None and (source.high is None or source.high > target.high):
        return Verdict(LOSSY, _also(source, target, f"{what} after {_shown(target.high)} do not fit"))
    if target.low is not None and (source.low is None or source.low < target.low):
        return Verdict(LOSSY, _also(source, target, f"{what} before {_shown(target.low)} do not fit"))
    if source.infinity and not target.infinity:
        return Verdict(LOSSY, "The value infinity does not fit")
    return None


def _also(source: Day | Moment, target: Day | Moment, why: str) -> str:
    return f"{why}, nor does infinity" if source.infinity and not target.infinity else why


def _shown(moment: Instant) -> str:
    year, month, day = moment[:3]
    return f"{year:04}-{month:02}-{day:02}" if year >= 0 else f"the year {1 - year} BC"


def _fraction(source: int | None, target: int | None) -> Verdict | None:
    if target is None or (source is not None and source <= target):
        return None
    if target < 0:
        return Verdict(LOSSY, "Seconds are lost")
    kept = f"to {target} digits" if target else "to whole seconds"
    return Verdict(LOSSY, f"Fractions of a second are rounded {kept}")
