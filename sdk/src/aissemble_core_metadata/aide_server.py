"""The AIDE server that the environment names."""

from __future__ import annotations

import os
from collections.abc import Mapping

from aide_sdk import AideClient, Retries, SyncAideClient

from aissemble_core_metadata.metadata_model import MetadataModel
from aissemble_core_metadata.search import Search

MOST_FOUND = 10_000
"""How many events a search answers at most."""


def server_url(environ: Mapping[str, str] | None = None) -> str | None:
    """`AIDE_METASTORE_URL`, or None when it is not set."""
    return (os.environ if environ is None else environ).get("AIDE_METASTORE_URL") or None


def connect(
    url: str, environ: Mapping[str, str] | None = None, *, retries: Retries | None = None
) -> SyncAideClient:
    """A client that logs in with `AIDE_METASTORE_API_KEY`, or `AIDE_METASTORE_USER` and `_PASSWORD`."""
    environ = os.environ if environ is None else environ
    api_key = environ.get("AIDE_METASTORE_API_KEY")
    if api_key:
        return AideClient.sync(url, api_key=api_key, retries=retries)
    user, password = environ.get("AIDE_METASTORE_USER"), environ.get("AIDE_METASTORE_PASSWORD")
    if user and password:
        return AideClient.sync(url, username=user, password=password, retries=retries)
    raise ValueError(
        "Set AIDE_METASTORE_API_KEY, or AIDE_METASTORE_USER and AIDE_METASTORE_PASSWORD, for the AIDE server."
    )


def find(client: SyncAideClient, search: Search) -> tuple[list[MetadataModel], bool]:
    """The matching events, oldest first, and whether there were more than MOST_FOUND (then the newest ones)."""
    found: list[MetadataModel] = []
    is_cut = False
    for event in client.metadata.list(search.as_query(), size=500):
        if len(found) == MOST_FOUND:
            is_cut = True
            break
        found.append(MetadataModel.model_validate(event.model_dump(include=set(MetadataModel.model_fields))))
    return sorted(found, key=lambda each: each.timestamp), is_cut
