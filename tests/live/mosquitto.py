"""A mosquitto broker for tests, with its own folder and port."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from live.ports import free_port

_SBIN = ("/usr/sbin", "/usr/local/sbin", "/opt/homebrew/sbin")


def why_no_mosquitto() -> str | None:
    """Return why mosquitto is not available, or None if it is."""
    missing = [name for name in ("mosquitto", "mosquitto_passwd", "openssl") if _program(name) is None]
    hint = "on Debian: apt install mosquitto openssl"
    return f"mosquitto is not installed: {' and '.join(missing)} missing ({hint})" if missing else None


def _program(name: str) -> str | None:
    return shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), *_SBIN]))


need_mosquitto = pytest.mark.skipif(why_no_mosquitto() is not None, reason=why_no_mosquitto() or "")


class MosquittoServer:
    """A broker that can be stopped, killed and restarted.

    Sessions, queued and retained messages survive a stop. After a kill, the state last saved is restored; it
    is saved on every change if ``durable``.
    """

    def __init__(
        self,
        folder: Path,
        *,
        tls: bool,
        client_certificates: bool,
        users: dict[str, str] | None,
        durable: bool,
        extra: str,
    ) -> None:
        self.folder, self.tls, self.users = folder, tls, users
        self._client_certificates, self._durable, self._extra = client_certificates, durable, extra
        self.ca_file, self.key_file = folder / "certificate.pem", folder / "key.pem"
        self.port = 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    @property
    def log(self) -> str:
        path = self.folder / "log"
        return path.read_text(errors="replace") if path.exists() else ""

    def start(self) -> None:
        """Start the broker, on its earlier port if it had one, and wait until it accepts connections."""
        for _ in range(5):
            port = self.port or free_port()
            self._configure(port)
            with (self.folder / "log").open("ab") as log:
                command = [_program("mosquitto"), "-v", "-c", str(self.folder / "mosquitto.conf")]
                self._process = subprocess.Popen(command, stdout=log, stderr=log)
            if self._accepts_connections(port):
                self.port = port
                return
            self.kill()
        raise RuntimeError(f"mosquitto did not start: {self.log[-2000:]}")

    def _configure(self, port: int) -> None:
        lines = [f"listener {port} 127.0.0.1", f"allow_anonymous {'false' if self.users else 'true'}"]
        lines += ["persistence true", f"persistence_location {self.folder}/", "max_queued_messages 0"]
        lines += ["autosave_on_changes true", "autosave_interval 1"] if self._durable else []
        if os.geteuid() == 0:
            lines.append("user root")  # mosquitto would drop to a user that cannot write here
        if self.users:
            lines.append(f"password_file {self._make_passwords()}")
        if self.tls:
            self._make_certificate()
            lines += [f"certfile {self.ca_file}", f"keyfile {self.key_file}"]
            lines += (
                [f"cafile {self.ca_file}", "require_certificate true"] if self._client_certificates else []
            )
        (self.folder / "mosquitto.conf").write_text("\n".join([*lines, self._extra, ""]))

    def _make_passwords(self) -> Path:
        path = self.folder / "passwords"
        path.write_text("")
        path.chmod(0o600)
        for user, password in self.users.items():
            _run([_program("mosquitto_passwd"), "-b", str(path), user, password])
        return path

    def _make_certificate(self) -> None:
        if not self.ca_file.exists():
            names = "subjectAltName=IP:127.0.0.1,DNS:localhost"
            made = ["-keyout", str(self.key_file), "-out", str(self.ca_file)]
            kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
            about = ["-days", "2", "-subj", "/CN=localhost", "-addext", names]
            _run([_program("openssl"), "req", *kind, *about, *made])

    def _accepts_connections(self, port: int) -> bool:
        end = time.monotonic() + 120
        while time.monotonic() < end:
            if self._process.poll() is not None:
                return False
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
            except OSError:
                time.sleep(0.02)
            else:
                return True
        return False

    def stop(self) -> None:
        """Stop the broker with SIGTERM, upon which it saves its state."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(60)
            except subprocess.TimeoutExpired:
                self.kill()
            self._process = None

    def kill(self) -> None:
        """Kill the broker."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(60)
            self._process = None

    def restart(self) -> None:
        self.stop()
        self.start()


@contextmanager
def mosquitto_server(
    *,
    tls: bool = False,
    client_certificates: bool = False,
    users: dict[str, str] | None = None,
    durable: bool = False,
    extra: str = "",
) -> Iterator[MosquittoServer]:
    """Run a broker in a temporary folder.

    Parameters
    ----------
    tls : bool
        Whether to use TLS, with a self-signed certificate in ``ca_file``.
    client_certificates : bool
        Whether clients need a certificate; that of the server works, with ``key_file``.
    users : dict, optional
        Passwords by user. Default: anonymous access.
    durable : bool
        Whether every change is saved at once.
    extra : str
        Further lines of the configuration.
    """
    folder = Path(tempfile.mkdtemp(prefix="occupair-mosquitto-"))
    server = MosquittoServer(
        folder, tls=tls, client_certificates=client_certificates, users=users, durable=durable, extra=extra
    )
    try:
        server.start()
        yield server
    finally:
        server.kill()
        shutil.rmtree(folder, ignore_errors=True)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command[0]}: {done.stderr.strip()}")
