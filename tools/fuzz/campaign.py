"""A campaign: all targets in several processes, until a number of inputs or a time is reached.

With a number of inputs, each target gets its share (`tools.fuzz.targets.SHARES`). With a time, each target
gets the same time. An input that ends its process (a crash, or a hang in a library) is a finding, and the
campaign continues with the next one.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from typing import Any

from rich.console import Console
from rich.progress import Progress

from tools.fuzz.findings import FindingFiles
from tools.fuzz.summary import Totals
from tools.fuzz.targets import SHARES
from tools.fuzz.worker import Batch, Finding, Order, work

BATCH_SECONDS = 5.0
"""Longest time of a batch, so that the budget is kept and progress is shown [s]."""
BATCH_INPUTS = 5_000
STUCK = 1_800.0
"""Time after which a process that returns no batch is ended [s]."""


@dataclass
class Plan:
    """What is left to do for each target: inputs, or time of its batches [s]; the other is infinite."""

    inputs: dict[str, float]
    seconds: dict[str, float]
    next: Counter[str] = field(default_factory=Counter)  # number of the next input

    def choose(self, busy: Sequence[str]) -> str | None:
        """Return the target that is furthest behind and not busy, else any that has something left."""
        left = [name for name in self.inputs if self.inputs[name] > 0 and self.seconds[name] > 0]
        free = [name for name in left if name not in busy]
        return max(free or left, key=self._left, default=None)

    def _left(self, name: str) -> float:
        inputs = self.inputs[name]
        return self.seconds[name] if inputs == float("inf") else inputs / (inputs + self.next[name])

    @property
    def left(self) -> float:
        """Inputs or time [s] of all targets."""
        return min(sum(self.inputs.values()), sum(self.seconds.values()))

    def take(self, name: str) -> tuple[int, int]:
        """Return the next input of a target, and how many from there are run in a batch."""
        start, most = self.next[name], int(min(self.inputs[name], BATCH_INPUTS))
        self.inputs[name] -= most
        self.next[name] += most
        return start, most

    def settle(self, order: Order, run: int, seconds: float) -> None:
        """Put back the inputs of an order that were not run, and subtract its time."""
        if self.next[order.target] == order.start + order.most:
            self.next[order.target] = order.start + run
        self.inputs[order.target] += order.most - run
        self.seconds[order.target] -= seconds


def plan_inputs(names: Sequence[str], inputs: int, first: int) -> Plan:
    """Split a number of inputs by the shares of the targets."""
    total = sum(SHARES[name] for name in names)
    counts = {name: -(-inputs * SHARES[name] // total) for name in names}
    return Plan(dict(counts), dict.fromkeys(names, float("inf")), Counter(dict.fromkeys(names, first)))


def plan_time(names: Sequence[str], minutes: float, processes: int, first: int) -> Plan:
    """Split the time of all processes evenly."""
    seconds = dict.fromkeys(names, minutes * 60 * processes / len(names))
    return Plan(dict.fromkeys(names, float("inf")), seconds, Counter(dict.fromkeys(names, first)))


class Worker:
    """A process with its pipe and what it is doing."""

    def __init__(self) -> None:
        self.order: Order | None = None
        self.sent = 0.0
        self.start()

    def start(self) -> None:
        """Start a process, also after one that has ended."""
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.current: Any = context.RawValue("q", -1)
        self.process = context.Process(target=work, args=(theirs, self.current), daemon=True)
        self.process.start()
        theirs.close()

    def send(self, order: Order | None) -> None:
        """Send an order."""
        self.order, self.sent = order, time.monotonic()
        self.current.value = -1
        self.pipe.send(order)

    def receive(self) -> Batch | None:
        """Return the result of the order, None if the process ended instead."""
        try:
            return self.pipe.recv()  # type: ignore[no-any-return]
        except (EOFError, ConnectionResetError):
            self.process.join()
            return None


def run_campaign(plan: Plan, *, seed: int, processes: int, files: FindingFiles) -> dict[str, Totals]:
    """Run a campaign and return the totals by target."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    totals = {name: Totals() for name in plan.inputs}
    workers = [Worker() for _ in range(processes)]
    whole = plan.left
    with Progress(console=Console(stderr=True), disable=not sys.stderr.isatty()) as progress:
        bar = progress.add_task("fuzzing", total=whole)
        for one in workers:
            _give_order(one, plan, workers, seed)
        while busy := [one for one in workers if one.order is not None]:
            for one in busy:
                if time.monotonic() - one.sent > STUCK:
                    one.process.kill()  # waits for something that does not come
            ready = wait([one.pipe for one in busy], timeout=60.0)
            for worker in [one for one in busy if one.pipe in ready]:
                batch = _result(worker, plan)
                totals[batch.target].add(batch)
                for finding in batch.findings:
                    files.add(finding)
                progress.update(bar, completed=whole - plan.left, description=f"fuzzing {batch.target}")
                _give_order(worker, plan, workers, seed)
    return totals


def _result(worker: Worker, plan: Plan) -> Batch:
    """Return the batch of a worker; if its process has ended, start another."""
    assert worker.order is not None
    batch = worker.receive()
    if batch is None:
        batch = _crashed(worker, worker.order)
        worker.start()
    plan.settle(worker.order, batch.inputs, time.monotonic() - worker.sent)
    return batch


def _give_order(worker: Worker, plan: Plan, workers: Sequence[Worker], seed: int) -> None:
    worker.order = None
    name = plan.choose([one.order.target for one in workers if one.order is not None])
    if name is None:
        worker.send(None)
        worker.order = None
        return
    worker.send(Order(name, seed, *plan.take(name), BATCH_SECONDS))


def _crashed(worker: Worker, order: Order) -> Batch:
    """Return the batch of a process that ended at one of its inputs."""
    number, code = worker.current.value, worker.process.exitcode or 0
    name = signal.Signals(-code).name if code < 0 else f"exit status {code}"
    what = "hang in a library" if code == -signal.SIGVTALRM else "crash of the process"
    finding = Finding(order.target, max(number, order.start), f"{what}, {name}", f"{what}: {name}")
    return Batch(order.target, max(number - order.start, 0) + 1, broken=1, findings=[finding])
