"""How a page of the screens is knocked at, and the pages that the admin makes for a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.security.matrix import NOBODY, SCREENS, SEE, Rule, anywhere
from tests.security.world import World


@dataclass(frozen=True)
class Page:
    """One way to ask for a page. `form` fills in what the page gives; a `quiet` post leaves no entry in the log.

    `may_err` is for forms that some see but may not save like this: they get the form back.
    """

    rule: Rule
    path: Callable[[World], dict[str, Any]] | None = None
    body: Callable[[World], dict[str, Any]] | None = None
    query: str = ""
    form: bool = False
    quiet: bool = False
    may_err: bool = False
    name: str = ""


Pages = dict[str, tuple[Page, ...]]
Thing = Callable[[World], Any]


def page(rule: Rule, thing: Thing | None = None, key: str = "object_id", **values: Any) -> tuple[Page, ...]:
    path = None if thing is None else (lambda w: {key: thing(w).pk})
    return (Page(rule, path, **values),)


def quoted(pk: int) -> str:
    """The number in other digits, which routes for whole numbers miss and the database reads all the same."""
    return "".join(chr(0x660 + int(digit)) for digit in str(pk))


def stock(
    where: str,
    thing: Thing,
    *,
    lists: Rule,
    sees: Rule,
    adds: Rule = NOBODY,
    changes: Rule = NOBODY,
    deletes: Rule = NOBODY,
    history: Rule | None = None,
    new: Callable[[World], dict[str, Any]] | None = None,
    edit: dict[str, Any] | None = None,
    shadowed: bool = False,
) -> Pages:
    """The pages that the admin makes for a table; `shadowed` where a page of our own comes first."""
    base = f"admin/{where}/"
    one = f"{base}<path:object_id>/"
    path = (
        (lambda w: {"object_id": quoted(thing(w).pk)}) if shadowed else (lambda w: {"object_id": thing(w).pk})
    )
    return {
        f"GET {base}": page(lists),
        f"GET {base}export/": page(lists),
        f"GET {base}add/": page(adds),
        f"POST {base}add/": page(adds, body=new or (lambda w: {}), form=True),
        f"GET {one}": page(SCREENS, thing),
        f"GET {one}change/": (Page(sees, path),),
        f"POST {one}change/": (Page(changes, path, body=lambda w: edit or {"note": "other"}, form=True),),
        f"GET {one}delete/": page(deletes, thing),
        f"POST {one}delete/": page(deletes, thing, body=lambda w: {"post": "yes"}),
        f"GET {one}history/": page(history or sees, thing),
    }


def recorded(where: str, thing: Thing, **rules: Any) -> Pages:
    """The same for tables whose history page leads to the audit log, which has a rule of its own."""
    return stock(where, thing, history=SCREENS, **rules)


def catalogue(where: str, thing: Thing, writes: Rule, new: dict[str, Any] | Callable[[World], Any]) -> Pages:
    """Things of no system that everyone sees and some may write."""
    made = new if callable(new) else (lambda w: new)
    seen = anywhere(SEE)
    return recorded(
        where, thing, lists=seen, sees=seen, adds=writes, changes=writes, deletes=writes, new=made
    )


def restorable(where: str, rule: Rule, gone: Thing, *, lists: Rule | None = None) -> Pages:
    """What was deleted of a table, and bringing it back."""
    return {
        f"GET admin/{where}/deleted/": page(lists or rule),
        f"POST admin/{where}/<int:object_id>/restore/": page(rule, gone),
    }
