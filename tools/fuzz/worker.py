"""A process that runs trials of one target at a time, in batches that its parent asks for."""

from __future__ import annotations

import resource
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from tools.fuzz.target import Target, load_target
from tools.fuzz.trial import attempt, limit_memory

KEPT = 3
"""Findings with the same cause that are kept in a batch."""


@dataclass(frozen=True)
class Order:
    """Inputs of a target to run: number of the first, how many at most, and for how long at most [s]."""

    target: str
    seed: int
    start: int
    most: int
    seconds: float


@dataclass(frozen=True)
class Finding:
    """An input that broke the contract."""

    target: str
    number: int
    cause: str
    report: str


@dataclass
class Batch:
    """Result of an order."""

    target: str
    inputs: int = 0
    accepted: int = 0
    rejected: int = 0
    broken: int = 0
    cpu: float = 0.0  # time of the trials and of generating their inputs [s]
    slowest: float = 0.0  # CPU time of one trial [s]
    memory: float = 0.0  # most memory of the process [bytes]
    findings: list[Finding] = field(default_factory=list)


def work(orders: Connection, current: Any) -> None:
    """Run orders until None is received; ``current`` is the number of the input that is being run."""
    loaded: dict[str, Target] = {}
    while (order := orders.recv()) is not None:
        if order.target not in loaded:
            loaded[order.target] = load_target(order.target)
            first = loaded[order.target].input(order.seed, order.start)
            attempt(loaded[order.target], first)  # imports, caches
            limit_memory()
        orders.send(run_batch(loaded[order.target], order, current))


def run_batch(target: Target, order: Order, current: Any) -> Batch:
    """Run the inputs of an order."""
    batch, kept = Batch(target.name), dict[str, int]()
    began, until = time.process_time(), time.monotonic() + order.seconds
    while batch.inputs < order.most and time.monotonic() < until:
        number = order.start + batch.inputs
        current.value = number
        data = target.input(order.seed, number)
        before = time.process_time()
        outcome = attempt(target, data)
        batch.slowest = max(batch.slowest, time.process_time() - before)
        batch.inputs += 1
        batch.accepted += outcome.kind == "accepted"
        batch.rejected += outcome.kind == "rejected"
        if outcome.kind == "finding":
            batch.broken += 1
            kept[outcome.cause] = kept.get(outcome.cause, 0) + 1
            if kept[outcome.cause] <= KEPT:
                batch.findings.append(Finding(target.name, number, outcome.cause, outcome.message))
    batch.cpu = time.process_time() - began
    batch.memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0
    return batch
