"""The little of AIDE's HTTP API that `aide-crawler crawl` needs."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any
from urllib.parse import quote

import httpx

from aide_crawler.errors import MetastoreError
from aide_crawler.urls import redact

_CONNECT_SECONDS = 10.0
_ANSWER_SECONDS = 900.0
_POLL_SECONDS = 1.0
_CHANGES = (
    "new_datasets",
    "removed_datasets",
    "new_fields",
    "removed_fields",
    "type_changes",
    "other_changes",
    "renames",
)
_UNFINISHED = frozenset({"queued", "running", "cancelling"})
_DONE = frozenset({"completed", "completed_with_errors"})


@dataclass(frozen=True)
class Credentials:
    """How to log in: an API key, or an e-mail and a password."""

    user: str | None = None
    password: str | None = field(default=None, repr=False)
    api_key: str | None = field(default=None, repr=False)

    @property
    def secrets(self) -> tuple[str, ...]:
        return tuple(value for value in (self.password, self.api_key) if value)


class Metastore:
    """One session with a server, as a context manager."""

    def __init__(
        self, url: str, credentials: Credentials, *, transport: httpx.BaseTransport | None = None
    ) -> None:
        self._credentials = credentials
        self._secrets = list(credentials.secrets)
        self._place = url
        problem = None
        try:
            parsed = httpx.URL(url)
            if parsed.password:
                self._secrets.append(parsed.password)
            self._place = str(parsed.copy_with(userinfo=b""))
            if parsed.scheme not in ("http", "https") or not parsed.host:
                problem = "The address of the AIDE server must begin with http:// or https://."
        except (httpx.InvalidURL, ValueError, TypeError):
            problem = "The address of the AIDE server cannot be read."
        if problem is not None:
            raise MetastoreError(problem)
        self._client = httpx.Client(
            base_url=url.rstrip("/") + "/api/v1/",
            timeout=httpx.Timeout(_ANSWER_SECONDS, connect=_CONNECT_SECONDS),
            headers={"Accept": "application/json", "User-Agent": "aide-crawler"},
            transport=transport,
        )

    def __enter__(self) -> Metastore:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._client.close()

    def log_in(self) -> None:
        """Get ready to send requests; an API key needs no request of its own."""
        given = self._credentials
        token = given.api_key
        if token is None:
            if not given.user or given.password is None:
                raise MetastoreError(
                    "Give AIDE_METASTORE_USER and AIDE_METASTORE_PASSWORD, or AIDE_METASTORE_API_KEY."
                )
            answer = self._send("POST", "login", data={"username": given.user, "password": given.password})
            if answer.status_code in (400, 401, 422):
                raise MetastoreError(f"{self._server} did not accept the log-in of {given.user}.")
            token = str(self._json(answer).get("access_token") or "")
            self._secrets.append(token)
        if not token.isascii():
            raise MetastoreError(f"{self._server} has no such API key: a key holds plain letters and digits.")
        self._client.headers["Authorization"] = f"Bearer {token}"

    def flavor_of(self, code: str) -> str:
        """The code of the system's flavor."""
        answer = self._send("GET", f"systems/{quote(code, safe='')}")
        if answer.status_code == 404:
            raise MetastoreError(f"{self._server} has no system {code}.")
        flavor = self._json(answer).get("flavor")
        return str(flavor.get("code") if isinstance(flavor, Mapping) else flavor)

    def has_types(self, flavor: str) -> bool:
        """Whether the server knows any data type of the flavor."""
        answer = self._send("GET", "data-types", params={"flavor": flavor, "size": "1"})
        return bool(self._json(answer).get("total"))

    def send_snapshot(
        self, code: str, snapshot: Mapping[str, Any], config: Mapping[str, Any], *, dry_run: bool
    ) -> int:
        """Hand the snapshot over, wait until it was compared, and return the run's id."""
        body = {"system": code, "config": config, "snapshot": snapshot, "dry_run": dry_run}
        packed = gzip.compress(json.dumps(body, separators=(",", ":")).encode(), compresslevel=3)
        del body
        headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
        run = self._json(self._send("POST", "crawl-runs", content=packed, headers=headers))
        while run.get("status") in _UNFINISHED:
            time.sleep(_POLL_SECONDS)
            run = self._json(self._send("GET", f"crawl-runs/{run['id']}"))
        if run.get("status") not in _DONE:
            why = run.get("error") or f"it ended as {run.get('status')}"
            raise MetastoreError(self._plain(f"{self._server} could not finish the run: {why}"))
        return int(run["id"])

    def report_json(self, run_id: int) -> dict[str, Any]:
        """The run's report as JSON values."""
        return self._json(self._send("GET", f"crawl-runs/{run_id}/report", params={"format": "json"}))

    def report_text(self, run_id: int) -> str:
        """The run's report for people."""
        answer = self._send("GET", f"crawl-runs/{run_id}/report", params={"format": "text"})
        if not answer.is_success:
            self._json(answer)
        return answer.text

    @property
    def _server(self) -> str:
        return f"The AIDE server {self._place}"

    def _send(self, method: str, path: str, **how: Any) -> httpx.Response:
        problem = ""
        try:
            return self._client.request(method, path, **how)
        except httpx.TimeoutException:
            problem = f"{self._server} did not answer in time."
        except httpx.ConnectError:
            problem = f"{self._server} cannot be reached."
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError):
            problem = f"{self._server} broke off the conversation."
        raise MetastoreError(self._plain(problem))

    def _json(self, answer: httpx.Response) -> dict[str, Any]:
        """The answer's object; a refusal becomes a MetastoreError with the server's own words."""
        try:
            document = answer.json()
        except ValueError:
            document = None
        if answer.is_success and isinstance(document, dict):
            return document
        if answer.is_success or answer.is_redirect or not isinstance(document, dict):
            raise MetastoreError(
                self._plain(
                    f"{self._server} did not answer as an AIDE server does (status {answer.status_code})."
                )
            )
        first = next(iter(document.get("errors") or ()), None)
        detail = str(document.get("detail") or document.get("title") or "it gave no reason")
        if isinstance(first, Mapping) and first.get("detail"):
            place = f"{first['field']}: " if first.get("field") else ""
            detail = f"{place}{first['detail']}"
        if answer.status_code in (401, 403):
            raise MetastoreError(self._plain(f"{self._server} does not allow it: {detail}"))
        raise MetastoreError(self._plain(f"{self._server} refused: {detail}"))

    def _plain(self, text: str) -> str:
        """One line, closed by a full stop, without secrets."""
        line = " ".join(redact(text, self._secrets).split())
        return line if line.endswith((".", "!", "?")) else line + "."


def has_changes(report: Mapping[str, Any]) -> bool:
    """Whether the source differs from the registry; notes on types and coverage are no difference."""
    return any(report.get(key) for key in _CHANGES)
