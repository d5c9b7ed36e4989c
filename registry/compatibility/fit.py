"""The answer of the rules about types, and the sentences they share. Pure; used by the rules only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from registry.typesystem import TypeExpr


@dataclass(frozen=True)
class Fit:
    """Whether every old value can be read as the new type, and why (not), in plain words."""

    ok: bool
    why: str


Rule = Callable[[TypeExpr, TypeExpr], Fit | None]


def yes(why: str) -> Fit:
    return Fit(True, why)


def no(why: str) -> Fit:
    return Fit(False, why)


def same(expr: TypeExpr) -> Fit:
    return yes(f"The type stays {expr.rendered}" if expr.rendered else "The type stays the same")


def wider(old: TypeExpr, new: TypeExpr) -> Fit:
    return yes(f"Every value of {old.rendered} is also a value of {new.rendered}")


def length(old: int | None, new: int | None, unit: str = "characters") -> Fit:
    """Lengths; None is unlimited."""
    if new is None or (old is not None and old <= new):
        return yes(f"Up to {new} {unit} fit" if new is not None else "The length is no longer limited")
    return no(f"Values longer than {new} {unit} would be cut")


def fraction(old: int, new: int) -> Fit:
    """Digits of the fraction of a second."""
    if old <= new:
        return yes("No fraction of a second is lost")
    kept = f"to {new} digits" if new else "to whole seconds"
    return no(f"Fractions of a second would be rounded {kept}")


def digits(old_whole: int, old_scale: int, new_whole: int, new_scale: int) -> Fit:
    """Decimal numbers, by digits before and after the point."""
    if old_whole > new_whole:
        return no(f"Numbers with more than {max(new_whole, 0)} digits before the point would not fit")
    if old_scale > new_scale:
        return no(f"Digits after place {max(new_scale, 0)} behind the point would be rounded away")
    return yes("Every digit before and after the point fits")


def range_of_integers(old: tuple[int, int], new: tuple[int, int]) -> Fit:
    if new[0] <= old[0] and old[1] <= new[1]:
        return yes("Every whole number of the old range is in the new one")
    if old[1] > new[1]:
        return no(f"Numbers above {new[1]} would not fit")
    return no("Negative numbers would not fit" if new[0] == 0 else f"Numbers below {new[0]} would not fit")


def entries(old: list[str], new: list[str], what: str) -> Fit:
    """Listed values, wherever new ones were added."""
    known = set(new)
    missing = [each for each in old if each not in known]
    if missing:
        shown = ", ".join(repr(each) for each in missing[:3]) + (" and others" if len(missing) > 3 else "")
        return no(f"The {what} {shown} can no longer be stored")
    return yes(f"Every {what} is still there")
