"""From a system and its credential reference to a connection. Passwords exist here only while they are used."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from aide_crawler import CrawlError, Limits, Scope, inspect
from aide_crawler.connection_url import URL
from aide_crawler.urls import read_url, redact, secrets_of
from django.conf import settings

from aide.core.errors import Invalid
from crawling import vault
from crawling.stand_in import stand_in_of
from registry.credentials import own_variable
from registry.models import CredentialRef, System

MAX_SECRET_BYTES = 64 * 1024


@dataclass(frozen=True)
class Connection:
    """Where a source is and how to log in; neither printed form shows the password."""

    url: URL
    password: str | None = field(default=None, repr=False)

    def redact(self, text: str) -> str:
        """The text without any secret of this connection."""
        return redact(text, [self.password, *secrets_of(self.url)])


@dataclass(frozen=True)
class Tested:
    """The answer of a connection test: whether it works, in one plain sentence."""

    ok: bool
    sentence: str


def connection_to(system: System) -> Connection:
    """The connection of a system, its password fetched now. Raises CrawlError, whose sentence holds no secret."""
    if not system.connection_url:
        raise CrawlError("bad_url", f"The system {system.code} has no connection URL.")
    url = read_url(system.connection_url)
    accepted = system.flavor.sqlalchemy_dialects
    if accepted and url.get_backend_name() not in accepted:
        raise CrawlError(
            "bad_url",
            f"The connection of {system.code} is for {url.get_backend_name()}, but the system is "
            f"{system.flavor.name}.",
        )
    reference = system.credential_ref
    return Connection(url, password_of(reference) if reference is not None else None)


def password_of(reference: CredentialRef) -> str:
    """What the reference points to. Raises CrawlError when it is not there."""
    if reference.provider == CredentialRef.Provider.ENV:
        return _from_environment(reference.path)
    if reference.provider == CredentialRef.Provider.FILE:
        return _from_file(reference.path)
    if reference.provider == CredentialRef.Provider.VAULT:
        return vault.password_at(reference.path, version=reference.version)
    raise CrawlError(
        "auth_failed", f"The credential provider {reference.provider} is not set up on this server."
    )


def _from_environment(name: str) -> str:
    if (reason := own_variable(name)) is not None:
        raise CrawlError("auth_failed", reason)
    value = os.environ.get(name)
    if not value:
        raise CrawlError("auth_failed", f"The credential's environment variable {name} is not set.")
    return value


def _from_file(path: str) -> str:
    if not settings.AIDE_CREDENTIAL_DIR:
        raise CrawlError("auth_failed", "Credential files are off: AIDE_CREDENTIAL_DIR is not set.")
    folder = Path(settings.AIDE_CREDENTIAL_DIR).resolve()
    try:
        target = (folder / path).resolve()
        if not target.is_relative_to(folder) or not target.is_file():
            raise CrawlError("auth_failed", f"There is no credential file {path} in the credential folder.")
        if target.stat().st_size > MAX_SECRET_BYTES:
            raise CrawlError("auth_failed", f"The credential file {path} is too large to be a password.")
        text = target.read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise CrawlError("auth_failed", f"The credential file {path} cannot be read.") from None
    return text.rstrip("\r\n")


def test_connection(system: System) -> Tested:
    """Log in and look, within ten seconds, and say in words what came of it."""
    if stand_in_of(system) is not None:
        return Tested(True, "Connected to the source that is bundled with the demo.")
    limits = Limits(connect_seconds=5, statement_seconds=5, total_seconds=10, lock_seconds=2)
    try:
        connection = connection_to(system)
        snapshot = inspect(connection.url, password=connection.password, scope=_nothing(), limits=limits)
    except CrawlError as error:
        return Tested(False, error.sentence)
    return Tested(True, f"Connected to {snapshot.dialect} database {snapshot.database or ''}".rstrip() + ".")


def _nothing() -> Scope:
    """A scope that no table is in: the log-in is tested, nothing is read."""
    return Scope(tables=('"\x01"',))


def check_can_crawl(system: System) -> None:
    """Refuse in words what could only fail: no URL, an inactive system, a flavor without types."""
    if not system.is_active or system.deleted_at is not None:
        raise Invalid(detail=f"The system {system.code} is not active, so it is not crawled.")
    check_has_types(system)


def check_has_types(system: System) -> None:
    """Refuse a system whose flavor has no types: every column would stay unmapped."""
    if not system.flavor.data_types.filter(deleted_at__isnull=True).exists():
        raise Invalid(
            detail=(
                f"The flavor {system.flavor.code} has no data types yet, so a crawl would fail. "
                "Load them with: manage.py seed_data_types"
            )
        )
