"""Accuracy without head counts, and how it improves with them: nRMSE on the held-out days of the benchmark.

In every fold of the benchmark the training days are given without head counts, or with some: single readings
between 6:00 and 22:00 drawn at random, or whole days; more counts include the fewer. The estimator is given
volume and seats of the room, and that it is empty from 0:00 to 5:00. Read-outs and shapes that it starts from
are of other rooms. Time and memory are those of one calibration of 28 days in a process of its own.

    python -m tools.day_one [--jobs 2] [--rooms NAME ...] [--figure day-one.png]
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.offline import get_plotlyjs
from threadpoolctl import threadpool_limits

import occupair as oc
from occupair.benchmark.room_starts import start_without
from occupair.benchmark.room_variants import OFFICE_DAYS, OFFICES
from occupair.datasets.benchmark_rooms import BENCHMARK_ROOMS, ROOMS, read_room
from occupair.folds import split_days
from occupair.inferred_training import identify_air
from occupair.physics.room_properties import room_properties
from occupair.progress import quietly, track
from occupair.report.figure_style import BLUE, styled
from occupair.report.text_table import Table, markdown
from tools.readme_picture import render_png
from tools.single_counts import daytime_readings

CLOSED = ("00:00", "05:00")
HEIGHTS = {"sdu2018": 3.2, "sdu2019": 3.2, "uci864": 3.0}  # [m], not published: an assumption
LIKE = {"sdu2019-1": "sdu2018-1"}  # a room of the same building whose size is not published
DESKS = {"uci864": 4}
OFFICE_VOLUME = 9.3 * 20 * 2.7  # of the simulated offices [m3]
COUNTS, DAYS = (0, 1, 3, 10, 30, 100), (1, 3, 5, 10)
LABELS = [*(("counts", n) for n in COUNTS), *(("days", n) for n in DAYS)]
PLAIN = [label for label in LABELS if label not in {("counts", n) for n in (0, 1, 3)}]
"""Labels that the estimator can be trained on without the size of the room."""
LAGS = (0.0, 20.0)
DRIFT = 20.0  # [ppm] a month


class Cell(NamedTuple):
    """What to measure: a room, its labels, and what the estimator is told about it."""

    room: str
    kind: str
    n: int
    told: str


TOLD: dict[str, Callable[[pd.DataFrame, dict[str, Any]], tuple[pd.DataFrame, dict[str, Any]]]] = {
    "size and seats": lambda readings, size: (readings, size),
    "nothing": lambda readings, _: (readings, {}),
    "volume 30 % too small": lambda readings, size: (readings, size | {"volume": 0.7 * size["volume"]}),
    "volume 30 % too large": lambda readings, size: (readings, size | {"volume": 1.3 * size["volume"]}),
    "half the seats": lambda readings, size: (readings, size | {"capacity": 0.5 * size["capacity"]}),
    "1.5 times the seats": lambda readings, size: (readings, size | {"capacity": 1.5 * size["capacity"]}),
    "no ventilation signal": lambda readings, size: (readings.drop(columns="ventilation"), size),
    "ventilation in a wrong unit": lambda readings, size: (
        readings.assign(ventilation=readings["ventilation"] / 100),
        size,
    ),
    "sensor drifts by 20 ppm a month": lambda readings, size: (
        readings.assign(co2=readings["co2"] + DRIFT * _months(readings)),
        size,
    ),
}
WRONG = [told for told in TOLD if told not in ("size and seats", "nothing")]


def _months(readings: pd.DataFrame) -> NDArray[np.float64]:
    """Return the time of each reading since the first, in months."""
    times = pd.DatetimeIndex(readings.index)
    return np.asarray((times - times[0]) / pd.Timedelta(days=30))


def size_of(room: str) -> dict[str, Any]:
    """Return volume [m3] and seats of a room."""
    if room in OFFICES:
        return {"volume": OFFICE_VOLUME, "capacity": OFFICES[room][1]}
    about = ROOMS[LIKE.get(room, room)]
    volume = about.volume or (about.area or 0.0) * HEIGHTS[about.dataset]
    return {"volume": volume, "capacity": about.seats or DESKS[room]}


@cache
def readings_of(room: str) -> pd.DataFrame:
    """Return the readings of a public or simulated room, without optional sensors."""
    if room in OFFICES:
        seed, seats = OFFICES[room]
        return oc.simulate_office(OFFICE_DAYS, seed=seed, seats=seats)
    readings = read_room(room)
    return readings[[one for one in ("co2", "ventilation", "occupancy") if one in readings.columns]]


def labelled(train: pd.DataFrame, kind: str, n: int, fold: int) -> pd.DataFrame:
    """Return training readings of which only the first ``n`` of a random order have a head count."""
    random = np.random.default_rng(fold)
    if kind == "counts":
        kept = np.zeros(len(train), dtype=bool)
        kept[random.permutation(daytime_readings(train))[:n]] = True
        return train.assign(occupancy=train["occupancy"].where(kept))
    dates = pd.DatetimeIndex(train.index).normalize()
    most = train["occupancy"].groupby(dates).max()
    chosen = random.permutation(most.index[most > 0])[:n]
    return train.assign(occupancy=train["occupancy"].where(dates.isin(chosen)))


def measure(cell: Cell) -> dict[str, Any]:
    """Return squared errors, reference, and covered readings of a cell."""
    warnings.simplefilter("ignore", UserWarning)
    found = dict.fromkeys(("square_0", "square_20", "reference", "covered", "occupied"), 0.0)
    doubts = 0
    with threadpool_limits(1), quietly():
        start = start_without(cell.room)
        readings, size = TOLD[cell.told](readings_of(cell.room), size_of(cell.room))
        for fold, (train, test) in enumerate(split_days(readings)):
            truth, unlabelled = test["occupancy"].to_numpy(), test.drop(columns="occupancy")
            given = labelled(train, cell.kind, cell.n, fold)
            settings: dict[str, Any] = {"random_state": 0, "verbose": False, "start": start}
            model = oc.OccupancyEstimator(closed=CLOSED, **settings, **size).fit(given)
            doubts += 0 if model.air_ is None else len(model.air_.doubts)
            found["reference"] += float(np.sum((truth - train["occupancy"].mean()) ** 2))
            for lag in LAGS:
                estimates = model.estimate(unlabelled, lag=lag, interval=0.9)
                error = estimates["people"].to_numpy() - truth
                found[f"square_{lag:g}"] += float(np.sum(error**2))
                if lag == 0:
                    low, high = estimates["low"].round(), estimates["high"].round()
                    covered = (low <= truth) & (truth <= high)
                    found["covered"] += int(covered[truth > 0].sum())
                    found["occupied"] += int((truth > 0).sum())
    return cell._asdict() | found | {"doubts": doubts}


def cells(rooms: list[str]) -> Iterator[Cell]:
    """Yield everything that is measured."""
    others = [*(room for room in ROOMS if room not in BENCHMARK_ROOMS), *OFFICES]
    for room in [*rooms, *others]:
        yield Cell(room, "counts", 0, "size and seats")
    for room in rooms:
        for kind, n in LABELS[1:]:
            yield Cell(room, kind, n, "size and seats")
        for kind, n in PLAIN:
            yield Cell(room, kind, n, "nothing")
        for told in WRONG:
            yield Cell(room, "counts", 0, told)


def scores(found: pd.DataFrame) -> pd.DataFrame:
    """Return nRMSE at both lags and the coverage of occupied readings, for each cell."""
    table = found.set_index(["room", "kind", "n", "told"])
    return pd.DataFrame(
        {
            "0": np.sqrt(table["square_0"] / table["reference"]),
            "20": np.sqrt(table["square_20"] / table["reference"]),
            "coverage": table["covered"] / table["occupied"],
            "doubts": table["doubts"],
        }
    )


def room_table(table: pd.DataFrame, rooms: list[str]) -> Table:
    """Return the scores of every room without head counts, with 30 counts, and with three days."""
    columns = [("counts", 0), ("counts", 30), ("days", 3), ("days", 10)]
    everything = table.xs("size and seats", level="told")
    names = [room for room in everything.index.unique("room") if (room, "counts", 0) in everything.index]
    rows = []
    for room in names:
        cell = [_pair(everything, (room, *one)) for one in columns]
        rows.append([room, *cell, f"{100 * everything.loc[(room, 'counts', 0), 'coverage']:.0f} %"])
    means = [
        "{:.3f} / {:.3f}".format(*everything.loc[[(room, *one) for room in rooms], ["0", "20"]].mean())
        for one in columns
    ]
    coverage = everything.loc[[(room, "counts", 0) for room in rooms], "coverage"].mean()
    rows.append(["mean of the benchmark rooms", *means, f"{100 * coverage:.0f} %"])
    heading = ["room", "no head count", "30 counts", "3 days", "10 days", "covered, no head count"]
    return Table(heading, rows)


def _pair(table: pd.DataFrame, key: tuple[str, str, int]) -> str:
    return "{:.3f} / {:.3f}".format(*table.loc[key, ["0", "20"]]) if key in table.index else ""


def curve(table: pd.DataFrame, rooms: list[str], told: str, labels: list[tuple[str, int]]) -> pd.DataFrame:
    """Return the means over rooms for numbers of labels."""
    own = table.xs(told, level="told")
    rows = [own.loc[[(room, kind, n) for room in rooms]].mean() for kind, n in labels]
    return pd.DataFrame(rows, index=[_name(kind, n) for kind, n in labels])


def _name(kind: str, n: int) -> str:
    return "none" if n == 0 else f"{n} {kind if n > 1 else kind.removesuffix('s')}"


def curve_table(table: pd.DataFrame, rooms: list[str]) -> Table:
    """Return the learning curve with and without the size of the room."""
    with_size = curve(table, rooms, "size and seats", LABELS)
    without = curve(table, rooms, "nothing", PLAIN)
    rows = []
    for name, row in with_size.iterrows():
        plain = "{:.3f} / {:.3f}".format(*without.loc[name, ["0", "20"]]) if name in without.index else ""
        rows.append([str(name), f"{row['0']:.3f} / {row['20']:.3f}", f"{100 * row['coverage']:.0f} %", plain])
    return Table(["head counts", "size and seats known", "covered", "size not known"], rows)


def wrong_table(table: pd.DataFrame, rooms: list[str]) -> Table:
    """Return the scores with wrong inputs, without head counts."""
    rows = []
    for told in ("size and seats", *WRONG):
        own = table.loc[[(room, "counts", 0, told) for room in rooms]]
        doubted = int((own["doubts"] > 0).sum())
        rows.append(
            [
                "all correct" if told == "size and seats" else told,
                f"{own['0'].mean():.3f} / {own['20'].mean():.3f}",
                f"{100 * own['coverage'].mean():.0f} %",
                f"{doubted} of {len(rooms)}",
            ]
        )
    return Table(["input", "nRMSE", "covered", "rooms with a doubt"], rows)


def draw(table: pd.DataFrame, rooms: list[str], picture: Path) -> str | None:
    """Draw the learning curve as PNG; return a description of the problem if that fails."""
    figure = go.Figure()
    line = curve(table, rooms, "size and seats", LABELS)
    for lag, name, dash in (("0", "at once", "solid"), ("20", "after 20 min", "dot")):
        figure.add_scatter(
            x=line.index,
            y=line[lag],
            name=name,
            mode="lines+markers",
            line={"color": BLUE, "dash": dash},
        )
    names = [_name(kind, n) for kind, n in LABELS]
    figure.update_xaxes(
        title="head counts, with volume and seats known", categoryorder="array", categoryarray=names
    )
    figure.update_yaxes(title="nRMSE, mean of seven public rooms", rangemode="tozero")
    figure.update_layout(width=960)
    drawn = styled(figure, height=420).to_json()
    page = (
        '<!doctype html><meta charset="utf-8"><style>body { margin: 0; background: white }</style>'
        f'<script>{get_plotlyjs()}</script><div id="curve"></div><script>const figure = {drawn};'
        "Plotly.newPlot('curve', figure.data, figure.layout, {staticPlot: true})</script>"
    )
    return render_png(page, picture, height=430)


class Cost(NamedTuple):
    """Cost of a room without head counts: [s], [s], [MB], [ms]."""

    calibration: float
    fit: float
    memory: float
    update: float


def measure_cost() -> Cost:
    """Measure calibration, training and live updates of a room with 28 days of readings every minute."""
    warnings.simplefilter("ignore", UserWarning)
    office = oc.simulate_office(29).drop(columns="occupancy")
    train, today = office.iloc[: 28 * 1440], office.iloc[28 * 1440 :]
    room = {"volume": OFFICE_VOLUME, "capacity": 35}
    properties = room_properties(**room)
    assert properties is not None
    with threadpool_limits(1), quietly():
        oc.OccupancyEstimator.physics(**room, verbose=False).fit(train.iloc[: 3 * 1440])  # loads all modules
        before, started = _peak_memory(), time.perf_counter()
        identify_air(train, properties, CLOSED)
        calibrated = time.perf_counter()
        model = oc.OccupancyEstimator.physics(**room, verbose=False).fit(train)
        fitted, memory = time.perf_counter(), _peak_memory() - before
        live = model.live()
        moments = [at.to_pydatetime() for at in pd.DatetimeIndex(today.index)]
        readings = list(zip(moments, today["co2"], today["ventilation"], strict=True))
        begun = time.perf_counter()
        for reading in readings:
            live.update(*reading)
        update = 1e3 * (time.perf_counter() - begun) / len(readings)
    return Cost(calibrated - started, fitted - calibrated, memory, update)


def _peak_memory() -> float:
    """Return the largest memory of this process so far [MB]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rooms", nargs="+", default=list(BENCHMARK_ROOMS))
    parser.add_argument("--figure", type=Path)
    given = parser.parse_args()
    todo = list(cells(given.rooms))
    with ProcessPoolExecutor(given.jobs, get_context("spawn")) as pool:
        futures = [pool.submit(measure, cell) for cell in todo]
        found = [future.result() for future in track(futures, "measuring", show=True)]
    with ProcessPoolExecutor(1, get_context("spawn")) as alone:
        cost = alone.submit(measure_cost).result()
    table = scores(pd.DataFrame(found))
    for title, part in (
        ("Rooms, nRMSE at once / after 20 min", room_table(table, given.rooms)),
        ("Learning curve, mean of the benchmark rooms", curve_table(table, given.rooms)),
        ("Wrong inputs, no head count", wrong_table(table, given.rooms)),
    ):
        print(f"## {title}\n\n{markdown(part)}\n")
    print(
        f"28 days of readings every minute: calibrated in {cost.calibration:.1f} s, "
        f"trained in {cost.fit:.1f} s with {cost.memory:.0f} MB more memory; "
        f"{cost.update:.2f} ms for each live reading."
    )
    if given.figure is not None and (problem := draw(table, given.rooms, given.figure)):
        print(f"no figure: {problem}")


if __name__ == "__main__":
    main()
