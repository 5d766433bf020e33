"""A real PostgreSQL server for tests, in its own folder and on its own port."""

from __future__ import annotations

import atexit
import functools
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from live.ports import free_port
from live.waiting import HANG_GUARD

PASSWORD = "open-sesame"


def why_no_postgres() -> str | None:
    """Return why no PostgreSQL server can be run here, None if one can."""
    if not (_program("initdb") and _program("postgres")):
        return "PostgreSQL is not installed: no initdb on the PATH (on Debian: apt install postgresql)"
    if os.geteuid() == 0 and _other_user() is None:
        return "PostgreSQL does not run as root, and there is neither a user postgres nor nobody"
    return None


class PostgresServer:
    """A server that can be stopped and restarted with its data."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="occupair-postgres-"))
        self._data = self.folder / "data"
        self._as = {}
        user = _other_user() if os.geteuid() == 0 else None
        if user is not None:
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self._as = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        self.port = 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"postgresql://occupair:{PASSWORD}@127.0.0.1:{self.port}/postgres"

    def create(self) -> None:
        """Create an empty cluster."""
        secret = self.folder / "secret"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        options = ["--username=occupair", "--auth=scram-sha-256", f"--pwfile={secret}", "--encoding=UTF8"]
        self._run([_program("initdb"), "-D", str(self._data), "--locale=C.UTF-8", "--no-sync", *options])

    def start(self) -> None:
        """Start it, on its previous port if it had one, and wait until it responds."""
        for _ in range(5):
            port = self.port or free_port()
            address = ["-c", "listen_addresses=127.0.0.1", "-p", str(port), "-k", str(self.folder)]
            durability = ["-c", "fsync=on", "-c", "synchronous_commit=on", "-c", "max_connections=100"]
            with (self.folder / "log").open("ab") as log:
                self._process = subprocess.Popen(
                    [_program("postgres"), "-D", str(self._data), *address, *durability],
                    stdout=log,
                    stderr=log,
                    stdin=subprocess.DEVNULL,
                    cwd=self.folder,
                    **self._as,
                )
            if self._answers(port):
                self.port = port
                return
        raise RuntimeError(f"PostgreSQL does not start:\n{(self.folder / 'log').read_text()[-2000:]}")

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop it: SIGINT for a fast orderly shutdown, SIGQUIT as in a crash."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(HANG_GUARD)
            self._process = None

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Suspend it and the processes of its connections, which stay open."""
        with psycopg.connect(self.url) as connection:
            rows = connection.execute("SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
            pids = [self._process.pid, *(row[0] for row in rows)]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)

    def remove(self) -> None:
        """Stop it and delete its data."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def database(self) -> str:
        """Create an empty database, which is deleted with the server, and return its URL."""
        name = f"test_{secrets.token_hex(6)}"
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url.removesuffix("postgres") + name

    def _answers(self, port: int) -> bool:
        end = time.monotonic() + HANG_GUARD
        while time.monotonic() < end and self._process is not None and self._process.poll() is None:
            url = f"postgresql://occupair:{PASSWORD}@127.0.0.1:{port}/postgres"
            try:
                psycopg.connect(url, connect_timeout=5).close()
                return True
            except psycopg.OperationalError:
                time.sleep(0.05)
        self.stop()
        return False

    def _run(self, command: list[str]) -> None:
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, **self._as)
        if done.returncode != 0:
            raise RuntimeError(f"{command[0]} failed:\n{done.stdout}{done.stderr}")


@contextmanager
def postgres_server() -> Iterator[str]:
    """Run a separate server and yield the URL of an empty database on it."""
    with postgres_to_stop() as server:
        yield server.url


@contextmanager
def postgres_to_stop() -> Iterator[PostgresServer]:
    """Run a separate server that the test may stop and restart."""
    server = PostgresServer()
    try:
        server.create()
        server.start()
        yield server
    finally:
        server.remove()


@functools.cache
def shared_server() -> PostgresServer:
    """Return the server that tests share; it stops with this process."""
    server = PostgresServer()
    atexit.register(server.remove)
    server.create()
    server.start()
    return server


def empty_database(kind: str, folder: Path) -> str:
    """Return the URL of an empty store, ``sqlite`` or ``postgresql``; skip the test if there is no server."""
    if kind == "sqlite":
        return f"sqlite:///{folder / 'rooms.db'}"
    reason = why_no_postgres()
    if reason is not None:
        pytest.skip(reason)
    return shared_server().database()


def _program(name: str) -> str:
    """Return the path of a program; Debian does not put those of the server on the PATH."""
    debian = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return shutil.which(name) or (str(debian[-1]) if debian else "")


def _other_user() -> pwd.struct_passwd | None:
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    return None


need_postgres = pytest.mark.skipif(why_no_postgres() is not None, reason=why_no_postgres() or "")
