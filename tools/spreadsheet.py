"""Rules that fit in a spreadsheet, scored on the public rooms with the folds and scores of the benchmark.

Each rule uses one row of readings at a time: CO2, its level in the empty room (the lowest of the training
days) and, for the steady-state balance, the ventilation. Its coefficients are fitted to the head counts of
the training days by least squares, as LINEST does.

    python -m tools.spreadsheet [--rooms NAME ...]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

from occupair.baselines.baseline import Array, Baseline, Day
from occupair.benchmark.methods import Method
from occupair.benchmark.result import BenchmarkResult
from occupair.benchmark.run_benchmark import run_benchmark
from occupair.benchmark.score_tables import COLUMNS, SHORT
from occupair.datasets import read_rooms
from occupair.report.text_table import Table, markdown


def rises(days: list[Day], level: float) -> Array:
    """Return CO2 above the level of the empty room at all readings [ppm]."""
    return np.concatenate([day.co2 - level for day in days])


def lowest_co2(days: list[Day]) -> float:
    """Return the lowest CO2 of the days [ppm]."""
    return float(min(day.co2.min() for day in days))


@dataclass(kw_only=True, eq=False, repr=False)
class SteadyState(Baseline):
    """People in proportion to CO2 above the level of the empty room: n = (a + b v)(C - C0).

    This is the steady-state balance n = Q (C - C0) / G with an outdoor air flow Q that is linear in the
    ventilation signal v. Without ``uses_flow`` it is n = a (C - C0).
    """

    uses_flow: bool = True

    def _fit_days(self, days: list[Day], people: list[Array]) -> None:
        level = lowest_co2(days)
        rows = np.vstack([self._terms(day, level) for day in days])
        self.coef_ = np.linalg.lstsq(rows, np.concatenate(people), rcond=None)[0]
        self.level_ = level

    def _terms(self, day: Day, level: float) -> Array:
        above = day.co2 - level
        return np.column_stack([above, above * day.ventilation] if self.uses_flow else [above])

    def _estimate_day(self, day: Day) -> Array:
        return np.asarray(self._terms(day, self.level_) @ self.coef_)


@dataclass(kw_only=True, eq=False, repr=False)
class Threshold(Baseline):
    """The mean head count of occupied readings if CO2 is above a threshold, else 0.

    The threshold is the one of every 25 ppm above the level of the empty room that classifies most of the
    training readings correctly as occupied or empty.
    """

    def _fit_days(self, days: list[Day], people: list[Array]) -> None:
        level, counts = lowest_co2(days), np.concatenate(people)
        above, occupied = rises(days, level), counts > 0
        steps = np.arange(0.0, max(above.max(), 25.0), 25.0)
        errors = [np.mean((above > step) != occupied) for step in steps]
        self.threshold_ = level + steps[int(np.argmin(errors))]
        self.people_ = counts[occupied].mean() if occupied.any() else 0.0

    def _estimate_day(self, day: Day) -> Array:
        return np.where(day.co2 > self.threshold_, self.people_, 0.0)


RULES = {
    "steady state, CO2 and ventilation": Method(SteadyState),
    "steady state, CO2": Method(lambda lag: SteadyState(lag=lag, uses_flow=False)),
    "CO2 threshold": Method(Threshold),
}


def table(result: BenchmarkResult) -> Table:
    """Tabulate the mean live scores over the rooms."""
    heads = ["rule", *(COLUMNS[name][0] for name in SHORT)]
    rows = [
        [rule, *(COLUMNS[name][1](float(result.averages.loc[(rule, 0), name])) for name in SHORT)]
        for rule in RULES
    ]
    return Table(heads, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--rooms", nargs="*", default=[], help="public rooms; default: those of the benchmark"
    )
    rooms = read_rooms(parser.parse_args().rooms)
    result = run_benchmark(rooms, RULES, [0])
    print(f"Live scores, mean of {len(rooms)} rooms, folds of the benchmark")
    print(markdown(table(result)))


if __name__ == "__main__":
    main()
