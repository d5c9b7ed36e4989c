"""Does every old value fit a changed type? Decided by the engine's own rules, with the reason in words. Pure.

PostgreSQL follows the public contract's matrix; MySQL and MariaDB go by ranges, lengths and storage; SQLite by
affinity and declared length; all others by `promotions`. What no rule allows does not fit.
"""

from __future__ import annotations

from registry.compatibility import mysql, postgresql, promotions, sqlite
from registry.compatibility.fit import Fit, Rule, no, same
from registry.typesystem import Catalogue, TypeExpr

_RULES: dict[str, Rule] = {
    "postgresql": postgresql.rule,
    "mysql": mysql.rule,
    "mariadb": mysql.rule,
    "sqlite": sqlite.rule,
}
_TEXT_SETTINGS = {"charset": "character set", "collation": "collation"}


def fits(old: TypeExpr, new: TypeExpr, *, catalogue: Catalogue) -> Fit:
    """Whether every value of `old` is, unchanged, a value of `new`.

    A changed character set or collation never fits: the text is kept, but it is compared and stored differently.
    """
    if old == new:
        return same(old)
    unknown = next((each for each in (old, new) if each.code is None), None)
    if unknown is not None:
        return no(f"The catalogue does not know {unknown.rendered or 'this type'}, so nothing is certain")
    rule = _rule_of(catalogue)
    found = rule(old, new) if rule else None
    if found is None and old.rendered == new.rendered:
        return no(f"What {new.rendered} is made of changes")
    if found is None:
        return no(f"{old.rendered} cannot always be read as {new.rendered}")
    return _settings(old, new) or found if found.ok else found


def reads(old: TypeExpr, new: TypeExpr, *, catalogue: Catalogue) -> bool:
    """Whether every value of `old` is a value of `new`, however texts are compared: a character set may grow."""
    if old == new:
        return True
    if old.code is None or new.code is None:
        return False
    rule = _rule_of(catalogue)
    if rule is None:
        return False
    if rule is mysql.rule and not mysql.holds_characters(old, new):
        return False
    found = rule(old, new)
    return found is not None and found.ok


def _rule_of(catalogue: Catalogue) -> Rule | None:
    return _RULES.get(catalogue.flavor) or promotions.rule_for(catalogue)


def without_text_settings(expr: TypeExpr) -> TypeExpr:
    """The type without its character set and collation, so that the rest of two types can be compared."""
    if not any(name in expr.params for name in _TEXT_SETTINGS):
        return expr
    params = {name: value for name, value in expr.params.items() if name not in _TEXT_SETTINGS}
    return TypeExpr(expr.code, params, expr.children, expr.native, expr.rendered)


def _settings(old: TypeExpr, new: TypeExpr) -> Fit | None:
    for name, words in _TEXT_SETTINGS.items():
        before, after = old.params.get(name), new.params.get(name)
        if before != after:
            return no(f"The {words} changes from {before or 'the usual one'} to {after or 'the usual one'}")
    return None
