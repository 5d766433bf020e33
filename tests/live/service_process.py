"""The service as a process of its own, to be stopped, killed and started again."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from live.ports import free_port


class ServiceProcess:
    """`occupair serve` on a free port."""

    def __init__(self, folder: Path, *, store: str, broker: int | None, rooms: str, more: str = ""):
        self.port = free_port()
        self.store, self.path = store, folder / "rooms.toml"
        self.log = folder / "service.log"
        link = f'[mqtt]\nhost = "127.0.0.1"\nport = {broker}\n' if broker else ""
        service = f'[service]\nstore = "{store}"\nport = {self.port}\nlog = "json"\n{more}\n'
        self.path.write_text(f"{service}{link}{rooms}")
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, *, wait: bool = True) -> None:
        with self.log.open("ab") as log:
            command = [sys.executable, "-m", "occupair", "serve", str(self.path)]
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        if wait:
            self.wait()

    def wait(self, patience: float = 60.0) -> None:
        """Wait until it answers."""
        until = time.monotonic() + patience
        while time.monotonic() < until:
            if self._process.poll() is not None:
                raise RuntimeError(f"the service ended: {self.log.read_text()[-2000:]}")
            if self.health() is not None:
                return
            time.sleep(0.05)
        raise RuntimeError("the service does not answer")

    @property
    def pid(self) -> int:
        return self._process.pid

    def health(self) -> str | None:
        try:
            return self.get("/healthz")["status"]
        except urllib.error.HTTPError as error:
            return json.load(error)["status"]
        except OSError:
            return None

    def get(self, path: str):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as answer:
            return json.load(answer)

    def post(self, path: str, body: object):
        data, kind = json.dumps(body).encode(), {"Content-Type": "application/json"}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, kind)
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.load(answer)

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def kill(self) -> None:
        """End it as a power cut does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)
            self._process = None

    def stop(self, patience: float = 30.0) -> int:
        """Ask it to end, and give its exit status."""
        self._process.terminate()
        status = self._process.wait(patience)
        self._process = None
        return status
