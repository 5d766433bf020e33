"""Run functions in forked processes, several at a time."""

from __future__ import annotations

import os
import selectors
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

Job = TypeVar("Job")
WALL_LIMIT = 900.0
"""Time [s] after which a process is killed that waits instead of computing."""


@dataclass
class Done(Generic[Job]):
    """What a job has written, and the signal that ended it (0: none)."""

    job: Job
    text: str
    signal: int


@dataclass
class _Running(Generic[Job]):
    job: Job
    process: int
    started: float
    text: bytes = b""


def in_forks(
    jobs: Iterable[Job], work: Callable[[Job, Callable[[str], None]], None], workers: int
) -> Iterator[Done[Job]]:
    """Call ``work`` with every job in a process of its own; yield what it writes as the processes end."""
    waiting, running = iter(jobs), selectors.DefaultSelector()
    exhausted = False
    try:
        while True:
            while not exhausted and len(running.get_map()) < workers:
                job = next(waiting, None)
                if job is None:
                    exhausted = True
                    break
                pipe, started = _start(job, work)
                running.register(pipe, selectors.EVENT_READ, started)
            if not running.get_map():
                return
            for key, _ in running.select(timeout=10.0):
                chunk = os.read(key.fd, 1 << 20)
                key.data.text += chunk
                if not chunk:
                    running.unregister(key.fd)
                    os.close(key.fd)
                    yield _finish(key.data)
            for key in list(running.get_map().values()):
                if time.monotonic() - key.data.started > WALL_LIMIT:
                    os.kill(key.data.process, signal.SIGKILL)
    finally:
        for key in list(running.get_map().values()):
            os.kill(key.data.process, signal.SIGKILL)
            os.waitpid(key.data.process, 0)


def _start(job: Job, work: Callable[[Job, Callable[[str], None]], None]) -> tuple[int, _Running[Job]]:
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        status = 1
        try:
            os.close(reading)
            work(job, lambda text: _write(writing, text))
            status = 0
        except BaseException:  # noqa: BLE001 printed, because a forked process must not return
            traceback.print_exc(file=sys.__stderr__)
        finally:
            os._exit(status)
    os.close(writing)
    return reading, _Running(job, process, time.monotonic())


def _write(pipe: int, text: str) -> None:
    rest = text.encode()
    while rest:
        rest = rest[os.write(pipe, rest) :]


def _finish(run: _Running[Job]) -> Done[Job]:
    _, status = os.waitpid(run.process, 0)
    ended_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    return Done(run.job, run.text.decode(), ended_by)
