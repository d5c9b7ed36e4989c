"""The clients: `AideClient` to be awaited, and `SyncAideClient`, which `AideClient.sync(…)` makes."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

import httpx

from aide_sdk.auth import LogIn
from aide_sdk.calls import Call
from aide_sdk.engine import AsyncDriver, Retries, Steps, SyncDriver, perform
from aide_sdk.operations import Async, Runner, Sync, T
from aide_sdk.resources import Resources

CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 60.0


class _Client(Runner):
    """What both clients share: the address, the log-in, the patience."""

    def __init__(
        self,
        base_url: str,
        *,
        username: str | None,
        password: str | None,
        api_key: str | None,
        timeout: float,
        retries: Retries | None,
    ) -> None:
        self.base_url = address(base_url)
        self._log_in = LogIn(username=username, password=password, api_key=api_key)
        self._retries = retries or Retries()
        self._settings: dict[str, Any] = {
            "base_url": self.base_url,
            "timeout": httpx.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS)),
            "headers": {"User-Agent": "aide-sdk"},
        }

    def perform(self, call: Call[T]) -> Steps[T]:
        return perform(call, log_in=self._log_in, retries=self._retries)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.base_url}>"


class AideClient(_Client, Resources[Async]):
    """An AIDE server, to be awaited.

    ::

        async with AideClient("https://aide.example.com", username="ann@example.com", password=…) as aide:
            shop = await aide.systems.get("shop")
            async for dataset in aide.datasets.list(system="shop", status="active"):
                document = await aide.datasets.schema(dataset.id)

    Log in with `username` and `password` (tokens are got and renewed when needed, by one task at a time) or
    with an `api_key`. `timeout` is for one answer, in seconds. Every failure is an `AideError`.
    """

    is_async = True

    def __init__(
        self,
        base_url: str,
        *,
        username: str | None = None,
        password: str | None = None,
        api_key: str | None = None,
        timeout: float = ANSWER_SECONDS,
        retries: Retries | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        _Client.__init__(
            self,
            base_url,
            username=username,
            password=password,
            api_key=api_key,
            timeout=timeout,
            retries=retries,
        )
        Resources.__init__(self, self)
        self._http = httpx.AsyncClient(**self._settings, transport=transport)
        self._driver = AsyncDriver(self._http)

    @staticmethod
    def sync(
        base_url: str,
        *,
        username: str | None = None,
        password: str | None = None,
        api_key: str | None = None,
        timeout: float = ANSWER_SECONDS,
        retries: Retries | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> SyncAideClient:
        """The same client without `await`, for programs without an event loop."""
        return SyncAideClient(
            base_url,
            username=username,
            password=password,
            api_key=api_key,
            timeout=timeout,
            retries=retries,
            transport=transport,
        )

    def run(self, steps: Steps[Any]) -> Any:
        return self._driver.run(steps)

    async def log_out(self) -> None:
        """End the log-in on the server; the next call logs in again."""
        refresh = self._log_in.refresh_token
        self._log_in.forget_all()
        if refresh:
            await self.session.end(refresh)

    async def aclose(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()


class SyncAideClient(_Client, Resources[Sync]):
    """An AIDE server, in the calling thread; several threads may share one client.

    ::

        with AideClient.sync("https://aide.example.com", api_key="aide_…") as aide:
            for dataset in aide.datasets.list(system="shop"):
                print(dataset.name)
    """

    is_async = False

    def __init__(
        self,
        base_url: str,
        *,
        username: str | None = None,
        password: str | None = None,
        api_key: str | None = None,
        timeout: float = ANSWER_SECONDS,
        retries: Retries | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        _Client.__init__(
            self,
            base_url,
            username=username,
            password=password,
            api_key=api_key,
            timeout=timeout,
            retries=retries,
        )
        Resources.__init__(self, self)
        self._http = httpx.Client(**self._settings, transport=transport)
        self._driver = SyncDriver(self._http)

    def run(self, steps: Steps[Any]) -> Any:
        return self._driver.run(steps)

    def log_out(self) -> None:
        """End the log-in on the server; the next call logs in again."""
        refresh = self._log_in.refresh_token
        self._log_in.forget_all()
        if refresh:
            self.session.end(refresh)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def address(base_url: str) -> str:
    """The server's address without a closing slash, `/api/v1`, or a user and password. Raises ValueError."""
    try:
        url = httpx.URL(base_url)
        is_fine = url.scheme in {"http", "https"} and bool(url.host)
    except (httpx.InvalidURL, TypeError, ValueError):
        is_fine = False
    if not is_fine:
        raise ValueError("The address of the AIDE server must begin with http:// or https://.")
    return str(url.copy_with(userinfo=b"", query=None, fragment=None)).rstrip("/").removesuffix("/api/v1")
