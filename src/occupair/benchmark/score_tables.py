"""Benchmark results as text: Markdown tables, and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable
from typing import Any

import pandas as pd

from occupair.benchmark.bootstrap import N_RESAMPLES
from occupair.benchmark.result import BenchmarkResult
from occupair.benchmark.scores import TOLERANCES
from occupair.folds import N_FOLDS
from occupair.readings.schema import date_slices
from occupair.report.number_format import DASH
from occupair.report.text_table import Table, markdown
from occupair.wording import listed

Cell = Callable[[float], str]


def _decimals(count: int) -> Cell:
    return lambda value: f"{value:.{count}f}" if math.isfinite(value) else DASH


def _percent(share: float) -> str:
    return _decimals(1)(100 * share)


def _seconds(value: float) -> str:
    return "<0.01" if value < 0.01 else _decimals(2 if value < 10 else 0)(value)


COLUMNS: dict[str, tuple[str, Cell]] = {
    "nrmse": ("nRMSE", _decimals(3)),
    "rmse": ("RMSE [people]", _decimals(2)),
    "mae": ("MAE [people]", _decimals(2)),
    "fdr": ("FDR [%]", _percent),
    "fpr": ("FPR [%]", _percent),
    "fnr": ("FNR [%]", _percent),
    "within_0": ("exact [%]", _percent),
    **{f"within_{x}": (f"within ±{x} [%]", _percent) for x in TOLERANCES[1:]},
    "fit_seconds": ("fit [s]", _seconds),
    "estimate_seconds": ("estimate [s]", _seconds),
}
SHORT = ("nrmse", "rmse", "mae", "fdr", "within_2")


def as_markdown(result: BenchmarkResult) -> str:
    """Write the mean scores at each lag, then all scores of each room, as Markdown."""
    parts = ["# Benchmark", about(result)]
    several = len(result.truth) > 1
    whose = "Mean over rooms" if several else next(iter(result.truth))
    for lag in result.lags:
        parts += [f"## {whose}, {lag_words(lag)}", markdown(average_table(result, lag))]
    if several:
        parts += [f"## {whose}, all scores", markdown(full_table(result, result.averages))]
    for room in result.truth:
        parts += [f"## {room}, all scores", markdown(full_table(result, room_scores(result, room)))]
    return "\n\n".join(parts) + "\n"


def about(result: BenchmarkResult) -> str:
    """Describe the rooms, the cross-validation and the scores."""
    rooms = [f"{room} ({_days(truth)} days)" for room, truth in result.truth.items()]
    sentences = [
        f"Rooms: {listed(rooms)}.",
        f"Cross-validation over days: day i is held out in fold i mod {N_FOLDS} and estimated by a method "
        "trained on the days of the other folds. At lag L, an estimate also uses the next L minutes of "
        "readings.",
        "nRMSE is the RMSE divided by that of always predicting the training mean. FDR, FPR and FNR are the "
        "rates of false detections, false positives and false negatives. nRMSE, RMSE and MAE use unrounded "
        "estimates, all other scores estimates rounded to whole people.",
        "fit [s] is the time for training on one fold, estimate [s] that for estimating one day.",
    ]
    if {"occupair", "paper", "mean", "profile", "markov-chain"} <= set(result.methods):
        sentences.insert(
            1,
            "occupair is the default estimator and paper the paper's live estimator, Eq. (26); all other "
            "methods are baselines. mean, profile (the mean by time of day) and markov-chain use no CO2.",
        )
    if result.best_baselines:
        sentences.append(_best_baseline_sentence(result.best_baselines))
    return "\n".join(sentences)


def _best_baseline_sentence(best_baselines: dict[float, str]) -> str:
    """Name the best baseline at each lag and define the differences from it."""
    lags: dict[str, list[str]] = {}
    for lag, name in best_baselines.items():
        lags.setdefault(name, []).append(f"{lag:g}")
    best = [f"{name} at lag {listed(its)} min" for name, its in lags.items()]
    return (
        f"The best baseline by mean nRMSE is {listed(best)}. Differences from it have 95 % confidence "
        f"intervals from {N_RESAMPLES} bootstrap resamples of the days of each room."
    )


def average_table(result: BenchmarkResult, lag: float) -> Table:
    """Tabulate the mean scores over rooms at one lag [min], in the order of ``methods``."""
    first, *others = SHORT
    heads = ["method", COLUMNS[first][0], "difference from best baseline", *(COLUMNS[o][0] for o in others)]
    rows = []
    for method in result.methods:
        scores = [COLUMNS[name][1](_at(result.averages, (method, lag), name)) for name in SHORT]
        rows.append([method, scores[0], difference_words(result, method, lag), *scores[1:]])
    return Table(heads, rows)


def full_table(result: BenchmarkResult, scores: pd.DataFrame) -> Table:
    """Tabulate all scores of all methods at all lags."""
    heads = ["method", "lag [min]", *(head for head, _ in COLUMNS.values())]
    rows = [
        [method, f"{lag:g}", *(cell(_at(scores, (method, lag), name)) for name, (_, cell) in COLUMNS.items())]
        for method in result.methods
        for lag in result.lags
    ]
    return Table(heads, rows)


def room_scores(result: BenchmarkResult, room: str) -> pd.DataFrame:
    """Return the scores of one room, one row for each method and lag."""
    scores = result.scores.xs(room, level="room")
    assert isinstance(scores, pd.DataFrame)
    return scores


def difference_words(result: BenchmarkResult, method: str, lag: float) -> str:
    """Format the difference in mean nRMSE to the best baseline with its confidence interval."""
    if lag not in result.best_baselines:
        return DASH
    if method == result.best_baselines[lag]:
        return "best baseline"
    found = [_at(result.average_differences, (method, lag), name) for name in ("difference", "low", "high")]
    return "{:+.3f} ({:+.3f} to {:+.3f})".format(*found)


def lag_words(lag: float) -> str:
    """Format a lag [min].

    Examples
    --------
    >>> lag_words(0.0), lag_words(20.0)
    ('lag 0 min', 'lag 20 min')
    """
    return f"lag {lag:g} min"


def as_json(result: BenchmarkResult) -> str:
    """Write all scores and differences as JSON; missing values are null."""
    document = {
        "rooms": {room: {"days": _days(truth)} for room, truth in result.truth.items()},
        "lags": result.lags,
        "best_baselines": [{"lag": lag, "method": name} for lag, name in result.best_baselines.items()],
        "averages": _records(result.averages.join(result.average_differences)),
        "scores": _records(result.scores.join(result.differences)),
    }
    return json.dumps(document, indent=2, allow_nan=False)


def _records(table: pd.DataFrame) -> list[dict[Hashable, Any]]:
    rows = table.reset_index().to_dict(orient="records")
    return [{name: None if _is_nan(value) else value for name, value in row.items()} for row in rows]


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _at(table: pd.DataFrame, row: tuple[str, float], column: str) -> float:
    return float(table[column].loc[row])


def _days(truth: pd.Series[float]) -> int:
    return len(date_slices(truth.to_frame()))
