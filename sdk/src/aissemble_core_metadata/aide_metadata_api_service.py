"""The service for production with AIDE: metadata goes to this server, by way of a spool on disk."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any

from aide_sdk import Retries
from aide_sdk.client import address
from aide_sdk.spool import Bounds, EventSpool, SpoolState

from aissemble_core_metadata.aide_server import connect, find, server_url
from aissemble_core_metadata.log_manager import LogManager
from aissemble_core_metadata.metadata_api import MetadataAPI
from aissemble_core_metadata.metadata_model import MetadataModel
from aissemble_core_metadata.search import read_search

DEFAULT_URL = "http://localhost:8000"


class AideMetadataAPIService(MetadataAPI):
    """Sends metadata to the AIDE server of `AIDE_METASTORE_URL`, whether or not it can be reached just now.

    `create_metadata` returns once the event is on the disk, after 20 ms at most; a thread sends what is there,
    in order, and starts again where an earlier process ended. The log-in is `AIDE_METASTORE_API_KEY` (with the
    scope `lineage:write`), or `AIDE_METASTORE_USER` and `AIDE_METASTORE_PASSWORD`. The spool is in a folder of
    `AIDE_SPOOL_DIR`, by default `~/.local/state/aide/spool`.
    """

    logger = LogManager.get_instance().get_logger("AideMetadataAPIService")

    def __init__(
        self,
        *,
        url: str | None = None,
        spool_folder: str | Path | None = None,
        bounds: Bounds | None = None,
    ) -> None:
        self._url = address(url or server_url() or DEFAULT_URL)
        folder = Path(spool_folder) if spool_folder is not None else default_folder(self._url)
        one_try = Retries(attempts=1)
        self._spool = EventSpool(folder, lambda: connect(self._url, retries=one_try), bounds=bounds)

    def create_metadata(self, metadata: MetadataModel) -> None:
        """Take one event. SpoolFullError when the server could not be reached for so long that the spool is
        full."""
        if not metadata:
            self.logger.warning("There was no metadata to send.")
            return
        self._spool.put("metadata", metadata.to_wire())

    def get_metadata(self, search_params: dict[str, Any]) -> list[MetadataModel]:
        """The matching events on the server, oldest first, those of this process included when they reach it
        within five seconds. AideError when the server does not answer."""
        search = read_search(search_params)
        state = self.flush(5.0)
        if not state.is_empty:
            self.logger.warning("%d events have not reached the server yet.", state.waiting + state.in_memory)
        with connect(self._url) as client:
            found, is_cut = find(client, search)
        if is_cut:
            self.logger.warning("More events match; only the newest %d were read.", len(found))
        return found

    def flush(self, timeout: float = 30.0) -> SpoolState:
        """Wait until the server has everything, or for `timeout` seconds; what is left."""
        return self._spool.flush(timeout)

    def close(self, timeout: float = 5.0) -> SpoolState:
        """`flush` and end the threads. What is left stays on the disk."""
        return self._spool.close(timeout)


def default_folder(url: str) -> Path:
    """The folder of a server's spool."""
    name = hashlib.sha256(url.encode()).hexdigest()[:16]
    chosen = os.environ.get("AIDE_SPOOL_DIR")
    if chosen:
        return Path(chosen) / name
    state = os.environ.get("XDG_STATE_HOME")
    try:
        base = Path(state) if state else Path.home() / ".local" / "state"
    except RuntimeError:  # there is no home
        base = Path(tempfile.gettempdir()) / f"aide-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
    return base / "aide" / "spool" / name
