"""A fake Supervisor of Home Assistant: its service API, for tests."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "s3cr3t-supervisor"


@dataclass
class Supervisor:
    """A running Supervisor.

    Parameters
    ----------
    url : str
    broker : dict, optional
        Data of the service mqtt; None: no app provides it.
    raw : bytes, optional
        Response to send instead.
    """

    url: str
    broker: dict[str, Any] | None
    raw: bytes | None = None
    requests: list[str] = field(default_factory=list)

    def answer(self, path: str, token: str | None) -> tuple[int, bytes]:
        """Return status and body, as the Supervisor's documentation describes them."""
        self.requests.append(path)
        if token != f"Bearer {TOKEN}":
            return 401, b'{"result": "error", "message": "unauthorized"}'
        if self.raw is not None:
            return 200, self.raw
        if path != "/services/mqtt":
            return 404, b'{"result": "error", "message": "Service does not exist"}'
        if self.broker is None:
            return 400, b'{"result": "error", "message": "Service not enabled"}'
        return 200, json.dumps({"result": "ok", "data": self.broker}).encode()


@contextmanager
def fake_supervisor(broker: dict[str, Any] | None = None) -> Iterator[Supervisor]:
    """Run a Supervisor on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = supervisor.answer(self.path, self.headers.get("Authorization"))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        supervisor = Supervisor(f"http://127.0.0.1:{server.server_port}", broker)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield supervisor
        finally:
            server.shutdown()
            thread.join()
