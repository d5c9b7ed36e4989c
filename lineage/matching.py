"""From a namespace and a name to a dataset of the registry, saying how it matched. Reads only, never guesses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from aide_crawler.connection_url import URL
from django.db.models import Q

from lineage.models import NodeName
from lineage.openlineage import DatasetName, authority_of, normal_form, split_name
from lineage.openlineage.naming import FOLDED, STORAGE, scheme_of
from registry.locations import quote_part
from registry.models import Dataset, System, SystemNamespace

EXACT, NORMALISED = NodeName.Matched.EXACT, NodeName.Matched.NORMALISED
UNRESOLVED = NodeName.Matched.UNRESOLVED
MOST_AT_ONCE = 40
_DIALECTS = {
    "postgresql": "postgres",
    "mysql": "mysql",
    "mariadb": "mysql",
    "mssql": "mssql",
    "oracle": "oracle",
}


@dataclass(frozen=True)
class Match:
    """What a name was found to be: a dataset, or nothing and why."""

    dataset_id: int | None
    matched: str
    why: str = ""


@dataclass
class _System:
    """A system as far as names are concerned."""

    pk: int
    flavor: str
    database: str
    exact: set[str] = field(default_factory=set)
    normal: set[str] = field(default_factory=set)


class Directory:
    """The systems by the namespaces they answer to, read once in two statements."""

    def __init__(self) -> None:
        self.systems: dict[int, _System] = {}
        self.exact: dict[str, list[int]] = defaultdict(list)
        self.normal: dict[str, list[int]] = defaultdict(list)
        rows = System.objects.alive().values_list("pk", "flavor__code", "connection_url")
        for pk, flavor, url in rows.order_by("pk"):
            authority, database = _of_url(url)
            self.systems[pk] = _System(pk, flavor, database)
            if authority:
                self._add(pk, authority)
        for pk, namespace in SystemNamespace.objects.values_list("system_id", "namespace").order_by("pk"):
            if pk in self.systems:
                self._add(pk, namespace)

    def _add(self, pk: int, namespace: str) -> None:
        if pk not in self.exact[namespace]:
            self.exact[namespace].append(pk)
        normal = authority_of(namespace)
        if pk not in self.normal[normal]:
            self.normal[normal].append(pk)

    def candidates(self, namespace: str, authority: str) -> list[tuple[_System, bool]]:
        """The systems that answer to a namespace, and whether by its very spelling."""
        found = dict.fromkeys(self.exact.get(namespace, ()), True)
        for pk in self.normal.get(authority, ()):
            found.setdefault(pk, False)
        scheme = scheme_of(namespace)
        for whole in (scheme, f"{scheme}://"):
            for pk in self.exact.get(whole, ()) if scheme in STORAGE else ():
                found.setdefault(pk, False)
        return [(self.systems[pk], exact) for pk, exact in found.items()]


def match(names: Iterable[DatasetName], *, directory: Directory | None = None) -> dict[DatasetName, Match]:
    """What each name is. A constant number of statements for every 40 names that are not found at once."""
    asked = list(dict.fromkeys(names))
    directory = directory or Directory()
    plans = {name: _Plan(name, directory) for name in asked}
    open_plans = [plan for plan in plans.values() if plan.systems]
    found: dict[DatasetName, Match] = {}
    if open_plans:
        _match_exactly(open_plans, found)
        _match_folded([plan for plan in open_plans if plan.name not in found], found)
    return {name: found.get(name) or Match(None, UNRESOLVED, plans[name].why_not()) for name in asked}


class _Plan:
    """Where a name may be found: the systems, and the names that its parts make there."""

    def __init__(self, name: DatasetName, directory: Directory) -> None:
        self.name = name
        normal = normal_form(name.namespace, name.name)
        self.left_out = normal.why
        self.systems = directory.candidates(name.namespace, authority_of(name.namespace))
        if not self.systems and normal.namespace != authority_of(name.namespace):
            self.systems = directory.candidates(normal.namespace, normal.namespace)
        self.bucket = name.namespace.partition("://")[2].partition("/")[0]
        self.normal = normal.name
        self.parts = split_name(normal.name)
        self.is_path = scheme_of(name.namespace) in STORAGE
        self.whole = scheme_of(name.namespace) == "kafka"
        self.twins = False

    def spellings(self) -> list[tuple[str, str]]:
        """(name in the registry, database it must be of or ""), the fullest first."""
        if self.whole:
            return [(self.name.name, "")]
        if self.is_path:
            inside = self.normal
            return [(f"{self.bucket}/{inside}", ""), (inside, ""), (f"/{inside}", "")]
        parts = self.parts
        listed = [(self.name.name, ""), (_joined(parts), "")]
        if len(parts) >= 3:
            listed += [(_joined(parts[-2:]), parts[-3])]
        if len(parts) == 2:
            listed += [(_joined(parts[-1:]), parts[0])]
        return list(dict.fromkeys(listed))

    def suffixes(self) -> list[str]:
        """Ends of names for a name with fewer parts than the registry's."""
        return [] if self.whole or self.is_path else [f".{_joined(self.parts)}"]

    def why_not(self) -> str:
        if self.twins:
            return "Datasets whose names differ only in case, or more than one with this end, could be meant."
        if self.systems:
            return "The system has no dataset of this name."
        return "No system answers to this namespace."


def _match_exactly(plans: Sequence[_Plan], found: dict[DatasetName, Match]) -> None:
    spelled = {text for plan in plans for text, _ in plan.spellings()}
    systems = {system.pk for plan in plans for system, _ in plan.systems}
    rows: dict[tuple[int, str], _Row] = {}
    listed = sorted(spelled)
    for start in range(0, len(listed), 500):
        query = _rows(systems).filter(name__in=listed[start : start + 500])
        rows |= {(row.system_id, row.name): row for row in map(_row, query)}
    for plan in plans:
        hits: dict[int, Match] = {}
        for text, database in plan.spellings():
            for system, exact in plan.systems:
                row = rows.get((system.pk, text))
                if row is not None and _fits(row, system, database, plan):
                    same = exact and not plan.left_out and _is_plain(plan, text)
                    hits.setdefault(row.pk, _hit(row, same, plan))
            if hits:
                break
        _settle(plan, hits, found)


def _match_folded(plans: Sequence[_Plan], found: dict[DatasetName, Match]) -> None:
    """In any case where the flavor folds names, and by the end of the name where that is unique."""
    for start in range(0, len(plans), MOST_AT_ONCE):
        some = [plan for plan in plans[start : start + MOST_AT_ONCE] if not plan.twins]
        wanted = Q(pk__in=())
        for plan in some:
            if any(system.flavor in FOLDED for system, _ in plan.systems):
                for text, _ in plan.spellings():
                    wanted |= Q(name__iexact=text)
            for end in plan.suffixes():
                wanted |= Q(name__iendswith=end)
        systems = {system.pk for plan in some for system, _ in plan.systems}
        rows = [_row(values) for values in _rows(systems).filter(wanted)[:2000]] if some else []
        for plan in some:
            hits: dict[int, Match] = {}
            for system, _ in plan.systems:
                fold = FOLDED.get(system.flavor, str)
                mine = [row for row in rows if row.system_id == system.pk]
                for text, database in plan.spellings():
                    for row in mine:
                        if fold(row.name) == fold(text) and _fits(row, system, database, plan):
                            hits.setdefault(row.pk, _hit(row, False, plan, "in another case"))
            if not hits:
                for system, _ in plan.systems:
                    fold = FOLDED.get(system.flavor, str)
                    for row in rows:
                        ends = any(fold(row.name).endswith(fold(end)) for end in plan.suffixes())
                        if row.system_id == system.pk and ends:
                            hits.setdefault(row.pk, _hit(row, False, plan, "by the end of its name"))
            _settle(plan, hits, found)


def _settle(plan: _Plan, hits: dict[int, Match], found: dict[DatasetName, Match]) -> None:
    if len(hits) == 1:
        found[plan.name] = next(iter(hits.values()))
    elif hits:
        plan.twins = True


@dataclass(frozen=True)
class _Row:
    pk: int
    system_id: int
    name: str
    database: str


def _rows(systems: Iterable[int]) -> Any:
    rows = Dataset.objects.alive().filter(system_id__in=list(systems)).order_by("pk")
    return rows.values_list("pk", "system_id", "name", "location")


def _row(values: Any) -> _Row:
    pk, system_id, name, location = values
    database = location.get("database") if isinstance(location, dict) else ""
    return _Row(pk, system_id, name, str(database or ""))


def _fits(row: _Row, system: _System, database: str, plan: _Plan) -> bool:
    """Whether a dataset is of the database that the name begins with, as far as both are known."""
    if not database:
        return True
    known = row.database or system.database
    fold = FOLDED.get(system.flavor, str)
    return not known or fold(known) == fold(database)


def _hit(row: _Row, exact: bool, plan: _Plan, how: str = "") -> Match:
    why = how or plan.left_out
    if exact and not how:
        return Match(row.pk, EXACT)
    return Match(row.pk, NORMALISED, f"Found {why}." if how else why or "Found after normalising.")


def _is_plain(plan: _Plan, text: str) -> bool:
    """Whether the event's spelling is the usual one, so that nothing had to be normalised."""
    return plan.is_path or plan.normal == plan.name.name or text == plan.name.name


def _joined(parts: Sequence[str]) -> str:
    return ".".join(quote_part(part) for part in parts)


def _of_url(text: str) -> tuple[str, str]:
    """(authority, database) that a connection URL speaks of; empty texts where it is no server's."""
    if not text:
        return "", ""
    try:
        url = URL.parse(text)
    except ValueError:
        return "", ""
    dialect = url.get_backend_name()
    scheme = _DIALECTS.get(dialect, dialect)
    if not url.host:
        return (f"sqlite://{url.database}" if dialect == "sqlite" and url.database else ""), ""
    port = f":{url.port}" if url.port else ""
    return authority_of(f"{scheme}://{url.host}{port}"), url.database or ""
