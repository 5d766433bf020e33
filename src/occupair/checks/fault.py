"""A fault found by a check, its severity, and the report of faults as text."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pandas as pd

from occupair.wording import plural

Severity = Literal["wrong", "doubtful", "note"]
"""How severe a fault is."""
SEVERITIES: tuple[Severity, ...] = ("wrong", "doubtful", "note")
"""From most to least severe."""

MEANING: dict[Severity, str] = {
    "wrong": "do not train before it is fixed",
    "doubtful": "check before training",
    "note": "for information",
}
"""What each severity means for training."""
WIDTH = 100  # characters per line
RESOLUTION = pd.Timedelta(microseconds=1)  # of times


@dataclass(frozen=True)
class Fault:
    """A fault in readings.

    Parameters
    ----------
    kind : str
        Short, stable name such as ``"clock"`` or ``"stuck"``.
    severity : str
        ``"wrong"``: do not train before it is fixed; ``"doubtful"``: check before training; ``"note"``.
    finding : str
        What is wrong, and how much.
    start, end : Timestamp, optional
        First and last affected reading; None if the fault affects all readings or none in particular.
    details : dict
        The numbers behind the message. ``"spans"`` are the affected (start, end) times if they are not
        everything from ``start`` to ``end``.
    fix : str
        What to do about it; empty if nothing has to be done.
    """

    kind: str
    severity: Severity
    finding: str
    start: pd.Timestamp | None = None
    end: pd.Timestamp | None = None
    details: dict[str, Any] = field(default_factory=dict)
    fix: str = ""

    @property
    def message(self) -> str:
        """What is wrong and what to do about it."""
        return f"{self.finding} {self.fix}".strip()

    @property
    def days(self) -> list[pd.Timestamp]:
        """The dates of the affected days in order; empty if no days in particular are affected."""
        return span_days(self.spans)

    @property
    def spans(self) -> list[tuple[pd.Timestamp, pd.Timestamp]]:
        """The affected (start, end) times in order; empty if no times in particular are affected."""
        if "spans" in self.details:
            return list(self.details["spans"])
        return [] if self.start is None or self.end is None else [(self.start, self.end)]


def span_days(spans: Sequence[tuple[pd.Timestamp, pd.Timestamp]]) -> list[pd.Timestamp]:
    """Return the days that (start, end) times touch, in order; a span that ends at midnight ends before it.

    Examples
    --------
    >>> monday = pd.Timestamp("2024-01-08")
    >>> [day.day for day in span_days([(monday, monday + pd.Timedelta(days=2))])]
    [8, 9]
    """
    ends = [(start, max(start, end - RESOLUTION)) for start, end in spans]
    return sorted({day for start, end in ends for day in pd.date_range(start.normalize(), end.normalize())})


def worst_first(faults: Sequence[Fault]) -> list[Fault]:
    """Return faults sorted by severity; the order is stable."""
    return sorted(faults, key=lambda fault: SEVERITIES.index(fault.severity))


def is_trainable(faults: Sequence[Fault]) -> bool:
    """Whether an estimator can be trained on readings with these faults.

    Examples
    --------
    >>> is_trainable([Fault("staircase", "note", "CO2 is updated every 5 min.")])
    True
    """
    return all(fault.severity != "wrong" for fault in faults)


def verdict(faults: Sequence[Fault]) -> str:
    """Describe in one sentence whether the readings are fit to train on.

    Examples
    --------
    >>> verdict([])
    'Fit to train on: no faults found.'
    """
    wrong = sum(fault.severity == "wrong" for fault in faults)
    doubtful = sum(fault.severity == "doubtful" for fault in faults)
    if wrong:
        return f"Not fit to train on: {plural(wrong, 'fault')} to fix."
    if doubtful:
        return f"Fit to train on, but {plural(doubtful, 'finding')} to check."
    return "Fit to train on: no faults found."


def format_faults(faults: Sequence[Fault]) -> str:
    """Return a report of faults for a terminal, the most severe first.

    Examples
    --------
    >>> print(format_faults([Fault("staircase", "note", "CO2 is updated every 5 min.")]))
    Fit to train on: no faults found.
    <BLANKLINE>
    NOTE (for information)
      staircase: CO2 is updated every 5 min.
    """
    sections = [verdict(faults)]
    for severity in SEVERITIES:
        found = [fault for fault in faults if fault.severity == severity]
        if found:
            lines = [f"{severity.upper()} ({MEANING[severity]})", *map(_wrapped, found)]
            sections.append("\n".join(lines))
    return "\n\n".join(sections)


def _wrapped(fault: Fault) -> str:
    return textwrap.fill(
        f"{fault.kind}: {fault.message}", WIDTH, initial_indent="  ", subsequent_indent="    "
    )
