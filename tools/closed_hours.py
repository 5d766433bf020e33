"""People in closed hours: false alarms in public rooms, and events planted in the simulated office.

False alarms are estimates of at least half a person in the closed hours at a head count of 0, on the held-out
days of the benchmark's folds. The nRMSE of the benchmark is given with and without the evidence of CO2 in
closed hours. In the simulated office, which nobody uses after 19:00 in training, groups of people come at
20:00, with ventilation, or at 1:00, without, for two hours.

    python tools/closed_hours.py [--rooms NAME ...] [--seeds 3]
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from occupair.benchmark.few_labelled_days import FIRST_AND_LAST
from occupair.datasets.benchmark_rooms import BENCHMARK_ROOMS, read_room
from occupair.estimator import OccupancyEstimator
from occupair.folds import split_days
from occupair.progress import quietly
from occupair.room.inputs import Clock
from occupair.room.open_hours import START_UP
from occupair.simulation.co2_generation import SITTING_QUIETLY, co2_generation
from occupair.simulation.multizone_air import simulate_air
from occupair.simulation.office import OfficeHistory, simulate_history
from occupair.simulation.office_day import sensor_disturbances
from occupair.simulation.paper_room import SENSOR, SENSOR_ZONE, paper_room
from occupair.simulation.presence import DAY
from occupair.simulation.sensor import read_out

MONTH = 30 * 24 * 60  # [min]
SEEDS = 3
DAYS, TEST_DAYS = 15, 5
LAST_LEAVE = 19 * 60  # [min after midnight]
EVENTS = {"20:00": 20 * 60, "01:00": 60}
LENGTH = 120  # [min]
GROUPS = (5, 10, 20)
SOUGHT = 20  # [min] within which an event has to be found


def without_evidence(model: OccupancyEstimator) -> OccupancyEstimator:
    """Return a model that estimates 0 in closed hours whatever CO2 is."""
    other = OccupancyEstimator()
    other.__dict__.update(model.__dict__)
    other.room_ = replace(model.room_, evidence_thresholds=None)
    return other


def false_alarms(name: str) -> list[dict[str, float | str]]:
    """Return false alarms [min] and squared errors in a room, for each fold and lag."""
    rows = []
    for train, test in split_days(read_room(name)):
        model = OccupancyEstimator(random_state=0).fit(train)
        truth, readings = test["occupancy"].to_numpy(), test.drop(columns="occupancy")
        clock = Clock.of(pd.DatetimeIndex(test.index))
        closed = ~model.room_.hours.at(clock) & (clock.minute >= START_UP)
        for lag in FIRST_AND_LAST:
            people, before = (
                one.estimate(readings, lag=lag).to_numpy() for one in (model, without_evidence(model))
            )
            row = {
                "room": name,
                "lag": lag,
                "alarm": model.interval_ * np.sum(closed & (truth == 0) & (people >= 0.5)),
                "found": model.interval_ * np.sum(closed & (truth > 0) & (people >= 0.5)),
                "missed": model.interval_ * np.sum(closed & (truth > 0) & (people < 0.5)),
                "closed": model.interval_ * np.sum(closed),
                "minutes": model.interval_ * len(test),
                "with": np.sum((people - truth) ** 2),
                "without": np.sum((before - truth) ** 2),
                "reference": np.sum((train["occupancy"].mean() - truth) ** 2),
            }
            rows.append(row)
    return rows


def report_rooms(names: list[str]) -> None:
    sums = pd.DataFrame([row for name in names for row in false_alarms(name)])
    sums = sums.groupby(["lag", "room"], sort=False).sum()
    months = sums["minutes"] / MONTH
    table = pd.DataFrame(
        {
            "closed hours": sums["closed"] / 60,
            "false alarms [h/month]": sums["alarm"] / 60 / months,
            "counted people found [h]": sums["found"] / 60,
            "missed [h]": sums["missed"] / 60,
            "nRMSE without": np.sqrt(sums["without"] / sums["reference"]),
            "nRMSE with": np.sqrt(sums["with"] / sums["reference"]),
        }
    )
    print(table.round(3).to_string())
    for lag, rooms in table.groupby(level="lag"):
        months_of_lag = months.xs(lag, level="lag")
        alarms = sums["alarm"].xs(lag, level="lag").sum() / 60 / months_of_lag.sum()
        print(
            f"lag {lag:g}: {alarms:.2f} h of false alarms per room and month, mean nRMSE "
            f"{rooms['nRMSE without'].mean():.4f} without and {rooms['nRMSE with'].mean():.4f} with"
        )


def planted_office(
    seed: int, *, start: int | None = None, group: int = 0, first_day: int = 0
) -> pd.DataFrame:
    """Simulate an office that people leave by 19:00, with a group of people on some weekdays.

    Parameters
    ----------
    seed : int
        Random seed.
    start : int, optional
        When the group comes [min after midnight]; None: it does not.
    group : int
        Number of people in the group.
    first_day : int
        Calendar day from which on it comes every weekday.
    """
    history = simulate_history(DAYS, seed=seed)
    minute = np.asarray(history.time.hour * 60 + history.time.minute)
    presence = history.presence & (minute < LAST_LEAVE)[:, np.newaxis]
    if start is not None:
        weekday = history.time.day_of_week < 5
        later = np.arange(len(minute)) >= first_day * 1440
        comes = (minute >= start) & (minute < start + LENGTH) & weekday & later
        presence[np.asarray(comes), :group] = True
    return _simulate(history, presence, seed)


def _simulate(history: OfficeHistory, presence: np.ndarray, seed: int) -> pd.DataFrame:
    """Simulate the air and the sensor of the office with another presence, everybody sitting."""
    met = np.where(presence, SITTING_QUIETLY, 0.0)
    zones = np.eye(history.generation.shape[1])[[person.zone for person in history.people]]
    generation = co2_generation([person.bmr for person in history.people], met) @ zones
    air = simulate_air(
        paper_room(),
        generation=generation,
        outdoor=history.outdoor,
        ventilation=history.ventilation,
        start=history.air.co2[0],
    )
    days = np.split(presence, len(presence) // DAY)
    disturbances = [sensor_disturbances(one, day, seed=seed) for day, one in enumerate(days)]
    rises, noise = map(np.concatenate, zip(*disturbances, strict=True))
    co2 = read_out(SENSOR, air.co2[:-1, SENSOR_ZONE] + rises, noise)
    occupancy = presence.sum(axis=1)
    columns = {"co2": co2, "ventilation": history.ventilation, "occupancy": occupancy}
    readings = pd.DataFrame(columns, index=history.time)
    return readings[history.time.day_of_week < 5]


def events(seed: int) -> list[dict[str, object]]:
    """Return how many minutes after the group came it was found, for each event on the test days."""
    plain = planted_office(seed)
    n_train = (DAYS - TEST_DAYS) * 1440
    model = OccupancyEstimator(random_state=0).fit(plain.iloc[:n_train])
    first_day = (plain.index[n_train] - plain.index[0]).days
    rows: list[dict[str, object]] = []
    for name, start in EVENTS.items():
        for group in GROUPS:
            test = planted_office(seed, start=start, group=group, first_day=first_day).iloc[n_train:]
            people = model.estimate(test.drop(columns="occupancy"))
            for day in range(TEST_DAYS):
                estimated = people.iloc[day * 1440 + start : day * 1440 + start + 2 * LENGTH].to_numpy()
                found = np.flatnonzero(estimated[:LENGTH] >= 0.5)
                after = estimated[LENGTH:]
                row = {"event": name, "group": group, "seed": seed}
                rows.append(
                    row
                    | {
                        "delay": float(found[0]) if found.size else np.inf,
                        "mean": estimated[30:LENGTH].mean(),
                        "after": float(np.sum(after >= 0.5)),
                    }
                )
    print(f"office {seed}: thresholds {model.room_.evidence_thresholds} people")
    return rows


def report_events(seeds: int) -> None:
    table = pd.DataFrame([row for seed in range(seeds) for row in events(seed)])
    by = table.groupby(["event", "group"], sort=False)
    summary = pd.DataFrame(
        {
            "events": by.size(),
            f"found within {SOUGHT} min": by["delay"].agg(lambda delay: np.mean(delay <= SOUGHT)),
            "median delay [min]": by["delay"].median(),
            "longest [min]": by["delay"].max(),
            "mean estimate after 30 min [people]": by["mean"].mean(),
            "still reported after it [min]": by["after"].mean(),
        }
    )
    print(summary.round(2).to_string())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rooms", nargs="*", default=list(BENCHMARK_ROOMS))
    parser.add_argument("--seeds", type=int, default=SEEDS)
    given = parser.parse_args()
    with quietly():
        if given.seeds:
            report_events(given.seeds)
        if given.rooms:
            report_rooms(given.rooms)


if __name__ == "__main__":
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        main()
