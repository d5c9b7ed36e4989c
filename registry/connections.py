"""What a system's connection URL and namespaces may be. The faces ask here before they write a system."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from aide_crawler import CrawlError
from aide_crawler.connection_url import URL
from aide_crawler.options import check_options
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
        check_options(url)
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


def without_secrets(text: str) -> str:
    """What may be shown again of a URL as someone typed it; nothing, where no one can tell what in it is secret."""
    try:
        url = read_url(text)
    except CrawlError:
        return "" if re.search(r"[@=]", text) else text
    if not has_password(url):
        return text
    query = {key: value for key, value in url.query.items() if not has_password(_alone(key, value))}
    return URL(
        text.partition("://")[0].strip(),
        username=url.username,
        host=url.host,
        port=url.port,
        database=url.database,
        query=query,
    ).render_as_string()


def _alone(key: str, value: str | tuple[str, ...]) -> URL:
    return URL("any", query={key: value})


def checked_namespaces(names: Iterable[str], *, system: System | None) -> list[str]:
    """The OpenLineage authorities as they are stored. Refused: one that is too long or another system's."""
    wanted = list(dict.fromkeys(name.strip() for name in names))
    longest = int(SystemNamespace._meta.get_field("namespace").max_length or 0)
    if any(len(name) > longest for name in wanted):
        raise _namespaces_refused("max_length", f"A namespace has at most {longest} characters.")
    taken = SystemNamespace.objects.filter(namespace__in=wanted)
    if system is not None and system.pk:
        taken = taken.exclude(system=system)
    other = taken.select_related("system").first()
    if other is not None:
        raise _namespaces_refused("taken", f"{other.namespace} already belongs to {other.system.code}.")
    return wanted


def set_namespaces(system: System, names: Iterable[str]) -> None:
    """The system answers to just these OpenLineage authorities. Each belongs to one system only."""
    wanted = checked_namespaces(names, system=system)
    system.namespace_rows.exclude(namespace__in=wanted).delete()
    there = set(system.namespace_rows.values_list("namespace", flat=True))
    SystemNamespace.objects.bulk_create(
        [SystemNamespace(system=system, namespace=name) for name in wanted if name not in there]
    )


def _namespaces_refused(code: str, sentence: str) -> Invalid:
    return Invalid(detail=sentence, errors=[FieldError("namespaces", code, sentence)])
