"""What a person or a program may do: six groups, capabilities, and one question, `can`.

Groups alone decide. A steward's rights hold for `user.systems` only, and an API key narrows its owner's rights
to its scopes and systems. `is_superuser` decides nothing.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

VIEWER, STEWARD, APPROVER = "viewer", "steward", "approver"
ENGINEER, ADMIN, SERVICE = "engineer", "admin", "service"
GROUPS = (VIEWER, STEWARD, APPROVER, ENGINEER, ADMIN, SERVICE)
SCREEN_GROUPS = frozenset({VIEWER, STEWARD, APPROVER, ENGINEER, ADMIN})


class Capability(StrEnum):
    """What a right is about; words for people are in `WORDS`."""

    VIEW = "view"
    EDIT_CURATED = "edit_curated"
    DECIDE = "decide"
    APPROVE_BREAKING = "approve_breaking"
    MANAGE_SYSTEMS = "manage_systems"
    START_CRAWL = "start_crawl"
    EDIT_TYPES = "edit_types"
    EDIT_LINEAGE = "edit_lineage"
    SEND_EVENTS = "send_events"
    RETRY_OUTBOX = "retry_outbox"
    MANAGE_USERS = "manage_users"
    OWN_KEYS = "own_keys"
    READ_AUDIT = "read_audit"
    PUBLISH = "publish"


C = Capability

WORDS: dict[Capability, str] = {
    C.VIEW: "see the registry, lineage, types and crawl runs",
    C.EDIT_CURATED: "edit descriptions, owners and tags",
    C.DECIDE: "decide changes and personal-data suggestions",
    C.APPROVE_BREAKING: "confirm breaking changes as the second person",
    C.MANAGE_SYSTEMS: "add and change systems, schedules and crawls",
    C.START_CRAWL: "start and cancel crawls",
    C.EDIT_TYPES: "change data types and cast rules",
    C.EDIT_LINEAGE: "draw lineage by hand",
    C.SEND_EVENTS: "send metadata and lineage events",
    C.RETRY_OUTBOX: "retry messages of the outbox",
    C.MANAGE_USERS: "manage people, API keys and settings",
    C.OWN_KEYS: "make API keys of their own",
    C.READ_AUDIT: "read the audit log",
    C.PUBLISH: "publish schema documents without a review",
}

MATRIX: dict[str, frozenset[Capability]] = {
    VIEWER: frozenset({C.VIEW}),
    STEWARD: frozenset({C.VIEW, C.EDIT_CURATED, C.DECIDE, C.START_CRAWL, C.READ_AUDIT}),
    APPROVER: frozenset({C.VIEW, C.EDIT_CURATED, C.DECIDE, C.APPROVE_BREAKING, C.START_CRAWL, C.READ_AUDIT}),
    ENGINEER: frozenset(
        {
            C.VIEW,
            C.MANAGE_SYSTEMS,
            C.START_CRAWL,
            C.EDIT_TYPES,
            C.EDIT_LINEAGE,
            C.SEND_EVENTS,
            C.RETRY_OUTBOX,
            C.OWN_KEYS,
            C.PUBLISH,
        }
    ),
    ADMIN: frozenset(
        {
            C.VIEW,
            C.EDIT_CURATED,
            C.MANAGE_SYSTEMS,
            C.START_CRAWL,
            C.EDIT_TYPES,
            C.EDIT_LINEAGE,
            C.SEND_EVENTS,
            C.RETRY_OUTBOX,
            C.MANAGE_USERS,
            C.OWN_KEYS,
            C.READ_AUDIT,
        }
    ),
    SERVICE: frozenset({C.VIEW, C.START_CRAWL, C.SEND_EVENTS}),
}

# What a steward holds for own systems only; seeing is for everything.
OWN_SYSTEMS_ONLY = MATRIX[STEWARD] - {C.VIEW}

SCOPES: dict[str, frozenset[Capability]] = {
    "lineage:write": frozenset({C.SEND_EVENTS}),
    "registry:read": frozenset({C.VIEW}),
    "registry:write": frozenset({C.VIEW, C.EDIT_CURATED, C.MANAGE_SYSTEMS, C.EDIT_TYPES, C.PUBLISH}),
    "crawl:write": frozenset({C.VIEW, C.START_CRAWL}),
}
SCOPE_WORDS = {
    "lineage:write": "send events and lineage",
    "registry:read": "read the registry",
    "registry:write": "write the registry",
    "crawl:write": "start crawls and upload crawl results",
}


def role_names(user: Any) -> frozenset[str]:
    """The shipped groups that an active user is in; empty for anonymous and inactive users."""
    if user is None or not getattr(user, "is_authenticated", False) or not user.is_active:
        return frozenset()
    return user.role_names


def key_of(user: Any) -> Any:
    """The API key that this request came with, or None for a person's log-in."""
    return getattr(user, "acting_key", None)


def can(user: Any, capability: Capability, system: Any = None) -> bool:
    """Whether the user holds the capability, for the system if one is given.

    Without a system the answer is "for at least one system": a face that knows the system must pass it.
    """
    roles = role_names(user)
    if not roles:
        return False
    key = key_of(user)
    if key is not None:
        if not key_allows(key, capability):
            return False
        if system is not None and key.system_codes and system.code not in key.system_codes:
            return False
        if capability is C.PUBLISH:
            return True
    holders = {role for role in roles if capability in MATRIX.get(role, ())}
    if not holders:
        return False
    if holders == {STEWARD} and capability in OWN_SYSTEMS_ONLY:
        return _stewards(user, system)
    return True


def systems_limit(user: Any, capability: Capability) -> frozenset[int] | None:
    """The ids of the systems the capability is limited to; None means every system, empty means none."""
    if not can(user, capability):
        return frozenset()
    holders = {role for role in role_names(user) if capability in MATRIX.get(role, ())}
    if holders == {STEWARD} and capability in OWN_SYSTEMS_ONLY:
        return user.steward_system_ids
    return None


def why_not(capability: Capability, system: Any = None) -> str:
    """The sentence for a refusal: what it needs, in words."""
    holders = [role for role in GROUPS if capability in MATRIX[role]]
    where = f" for {system.code}" if system is not None else ""
    needs = " or ".join(f"{role}{where if role == STEWARD else ''}" for role in holders)
    return f"You may not {WORDS[capability]}. It needs the role {needs}. Ask an administrator."


def holds(user: Any, capability: Capability) -> bool:
    """Whether one of the user's roles has the capability, whatever the key that the request came with."""
    return any(capability in MATRIX.get(role, ()) for role in role_names(user))


def key_allows(key: Any, capability: Capability) -> bool:
    """Whether a scope of the key holds the capability; its owner's roles are another question."""
    return any(capability in SCOPES.get(scope, ()) for scope in key.scopes)


def why_not_by_key(capability: Capability) -> str:
    """The sentence for a key without the scope: which one it lacks, if any scope gives the capability at all."""
    fitting = " or ".join(scope for scope, held in SCOPES.items() if capability in held)
    needs = f"It needs the scope {fitting}." if fitting else "It is for people who are signed in."
    return f"This API key may not {WORDS[capability]}. {needs}"


def _stewards(user: Any, system: Any) -> bool:
    ids = user.steward_system_ids
    return bool(ids) if system is None else system.pk in ids


# Which capability the stock permissions of a table ask for; "view" is VIEW unless named here.
_WRITES: dict[str, Capability] = {
    "accounts.user": C.MANAGE_USERS,
    "accounts.apikey": C.OWN_KEYS,
    "auth.group": C.MANAGE_USERS,
    "registry.systemkind": C.EDIT_TYPES,
    "registry.systemflavor": C.EDIT_TYPES,
    "registry.datatype": C.EDIT_TYPES,
    "registry.castrule": C.EDIT_TYPES,
    "registry.credentialref": C.MANAGE_SYSTEMS,
    "registry.system": C.MANAGE_SYSTEMS,
    "registry.systemnamespace": C.MANAGE_SYSTEMS,
    "registry.piitag": C.MANAGE_USERS,
    "registry.piirule": C.MANAGE_USERS,
    "registry.dataset": C.EDIT_CURATED,
    "registry.field": C.EDIT_CURATED,
    "registry.fieldtag": C.DECIDE,
    "crawling.crawlplan": C.MANAGE_SYSTEMS,
    "crawling.crawlrun": C.START_CRAWL,
    "crawling.proposal": C.DECIDE,
    "crawling.change": C.DECIDE,
    "lineage.outboxmessage": C.RETRY_OUTBOX,
    "lineage.edge": C.EDIT_LINEAGE,
    "lineage.nodename": C.EDIT_LINEAGE,
}
_ADDS: dict[str, Capability] = {"registry.dataset": C.MANAGE_SYSTEMS}
_VIEWS: dict[str, Capability] = {
    "audit.auditentry": C.READ_AUDIT,
    "accounts.user": C.MANAGE_USERS,
    "accounts.apikey": C.OWN_KEYS,
    "auth.group": C.MANAGE_USERS,
    "accounts.refreshtoken": C.MANAGE_USERS,
}
# Tables that no screen writes, whatever the role.
_NEVER_WRITTEN_APPS = frozenset({"audit", "work", "admin", "contenttypes", "sessions", "axes"})


def allows(user: Any, permission: str, system: Any = None) -> bool:
    """Answers Django's own `app.action_model` permissions (what the admin asks) from the groups."""
    app, _, codename = permission.partition(".")
    action, _, model = codename.partition("_")
    table = f"{app}.{model}"
    if action == "view":
        return can(user, _VIEWS.get(table, C.VIEW), system)
    if app in _NEVER_WRITTEN_APPS:
        return False
    wanted = _ADDS.get(table) if action == "add" else None
    wanted = wanted or _WRITES.get(table)
    return wanted is not None and can(user, wanted, system)


def allows_app(user: Any, app_label: str) -> bool:
    """Whether any screen of an app may be seen."""
    if app_label in {"accounts", "auth"}:
        return can(user, C.MANAGE_USERS) or can(user, C.OWN_KEYS)
    if app_label == "audit":
        return can(user, C.READ_AUDIT)
    return can(user, C.VIEW)
