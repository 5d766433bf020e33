"""Commands that apply a trained model: estimate and evaluate."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from occupair.cli.shared import (
    ROUNDING,
    AsJson,
    Columns,
    Dayfirst,
    Lag,
    Mode,
    Model,
    Readings,
    Timezone,
    bar,
    check_output,
    load_model,
    model_scale,
    naming,
    note,
    number,
    out,
    print_json,
    read,
    read_labelled,
)

if TYPE_CHECKING:
    import pandas as pd

    from occupair.estimator import OccupancyEstimator

SET_ZONE = "set the room's time zone with --timezone"
_SCORES = {
    "rmse": "root mean square error [people]",
    "fdr": "share of readings with occupied and empty confused",
    "fpr": "share of empty readings estimated as occupied",
    "fnr": "share of occupied readings estimated as empty",
    "within_0": "share of readings with the exact count",
    "within_1": "share of readings within ±1 person",
} | {f"within_{x}": f"share of readings within ±{x} people" for x in range(2, 5)}
DECIMALS = 4
"""Of people in the files of ``estimate``."""


def estimate(
    model: Model,
    readings: Readings,
    path: Annotated[
        Path | None, typer.Option("--out", help="CSV or Parquet file to write; default: standard output.")
    ] = None,
    mode: Mode = "live",
    lag: Lag = 0,
    interval: Annotated[
        float | None, typer.Option(help="Add a prediction interval with this confidence, e.g. 0.9.")
    ] = None,
    timezone: Timezone = None,
    column: Columns = None,
    dayfirst: Dayfirst = None,
) -> None:
    """Estimate the people in a room at every reading.

    Example: occupair estimate office.occupair today.csv --out people.csv --interval 0.9
    """
    from occupair.metrics import whole_people
    from occupair.readings.files import write_table

    check_output(path, "table", model, readings)
    _, _, table = _estimate(model, readings, mode, lag, timezone, column, dayfirst, interval=interval)
    people = table["people"]
    table.insert(1, "people_whole", whole_people(people).astype(int))
    table = table.round(DECIMALS)
    if path is None:
        table.rename_axis("time").to_csv(sys.stdout)
        return
    write_table(table, path)
    out.print(f"{path}: {len(table)} estimates, {people.min():.1f} to {people.max():.1f} people.")


def evaluate(
    model: Model,
    readings: Readings,
    mode: Mode = "live",
    lag: Lag = 0,
    timezone: Timezone = None,
    column: Columns = None,
    dayfirst: Dayfirst = None,
    as_json: AsJson = False,
) -> None:
    """Score a model on readings with head counts.

    Use readings that the model was not trained on. All readings are estimated; those with a head count are
    scored, with equal weight.

    Example: occupair evaluate office.occupair next-week.csv
    """
    from occupair import metrics
    from occupair.readings.head_counts import has_label

    estimator, office, table = _estimate(
        model, readings, mode, lag, timezone, column, dayfirst, occupancy=True
    )
    used = estimator.lag_used(lag, mode)  # type: ignore[arg-type]
    days, trained_on = _note_training_days(readings, office, estimator)
    known = has_label(office)
    truth, people = office["occupancy"][known], table["people"][known]
    whole = metrics.whole_people(people)
    scores: dict[str, Any] = metrics.scores(truth, people)
    scores |= {f"within_{x}": metrics.tolerance_accuracy(truth, whole, tolerance=x) for x in range(5)}
    if as_json:
        extent = {"readings": len(truth), "days": days, "days_trained_on": trained_on}
        print_json(extent | {"mode": mode, "lag": lag, "lag_used": used} | scores)
        return
    lines = Table("score", "value", "meaning", box=None, padding=(0, 2))
    for name, meaning in _SCORES.items():
        lines.add_row(name, number(scores[name]), meaning)
    out.print(lines)
    out.print(ROUNDING)
    if mode == "live" and used != lag:
        out.print(_lag_note(lag, used or 0.0, estimator.room_.lags[1:]), soft_wrap=True)


def _note_training_days(
    readings: Path, office: pd.DataFrame, estimator: OccupancyEstimator
) -> tuple[int, int | None]:
    """Return the number of scored days and of those the model was trained on (None: unknown); warn of any."""
    from occupair.readings.day_fingerprints import count_known_days

    trained = estimator.trained_days_
    known, days = count_known_days(office, trained or frozenset(), estimator.timezone_)
    if known:
        share = f"all {days} days" if known == days else f"{known} of the {days} days"
        share = "the only day" if days == 1 else share
        note(f"{readings}: the model was trained on {share} scored here: evaluate it on other days")
    return days, None if trained is None else known


def _lag_note(lag: float, used: float, lags: Sequence[float]) -> str:
    minutes = " and ".join(f"{one:g}" for one in lags)
    reason = f"the default estimator refines each estimate after {minutes} min, in whole readings"
    return f"Lag used: {used:g} min instead of {lag:g} min; {reason}."


def _estimate(
    model: Path,
    readings: Path,
    mode: Any,
    lag: float,
    timezone: str | None,
    *options: Any,
    interval: float | None = None,
    occupancy: bool = False,
) -> tuple[OccupancyEstimator, pd.DataFrame, pd.DataFrame]:
    """Load the model, read the readings in its units, and estimate ``people`` [people].

    With ``interval``, the table also has ``low`` and ``high`` of the prediction interval [people].
    """
    estimator = load_model(model, timezone)
    scale = model_scale(estimator)
    if occupancy:
        office = read_labelled(readings, timezone, *options, **scale)
    else:
        office = read(readings, timezone, *options, **scale, occupancy=False)
    with naming(readings), bar():
        if interval is None:
            table = estimator.estimate(office, mode, lag=lag).to_frame()
        else:
            table = estimator.estimate(office, mode, lag=lag, interval=interval)
    for difference in _differences(office, estimator):
        note(f"{readings}: {difference}")
    return estimator, office, table


def _differences(office: pd.DataFrame, estimator: OccupancyEstimator) -> list[str]:
    """List how the time zone and the ventilation unit differ from those of the training data."""
    from occupair.readings.time_zones import time_zone_name

    here, trained = time_zone_name(office.index), estimator.timezone_  # type: ignore[arg-type]
    found = []
    if here is None and trained is not None:
        found.append(f"times are local, but the model was trained in {trained}: {SET_ZONE}")
    elif here is not None and trained is None:
        found.append(f"times are in {here}, but the model was trained on local times: {SET_ZONE}")
    elif here != trained and trained is not None and trained.startswith("UTC"):
        found.append(f"times are converted to {trained}, as in training: {SET_ZONE}, also in 'occupair fit'")
    unit = office.attrs.get("ventilation_unit")
    if unit is not None and estimator.ventilation_unit_ not in (None, unit):
        found.append(
            f"ventilation is read as {unit}, but the model was trained in {estimator.ventilation_unit_}"
        )
    missing = [name for name in estimator.sensor_names if name not in office.columns]
    if missing:
        found.append(f"has no {', '.join(missing)}, which the model uses: estimated without")
    return found
