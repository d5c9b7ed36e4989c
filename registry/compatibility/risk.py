"""How much a change may hurt those who read or write, with the rule's code and one plain sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from registry.compatibility.types import fits, without_text_settings
from registry.documents.content import base_of, expression_of, extra_parameters
from registry.documents.expressions import normal_default
from registry.typesystem import Catalogue, TypeExpr, parse

SAFE, RISKY, BREAKING = "safe", "risky", "breaking"
RISKS = (SAFE, RISKY, BREAKING)

_VIEWS = frozenset({"view", "materialized_view"})


@dataclass(frozen=True)
class Rating:
    risk: str
    rule: str
    why: str


def worst(*ratings: Rating | None) -> Rating:
    """The gravest; of equally grave ones the first."""
    return max((rating for rating in ratings if rating), key=lambda rating: RISKS.index(rating.risk))


def with_tags(rating: Rating, tags: tuple[str, ...]) -> Rating:
    """A field that goes takes its confirmed PII tags along: that is breaking, and said."""
    if not tags:
        return rating
    gone = f"tag {tags[0]} goes" if len(tags) == 1 else f"tags {', '.join(tags)} go"
    return Rating(BREAKING, rating.rule, f"{rating.why} The PII {gone} with it.")


def rate_kind(before: str, after: str) -> Rating:
    if {before, after} == _VIEWS:
        return Rating(RISKY, "view_kind", "Whether rows are stored changes how fresh and how fast they are.")
    return Rating(BREAKING, "kind", f"A {_spoken(before)} and a {_spoken(after)} are used in different ways.")


def rate_added_field(field: Mapping[str, Any]) -> Rating:
    if field.get("generated"):
        return Rating(SAFE, "field_added_generated", "The database computes the new column by itself.")
    if field.get("identity"):
        return Rating(SAFE, "field_added_identity", "The database numbers the new column by itself.")
    if normal_default(field.get("default")) is not None:
        return Rating(SAFE, "field_added_default", "Writers that do not know the new column get its default.")
    if field.get("nullable", True):
        return Rating(SAFE, "field_added_nullable", "Nobody has to fill the new column.")
    return Rating(
        RISKY, "field_added_required", "Writers that do not fill the new column will fail: it has no default."
    )


def rate_dropped_field(readers: int, tags: tuple[str, ...]) -> Rating:
    known = f" {_readers(readers)}" if readers else ""
    return with_tags(Rating(BREAKING, "field_dropped", f"Whoever reads the column will fail.{known}"), tags)


def rate_renamed_field(old: str, new: str, readers: int) -> Rating:
    known = f" {_readers(readers)}" if readers else ""
    return Rating(BREAKING, "field_renamed", f"Whoever reads {old} will fail until they read {new}.{known}")


def rate_dropped_dataset(readers: int, tags: tuple[str, ...]) -> Rating:
    known = f" {_readers(readers)}" if readers else ""
    return with_tags(
        Rating(BREAKING, "dataset_dropped", f"Whoever reads the dataset will fail.{known}"), tags
    )


def rate_renamed_dataset(op: str, before: str, after: str, readers: int) -> Rating:
    known = f" {_readers(readers)}" if readers else ""
    rule = "dataset_moved" if op == "move_dataset" else "dataset_renamed"
    return Rating(BREAKING, rule, f"Whoever reads {before} will fail until they read {after}.{known}")


def rate_nullable(after: bool, readers: int) -> Rating:
    if not after:
        return Rating(RISKY, "required", "Writers that leave the column empty will fail.")
    if readers:
        return Rating(RISKY, "optional_with_readers", f"Readers may meet empty values. {_readers(readers)}")
    return Rating(SAFE, "optional", "The column may now be empty, and no reader is known.")


def rate_foreign_key(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> Rating:
    if before is None:
        return Rating(SAFE, "foreign_key_added", "A new foreign key only promises more.")
    if after is None:
        return Rating(RISKY, "foreign_key_dropped", "Rows without a partner become possible.")
    ends = ("columns", "ref_schema", "ref_table", "ref_columns")
    if any(before.get(key) != after.get(key) for key in ends):
        return Rating(
            RISKY,
            "foreign_key_target",
            "The old promise is gone: the key now points from or to something else.",
        )
    return Rating(SAFE, "foreign_key_actions", "The key still promises the same; only its actions changed.")


FOLLOWS = Rating(
    RISKY,
    "foreign_key_follows",
    "What the key points to was renamed: approve it together with that rename, or it points to nothing known.",
)
SIMPLE = {
    "add_dataset": Rating(SAFE, "dataset_added", "A dataset nobody knew before breaks nobody."),
    "change_comment": Rating(SAFE, "comment", "Only the words about it changed."),
    "change_default": Rating(SAFE, "default", "Stored values stay; new rows may start with another one."),
    "change_generated": Rating(RISKY, "generated", "The column's values may now be computed in another way."),
    "change_identity": Rating(RISKY, "identity", "How the column gets its numbers changed."),
    "change_on_update": Rating(RISKY, "on_update", "What the database writes when a row is updated changed."),
    "change_primary_key": Rating(
        BREAKING, "primary_key", "What identifies a row changed, for joins, merges and foreign keys alike."
    ),
    "add_unique": Rating(RISKY, "unique_added", "Writers of a value that is there already will fail."),
    "drop_unique": Rating(
        BREAKING, "unique_dropped", "Values may repeat, so joins on them can multiply rows."
    ),
    "change_position": Rating(BREAKING, "position", "Readers of this file go by the order of its columns."),
}


def widens(before: Mapping[str, Any], after: Mapping[str, Any], *, catalogue: Catalogue | None) -> bool:
    return rate_type(before, after, catalogue=catalogue).risk == SAFE


def rate_type(before: Mapping[str, Any], after: Mapping[str, Any], *, catalogue: Catalogue | None) -> Rating:
    """A change of type or of its parameters, from the type values of both sides; the gravest aspect counts."""
    old, new = expression_of(before, catalogue=catalogue), expression_of(after, catalogue=catalogue)
    was, now = (
        extra_parameters(before.get("parameters") or {}),
        extra_parameters(after.get("parameters") or {}),
    )
    said = (
        _said_of(old, before.get("parameters") or {}, catalogue),
        _said_of(new, after.get("parameters") or {}, catalogue),
    )
    ratings = [
        _rate_values(said[0]["values"], said[1]["values"]),
        _rate_collation(*said),
        _rate_domain(was, now, catalogue=catalogue),
    ]
    if _is_one_domain(before, after) and any(ratings):  # each of its aspects is rated by itself
        return worst(*ratings)
    if not any(ratings) or base_of(old, before) != base_of(new, after) or _widths(old) != _widths(new):
        ratings.append(_rate_range(old, new, before, after, catalogue=catalogue))
    return worst(*ratings)


def _is_one_domain(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    names = [(side.get("type_schema"), side.get("type_name")) for side in (before, after)]
    return before.get("type_kind") == after.get("type_kind") == "domain" and names[0] == names[1]


def _rate_range(
    old: TypeExpr | None,
    new: TypeExpr | None,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    *,
    catalogue: Catalogue | None,
) -> Rating:
    spelled = f"{before.get('native_type') or 'no type'} to {after.get('native_type') or 'no type'}"
    if old is None or new is None or catalogue is None or None in (old.code, new.code):
        return Rating(BREAKING, "type_other", f"From {spelled}: values may not be readable as before.")
    old, new = without_text_settings(old), without_text_settings(new)
    fit = fits(old, new, catalogue=catalogue)
    if fit.ok:
        return Rating(SAFE, "type_wider", _sentence(fit.why) or f"Every old value fits: from {spelled}.")
    rule = "type_narrower" if fits(new, old, catalogue=catalogue).ok else "type_other"
    return Rating(BREAKING, rule, _sentence(fit.why) or f"From {spelled}: not every value fits.")


def _widths(expr: TypeExpr | None) -> Any:
    """The parameters that say how much fits, told apart from labels, character sets and rules."""
    if expr is None:
        return None
    other = (
        "values",
        "labels",
        "charset",
        "collation",
        "check",
        "not_null",
        "default",
        "type_name",
        "base",
        "element",
    )
    return (
        {k: v for k, v in expr.params.items() if k not in other},
        {slot: _widths(child) for slot, child in expr.children.items()},
        expr.native if expr.code is None else None,
    )


def _said_of(
    expr: TypeExpr | None, parameters: Mapping[str, Any], catalogue: Catalogue | None
) -> dict[str, Any]:
    """Labels, character set and collation of a type or, for an array, of its elements, in normal form."""
    params = expr.params if expr is not None else {}
    typedef = catalogue.get(expr.code) if catalogue is not None and expr is not None else None
    takes = typedef.takes if typedef is not None else ()
    labels = "labels" if "labels" in takes else "values"
    said: dict[str, Any] = {}
    for key, name in (("values", labels), ("charset", "charset"), ("collation", "collation")):
        found = params.get(name) if name in takes else parameters.get(key)
        said[key] = list(found) if isinstance(found, list | tuple) else found
    inner = parameters.get("element")
    child = expr.children.get("element") if expr is not None else None
    if not any(said.values()) and (child is not None or isinstance(inner, Mapping)):
        told = inner.get("parameters") if isinstance(inner, Mapping) else None
        return _said_of(child, told or {}, catalogue)
    return said


def _rate_values(was: Any, now: Any) -> Rating | None:
    if was == now or not isinstance(was, list) or not isinstance(now, list):
        return None
    gone = [value for value in was if value not in now]
    if gone:
        return Rating(
            RISKY, "enum_removed", f"The value {_listed(gone)} is no longer allowed; rows may still hold it."
        )
    if [value for value in now if value in was] != was:
        return Rating(RISKY, "enum_reordered", "The values are the same, but they sort in another order.")
    added = [value for value in now if value not in was]
    return Rating(SAFE, "enum_added", f"Old values stay; {_listed(added)} is new.")


def _rate_collation(was: Mapping[str, Any], now: Mapping[str, Any]) -> Rating | None:
    if any(was[key] != now[key] for key in ("charset", "collation")):
        return Rating(RISKY, "collation", "Texts may sort, compare or be stored in another way.")
    return None


def _rate_domain(
    was: Mapping[str, Any], now: Mapping[str, Any], *, catalogue: Catalogue | None
) -> Rating | None:
    if "base_type" not in was or "base_type" not in now:
        return None
    ratings: list[Rating | None] = []
    if was["base_type"] != now["base_type"] and catalogue is not None:
        old, new = parse(catalogue, was["base_type"]), parse(catalogue, now["base_type"])
        if old != new:
            values = ({"native_type": was["base_type"]}, {"native_type": now["base_type"]})
            ratings.append(_rate_range(old, new, *values, catalogue=catalogue))
    if set(now["checks"]) - set(was["checks"]):
        ratings.append(Rating(RISKY, "domain_check_added", "Values that break the new rule are refused."))
    elif was["checks"] != now["checks"]:
        ratings.append(Rating(SAFE, "domain_check_dropped", "Every old value still fits: a rule was lifted."))
    if was["not_null"] != now["not_null"]:
        ratings.append(rate_nullable(not now["not_null"], 0))
    if was["default"] != now["default"]:
        ratings.append(SIMPLE["change_default"])
    return worst(*ratings) if any(ratings) else None


def _listed(values: list[Any]) -> str:
    shown = ", ".join(str(value) for value in values[:3])
    return shown if len(values) <= 3 else f"{shown} and {len(values) - 3} more"


def _readers(count: int) -> str:
    return "One reader is known." if count == 1 else f"{count} readers are known."


def _spoken(kind: str) -> str:
    return kind.replace("_", " ")


def _sentence(text: str) -> str:
    return text if not text or text.endswith(".") else f"{text}."
