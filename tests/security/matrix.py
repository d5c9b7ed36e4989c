"""Who may do what, written down a second time: the product's own matrix is held against this one.

A right is one word. `own` after a role's right means: for the systems that the person is steward of.
"""

from __future__ import annotations

from dataclasses import dataclass

SEE, CURATE, DECIDE, CRAWL = "see", "curate", "decide", "crawl"
SYSTEMS, TYPES, PUBLISH, PEOPLE, KEYS, AUDIT = "systems", "types", "publish", "people", "keys", "audit"
SEND, RETRY, DRAW = "send", "retry", "draw"

# Rights that hold for every system.
EVERYWHERE: dict[str, frozenset[str]] = {
    "viewer": frozenset({SEE}),
    "steward": frozenset({SEE}),
    "approver": frozenset({SEE, CURATE, DECIDE, CRAWL, AUDIT}),
    "engineer": frozenset({SEE, SYSTEMS, CRAWL, TYPES, PUBLISH, KEYS, SEND, RETRY, DRAW}),
    "admin": frozenset({SEE, CURATE, SYSTEMS, CRAWL, TYPES, PEOPLE, KEYS, AUDIT, SEND, RETRY, DRAW}),
    "service": frozenset({SEE, CRAWL, SEND}),
}
# A steward's further rights hold for own systems.
OWN: dict[str, frozenset[str]] = {"steward": frozenset({CURATE, DECIDE, CRAWL, AUDIT})}
# A key never does more than its scopes say, whatever its owner may do.
SCOPES: dict[str, frozenset[str]] = {
    "lineage:write": frozenset({SEND}),
    "registry:read": frozenset({SEE}),
    "registry:write": frozenset({SEE, CURATE, SYSTEMS, TYPES, PUBLISH}),
    "crawl:write": frozenset({SEE, CRAWL}),
}
PEOPLE_ROLES = ("viewer", "steward", "approver", "engineer", "admin")


@dataclass(frozen=True)
class Caller:
    """Someone at the door. `here` says whether their systems (a steward's, a limited key's) hold the target."""

    name: str
    roles: tuple[str, ...] = ()
    scopes: tuple[str, ...] | None = None
    here: bool = True
    limited: bool = False
    is_active: bool = True
    is_superuser: bool = False
    usable: bool = True

    @property
    def is_known(self) -> bool:
        return bool(self.name != "anonymous" and self.is_active and self.usable)

    @property
    def opens_screens(self) -> bool:
        return self.is_known and self.scopes is None and bool(set(self.roles) & set(PEOPLE_ROLES))

    def holds(self, right: str, *, here: bool) -> bool:
        """Whether the right holds for the target's system, or for some system where the target has none."""
        if not self.is_known:
            return False
        elsewhere_only = here and not self.here
        by_role = any(right in EVERYWHERE[role] for role in self.roles)
        by_role |= any(right in OWN.get(role, ()) for role in self.roles) and not elsewhere_only
        if self.scopes is None:
            return by_role
        in_scope = any(right in SCOPES[scope] for scope in self.scopes)
        # Publishing is what a key with registry:write is for, whoever owns it.
        by_role |= right == PUBLISH and bool(self.roles)
        return by_role and in_scope and not (self.limited and elsewhere_only)


ALL_ROLES = ("viewer", "approver", "engineer", "admin", "service")
SESSIONS = (
    Caller("anonymous"),
    Caller("viewer", ("viewer",)),
    Caller("steward of this system", ("steward",)),
    Caller("steward of another system", ("steward",), here=False),
    Caller("approver", ("approver",)),
    Caller("engineer", ("engineer",)),
    Caller("admin", ("admin",)),
    Caller("service", ("service",)),
    Caller("in no group", ()),
    Caller("superuser in no group", (), is_superuser=True),
    Caller("inactive, in every group", ALL_ROLES, is_active=False),
)
KEYS_AT_THE_DOOR = (
    *(Caller(f"key for {scope}", ALL_ROLES, (scope,)) for scope in SCOPES),
    Caller("key for everything", ALL_ROLES, tuple(SCOPES)),
    Caller("key for another system", ALL_ROLES, tuple(SCOPES), here=False, limited=True),
    Caller("key of a viewer", ("viewer",), tuple(SCOPES)),
    Caller("key of a steward of another system", ("steward",), tuple(SCOPES), here=False),
    Caller("key of someone in no group", (), tuple(SCOPES)),
    Caller("key of someone inactive", ALL_ROLES, tuple(SCOPES), is_active=False),
    Caller("revoked key", ALL_ROLES, tuple(SCOPES), usable=False),
    Caller("expired key", ALL_ROLES, tuple(SCOPES), usable=False),
)
API_CALLERS = SESSIONS + KEYS_AT_THE_DOOR


@dataclass(frozen=True)
class Rule:
    """What a door asks for: one of these rights. Without rights, `open_to` says who passes.

    `here` is False for things that belong to no system. `rows` marks a list, which opens to whoever holds the
    right anywhere and then shows only what they may see; `shown_to` is for rows that need more than the list
    itself. `whole` asks for the right for every system.
    """

    rights: tuple[str, ...] = ()
    open_to: str = ""
    here: bool = True
    rows: bool = False
    whole: bool = False
    shown_to: tuple[str, ...] = ()

    def lets_in(self, caller: Caller) -> bool:
        if self.open_to:
            return {
                "anyone": True,
                "known": caller.is_known,
                "people": caller.is_known and caller.scopes is None,
                "screens": caller.opens_screens,
                "nobody": False,
            }[self.open_to]
        if self.whole:
            return any(
                right in EVERYWHERE[role] and caller.holds(right, here=False)
                for right in self.rights
                for role in caller.roles
            )
        return any(caller.holds(right, here=self.here and not self.rows) for right in self.rights)

    def shows(self, caller: Caller) -> bool:
        """Whether what belongs to the target's system may be in the answer."""
        if self.open_to:
            return self.lets_in(caller)
        return any(caller.holds(right, here=self.here) for right in self.shown_to or self.rights)


ANYONE = Rule(open_to="anyone")
KNOWN = Rule(open_to="known")
PERSON = Rule(open_to="people")
SCREENS = Rule(open_to="screens")
NOBODY = Rule(open_to="nobody")


def of_system(*rights: str) -> Rule:
    """Needs one of the rights for the system that the target belongs to."""
    return Rule(rights)


def rows_of_systems(*rights: str) -> Rule:
    """A list whose rows belong to systems."""
    return Rule(rights, rows=True)


def anywhere(*rights: str) -> Rule:
    """Needs one of the rights; the target belongs to no system."""
    return Rule(rights, here=False)


def everything(*rights: str) -> Rule:
    """Needs one of the rights for all systems, so that a steward's is not enough."""
    return Rule(rights, here=False, whole=True)


def own_rows(*rights: str, others: str) -> Rule:
    """A list of one's own things; those of others are for holders of another right."""
    return Rule(rights, here=False, rows=True, shown_to=(others,))
