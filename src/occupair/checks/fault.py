"""What a check finds: a fault, how bad it is, and plain words for it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pandas as pd

Severity = Literal["wrong", "doubtful", "note"]
SEVERITIES: tuple[Severity, ...] = ("wrong", "doubtful", "note")
"""From worst to harmless."""

MEANING: dict[Severity, str] = {
    "wrong": "training on it would be wrong",
    "doubtful": "worth a look",
    "note": "good to know",
}
WIDTH = 100  # characters in a line of the terminal


@dataclass(frozen=True)
class Fault:
    """Something that is the matter with readings.

    Parameters
    ----------
    kind : str
        A short name that programs can rely on, such as ``"clock"`` or ``"stuck"``.
    severity : str
        ``"wrong"``: training on it would be wrong; ``"doubtful"``: worth a look; ``"note"``.
    words : str
        One plain sentence or two: what, how much, and what to do.
    start, end : Timestamp, optional
        The first and the last reading it concerns; None when it concerns all or nothing in particular.
    details : dict
        Numbers behind the words. ``"spans"``: pairs of times it concerns where it is not all from
        ``start`` to ``end``.
    """

    kind: str
    severity: Severity
    words: str
    start: pd.Timestamp | None = None
    end: pd.Timestamp | None = None
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def spans(self) -> list[tuple[pd.Timestamp, pd.Timestamp]]:
        """Give the parts of time it concerns, in order; none when it concerns no part in particular."""
        if "spans" in self.details:
            return list(self.details["spans"])
        return [] if self.start is None or self.end is None else [(self.start, self.end)]


def worst_first(faults: Sequence[Fault]) -> list[Fault]:
    """Sort faults by severity, keeping their order otherwise."""
    return sorted(faults, key=lambda fault: SEVERITIES.index(fault.severity))


def fit_to_train(faults: Sequence[Fault]) -> bool:
    """Say whether an estimator may be trained on readings with these faults.

    Examples
    --------
    >>> fit_to_train([Fault("staircase", "note", "CO2 moves every 5 min.")])
    True
    """
    return all(fault.severity != "wrong" for fault in faults)


def verdict(faults: Sequence[Fault]) -> str:
    """Say in one sentence whether the readings are fit to train on.

    Examples
    --------
    >>> verdict([])
    'Fit to train on: nothing wrong was found.'
    """
    wrong = sum(fault.severity == "wrong" for fault in faults)
    doubtful = sum(fault.severity == "doubtful" for fault in faults)
    if wrong:
        return f"Not fit to train on: {wrong} {'thing is' if wrong == 1 else 'things are'} wrong."
    if doubtful:
        return (
            f"Fit to train on, but {doubtful} {'thing is' if doubtful == 1 else 'things are'} worth a look."
        )
    return "Fit to train on: nothing wrong was found."


def format_faults(faults: Sequence[Fault]) -> str:
    """Write faults for a terminal, the most severe first.

    Examples
    --------
    >>> print(format_faults([Fault("staircase", "note", "CO2 moves only every 5 min.")]))
    Fit to train on: nothing wrong was found.
    <BLANKLINE>
    NOTE (good to know)
      staircase: CO2 moves only every 5 min.
    """
    parts = [verdict(faults)]
    for severity in SEVERITIES:
        found = [fault for fault in faults if fault.severity == severity]
        if found:
            lines = [f"{severity.upper()} ({MEANING[severity]})", *map(_wrapped, found)]
            parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _wrapped(fault: Fault) -> str:
    return textwrap.fill(f"{fault.kind}: {fault.words}", WIDTH, initial_indent="  ", subsequent_indent="    ")
