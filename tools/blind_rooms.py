"""Rooms that were never looked at: simulated, of random size, use, ventilation and sensor place, unlabelled.

Each room is three zones of air, of which one has the sensor. The estimator is calibrated on three weeks
without head counts, from volume and seats, and scored on the week after. The seeds are consecutive numbers.
Rooms 0 to 136 were seen when ventilation without a signal was designed; later ones have not been looked at.

    python -m tools.blind_rooms [--rooms 20] [--first-seed 200] [--jobs 2]
"""

from __future__ import annotations

import argparse
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

import occupair as oc
from occupair.progress import quietly, track
from occupair.report.text_table import Table, markdown
from occupair.simulation.multizone_air import AirFlows, Room, simulate_air
from occupair.simulation.outdoor_air import outdoor_co2
from occupair.simulation.sensor import Sensor, read_out

Array = NDArray[np.float64]

DAY, N_DAYS, TRAIN_DAYS = 1440, 28, 21
FIRST_DAY = "2026-03-02"  # a Monday
CLOSED = ("00:00", "05:00")
USES = ("office", "meetings", "classes")
VENTILATIONS = ("office hours", "always on", "long hours", "none")
PLACES = {"middle": (1, 1 / 3), "exhaust": (2, 0.2), "supply": (0, 0.5)}
"""Zone of the sensor, and its share of the supply air."""
WINDOW = 2.0
"""Air change rate of an open window [1/h]."""


@dataclass(frozen=True)
class BlindRoom:
    """A simulated room.

    Parameters
    ----------
    seed : int
    volume : float
        Air volume [m3].
    seats : int
        Seats, of which ``filled`` [0..1] are usually taken at the busiest time.
    use, ventilation, place : str
        One of ``USES``, ``VENTILATIONS`` and ``PLACES``.
    leakage : float
        Infiltration [1/h].
    flow : float
        Outdoor air with ventilation on [m3/h].
    generation : float
        CO2 generation of one person [L/s].
    sensor : Sensor
    window_days : range
        Days with an open window.
    """

    seed: int
    volume: float
    seats: int
    filled: float
    use: str
    ventilation: str
    place: str
    leakage: float
    flow: float
    generation: float
    sensor: Sensor
    window_days: range = range(0)

    @property
    def air_change_rate(self) -> float:
        """True air change rate with ventilation on, or without if there is none [1/h]."""
        return self.leakage + (0.0 if self.ventilation == "none" else self.flow / self.volume)


def draw_room(seed: int) -> BlindRoom:
    """Draw a room: 35 to 900 m3, 6 to 20 m3 and 3 to 12 L/s of outdoor air for each seat."""
    rng = np.random.default_rng([2026, seed])
    volume = float(np.exp(rng.uniform(np.log(35), np.log(900))))
    seats = max(round(volume / rng.uniform(6, 20)), 2)
    return BlindRoom(
        seed=seed,
        volume=round(volume),
        seats=seats,
        filled=rng.uniform(0.4, 1.0),
        use=USES[rng.integers(len(USES))],
        ventilation=VENTILATIONS[rng.choice(len(VENTILATIONS), p=(0.4, 0.2, 0.2, 0.2))],
        place=list(PLACES)[rng.integers(len(PLACES))],
        leakage=float(np.exp(rng.normal(np.log(0.15), 0.6))),
        flow=seats * rng.uniform(3, 12) * 3.6,
        generation=0.0052 * float(np.exp(rng.normal(0, 0.12))),
        sensor=Sensor(rng.uniform(1, 6), noise=rng.uniform(3, 15), resolution=float(rng.choice([1, 5, 10]))),
    )


def simulate(room: BlindRoom) -> pd.DataFrame:
    """Simulate four weeks of readings with the true occupancy."""
    people = np.concatenate([_people(room, day) for day in range(N_DAYS)])
    ventilation = np.concatenate([_ventilation(room, day) for day in range(N_DAYS)])
    outdoor = outdoor_co2(N_DAYS, seed=room.seed)
    zone, share = PLACES[room.place]
    supply = np.full(3, (1 - share) / 2)
    supply[zone] = share
    third = room.volume / 3
    on = AirFlows(fresh=room.flow, recirculated=2 * room.flow, exchange=6 * third)
    off = AirFlows(fresh=0.0, recirculated=0.0, exchange=4 * third)
    closed = Room((third,) * 3, tuple(supply / supply.sum()), leakage=room.leakage, on=on, off=off)
    generation = np.outer(people * room.generation, np.full(3, 1 / 3))
    co2, start = np.empty((N_DAYS, DAY)), np.full(3, outdoor[0])
    for day in range(N_DAYS):
        now = slice(day * DAY, (day + 1) * DAY)
        today = replace(closed, leakage=room.leakage + WINDOW) if day in room.window_days else closed
        air = simulate_air(
            today, generation=generation[now], outdoor=outdoor[now], ventilation=ventilation[now], start=start
        )
        co2[day], start = air.co2[:-1, zone], air.co2[-1]
    noise = np.random.default_rng([2027, room.seed]).standard_normal(co2.size)
    columns = {"co2": read_out(room.sensor, co2.ravel(), noise), "occupancy": people}
    if room.ventilation != "none":
        columns["ventilation"] = ventilation
    return pd.DataFrame(columns, pd.date_range(FIRST_DAY, periods=people.size, freq="min", name="time"))


def _ventilation(room: BlindRoom, day: int) -> Array:
    hour = np.arange(DAY) / 60
    if room.ventilation == "always on":
        return np.ones(DAY)
    first, last = (7, 19) if room.ventilation == "office hours" else (5, 23)
    is_on = room.ventilation != "none" and day % 7 < 5
    return ((hour >= first) & (hour < last) & is_on).astype(float)


def _people(room: BlindRoom, day: int) -> Array:
    """Return the people in each minute of a day; nobody is there at weekends."""
    rng, hour = np.random.default_rng([2028, room.seed, day]), np.arange(DAY) / 60
    people = np.zeros(DAY)
    if day % 7 >= 5:
        return people
    if room.use == "office":
        for _ in range(room.seats):
            if rng.random() < room.filled * 0.8:
                arrives, leaves = rng.normal(8.7, 0.7), rng.normal(17.0, 0.9)
                lunch = rng.normal(12.2, 0.3)
                people += (hour >= arrives) & (hour < leaves) & ~((hour >= lunch) & (hour < lunch + 0.6))
        return people
    lengths, chance = ((0.5, 1.0, 1.5), 0.5) if room.use == "meetings" else ((1.5,), 0.7)
    start = 8.0
    while start < 17.5:
        length = float(rng.choice(lengths))
        if rng.random() < chance:
            n = 1 + rng.binomial(room.seats - 1, room.filled * rng.uniform(0.4, 1.0))
            first, last = start + rng.normal(0, 0.05, n), start + length + rng.normal(0, 0.05, n)
            people += ((hour[:, np.newaxis] >= first) & (hour[:, np.newaxis] < last)).sum(axis=1)
        start += length + 0.25
    return np.minimum(people, room.seats)


def measure(seed: int, *, is_open: bool) -> dict[str, Any]:
    """Return error and coverage of a room, in the week after calibration without head counts."""
    warnings.simplefilter("ignore", UserWarning)
    room = draw_room(seed)
    if is_open:
        room = replace(room, window_days=range(7, 14))
    readings = simulate(room)
    train, test = readings.iloc[: TRAIN_DAYS * DAY], readings.iloc[TRAIN_DAYS * DAY :]
    with threadpool_limits(1), quietly():
        model = oc.OccupancyEstimator.physics(
            volume=room.volume, capacity=room.seats, closed=CLOSED, random_state=0, verbose=False
        ).fit(train.drop(columns="occupancy"))
        estimates = model.estimate(test.drop(columns="occupancy"), interval=0.9)
    truth = test["occupancy"].to_numpy()
    error = estimates["people"].to_numpy() - truth
    covered = (estimates["low"].round() <= truth) & (truth <= estimates["high"].round())
    air = model.air_
    assert air is not None
    rate = air.rates[-1]
    return {
        "room": room,
        "rate": rate.rate / room.air_change_rate,
        "in_range": rate.low <= room.air_change_rate <= rate.high,
        "nrmse": float(np.sqrt(np.mean(error**2) / np.mean((truth - train["occupancy"].mean()) ** 2))),
        "bias": float(estimates["people"].sum() / truth.sum()),
        "covered": float(covered[truth > 0].mean()),
        "doubts": len(air.doubts),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rooms", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    seeds = range(given.first_seed, given.first_seed + given.rooms)
    with ProcessPoolExecutor(given.jobs, get_context("spawn")) as pool:
        todo = [partial(measure, seed, is_open=is_open) for is_open in (False, True) for seed in seeds]
        futures = [pool.submit(one) for one in todo]
        found = [future.result() for future in track(futures, "measuring", show=True)]
    closed, opened = found[: given.rooms], found[given.rooms :]
    heads = ["room", "volume [m3]", "seats", "use", "ventilation", "sensor", "air change rate [1/h]"]
    rows = [
        [
            str(one["room"].seed),
            f"{one['room'].volume:.0f}",
            f"{one['room'].seats}",
            one["room"].use,
            one["room"].ventilation,
            one["room"].place,
            f"{one['room'].air_change_rate:.1f}",
            *_scores([one]),
        ]
        for one in closed
    ]
    print(markdown(Table([*heads, *SCORES], rows)))
    print(f"\n## Mean of {given.rooms} rooms\n")
    rows = [["as simulated", *_scores(closed)], ["window open for a week of calibration", *_scores(opened)]]
    print(markdown(Table(["rooms", *SCORES], rows)))


SCORES = ["rate / true rate", "rate in its range", "people / true people", "nRMSE", "covered", "doubts"]


def _scores(found: list[dict[str, Any]]) -> list[str]:
    table = pd.DataFrame(found)
    return [
        f"{np.exp(np.log(table['rate']).mean()):.2f}",
        f"{100 * table['in_range'].mean():.0f} %",
        f"{np.exp(np.log(table['bias']).mean()):.2f}",
        f"{table['nrmse'].mean():.3f}",
        f"{100 * table['covered'].mean():.0f} %",
        f"{table['doubts'].sum()}",
    ]


if __name__ == "__main__":
    main()
