"""Training days of the estimators: readings of the office under a policy that needs no estimator.

Under the fixed design flow, the ventilation signal of the training days is 0 or 1. Under modulated
ventilation, an estimator meets flows that it has never seen. On commissioning days the flow is therefore
stepped through its whole range, at random times and not by occupancy, so that the effect of the flow can be
told from that of people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from occupair.savings.building import OfficeVentilation, is_weekday, time_of
from occupair.savings.closed_loop import DayOutcome, LoopRun, Period, run_closed_loop
from occupair.savings.policies import Policy, Situation
from occupair.simulation.presence import DAY

HOLD = (60.0, 180.0)  # [min] between two steps: about the time in which CO2 follows the flow, and longer
_STREAM = 8  # sets the random numbers of the steps apart from those of the office


@dataclass
class SteppedFlow:
    """Random flows between two limits, each held for one to three hours.

    Parameters
    ----------
    lowest, highest : float
        Limits of the outdoor air flow [L/s].
    seed : int
        Random seed.

    Examples
    --------
    >>> policy = SteppedFlow(55.8, 143.3, seed=0)
    >>> flows = {policy.outdoor_air(Situation(time_of(0, minute), 5.0, 700.0)) for minute in range(0, 600, 5)}
    >>> bool(3 < len(flows) < 11), bool(55.8 <= min(flows) < max(flows) <= 143.3)
    (True, True)
    """

    lowest: float
    highest: float
    seed: int
    _rng: np.random.Generator = field(init=False, repr=False)
    _flow: float = field(default=0.0, init=False, repr=False)
    _left: float = field(default=0.0, init=False, repr=False)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng([self.seed, _STREAM])

    def start(self) -> None:
        """Choose a new flow when the ventilation starts."""
        self._left = 0.0

    def outdoor_air(self, situation: Situation) -> float:
        """Return the current flow [L/s]."""
        self._left -= situation.minutes
        if self._left <= 0:
            self._flow = float(self._rng.uniform(self.lowest, self.highest))
            self._left = float(self._rng.uniform(*HOLD))
        return self._flow


class ReadingsRecorder:
    """Collects the readings of weekdays as an estimator would get them.

    The ventilation of a reading is the damper position at its time, that of the minute before.

    Parameters
    ----------
    interval : int
        Time between readings [min].
    """

    def __init__(self, interval: int) -> None:
        self._interval = interval
        self._parts: list[tuple[int, np.ndarray, np.ndarray, np.ndarray]] = []

    def add(self, outcome: DayOutcome) -> None:
        """Add one day."""
        if is_weekday(outcome.day):
            every = slice(None, None, self._interval)
            before = np.roll(outcome.damper, 1, axis=0)
            before[0] = 0.0  # the ventilation is off at midnight
            self._parts.append(
                (outcome.day, outcome.record.readings[every], before[every], outcome.people[every])
            )

    def readings(self, run: int) -> pd.DataFrame:
        """Return the readings of a run."""
        n = DAY // self._interval
        times = [time_of(day, self._interval * k) for day, *_ in self._parts for k in range(n)]
        columns = zip(*(part[1:] for part in self._parts), strict=True)
        values = [np.concatenate([day[:, run] for day in column]) for column in columns]
        names = ("co2", "ventilation", "occupancy")
        return pd.DataFrame(dict(zip(names, values, strict=True)), index=pd.DatetimeIndex(times, name="time"))


def record_readings(
    seeds: Sequence[int],
    policies: Sequence[Policy],
    ventilation: OfficeVentilation,
    *,
    n_days: int,
    interval: int,
) -> list[pd.DataFrame]:
    """Return the readings of the first calendar days, one table per seed and its policy."""
    recorder = ReadingsRecorder(interval)
    runs = [LoopRun(seed, policy) for seed, policy in zip(seeds, policies, strict=True)]
    for day in run_closed_loop(runs, ventilation, Period(0, n_days, interval)):
        recorder.add(day)
    return [recorder.readings(run) for run in range(len(runs))]
