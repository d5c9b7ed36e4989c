"""What a system's connection URL and namespaces may be. The faces ask here before they write a system."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from aide_crawler import CrawlError
from aide_crawler.urls import has_password, read_url

from aide.core.errors import FieldError, Invalid
from registry.models import System, SystemFlavor, SystemNamespace


def checked_url(text: str, *, flavor: SystemFlavor) -> str:
    """The URL as it is stored. Refused: unreadable, with a secret in it, of a dialect that is not the flavor's."""
    text = text.strip()
    if not text:
        return ""
    try:
        url = read_url(text)
        if has_password(url):
            raise _refused(
                "password",
                "Take the password out of the URL and name a credential reference; "
                "passwords are not stored here.",
            )
    except CrawlError as error:
        raise _refused("invalid", error.sentence) from None
    accepted = flavor.sqlalchemy_dialects
    dialect = url.get_backend_name()
    if accepted and dialect not in accepted:
        raise _refused(
            "dialect",
            f"This URL is for {dialect}, but {flavor.name} takes {' or '.join(accepted)}.",
        )
    if dialect == "sqlite":
        _check_file(url.database or "")
    return text


def _check_file(path: str) -> None:
    if path.startswith("file:"):
        path = path.removeprefix("file:").split("?")[0]
    try:
        there = Path(path).is_absolute() and Path(path).is_file()
    except (OSError, ValueError):
        there = False
    if not there:
        raise _refused(
            "no_file",
            "There is no such SQLite file; use sqlite:////absolute/path of a file on this server.",
        )


def _refused(code: str, sentence: str) -> Invalid:
    return Invalid(detail=sentence, errors=[FieldError("connection_url", code, sentence)])


def set_namespaces(system: System, names: Iterable[str]) -> None:
    """The system answers to just these OpenLineage authorities. Each belongs to one system only."""
    wanted = list(dict.fromkeys(name.strip() for name in names))
    taken = SystemNamespace.objects.filter(namespace__in=wanted).exclude(system=system)
    other = taken.select_related("system").first()
    if other is not None:
        sentence = f"{other.namespace} already belongs to {other.system.code}."
        raise Invalid(detail=sentence, errors=[FieldError("namespaces", "taken", sentence)])
    system.namespace_rows.exclude(namespace__in=wanted).delete()
    there = set(system.namespace_rows.values_list("namespace", flat=True))
    SystemNamespace.objects.bulk_create(
        [SystemNamespace(system=system, namespace=name) for name in wanted if name not in there]
    )
