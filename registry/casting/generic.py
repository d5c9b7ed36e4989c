"""Which types of a flavor without rules of its own suit a set of values: by logical type. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from registry.casting.fitting import Made, exact, text_form
from registry.typesystem import Catalogue, TypeDef
from registry.values import Bits, Clock, Exact, Moment, Octets, Text, Values, Whole
from registry.values.texts import length_in

_NOT_FOR_COLUMNS = ("pseudo", "system", "user_defined")


def generic(catalogue: Catalogue, values: Values, source: TypeDef | None) -> Iterator[Made]:
    """Types of the same logical type first, then all others; the judge sorts out what does not fit."""
    alike = source.logical_type if source is not None else ""
    usable = [each for each in catalogue if not each.slots and each.kind not in _NOT_FOR_COLUMNS]
    same = [each for each in usable if alike and each.logical_type == alike]
    texts = [each for each in usable if each.logical_type == "string" and each not in same]
    others = [each for each in usable if each not in same and each not in texts]
    form = values if isinstance(values, Text) else text_form(values)
    for typedef in (*same, *others):
        yield typedef.code, params_for(typedef, values)
    if form is not None:
        for typedef in texts:
            yield typedef.code, params_for(typedef, form)


def params_for(typedef: TypeDef, values: Values) -> dict[str, object]:
    """Parameters that hold the values, as far as the type takes them."""
    properties = typedef.params_schema.get("properties") or {}
    given: dict[str, object] = {}
    if isinstance(values, Whole | Exact):
        most = [properties.get(name, {}).get("maximum", 38) for name in ("precision", "scale")]
        given = dict(exact(values, most[0], most[1], None))
    elif isinstance(values, Text):
        given = {"length": length_in(values, "character")}
    elif isinstance(values, Octets | Bits):
        given = {"length": values.length}
    elif isinstance(values, Clock | Moment):
        most = properties.get("precision", {}).get("maximum", 9)
        given = {"precision": most if values.fraction is None else min(values.fraction, most)}
    return {name: value for name, value in given.items() if name in typedef.takes and value is not None}
