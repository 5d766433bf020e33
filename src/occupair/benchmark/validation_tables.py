"""The proofs as text: Markdown tables, and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from occupair.benchmark.coverage import INTERVALS, average_coverage
from occupair.benchmark.few_days import ALONE, BASELINE, N_STARTS, TRANSFER, FewDays, average_nrmse
from occupair.benchmark.folds import N_FOLDS
from occupair.benchmark.tables import Table, markdown
from occupair.report.words import DASH, listed

AIM, CLOSE = 0.9, 0.03
"""Ranges that should hold 90 % are to do so within 3 points, averaged over the rooms."""

COLUMNS = (BASELINE, ALONE, TRANSFER)


@dataclass(frozen=True)
class Proofs:
    """What was measured.

    Parameters
    ----------
    days : dict
        How many days each room has.
    ranges : DataFrame
        See ``coverage``.
    few : FewDays
        See ``few_days``.
    """

    days: dict[str, int]
    ranges: pd.DataFrame
    few: FewDays


def as_markdown(proofs: Proofs) -> str:
    """Write both studies: what the numbers are, the means over the rooms, every room."""
    several = len(proofs.days) > 1
    parts = ["# Proofs", about(proofs), "## How often the ranges hold", about_ranges(proofs.ranges)]
    if several:
        parts += ["### Mean over the rooms", markdown(ranges_table(average_coverage(proofs.ranges)))]
    parts += ["### Every room", markdown(ranges_table(proofs.ranges))]
    parts += ["## How few labelled days are enough", about_few_days(proofs.few)]
    averages = average_few_days_table(proofs.few)
    if several and averages.rows:
        parts += ["### Mean over the rooms", markdown(averages)]
    parts += ["### Every room", markdown(few_days_table(proofs.few))]
    return "\n\n".join(parts) + "\n"


def about(proofs: Proofs) -> str:
    """Say which rooms and days these are."""
    rooms = [f"{room} ({days} days)" for room, days in proofs.days.items()]
    return "\n".join(
        [
            f"Rooms: {listed(rooms)}.",
            f"The day with number i is estimated in fold i modulo {N_FOLDS}, by an estimator trained on days "
            "of the other folds: the folds of the benchmark.",
        ]
    )


def about_ranges(ranges: pd.DataFrame) -> str:
    """Say what the columns of the table of ranges mean, and whether the aim is met."""
    aim = f"{100 * AIM:g} %"
    sentences = [
        f'"held {aim}" is the share of all unseen readings, in percent, whose true count lies from low to '
        f"high of the range that was asked to hold {aim} of them, both ends included.",
        f'"with people {aim}" is the same share of only the readings with people in. The ranges are made to '
        "hold over all readings, those of an empty room included, and promise nothing about these alone.",
        f'"width {aim}" is the mean width of that range when people are in [people]; "people in" is the '
        "share of readings with people in, in percent.",
        "An empty room's range is often the single number 0, which makes ranges at low levels hold more "
        'often than asked; "only 0" is the share of all readings with that range, in percent.',
    ]
    return "\n".join([*sentences, *_only_0_words(ranges), *_aim_words(ranges)])


def _only_0_words(ranges: pd.DataFrame) -> list[str]:
    """Say how often ranges at the lowest level are the single number 0, and how often these hold."""
    level, lag = INTERVALS[0], ranges.index.get_level_values("lag")[0]
    found = average_coverage(ranges).loc[(lag, level)]
    if not found["only_0"] > 0:
        return []
    return [
        f"At {_asked(level)} and lag {lag:g} min {_percent(found['only_0'])} % of the ranges are the single "
        f"number 0, and {_percent(found['held_only_0'])} % of these hold."
    ]


def _aim_words(ranges: pd.DataFrame) -> list[str]:
    """Say whether ranges that should hold ``AIM`` of the readings do: on average, by room, with people in."""
    averages = average_coverage(ranges)
    found = averages[averages.index.get_level_values("interval") == AIM]
    missed = (found["held"] - AIM).abs() > CLOSE
    lags = listed([f"{lag:g}" for lag in found.index.get_level_values("lag")])
    held, with_people = (listed([_percent(x) for x in found[n]]) for n in ("held", "held_with_people"))
    lowest, highest = _ends(ranges.loc[ranges.index.get_level_values("interval") == AIM, "held"])
    return [
        f"The aim is {_asked(AIM)} within {100 * CLOSE:g} points, averaged over the rooms: "
        f"{'missed' if missed.any() else 'met'}, with {held} % at lag {lags} min.",
        f"It is from {lowest} to {highest}; with people in, {with_people} % on average.",
    ]


def _ends(held: pd.Series[float]) -> tuple[str, str]:
    """Name the room and lag where ranges hold least often, and where most often."""
    ends: tuple[Any, Any] = held.idxmin(), held.idxmax()
    low, high = (f"{_percent(_at(held, end))} % ({end[0]}, lag {end[1]:g} min)" for end in ends)
    return low, high


def ranges_table(ranges: pd.DataFrame) -> Table:
    """Shares that ranges hold; a row for each lag, of each room if there are rooms."""
    columns = [
        *((f"held {_asked(share)}", "held", share, _percent) for share in INTERVALS),
        *((f"with people {_asked(share)}", "held_with_people", share, _percent) for share in INTERVALS),
        (f"width {_asked(AIM)}", "width", AIM, _one_decimal),
        ("people in", "with_people", AIM, _percent),
        *((f"only 0 {_asked(share)}", "only_0", share, _percent) for share in (INTERVALS[0], AIM)),
    ]
    levels = [str(name) for name in ranges.index.names if name != "interval"]
    rows = [
        [*_named(key), *(write(_at(ranges[name], (*key, share))) for _, name, share, write in columns)]
        for key in dict.fromkeys(row[:-1] for row in ranges.index)
    ]
    return Table([*_heads(levels), *(head for head, *_ in columns)], rows)


def about_few_days(few: FewDays) -> str:
    """Say what the columns of the table of few days mean, what was skipped and what was left out."""
    run, skipped = int(few.runs["run"].sum()), int(few.runs["skipped"].sum())
    sentences = [
        f"Trained on so many training days of a fold that follow one another, {N_STARTS} runs with starts "
        "spread over them (fewer where there are not so many starts), or on all of them; tested on all test "
        "days of the fold.",
        "nRMSE is the RMSE over all those runs, over that of the mean of all training days of the fold: 1 is "
        "no better than that mean.",
        f'"{ALONE}" is the default estimator, "{TRANSFER}" the same started from models of the other rooms '
        f'here, each trained on all its days, never the room itself; "{BASELINE}" is that baseline on the '
        "same days.",
        f"Skipped runs, because nobody was ever in on their days: {skipped} of {run + skipped}.",
        "The mean is over the rooms in which all three have a value.",
        *_not_mixed_words(few.not_mixed),
    ]
    sets = {room.rpartition("-")[0] for room in few.sources}
    if {"sdu2018", "sdu2019"} <= sets:
        sentences.append("The rooms of sdu2018 and sdu2019 are in one building, so they are alike.")
    return "\n".join(sentences)


def _not_mixed_words(not_mixed: dict[str, list[str]]) -> list[str]:
    """Say which rooms could not start from which."""
    return [
        f"{room} did not start from {listed(others)}: models with and without ventilation cannot be mixed."
        for room, others in not_mixed.items()
        if others
    ]


def few_days_table(few: FewDays) -> Table:
    """Errors of every room; a row for each room and number of days."""
    rows = [
        [room, days, str(counted["run"]), str(counted["skipped"]), *_errors(few.nrmse, (room, days))]
        for (room, days), counted in zip(few.runs.index, few.runs.to_dict("records"), strict=True)
    ]
    return Table(["room", "days", "runs", "skipped", *_error_heads(few.nrmse)], rows)


def average_few_days_table(few: FewDays) -> Table:
    """Errors averaged over the rooms in which all three have one; a row for each number of days."""
    averages = average_nrmse(few.nrmse)
    counted = averages["rooms"].groupby(level="days", sort=False).first()
    rows = [[str(days), str(rooms), *_errors(averages, (days,))] for days, rooms in counted.items()]
    return Table(["days", "rooms", *_error_heads(few.nrmse)], rows)


def _error_heads(nrmse: pd.DataFrame) -> list[str]:
    return [f"{name}, lag {lag:g}" for lag in _lags(nrmse) for name in COLUMNS]


def _errors(nrmse: pd.DataFrame, where: tuple[Any, ...]) -> list[str]:
    return [_three_decimals(_at(nrmse[name], (*where, lag))) for lag in _lags(nrmse) for name in COLUMNS]


def _lags(nrmse: pd.DataFrame) -> list[float]:
    return list(dict.fromkeys(nrmse.index.get_level_values("lag")))


def as_json(proofs: Proofs) -> str:
    """Write everything that was measured as JSON; what has no value is null."""
    few = proofs.few
    document = {
        "rooms": {room: {"days": days} for room, days in proofs.days.items()},
        "ranges": {"averages": _records(average_coverage(proofs.ranges)), "rooms": _records(proofs.ranges)},
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
    return ["lag min" if level == "lag" else level for level in levels]


def _named(key: Sequence[Any]) -> list[str]:
    return [part if isinstance(part, str) else f"{part:g}" for part in key]


def _asked(share: float) -> str:
    return f"{100 * share:g} %"


def _percent(share: float) -> str:
    return _one_decimal(100 * share)


def _one_decimal(value: float) -> str:
    return f"{value:.1f}" if math.isfinite(value) else DASH


def _three_decimals(value: float) -> str:
    return f"{value:.3f}" if math.isfinite(value) else DASH
