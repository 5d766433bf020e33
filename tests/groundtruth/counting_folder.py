"""Events folders with simulated contact sheets, and servers of the counting page.

``PYTHONPATH=tests python -m groundtruth.counting_folder FOLDER [PORT]`` serves a folder, and creates one
of a day if it does not exist.
"""

from __future__ import annotations

import datetime as dt
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from time import sleep

import cv2
import numpy as np
import uvicorn

from occupair.groundtruth.counting.server import make_counting_app
from occupair.groundtruth.events import CandidateMinute, Door, Events, Recording, write_events

DAY = dt.datetime(2024, 1, 8)
MINUTES = [("north", "08:31"), ("south", "08:31"), ("north", "09:02"), ("south", "10:15"), ("north", "11:40")]


@lru_cache(maxsize=1000)
def draw_sheet(label: str, seed: int = 0, *, kind: str = "jpg", columns: int = 4, rows: int = 3) -> bytes:
    """Draw a contact sheet: a corridor, and a person walking through it."""
    rng = np.random.default_rng(seed)
    wide, high = 240, 180
    sheet = np.zeros((rows * high, columns * wide, 3), np.uint8)
    way = rng.choice([-1, 1])
    for n in range(columns * rows):
        frame = np.full((high, wide, 3), 168, np.uint8)
        cv2.rectangle(frame, (0, 130), (wide, high), (128, 134, 138), -1)
        cv2.rectangle(frame, (95, 30), (145, 130), (96, 104, 110), -1)
        x = int(wide / 2 + way * (n - columns * rows / 2) * 22)
        cv2.ellipse(frame, (x, 112), (15, 38), 0, 0, 360, (70, 60, 52), -1)
        cv2.circle(frame, (x, 62), 12, (112, 138, 178), -1)
        cv2.putText(frame, f"{label} :{5 * n:02d}", (6, 172), cv2.FONT_HERSHEY_SIMPLEX, 0.45, (250,) * 3, 1)
        frame = np.clip(frame + rng.normal(0, 4, frame.shape), 0, 255).astype(np.uint8)
        top, left = high * (n // columns), wide * (n % columns)
        sheet[top : top + high - 3, left : left + wide - 3] = frame[:-3, :-3]
    return bytes(cv2.imencode(f".{kind}", sheet)[1])


def make_folder(folder: Path, minutes: Sequence[tuple[str, str]], *, kind: str = "jpg") -> Path:
    """Create an events folder with a contact sheet for each door and time, such as ``("north", "08:31")``."""
    found = []
    for n, (door, time) in enumerate(minutes):
        minute = dt.datetime.fromisoformat(time) if "T" in time else _at(time)
        sheet = folder / door / f"{minute:%Y%m%dT%H%M%S}.{kind}"
        sheet.parent.mkdir(parents=True, exist_ok=True)
        sheet.write_bytes(draw_sheet(f"{door} {minute:%H:%M}", n, kind=kind))
        found.append(CandidateMinute(door, minute, round(0.3 + 0.07 * (n % 10), 2), sheet))
    video = Recording("video.mp4", DAY + dt.timedelta(hours=8), 36_000.0, 360_000)
    gap = (DAY + dt.timedelta(hours=12), DAY + dt.timedelta(hours=12, minutes=31))
    doors = {door: Door((video,), (gap,) if n == 0 else ()) for n, door in enumerate(sorted(dict(minutes)))}
    write_events(Events(folder, doors, found))
    return folder


def _at(time: str) -> dt.datetime:
    return dt.datetime.combine(DAY, dt.time.fromisoformat(time))


def at(time: str, door: str = "north") -> tuple[str, dt.datetime]:
    """Return the key of a minute: its door and time."""
    return door, _at(time)


@contextmanager
def served(folder: Path, port: int = 0) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Serve a folder in a process that can be killed, and yield the process and its address."""
    code = (
        "import sys; from occupair.groundtruth.counting.server import serve_counting\n"
        "serve_counting(sys.argv[1], '127.0.0.1', int(sys.argv[2]), False,"
        " started=lambda url: print(url, flush=True))"
    )
    command = [sys.executable, "-W", "error", "-c", code, str(folder), str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        address = process.stdout.readline().strip()
        assert address, process.stderr.read()
        yield process, address
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=90)


class FolderServer:
    """A server in a thread, for one folder after another: starting a server for each test takes longer."""

    def __init__(self) -> None:
        self._app = None
        self._socket = socket.create_server(("127.0.0.1", 0))
        options = {"interface": "asgi3", "lifespan": "off", "log_level": "warning"}
        config = uvicorn.Config(self._handle, log_config=None, timeout_graceful_shutdown=1, **options)
        self._server = uvicorn.Server(config)
        sockets = {"sockets": [self._socket]}
        self._thread = threading.Thread(target=self._server.run, kwargs=sockets, daemon=True)

    async def _handle(self, scope, receive, send) -> None:
        await self._app(scope, receive, send)

    def serve(self, folder: Path) -> str:
        """Serve a folder from now on, and return the address."""
        self._app = make_counting_app(folder)
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}/"

    def __enter__(self) -> FolderServer:
        self._thread.start()
        while not self._server.started:
            sleep(0.01)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(timeout=90)
        self._socket.close()


if __name__ == "__main__":
    place = Path(sys.argv[1])
    if not place.exists():
        times = [f"{h:02d}:{m:02d}" for h in range(8, 19) for m in (4, 11, 31, 47)]
        make_folder(place, [(door, time) for time in times for door in ("north", "south")])
    with served(place, int(sys.argv[2]) if len(sys.argv) > 2 else 8097) as (running, url):
        sys.stdout.write(f"{url}\n")
        running.wait()
