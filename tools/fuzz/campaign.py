"""A campaign: all targets in two processes, until a number of inputs or a time is reached.

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
    """What is left to do for each target: inputs, and time in which its batches may run [s]."""

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
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.current: Any = context.RawValue("q", -1)
        self.process = context.Process(target=work, args=(theirs, self.current), daemon=True)
        self.process.start()
        theirs.close()
        self.order: Order | None = None
        self.sent = 0.0

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
    limited = float("inf") not in plan.inputs.values()
    whole = sum(plan.inputs.values() if limited else plan.seconds.values())
    console = Console(stderr=True)
    with Progress(console=console, disable=not sys.stderr.isatty()) as progress:
        bar = progress.add_task("fuzzing", total=whole)
        for one in workers:
            _give_order(one, plan, workers, seed)
        while busy := [one for one in workers if one.order is not None]:
            for one in busy:
                if time.monotonic() - one.sent > STUCK:
                    one.process.kill()  # waits for something that does not come
            for pipe in wait([one.pipe for one in busy], timeout=60.0):
                place = next(k for k, one in enumerate(workers) if one.pipe is pipe)
                worker, order = workers[place], workers[place].order
                assert order is not None
                batch = worker.receive()
                if batch is None:
                    batch = _crashed(worker, order)
                    workers[place] = worker = Worker()
                totals[batch.target].add(batch)
                if plan.next[batch.target] == order.start + order.most:
                    plan.next[batch.target] = order.start + batch.inputs  # those that were not run are next
                plan.inputs[batch.target] += order.most - batch.inputs if limited else 0
                plan.seconds[batch.target] -= time.monotonic() - worker.sent if not limited else 0
                for finding in batch.findings:
                    files.add(finding)
                left = sum(plan.inputs.values() if limited else plan.seconds.values())
                progress.update(bar, completed=whole - left, description=f"fuzzing {batch.target}")
                _give_order(worker, plan, workers, seed)
    return totals


def _give_order(worker: Worker, plan: Plan, workers: Sequence[Worker], seed: int) -> None:
    worker.order = None
    name = plan.choose([one.order.target for one in workers if one.order is not None])
    if name is None:
        worker.send(None)
        worker.order = None
        return
    most = int(min(plan.inputs[name], BATCH_INPUTS))
    if plan.inputs[name] != float("inf"):
        plan.inputs[name] -= most
    worker.send(Order(name, seed, plan.next[name], most, BATCH_SECONDS))
    plan.next[name] += most


def _crashed(worker: Worker, order: Order) -> Batch:
    """Return the batch of a process that ended at one of its inputs."""
    number, code = worker.current.value, worker.process.exitcode or 0
    name = signal.Signals(-code).name if code < 0 else f"exit status {code}"
    what = "hang in a library" if code == -signal.SIGVTALRM else "crash of the process"
    finding = Finding(order.target, max(number, order.start), f"{what}, {name}", f"{what}: {name}")
    return Batch(order.target, max(number - order.start, 0) + 1, broken=1, findings=[finding])
