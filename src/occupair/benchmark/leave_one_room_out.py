"""Leave-one-room-out accuracy of the default estimator: nothing about a room is chosen on that room.

The default estimator starts from what was learned on many rooms: the pooled read-out of its network, the
shapes of mass balances, and which members it has. For the score of a room, all of these come from the other
rooms only. Altered rooms and simulated offices are rooms of their own, so that the choice does not depend on
a few campuses; they are not pooled.

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
from occupair.benchmark.room_variants import origins
from occupair.datasets.benchmark_rooms import BENCHMARK_ROOMS, ROOMS
from occupair.estimator import OccupancyEstimator
from occupair.folds import split_days
from occupair.progress import quietly, track
from occupair.report.text_table import Table, markdown
from occupair.room.lags import LAGS
from occupair.room.pooled_start import PooledStart, shipped_start
from occupair.room.pooling import pool, sum_room
from occupair.room.stack import MEMBERS, STACK_PRIOR, StackPrior

CANDIDATES: dict[str, StackPrior] = {"all": STACK_PRIOR} | {
    f"no {name}": STACK_PRIOR._replace(weights=tuple(float(one != name) for one in MEMBERS))
    for name in MEMBERS
    if name != "network"  # the core of the estimator
}
"""Sets of members to choose from."""

PEERS = ("ridge", "svr", "random-forest", "mass-balance", "profile")
"""Simple methods that the default estimator should not be behind."""

_ABOUT = """nRMSE of the default estimator with the folds of the benchmark.
"left out": read-out, mass balance shapes and members come from the other rooms only.
"all rooms": the start that comes with the package. Its read-out and shapes are pooled over all public rooms,
including the held-out days of the room.
"best simple method": the lowest nRMSE of {peers}, found in hindsight.
"members": the choice on the other rooms, by the mean logarithm of the nRMSE at lag 0. An altered room and the
room that it was made of are never used for each other.
The settings of each member are not chosen here: some were chosen with scores of these rooms in view."""


@dataclass(frozen=True)
class LeftOutRooms:
    """Scores of every room.

    Parameters
    ----------
    left_out, all_rooms : DataFrame
        nRMSE by room, one column for each lag [min]: with everything from the other rooms, and with what is
        part of the package.
    choices : Series
        By room, the name of the candidate that is best on the other rooms.
    peers : DataFrame
        nRMSE of each of ``PEERS`` by room and lag.
    """

    left_out: pd.DataFrame
    all_rooms: pd.DataFrame
    choices: pd.Series[str]
    peers: pd.DataFrame


def leave_one_room_out(
    rooms: Mapping[str, pd.DataFrame],
    pooled: Sequence[str] = tuple(ROOMS),
    *,
    lags: Sequence[float] = LAGS,
    candidates: Mapping[str, StackPrior] = CANDIDATES,
    peers: Sequence[str] = PEERS,
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
    peers : sequence of str
        Baselines to compare with.
    """
    sums = {name: sum_room(rooms[name]) for name in track(list(pooled), "pooling rooms", show=None)}
    found: dict[tuple[str, str], list[float]] = {}
    everything: dict[str, list[float]] = {}
    simple: dict[tuple[str, str], list[float]] = {}
    for name in track(list(rooms), "leaving rooms out", show=None):
        start = pool({other: of_room for other, of_room in sums.items() if other not in origins(name)})
        with quietly():
            everything[name] = _nrmse(rooms[name], _default(shipped_start()), lags)
            for candidate, prior in candidates.items():
                found[name, candidate] = _nrmse(rooms[name], _default(replace(start, stack=prior)), lags)
            for peer in peers:
                simple[name, peer] = _nrmse(rooms[name], METHODS[peer], lags)
    table = _table(found, lags, "candidate")
    chosen = {name: best_on_others(table[lags[0]], name) for name in rooms}
    left_out = {name: found[name, candidate] for name, candidate in chosen.items()}
    return LeftOutRooms(
        pd.DataFrame.from_dict(left_out, orient="index", columns=list(lags)),
        pd.DataFrame.from_dict(everything, orient="index", columns=list(lags)),
        pd.Series(chosen),
        _table(simple, lags, "peer"),
    )


def _table(scores: Mapping[tuple[str, str], list[float]], lags: Sequence[float], name: str) -> pd.DataFrame:
    """Return scores by room and candidate, or by room and peer, one column for each lag."""
    table = pd.DataFrame.from_dict(dict(scores), orient="index", columns=list(lags))
    table.index = pd.MultiIndex.from_tuples(table.index, names=["room", name])
    return table


def best_on_others(nrmse: pd.Series[float], room: str) -> str:
    """Return the candidate with the lowest mean logarithm of the nRMSE over all rooms of another origin.

    Logarithms, so that a room with small errors counts as much as one with large errors.

    Examples
    --------
    >>> index = pd.MultiIndex.from_product([["a", "a, noise", "b"], ["x", "y"]], names=["room", "candidate"])
    >>> nrmse = pd.Series([0.5, 0.6, 0.5, 0.7, 0.9, 0.8], index=index)
    >>> best_on_others(nrmse, "a"), best_on_others(nrmse, "b")
    ('y', 'x')
    """
    names = nrmse.index.get_level_values("room")
    is_other = [origins(str(name)).isdisjoint(origins(room)) for name in names]
    others = nrmse[is_other].map(math.log)
    return str(others.groupby(level="candidate", sort=False).mean().idxmin())


def _default(start: PooledStart) -> Method:
    """Return the default estimator with a start."""
    return Method(
        lambda *, lag: OccupancyEstimator(random_state=0, start=start), METHODS[OURS].estimate, one_fit=True
    )


def _nrmse(readings: pd.DataFrame, method: Method, lags: Sequence[float]) -> list[float]:
    """Return the nRMSE over the folds of the benchmark at each lag."""
    squares, reference = np.zeros(len(lags)), 0.0
    for train, test in split_days(readings):
        truth = test["occupancy"].to_numpy()
        runs = run_fold(method, train, test, lags)
        squares += [float(np.sum((runs[lag].people - truth) ** 2)) for lag in lags]
        reference += float(np.sum((train["occupancy"].mean() - truth) ** 2))
    return [float(value) for value in np.sqrt(squares / reference)]


def as_markdown(result: LeftOutRooms) -> str:
    """Return the scores as Markdown: a row for each room, means over rooms, and rooms behind a peer."""
    names, lags = [str(name) for name in result.left_out.index], list(result.left_out.columns)
    best = result.peers.groupby(level="room").min().loc[names]
    rows = []
    for name in names:
        peers = [_best_peer(result.peers.xs(name)[lag]) for lag in (lags[0], lags[-1])]
        own = [*_cells(result.left_out.loc[name]), *_cells(result.all_rooms.loc[name])]
        rows.append([name, *own, *peers, result.choices[name]])
    for title, some in (
        ("mean of the benchmark rooms", [name for name in names if name in BENCHMARK_ROOMS]),
        ("mean of all rooms", names),
    ):
        if some:
            means = [table.loc[some].mean() for table in (result.left_out, result.all_rooms, best)]
            peers = [f"{means[2][lag]:.3f}" for lag in (lags[0], lags[-1])]
            rows.append([title, *_cells(means[0]), *_cells(means[1]), *peers, ""])
    heading = [
        "room",
        *(f"left out, lag {lag:g}" for lag in lags),
        *(f"all rooms, lag {lag:g}" for lag in lags),
        *(f"best simple method, lag {lag:g}" for lag in (lags[0], lags[-1])),
        "members",
    ]
    about = _ABOUT.format(peers=", ".join(PEERS))
    return f"# Leave-one-room-out\n\n{about}\n\n{markdown(Table(heading, rows))}\n{_behind(result, best)}"


def _best_peer(nrmse: pd.Series[float]) -> str:
    return f"{nrmse.min():.3f} " + str(nrmse.idxmin())


def _behind(result: LeftOutRooms, best: pd.DataFrame) -> str:
    """Describe in how many rooms the default estimator is behind the best simple method, and how far."""
    lines = []
    for lag in (best.columns[0], best.columns[-1]):
        ratio = result.left_out[lag] / best[lag]
        lines.append(
            f"At lag {lag:g} min, left out, it is behind the best simple method of the room in "
            f"{int((ratio > 1).sum())} of {len(ratio)} rooms, and by more than 1 % in "
            f"{int((ratio > 1.01).sum())}. Largest ratio: {ratio.max():.3f} ({ratio.idxmax()}); "
            f"mean: {ratio.mean():.3f}."
        )
    return "\n".join(lines)


def _cells(values: Iterable[Any]) -> list[str]:
    return [f"{value:.3f}" for value in values]
