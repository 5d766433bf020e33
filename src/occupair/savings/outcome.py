"""What a year of a policy comes to: outdoor air, energy, air quality, errors of the counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from occupair.savings.building import OfficeVentilation, is_operating, time_of
from occupair.savings.closed_loop import DayOutcome, LoopRun, Period, run_closed_loop
from occupair.savings.energy import EnergyModel, air_energy
from occupair.savings.weather import outdoor_temperature
from occupair.simulation.presence import DAY

Array = NDArray[np.float64]

CO2_LIMIT = 1000.0
"""Concentration above which person-hours are counted [ppm]."""

WELL_BELOW = 0.9
"""Share of the required flow below which person-hours count as well below it."""


@dataclass(frozen=True)
class RunTotals:
    """Totals of one run.

    Parameters
    ----------
    outdoor_air : float
        Outdoor air supplied [m3].
    heating, cooling, fan : float
        Energy for outdoor air [kWh], see ``occupair.savings.energy``.
    person_hours : float
        Person-hours in operating hours [h].
    above_limit : float
        Person-hours above 1,000 ppm where people sit, in operating hours [h].
    below_flow : float
        Person-hours with less outdoor air than the standard requires for the true count [h], in operating
        hours.
    well_below_flow : float
        Person-hours with less than 90 % of that flow [h].
    missing_air : float
        Outdoor air that was missing to the required flow [m3].
    off_hours : float
        Person-hours outside of the operating hours, without outdoor air for all policies [h].
    squared_error, error, estimated : float
        Sums over all decisions with an estimate: squared error, error (estimate minus true count), number.
    below_upper, bounded : float
        Number of true counts at or below the upper end of the interval, and number of upper ends.
    co2_unexplained, heat_unexplained : float
        Largest error of the CO2 balance of a day relative to the CO2 generated on it, at least 1 L [L/L], and
        error of the heat balance relative to the heat supplied.
    """

    outdoor_air: float
    heating: float
    cooling: float
    fan: float
    person_hours: float
    above_limit: float
    below_flow: float
    well_below_flow: float
    missing_air: float
    off_hours: float
    squared_error: float
    error: float
    below_upper: float
    bounded: float
    estimated: float
    co2_unexplained: float
    heat_unexplained: float

    @property
    def rmse(self) -> float:
        """RMSE of the estimates in the loop [people]; NaN without."""
        return float(np.sqrt(self.squared_error / self.estimated)) if self.estimated else np.nan

    @property
    def bias(self) -> float:
        """Mean error of the estimates in the loop [people]; NaN without."""
        return self.error / self.estimated if self.estimated else np.nan

    @property
    def coverage(self) -> float:
        """Share of true counts at or below the upper end of the interval [0..1]; NaN without."""
        return self.below_upper / self.bounded if self.bounded else np.nan


class LoopTotals:
    """Sums up the days of all runs.

    Parameters
    ----------
    ventilation : OfficeVentilation
        Standard and operating hours.
    energy : EnergyModel
        Energy for outdoor air.
    seeds : sequence of int
        Seed of each run, for its weather.
    period : Period
        Simulated days.
    """

    def __init__(
        self, ventilation: OfficeVentilation, energy: EnergyModel, seeds: Sequence[int], period: Period
    ) -> None:
        self._ventilation, self._energy, self._first_day = ventilation, energy, period.first_day
        start = time_of(period.first_day).date()
        weather = {seed: outdoor_temperature(start, period.n_days, seed=seed) for seed in set(seeds)}
        self._temperature = np.array([weather[seed] for seed in seeds]).T
        self._sums = {one.name: np.zeros(len(seeds)) for one in fields(RunTotals)}
        self._heat = np.zeros(len(seeds))

    def add(self, outcome: DayOutcome) -> None:
        """Add one day."""
        record, sums = outcome.record, self._sums
        flow = outcome.damper * self._ventilation.design_flow  # [L/s]
        people = outcome.people
        sums["outdoor_air"] += flow.sum(axis=0) * 60 / 1000
        self._add_energy(flow, outcome.day)
        on = np.array([is_operating(outcome.day, minute) for minute in range(DAY)])
        sums["person_hours"] += people[on].sum(axis=0) / 60
        sums["off_hours"] += people[~on].sum(axis=0) / 60
        stale = record.people_in_zone * (record.co2 > CO2_LIMIT)
        sums["above_limit"] += stale[on].sum(axis=(0, 2)) / 60
        self._add_shortfall(flow[on], people[on])
        self._add_errors(outcome.estimates, people)
        unexplained = np.abs(record.unexplained) / np.maximum(record.generated, 1.0)
        sums["co2_unexplained"] = np.maximum(sums["co2_unexplained"], unexplained)

    def _add_energy(self, flow: Array, day: int) -> None:
        start = (day - self._first_day) * DAY
        energy = air_energy(
            flow,
            self._temperature[start : start + DAY],
            self._energy,
            design_flow=self._ventilation.design_flow,
        )
        for name in ("heating", "cooling", "fan"):
            self._sums[name] += getattr(energy, name)
        self._sums["heat_unexplained"] += energy.unexplained
        self._heat += energy.heating + energy.recovered + energy.cooling

    def _add_shortfall(self, flow: Array, people: Array) -> None:
        required = np.minimum(self._ventilation.control.demand.flow(people), self._ventilation.design_flow)
        missing = np.where(people > 0, np.maximum(required - flow, 0.0), 0.0)
        sums = self._sums
        sums["below_flow"] += (people * (missing > 1e-9 * required)).sum(axis=0) / 60
        sums["well_below_flow"] += (people * (flow < WELL_BELOW * required)).sum(axis=0) / 60
        sums["missing_air"] += missing.sum(axis=0) * 60 / 1000

    def _add_errors(self, estimates: Array, people: Array) -> None:
        true = people[:: DAY // len(estimates)]
        error = estimates[:, :, 0] - true
        known = np.isfinite(error)
        sums = self._sums
        sums["squared_error"] += np.where(known, error**2, 0.0).sum(axis=0)
        sums["error"] += np.where(known, error, 0.0).sum(axis=0)
        sums["below_upper"] += (true <= estimates[:, :, 1]).sum(axis=0)
        sums["bounded"] += np.isfinite(estimates[:, :, 1]).sum(axis=0)
        sums["estimated"] += known.sum(axis=0)

    def results(self) -> list[RunTotals]:
        """Return the totals of each run so far."""
        sums = dict(self._sums)
        sums["heat_unexplained"] = np.abs(sums["heat_unexplained"]) / np.maximum(self._heat, 1.0)
        return [
            RunTotals(**{name: float(values[run]) for name, values in sums.items()})
            for run in range(self._heat.size)
        ]


def total_up(
    runs: Sequence[LoopRun],
    ventilation: OfficeVentilation,
    energy: EnergyModel,
    period: Period,
    *,
    also: Callable[[DayOutcome], None] | None = None,
) -> list[RunTotals]:
    """Simulate runs over a period and return the totals of each; ``also`` gets every day, too."""
    totals = LoopTotals(ventilation, energy, [run.seed for run in runs], period)
    for day in run_closed_loop(runs, ventilation, period):
        totals.add(day)
        if also is not None:
            also(day)
    return totals.results()
