"""The service as a child process that can be stopped, killed and restarted."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from live.ports import free_port
from live.waiting import HANG_GUARD


class ServiceProcess:
    """`occupair serve` on a free port."""

    def __init__(
        self,
        folder: Path,
        *,
        store: str,
        broker: int | None,
        rooms: str,
        more: str = "",
        max_files: int | None = None,
        arguments: Sequence[str] = (),
    ):
        self.port = free_port()
        self.max_files = max_files
        self.store, self.path = store, folder / "rooms.toml"
        self.log = folder / "service.log"
        self.command = [sys.executable, "-m", "occupair", "serve", str(self.path), *arguments]
        mqtt = f'[mqtt]\nhost = "127.0.0.1"\nport = {broker}\n' if broker else ""
        service = f'[service]\nstore = "{store}"\nport = {self.port}\nlog = "json"\n{more}\n'
        self.path.write_text(f"{service}{mqtt}{rooms}")
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, *, wait: bool = True) -> None:
        with self.log.open("ab") as log:
            command = self.command
            if self.max_files is not None:
                command = ["sh", "-c", f'ulimit -n {self.max_files} && exec "$@"', "sh", *command]
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        if wait:
            self.wait()

    def wait(self) -> None:
        """Wait until it responds."""
        end = time.monotonic() + HANG_GUARD
        while time.monotonic() < end:
            if self._process.poll() is not None:
                raise RuntimeError(f"the service exited: {self.log.read_text()[-2000:]}")
            if self.health() is not None:
                return
            time.sleep(0.05)
        raise RuntimeError("the service does not respond")

    @property
    def pid(self) -> int:
        return self._process.pid

    def health(self) -> str | None:
        """Return its health status, None if it does not respond."""
        try:
            return self.get("/healthz")["status"]
        except urllib.error.HTTPError as error:
            with error:
                return json.load(error)["status"]
        except OSError:
            return None

    def get(self, path: str):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=HANG_GUARD) as response:
            return json.load(response)

    def download(self, path: str) -> bytes:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=HANG_GUARD) as response:
            return response.read()

    def post(self, path: str, body: object):
        data, headers = json.dumps(body).encode(), {"Content-Type": "application/json"}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, headers)
        with urllib.request.urlopen(request, timeout=HANG_GUARD) as response:
            return json.load(response)

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def kill(self) -> None:
        """Kill it, as in a power cut."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(HANG_GUARD)
            self._process = None

    def stop(self) -> int:
        """Stop it with SIGTERM and return its exit status."""
        self._process.terminate()
        status = self._process.wait(HANG_GUARD)
        self._process = None
        return status
