"""Leave-one-room-out accuracy of the default estimator: nothing about a room is chosen on that room.

The default estimator starts from what was learned on many rooms: the pooled read-out of its network, the
shapes of mass balances, which members it has, and how firmly their weights are shrunk towards equal ones. For
the score of a room, all of these come from the other rooms only. Simulated offices of different sizes are
rooms of their own, so that the choice does not depend on a few campuses; they are not pooled.

One dependency remains: the scores of the other rooms, on which the members are chosen, use read-outs that
were pooled over all rooms but their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from occupair.benchmark.fold_run import run_fold
from occupair.benchmark.methods import METHODS, OURS, Method
from occupair.benchmark.score_tables import Table, markdown
from occupair.datasets.benchmark_rooms import BENCHMARK_ROOMS, ROOMS, read_room
from occupair.estimator import OccupancyEstimator
from occupair.folds import split_days
from occupair.progress import quietly, track
from occupair.room.lags import LAGS
from occupair.room.pooled_start import PooledStart, shipped_start
from occupair.room.pooling import pool, sum_room
from occupair.room.stack import MEMBERS, STACK_PRIOR, StackPrior
from occupair.simulation import simulate_office

ALL_MEMBERS = "all"
"""Name of the candidate that is the default."""

CANDIDATES: dict[str, StackPrior] = {
    ALL_MEMBERS: STACK_PRIOR,
    "2 prior days": STACK_PRIOR._replace(days=2.0),
    "15 prior days": STACK_PRIOR._replace(days=15.0),
} | {
    f"no {name}": STACK_PRIOR._replace(weights=tuple(float(one != name) for one in MEMBERS))
    for name in MEMBERS
    if name != "network"  # the core of the estimator
}
"""Members and their prior to choose from."""

SIMULATED = {f"office-{seats}": (seed, seats) for seed, seats in enumerate((8, 14, 20, 28, 35), start=101)}
"""Seed and number of seats of the simulated offices."""

SIMULATED_DAYS = 12

_ABOUT = """nRMSE of the default estimator with the folds of the benchmark.
"left out": read-out, mass balance shapes, members and the prior of their weights come from the other rooms.
"all rooms": what is part of the package, with read-out and shapes over all public rooms, which have seen the
held-out days of the room.
The settings of each member are not chosen here: some were chosen with scores of these rooms in view."""


@dataclass(frozen=True)
class LeftOutRooms:
    """Scores of every room.

    Parameters
    ----------
    left_out, all_rooms : DataFrame
        nRMSE by room, one column for each lag [min]: with everything from the other rooms, and with the
        read-outs over all public rooms that are part of the package.
    choices : Series
        The name of the candidate that is best on the other rooms.
    """

    left_out: pd.DataFrame
    all_rooms: pd.DataFrame
    choices: pd.Series[str]


def left_out_rooms() -> dict[str, pd.DataFrame]:
    """Return all public rooms with head counts, and the simulated offices."""
    public = {name: read_room(name) for name in ROOMS}
    return public | {
        name: simulate_office(SIMULATED_DAYS, seed=seed, seats=seats)
        for name, (seed, seats) in SIMULATED.items()
    }


def leave_one_room_out(
    rooms: Mapping[str, pd.DataFrame],
    pooled: Sequence[str] = tuple(ROOMS),
    *,
    lags: Sequence[float] = LAGS,
    candidates: Mapping[str, StackPrior] = CANDIDATES,
) -> LeftOutRooms:
    """Score every room with what the other rooms teach.

    Parameters
    ----------
    rooms : mapping
        Labelled readings by room name.
    pooled : sequence of str
        Rooms whose sums are pooled.
    lags : sequence of float
        Lags of the estimates [min].
    candidates : mapping
        Priors of the weights to choose from, by name.
    """
    sums = {name: sum_room(rooms[name]) for name in track(list(pooled), "pooling rooms", show=None)}
    found: dict[tuple[str, str], list[float]] = {}
    everything: dict[str, list[float]] = {}
    for name in track(list(rooms), "leaving rooms out", show=None):
        start = pool({other: of_room for other, of_room in sums.items() if other != name})
        with quietly():
            everything[name] = _nrmse(rooms[name], shipped_start(), lags)
            for candidate, prior in candidates.items():
                found[name, candidate] = _nrmse(rooms[name], replace(start, stack=prior), lags)
    table = pd.DataFrame.from_dict(found, orient="index", columns=list(lags))
    table.index = pd.MultiIndex.from_tuples(table.index, names=["room", "candidate"])
    chosen = {name: best_on_others(table[lags[0]], name) for name in rooms}
    left_out = pd.DataFrame.from_dict(
        {name: found[name, candidate] for name, candidate in chosen.items()},
        orient="index",
        columns=list(lags),
    )
    shipped = pd.DataFrame.from_dict(everything, orient="index", columns=list(lags))
    return LeftOutRooms(left_out, shipped, pd.Series(chosen))


def best_on_others(nrmse: pd.Series[float], room: str) -> str:
    """Return the candidate with the lowest mean logarithm of the nRMSE over all rooms but one.

    Logarithms, so that a room with small errors counts as much as one with large errors.

    Examples
    --------
    >>> index = pd.MultiIndex.from_product([["a", "b"], ["x", "y"]], names=["room", "candidate"])
    >>> nrmse = pd.Series([0.5, 0.6, 0.9, 0.8], index=index)
    >>> best_on_others(nrmse, "a"), best_on_others(nrmse, "b")
    ('y', 'x')
    """
    others = nrmse[nrmse.index.get_level_values("room") != room].map(math.log)
    return str(others.groupby(level="candidate").mean().idxmin())


def _nrmse(readings: pd.DataFrame, start: PooledStart, lags: Sequence[float]) -> list[float]:
    """Return the nRMSE over the folds of the benchmark at each lag."""
    method = Method(
        lambda *, lag: OccupancyEstimator(random_state=0, start=start), METHODS[OURS].estimate, one_fit=True
    )
    squares, reference = np.zeros(len(lags)), 0.0
    for train, test in split_days(readings):
        truth = test["occupancy"].to_numpy()
        runs = run_fold(method, train, test, lags)
        squares += [float(np.sum((runs[lag].people - truth) ** 2)) for lag in lags]
        reference += float(np.sum((train["occupancy"].mean() - truth) ** 2))
    return [float(value) for value in np.sqrt(squares / reference)]


def as_markdown(result: LeftOutRooms) -> str:
    """Return the scores as Markdown: a row for each room, and means over rooms."""
    lags = list(result.left_out.columns)
    benchmark = [name for name in result.left_out.index if name in BENCHMARK_ROOMS]
    rows = [
        [name, *_cells(result.left_out.loc[name]), *_cells(result.all_rooms.loc[name]), choice]
        for name, choice in zip(map(str, result.left_out.index), result.choices, strict=True)
    ]
    for title, names in (
        ("mean of the benchmark rooms", benchmark),
        ("mean of all rooms", list(result.left_out.index)),
    ):
        if names:
            left_out, all_rooms = (table.loc[names].mean() for table in (result.left_out, result.all_rooms))
            rows.append([title, *_cells(left_out), *_cells(all_rooms), ""])
    heading = [
        "room",
        *(f"left out, lag {lag:g}" for lag in lags),
        *(f"all rooms, lag {lag:g}" for lag in lags),
        "members",
    ]
    return f"# Leave-one-room-out\n\n{_ABOUT}\n\n{markdown(Table(heading, rows))}"


def _cells(values: Iterable[Any]) -> list[str]:
    return [f"{value:.3f}" for value in values]
