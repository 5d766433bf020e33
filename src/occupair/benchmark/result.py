"""Results of the benchmark: estimates of all folds, scores, and differences to the best baseline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

from occupair.benchmark.bootstrap import Array, DayErrors, difference_interval
from occupair.benchmark.fold_run import Run
from occupair.benchmark.scores import average, day_squares, score

Fold = tuple[pd.DataFrame, pd.DataFrame]


@dataclass(frozen=True)
class RoomRuns:
    """The runs of one room.

    Parameters
    ----------
    readings : DataFrame
        Labelled readings.
    folds : list
        Training and held-out readings of each fold.
    runs : mapping
        Runs of all folds, in order, by method and lag [min].
    """

    readings: pd.DataFrame
    folds: list[Fold]
    runs: Mapping[tuple[str, float], list[Run]]


@dataclass(frozen=True)
class BenchmarkResult:
    """Scores of every method in every room.

    Parameters
    ----------
    truth : dict
        True occupancy [people], by room.
    estimates : dict
        Estimates [people, unrounded], by room; one column for each method and lag [min].
    scores : DataFrame
        Scores of ``score``, ``fit_seconds`` per fold [s] and ``estimate_seconds`` per day [s]; one row for
        each room, method and lag.
    averages : DataFrame
        Mean scores over the rooms; one row for each method and lag.
    best_baselines : dict
        Baseline with the lowest mean nRMSE, by lag; empty if no baseline was run.
    differences, average_differences : DataFrame
        nRMSE minus that of the best baseline, with ``low`` and ``high`` of its 95 % confidence interval.
    """

    truth: dict[str, pd.Series[float]]
    estimates: dict[str, pd.DataFrame]
    scores: pd.DataFrame
    averages: pd.DataFrame
    best_baselines: dict[float, str]
    differences: pd.DataFrame
    average_differences: pd.DataFrame

    @property
    def lags(self) -> list[float]:
        """Lags in the requested order [min]."""
        return list(dict.fromkeys(self.averages.index.get_level_values("lag")))

    @property
    def methods(self) -> list[str]:
        """Methods by increasing mean nRMSE at the first lag."""
        at_first = self.averages["nrmse"].xs(self.lags[0], level="lag")
        return [str(name) for name in at_first.sort_values(kind="stable").index]


def summarise(rooms: Mapping[str, RoomRuns], baselines: Iterable[str]) -> BenchmarkResult:
    """Score all runs and compare them with the best baseline."""
    truth = {name: room.readings["occupancy"].astype(float) for name, room in rooms.items()}
    estimates = {name: joined_estimates(room) for name, room in rooms.items()}
    scores = pd.concat({name: _room_scores(room, estimates[name]) for name, room in rooms.items()})
    scores = scores.rename_axis(["room", "method", "lag"])
    averages = average(scores)
    best = best_baselines(averages["nrmse"], set(baselines))
    squares = {name: _room_squares(room, estimates[name]) for name, room in rooms.items()}
    by_room = pd.concat({name: _differences([squares[name]], best) for name in rooms})
    return BenchmarkResult(
        truth=truth,
        estimates=estimates,
        scores=scores,
        averages=averages,
        best_baselines=best,
        differences=by_room.rename_axis(["room", "method", "lag"]),
        average_differences=_differences(list(squares.values()), best),
    )


def joined_estimates(room: RoomRuns) -> pd.DataFrame:
    """Combine the held-out days of all folds: one estimate for each reading."""
    columns = {pair: _joined([run.people for run in runs], room) for pair, runs in room.runs.items()}
    return pd.DataFrame(columns).rename_axis(columns=["method", "lag"])


def training_means(room: RoomRuns) -> pd.Series[float]:
    """Return the mean head count of the training days of each reading's fold [people]."""
    means = [np.full(len(test), train["occupancy"].mean()) for train, test in room.folds]
    return _joined(means, room)


def best_baselines(nrmse: pd.Series[float], baselines: set[str]) -> dict[float, str]:
    """Return the baseline with the lowest mean nRMSE at each lag."""
    best: dict[float, tuple[float, str]] = {}
    for (method, lag), error in zip(nrmse.index, nrmse, strict=True):
        if method in baselines and error < best.get(lag, (np.inf, ""))[0]:
            best[lag] = (error, method)
    return {lag: method for lag, (_, method) in best.items()}


def _joined(parts: list[Array], room: RoomRuns) -> pd.Series[float]:
    series = [
        pd.Series(people, index=test.index) for people, (_, test) in zip(parts, room.folds, strict=True)
    ]
    return pd.concat(series).reindex(room.readings.index)


def _room_scores(room: RoomRuns, estimates: pd.DataFrame) -> pd.DataFrame:
    truth, reference = room.readings["occupancy"], training_means(room)
    days = day_squares(truth, reference).size
    rows = {
        pair: score(truth, estimates[pair], reference)
        | {
            "fit_seconds": float(np.mean([run.fit_seconds for run in runs])),
            "estimate_seconds": sum(run.estimate_seconds for run in runs) / days,
        }
        for pair, runs in room.runs.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def _room_squares(room: RoomRuns, estimates: pd.DataFrame) -> dict[tuple[str, float] | None, Array]:
    """Return daily squared errors by method and lag; those of the training mean have the key None."""
    truth = room.readings["occupancy"]
    squares: dict[tuple[str, float] | None, Array] = {None: day_squares(truth, training_means(room))}
    return squares | {pair: day_squares(truth, estimates[pair]) for pair in room.runs}


def _differences(rooms: list[dict[tuple[str, float] | None, Array]], best: dict[float, str]) -> pd.DataFrame:
    pairs = [pair for pair in rooms[0] if pair is not None and pair[1] in best]
    found = {
        (method, lag): asdict(
            difference_interval(
                [DayErrors(room[method, lag], room[best[lag], lag], room[None]) for room in rooms]
            )
        )
        for method, lag in pairs
    }
    index = pd.MultiIndex.from_arrays(
        [[method for method, _ in pairs], [lag for _, lag in pairs]], names=["method", "lag"]
    )
    return pd.DataFrame(list(found.values()), index=index, columns=["difference", "low", "high"])
