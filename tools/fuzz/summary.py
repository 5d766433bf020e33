"""Table of a campaign: inputs, outcomes, speed and slowest input of each target."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from occupair.report.text_table import Table, markdown
from tools.fuzz.targets import SHARES
from tools.fuzz.worker import Batch


@dataclass
class Totals:
    """Sums of all batches of a target."""

    inputs: int = 0
    accepted: int = 0
    rejected: int = 0
    broken: int = 0
    cpu: float = 0.0
    slowest: float = 0.0
    memory: float = 0.0

    def add(self, batch: Batch | Totals) -> None:
        """Add a batch."""
        self.inputs += batch.inputs
        self.accepted += batch.accepted
        self.rejected += batch.rejected
        self.broken += batch.broken
        self.cpu += batch.cpu
        self.slowest = max(self.slowest, batch.slowest)
        self.memory = max(self.memory, batch.memory)


def write_totals(totals: dict[str, Totals], path: Path) -> None:
    """Write the totals of a campaign."""
    path.write_text(json.dumps({name: asdict(one) for name, one in totals.items()}, indent=1) + "\n")


def read_totals(paths: Iterable[Path]) -> dict[str, Totals]:
    """Return the sums of several campaigns, in the order of the targets."""
    found = {name: Totals() for name in SHARES}
    for path in paths:
        for name, values in json.loads(path.read_text()).items():
            found[name].add(Totals(**values))
    return found


HEADS = ["target", "inputs", "accepted", "rejected", "findings", "inputs/s", "slowest [ms]", "memory [MB]"]


def table(totals: dict[str, Totals]) -> str:
    """Return the table in Markdown; inputs/s are per second of CPU time of one core."""
    whole = Totals()
    for one in totals.values():
        whole.add(one)
    rows = [_row(name, one) for name, one in totals.items() if one.inputs]
    return markdown(Table(HEADS, [*rows, _row("all", whole)]))


def _row(name: str, one: Totals) -> list[str]:
    speed = one.inputs / one.cpu if one.cpu else 0.0
    counts = (one.inputs, one.accepted, one.rejected, one.broken, round(speed))
    return [
        name,
        *(f"{count:,}" for count in counts),
        f"{1e3 * one.slowest:,.0f}",
        f"{one.memory / 1e6:,.0f}",
    ]
