"""Validation results as text: Markdown tables, and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from occupair.benchmark.coverage import INTERVALS, average_coverage
from occupair.benchmark.few_labelled_days import (
    ALONE,
    BASELINE,
    N_STARTS,
    TRANSFER,
    FewDays,
    average_nrmse,
)
from occupair.folds import N_FOLDS
from occupair.report.number_format import DASH
from occupair.report.text_table import Table, markdown
from occupair.wording import listed

NOMINAL, TOLERANCE, OCCUPIED_TOLERANCE = 0.9, 0.02, 0.03
"""How near the mean coverage of the 90 % interval should be to nominal, for all and for occupied readings."""
LOWEST = 0.82
"""Smallest coverage of the 90 % interval that any room should have, over all and over occupied readings."""

COLUMNS = {BASELINE: "mass balance", ALONE: "default", TRANSFER: "transfer"}


@dataclass(frozen=True)
class Validation:
    """Results of the validation.

    Parameters
    ----------
    days : dict
        Number of days of each room.
    intervals : DataFrame
        Coverage of the prediction intervals, from ``coverage``.
    few : FewDays
        Accuracy with few labelled days, from ``few_days``.
    """

    days: dict[str, int]
    intervals: pd.DataFrame
    few: FewDays


def as_markdown(validation: Validation) -> str:
    """Write both studies as Markdown: definitions, means over the rooms, each room."""
    several = len(validation.days) > 1
    parts = [
        "# Validation",
        about(validation),
        "## Coverage of the prediction intervals",
        about_coverage(validation.intervals),
    ]
    if several:
        parts += ["### Mean over rooms", markdown(coverage_table(average_coverage(validation.intervals)))]
    parts += ["### Each room", markdown(coverage_table(validation.intervals))]
    parts += ["## Accuracy with few labelled days", about_few_days(validation.few)]
    averages = average_few_days_table(validation.few)
    if several and averages.rows:
        parts += ["### Mean over rooms", markdown(averages)]
    parts += ["### Each room", markdown(few_days_table(validation.few))]
    return "\n\n".join(parts) + "\n"


def about(validation: Validation) -> str:
    """Describe the rooms and the cross-validation folds."""
    rooms = [f"{room} ({days} days)" for room, days in validation.days.items()]
    return "\n".join(
        [
            f"Rooms: {listed(rooms)}.",
            f"Cross-validation over days, with the folds of the benchmark: day i is held out in fold i mod "
            f"{N_FOLDS} and estimated by a model trained on days of the other folds.",
        ]
    )


def about_coverage(intervals: pd.DataFrame) -> str:
    """Define the columns of the coverage table and compare the mean coverage with its target."""
    nominal = _level(NOMINAL)
    sentences = [
        f'"coverage {nominal}" is the percentage of held-out readings whose true count lies within the '
        f"{nominal} prediction interval, bounds included.",
        f'"occupied {nominal}" is the same percentage over the readings with people present.',
        f'"width {nominal}" is the mean width of that interval over occupied readings [people]; "occupied" '
        "is the percentage of readings with people present.",
        f'"score {nominal}" is the mean interval score over all readings [people], and "score {nominal}, '
        'occupied" over occupied ones: the width of an interval, plus twenty times the distance of the true '
        "count from it if it lies outside. Smaller is better.",
        'The interval of an empty room is often [0, 0]; "zero" is the percentage of readings with such an '
        "interval. At low confidence levels these intervals raise the coverage above nominal.",
    ]
    return "\n".join([*sentences, *_zero_interval_sentence(intervals), *_target_sentences(intervals)])


def _zero_interval_sentence(intervals: pd.DataFrame) -> list[str]:
    """State how often the narrowest interval is [0, 0], and how often that is correct."""
    level, lag = INTERVALS[0], intervals.index.get_level_values("lag")[0]
    found = average_coverage(intervals).loc[(lag, level)]
    if not found["only_0"] > 0:
        return []
    return [
        f"At {_level(level)} confidence and lag {lag:g} min, {_percent(found['only_0'])} % of the intervals "
        f"are [0, 0], and {_percent(found['held_only_0'])} % of these are correct."
    ]


def _target_sentences(intervals: pd.DataFrame) -> list[str]:
    """Compare the mean coverage and the lowest one with their targets; add the range of the coverage."""
    averages = average_coverage(intervals)
    found = averages[averages.index.get_level_values("interval") == NOMINAL]
    rooms = intervals[intervals.index.get_level_values("interval") == NOMINAL]
    lags = listed([f"{lag:g}" for lag in found.index.get_level_values("lag")])
    sentences = [f"Targets for the {_level(NOMINAL)} interval:"]
    for name, what, tolerance in (
        ("held", "mean coverage", TOLERANCE),
        ("held_with_people", "mean coverage of occupied readings", OCCUPIED_TOLERANCE),
    ):
        is_met = not ((found[name] - NOMINAL).abs() > tolerance).any()
        values = listed([_percent(x) for x in found[name]])
        sentences.append(
            f"- {what} within {100 * tolerance:g} percentage points of nominal. {_verdict(is_met)}: "
            f"{values} % at lag {lags} min."
        )
    for name, what in (("held", "all"), ("held_with_people", "occupied")):
        (lowest, value), (highest, _) = _extremes(rooms[name])
        sentences.append(
            f"- coverage of {what} readings at least {100 * LOWEST:g} % in every room. "
            f"{_verdict(not value < LOWEST)}: from {lowest} to {highest}."
        )
    return sentences


def _verdict(is_met: bool) -> str:
    return "Met" if is_met else "Missed"


def _extremes(held: pd.Series[float]) -> list[tuple[str, float]]:
    """Describe the room and lag with the lowest coverage, and those with the highest, with the values."""
    if held.isna().all():
        return [(DASH, math.nan)] * 2
    ends: tuple[Any, Any] = held.idxmin(), held.idxmax()
    return [(f"{_percent(_at(held, end))} % ({end[0]}, lag {end[1]:g} min)", _at(held, end)) for end in ends]


def coverage_table(intervals: pd.DataFrame) -> Table:
    """Tabulate the coverage; one row for each lag, of each room if there are rooms."""
    columns = [
        *((f"coverage {_level(share)}", "held", share, _percent) for share in INTERVALS),
        *((f"occupied {_level(share)}", "held_with_people", share, _percent) for share in INTERVALS),
        (f"width {_level(NOMINAL)}", "width", NOMINAL, _one_decimal),
        (f"score {_level(NOMINAL)}", "score", NOMINAL, _one_decimal),
        (f"score {_level(NOMINAL)}, occupied", "score_with_people", NOMINAL, _one_decimal),
        ("occupied", "with_people", NOMINAL, _percent),
        *((f"zero {_level(share)}", "only_0", share, _percent) for share in (INTERVALS[0], NOMINAL)),
    ]
    levels = [str(name) for name in intervals.index.names if name != "interval"]
    rows = [
        [*_formatted(key), *(write(_at(intervals[name], (*key, share))) for _, name, share, write in columns)]
        for key in dict.fromkeys(row[:-1] for row in intervals.index)
    ]
    return Table([*_heads(levels), *(head for head, *_ in columns)], rows)


def about_few_days(few: FewDays) -> str:
    """Define the columns of the table, and state which runs were skipped and which rooms excluded."""
    run, skipped = int(few.runs["run"].sum()), int(few.runs["skipped"].sum())
    baseline, default, transfer = COLUMNS.values()
    sentences = [
        f"Each model is trained on a block of consecutive training days of a fold, or on all of them, and "
        f"tested on all held-out days of the fold. There are {N_STARTS} blocks of each length with evenly "
        "spaced starts, or fewer if the fold is too short.",
        "nRMSE is the RMSE over all blocks divided by that of the mean head count of the fold's training "
        "days: 1 is no better than predicting that mean.",
        f'"{default}" is the default estimator; "{transfer}" starts from models of the other '
        "rooms listed here, each trained on all of its days and never on the room itself; "
        f'"{baseline}" is the mass-balance baseline trained on the same days.',
        f"Blocks skipped because the room was empty on all of their days: {skipped} of {run + skipped}.",
        "Means are over the rooms in which all three have a score.",
        *_incompatible_sentences(few.not_mixed),
    ]
    sets = {room.rpartition("-")[0] for room in few.sources}
    if {"sdu2018", "sdu2019"} <= sets:
        sentences.append("The rooms of sdu2018 and sdu2019 are similar and in the same building.")
    return "\n".join(sentences)


def _incompatible_sentences(not_mixed: dict[str, list[str]]) -> list[str]:
    """State which rooms could not be started from which."""
    return [
        f"{room} was not started from {listed(others)}: models with and without ventilation do not combine."
        for room, others in not_mixed.items()
        if others
    ]


def few_days_table(few: FewDays) -> Table:
    """Tabulate the nRMSE; one row for each room and number of days."""
    rows = [
        [room, days, str(counted["run"]), str(counted["skipped"]), *_errors(few.nrmse, (room, days))]
        for (room, days), counted in zip(few.runs.index, few.runs.to_dict("records"), strict=True)
    ]
    return Table(["room", "days", "blocks", "skipped", *_error_heads(few.nrmse)], rows)


def average_few_days_table(few: FewDays) -> Table:
    """Tabulate the mean nRMSE over the rooms with all three values; one row for each number of days."""
    averages = average_nrmse(few.nrmse)
    counted = averages["rooms"].groupby(level="days", sort=False).first()
    rows = [[str(days), str(rooms), *_errors(averages, (days,))] for days, rooms in counted.items()]
    return Table(["days", "rooms", *_error_heads(few.nrmse)], rows)


def _error_heads(nrmse: pd.DataFrame) -> list[str]:
    return [f"{name}, lag {lag:g}" for lag in _lags(nrmse) for name in COLUMNS.values()]


def _errors(nrmse: pd.DataFrame, where: tuple[Any, ...]) -> list[str]:
    return [_three_decimals(_at(nrmse[name], (*where, lag))) for lag in _lags(nrmse) for name in COLUMNS]


def _lags(nrmse: pd.DataFrame) -> list[float]:
    return list(dict.fromkeys(nrmse.index.get_level_values("lag")))


def as_json(validation: Validation) -> str:
    """Write all results as JSON; missing values are null."""
    few, intervals = validation.few, validation.intervals
    document = {
        "rooms": {room: {"days": days} for room, days in validation.days.items()},
        "ranges": {"averages": _records(average_coverage(intervals)), "rooms": _records(intervals)},
        "few_days": {
            "averages": _records(average_nrmse(few.nrmse)),
            "rooms": _records(few.nrmse),
            "runs": _records(few.runs),
            "sources": few.sources,
            "not_mixed": few.not_mixed,
        },
    }
    return json.dumps(document, indent=2, allow_nan=False)


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    rows = table.reset_index().to_dict(orient="records")
    return [{str(name): _or_null(value) for name, value in row.items()} for row in rows]


def _or_null(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _at(column: pd.Series[float], row: tuple[Any, ...]) -> float:
    return float(column.loc[row])


def _heads(levels: Sequence[str]) -> list[str]:
    return ["lag [min]" if level == "lag" else level for level in levels]


def _formatted(key: Sequence[Any]) -> list[str]:
    return [part if isinstance(part, str) else f"{part:g}" for part in key]


def _level(share: float) -> str:
    return f"{100 * share:g} %"


def _percent(share: float) -> str:
    return _one_decimal(100 * share)


def _one_decimal(value: float) -> str:
    return f"{value:.1f}" if math.isfinite(value) else DASH


def _three_decimals(value: float) -> str:
    return f"{value:.3f}" if math.isfinite(value) else DASH
