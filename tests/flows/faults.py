"""A known source, a fault while it is crawled, and what must hold afterwards, whatever the fault was."""

from __future__ import annotations

import itertools
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from aide_crawler import Limits
from aide_crawler.dialects.connection import Connection

from crawling.models import CrawlRun
from tests.flows.desk import Desk
from tests.flows.sources import Source

TABLES = """
CREATE TABLE customers (id integer NOT NULL PRIMARY KEY, name varchar(50), city varchar(40));
CREATE TABLE orders (id integer NOT NULL PRIMARY KEY, customer_id integer NOT NULL, total numeric(10,2));
CREATE TABLE items (id integer NOT NULL PRIMARY KEY, label varchar(20));
CREATE TABLE notes (id integer NOT NULL PRIMARY KEY, body text);
"""
REAL_CHANGE = "ALTER TABLE customers ADD loyalty integer; DROP TABLE items;"
ENDED = ("completed", "completed_with_errors", "failed", "lost", "cancelled")


class Known:
    """A source whose four tables the registry knows."""

    def __init__(self, source: Source, **system: Any) -> None:
        self.source = source
        source.execute(TABLES)
        self.desk = Desk(source.system(**system))
        self.desk.approve_all(self.desk.crawl())
        assert self.names() == {source.name(n) for n in ("customers", "orders", "items", "notes")}

    def names(self) -> set[str]:
        rows = self.desk.system.datasets.filter(deleted_at__isnull=True).exclude(status="retired")
        return set(rows.values_list("name", flat=True))

    def removals(self) -> set[str]:
        """What is proposed to be gone, as a dataset or field."""
        return {
            f"{each['path']['dataset']} {each['path']['field'] or ''}".strip()
            for each in self.desk.changes()
            if each["op"] in ("drop_dataset", "drop_field")
        }

    def came_through(
        self, run: dict[str, Any], *statuses: str, code: str = "", gone: tuple[str, ...] = ()
    ) -> None:
        """The run ended truly and in words, nothing is wrongly gone, and the system is free."""
        assert run["status"] in (statuses or ENDED), (run["status"], run["error"])
        if run["status"] in ("failed", "lost", "cancelled"):
            assert run["error"] is None or (run["error"].endswith(".") and "\n" not in run["error"])
            assert run["error"] or run["status"] == "cancelled"
            assert run["summary"] == {}
        if code:
            assert run["error_code"] == code, run["error"]
        assert self.removals() <= {self.source.name(name) for name in gone}
        assert not CrawlRun.objects.filter(system=self.desk.system, status__in=CrawlRun.ACTIVE).exists()
        assert len(self.names()) == 4

    def finds_the_real_change(self) -> None:
        """The next clean crawl proposes what truly changed, and nothing else."""
        self.source.execute(REAL_CHANGE)
        run = self.desk.crawl()
        assert run["status"] in ("completed", "completed_with_errors"), run["error"]
        found = {(each["op"], each["path"]["dataset"], each["path"]["field"]) for each in self.desk.changes()}
        name = self.source.name
        assert found == {
            ("add_field", name("customers"), "loyalty"), ("drop_dataset", name("items"), None),
        }  # fmt: skip


@contextmanager
def at_statement(number: int, act: Callable[[], object]) -> Iterator[None]:
    """Before the crawl's statement of this number, the act happens at the source."""
    real, seen = Connection.rows, itertools.count(1)

    def rows(connection: Connection, sql: str, parameters: Any = None) -> list[tuple[Any, ...]]:
        if next(seen) == number:
            act()
        return real(connection, sql, parameters)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Connection, "rows", rows)
        yield


@contextmanager
def limited(**seconds: float) -> Iterator[None]:
    """Crawls with shorter limits."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["crawling.crawl.look"], "LIMITS", Limits(**seconds))
        yield


class Line:
    """A network between the crawler and a server that can fall silent or be cut in the middle."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        self._left = 10**12
        self._is_cut = False
        self._sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def breaks_after(self, answered: int, *, cut: bool) -> None:
        """After so many bytes of answers nothing comes any more; cut, the connection ends then."""
        self._left, self._is_cut = answered, cut

    def heals(self) -> None:
        self._left, self._is_cut = 10**12, False

    def close(self) -> None:
        for each in (self._listening, *self._sockets):
            with suppress(OSError):
                each.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                far = socket.create_connection(self._target)
                self._sockets += [near, far]
                for source, target, counts in ((near, far, False), (far, near, True)):
                    threading.Thread(target=self._pump, args=(source, target, counts), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket, counts: bool) -> None:
        with suppress(OSError):
            while data := source.recv(4096):
                if counts:
                    self._left -= len(data)
                    if self._left < 0 and self._is_cut:
                        break
                    if self._left < 0:
                        continue
                target.sendall(data)
        for each in (source, target):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
