"""Cost of planted sensor drifts, with and without following the baseline, as Markdown.

python tools/planted_drift.py                   # the benchmark rooms and three simulated offices (10 min)
python tools/planted_drift.py office robod-1    # some of them

Each room is trained on clean days and tested on the held-out days of each fold, with the drift added to CO2.
The service runs all the time, so a test record is the held-out days repeated in order, each on the next date
with the same day of the week: 14 days that are not scored, then 28 that are. The creep has reached its size
at the first scored day and goes on. Steps happen at noon of the scored day in the middle. Errors are RMSE, as
a ratio to the same record without drift and without following.
"""

import sys
import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
from rich.console import Console
from rich.progress import track

import occupair as oc
from occupair.datasets.benchmark_rooms import BENCHMARK_ROOMS, read_room
from occupair.folds import split_days
from occupair.readings.schema import date_slices

CREEP = 20 / 30.44  # [ppm/day]
STEP = 60.0  # [ppm]
BEFORE, SCORED = 14, 28  # [days]
AFTER = 2  # days after a step that are also listed on their own
OFFICES = {f"office {seed}": seed for seed in (0, 1, 2)}

Shift = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
DRIFTS: dict[str, Shift] = {  # of elapsed days, the number of the day, and the hour
    "none": lambda elapsed, day, hour: 0 * elapsed,
    "creep, 1 month": lambda elapsed, day, hour: 20 + CREEP * elapsed,
    "creep, 3 months": lambda elapsed, day, hour: 60 + CREEP * elapsed,
    "creep, 6 months": lambda elapsed, day, hour: 120 + CREEP * elapsed,
    "falling, 6 months": lambda elapsed, day, hour: -120 - CREEP * elapsed,
    "step +60": lambda elapsed, day, hour: STEP * _is_after_step(day, hour),
    "step -60": lambda elapsed, day, hour: -STEP * _is_after_step(day, hour),
}


def _is_after_step(day: np.ndarray, hour: np.ndarray) -> np.ndarray:
    middle = BEFORE + SCORED // 2
    return (day > middle) | ((day == middle) & (hour >= 12))


def repeated(held_out: pd.DataFrame, n_days: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Repeat held-out days in order, each on the next date with its day of the week; and number them."""
    days = [held_out.iloc[rows] for rows in date_slices(held_out)]
    date, parts = pd.Timestamp("2024-01-01"), []
    for number in range(n_days):
        day = days[number % len(days)]
        midnight = day.index[0].normalize()
        date += pd.Timedelta(days=(midnight.day_of_week - date.day_of_week) % 7)
        parts.append(day.set_axis(day.index - midnight + date))
        date += pd.Timedelta(days=1)
    return pd.concat(parts), np.repeat(np.arange(n_days), [len(part) for part in parts])


def squared_errors(room: pd.DataFrame) -> dict[tuple[str, bool, str], list[np.ndarray]]:
    """Return squared errors by drift, by whether it is followed, and by the part of the record."""
    found: dict[tuple[str, bool, str], list[np.ndarray]] = {}
    for train, held_out in split_days(room):
        with warnings.catch_warnings(action="ignore"):
            estimator = oc.OccupancyEstimator(random_state=0).fit(train)
        following = {True: estimator.room_, False: replace(estimator.room_, baseline=None)}
        readings, day = repeated(held_out, BEFORE + SCORED)
        elapsed = np.asarray((readings.index - readings.index[day == BEFORE][0]) / pd.Timedelta(days=1))
        hour = readings.index.hour.to_numpy()
        after_step = _is_after_step(day, hour) & (day <= BEFORE + SCORED // 2 + AFTER)
        for drift, shift in DRIFTS.items():
            drifted = readings.assign(co2=readings["co2"] + shift(elapsed, day, hour).clip(-readings["co2"]))
            for follows, model in following.items():
                estimator.room_ = model
                errors = (estimator.estimate(drifted) - readings["occupancy"]).to_numpy() ** 2
                for part, rows in {"all": day >= BEFORE, "after": after_step}.items():
                    found.setdefault((drift, follows, part), []).append(errors[rows])
    return found


def read(name: str) -> pd.DataFrame:
    if name in OFFICES:
        return oc.simulate_office(days=30, seed=OFFICES[name])
    return read_room(name).tz_localize(None)


def main() -> None:
    names = sys.argv[1:] or [*BENCHMARK_ROOMS, *OFFICES]
    ratios: dict[str, dict[tuple[str, bool, str], float]] = {}
    for name in track(names, "rooms", console=Console(stderr=True)):
        rmse = {key: np.sqrt(np.mean(np.concatenate(one))) for key, one in squared_errors(read(name)).items()}
        ratios[name] = {
            (d, f, part): value / rmse["none", False, part] for (d, f, part), value in rmse.items()
        }
    for part, title in {
        "all": f"Error of {SCORED} days, as a ratio to that without drift: not followed, followed",
        "after": f"Only from the step until the end of the {AFTER} days after it",
    }.items():
        drifts = [drift for drift in DRIFTS if part != "after" or drift.startswith(("none", "step"))]
        table = {name: [_pair(by, drift, part) for drift in drifts] for name, by in ratios.items()}
        means = {
            key: float(np.mean([by[key] for by in ratios.values()])) for key in next(iter(ratios.values()))
        }
        table["mean"] = [_pair(means, drift, part) for drift in drifts]
        print(f"\n{title}\n\n| room | {' | '.join(drifts)} |\n{'| --- ' * (len(drifts) + 1)}|")
        for name, cells in table.items():
            print(f"| {name} | {' | '.join(cells)} |")


def _pair(ratios: dict[tuple[str, bool, str], float], drift: str, part: str) -> str:
    return f"{ratios[drift, False, part]:.2f}, {ratios[drift, True, part]:.3f}"


if __name__ == "__main__":
    main()
