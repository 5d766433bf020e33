"""Commands for a room: simulate, check, fit, estimate, evaluate."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from occupair.cli.shared import (
    ROUNDING,
    Columns,
    Dayfirst,
    Lag,
    Mode,
    Model,
    Readings,
    Seed,
    Timezone,
    bar,
    keep_inputs,
    naming,
    note,
    number,
    out,
    print_json,
    read,
    read_labelled,
)
from occupair.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from occupair.estimator import OccupancyEstimator


_GIVE_ZONE = "give the room's time zone with --timezone"
_SCORE_WORDS = {
    "rmse": "root mean squared error [people]",
    "fdr": "share of readings where empty and occupied are mixed up",
    "fpr": "of the empty readings, share called occupied",
    "fnr": "of the occupied readings, share called empty",
} | {f"within_{x}": f"share of readings at most {x} people off" for x in range(5)}


def simulate(
    path: Annotated[Path, typer.Argument(metavar="READINGS", help="File to write, .csv or .parquet.")],
    days: Annotated[int, typer.Option(min=1, help="Weekdays to simulate.")] = 30,
    seed: Seed = 0,
) -> None:
    """Write readings of the paper's office, simulated.

    Example: occupair simulate office.csv --days 30 --seed 1
    """
    from occupair.readings.files import write_readings
    from occupair.simulation import simulate_office
    from occupair.wording import plural

    office = simulate_office(days, seed=seed)
    write_readings(office, path)
    most = office["occupancy"].max()
    out.print(
        f"{path}: {len(office)} readings, {plural(days, 'weekday')}, up to {most} people. "
        "The data are simulated."
    )


def fit(
    readings: Annotated[
        Path | None,
        typer.Argument(help="CSV or Parquet with time, co2 [ppm], ventilation [0..1] and occupancy."),
    ] = None,
    model: Annotated[Path, typer.Option("--out", help="Model file to write.")] = Path("room.occupair"),
    paper: Annotated[bool, typer.Option("--paper", help="The paper's settings instead of ours.")] = False,
    draws: Annotated[int | None, typer.Option(min=1, help="Random layers to choose from.")] = None,
    hidden: Annotated[int | None, typer.Option(min=1, help="Hidden neurons.")] = None,
    horizon: Annotated[float | None, typer.Option(help="How far back to look [min].")] = None,
    stride: Annotated[
        float | None, typer.Option(help="Distance of the readings compared in feature I [min].")
    ] = None,
    smoothing: Annotated[float | None, typer.Option(help="CO2 smoothing [min squared]; 0 is none.")] = None,
    ridge: Annotated[float | None, typer.Option(help="Regularisation of the read-out.")] = None,
    layer: Annotated[str | None, typer.Option(help="room (ours), fs-elm or elm (the paper's).")] = None,
    like: Annotated[
        list[Path] | None,
        typer.Option(
            help="Model of another room to start from, where labelled days are few; may be repeated."
        ),
    ] = None,
    seed: Seed = 0,
    room: Annotated[
        str | None, typer.Option(help="A room of the live service, in place of READINGS: its labels teach.")
    ] = None,
    store: Annotated[
        str | None, typer.Option(help="Its database, sqlite:///FILE or postgresql://...; or OCCUPAIR_STORE.")
    ] = None,
    timezone: Timezone = None,
    column: Columns = None,
    dayfirst: Dayfirst = None,
) -> None:
    """Train an estimator on readings with head counts, from a file or from the store of the live service.

    Example: occupair fit office.csv --out office.occupair --draws 5
    """
    from occupair.atomic_files import check_writable
    from occupair.estimator import OccupancyEstimator

    is_paper = paper or layer in ("fs-elm", "elm")
    database = _database(readings, room, store, of_files=column is not None or dayfirst is not None)
    keep_inputs(model, *([] if readings is None else [readings]), *(like or []))
    check_writable(model)
    if readings is None:
        assert room is not None
        office, source = _read_room(room, database, timezone), Path(f"room {room}")
    else:
        office, source = read_labelled(readings, timezone, column, dayfirst), readings
        office = _only_counted(office) if is_paper else office
    given: dict[str, Any] = {
        "layer": layer,
        "horizon": horizon,
        "stride": stride,
        "smoothing": smoothing,
        "n_hidden": hidden,
        "ridge": ridge,
        "n_draws": draws,
    }
    given = {name: value for name, value in given.items() if value is not None}
    if like and is_paper:
        raise InputError("--like starts our estimator from other rooms: leave out --paper and --layer")
    if not paper and layer in (None, "room") and (horizon, stride) != (None, None):
        raise InputError("--horizon and --stride belong to the paper's layers: add --paper or --layer fs-elm")
    if like:
        estimator = OccupancyEstimator.transfer(like, random_state=seed, **given)
    else:
        estimator = (OccupancyEstimator.paper if paper else OccupancyEstimator)(random_state=seed, **given)
    with naming(source), bar(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # said below
        estimator.fit(office)
    estimator.save(model)
    out.print(
        f"{model}: trained on {_extent(office, estimator)}, up to {estimator.most_people_:g} people.",
        soft_wrap=True,
    )
    out.print(_how_good(estimator, _counted_days(office)), soft_wrap=True)


def _database(readings: Path | None, room: str | None, store: str | None, *, of_files: bool) -> str:
    """Give the store to fit from, nothing for a file; refuse what does not go together."""
    if readings is not None:
        if room is not None or store is not None:
            raise InputError("fit takes READINGS, or --room and --store, not both")
        return ""
    store = store or (os.environ.get("OCCUPAIR_STORE") if room is not None else None)
    if room is None or store is None:
        raise InputError("fit takes READINGS, or a --room of the live service and its --store")
    if of_files:
        raise InputError("--column and --dayfirst are about files: leave them out with --store")
    return store


def _read_room(room: str, url: str, timezone: str | None) -> pd.DataFrame:
    """Read a room's readings and labels from the store of the live service."""
    from occupair.cli.service import check_store, need_live

    need_live("fit --store")
    check_store(url)
    from occupair.live.store import Store
    from occupair.wording import quoted_list

    with closing(Store(url)) as store:
        if store.url.get_backend_name() == "sqlite" and not Path(str(store.url.database)).is_file():
            raise InputError(f"store {store}: there is no such file")
        rooms = store.newest_readings()
        if room not in rooms:
            there = f"only {quoted_list(sorted(rooms))}" if rooms else "and no other"
            raise InputError(f"store {store}: has no readings of room {room!r}, {there}")
        if not store.labels(room):
            raise InputError(f"store {store}: room {room!r} has no labels: enter head counts on its page")
        if timezone is None:
            note(f"room {room}: midnight and the time of day are taken in UTC: {_GIVE_ZONE}")
        return store.training_readings(room, timezone or "UTC")


def _only_counted(office: pd.DataFrame) -> pd.DataFrame:
    """Leave out readings without a head count, and how far counts are trusted: for the paper's layers."""
    from occupair.readings.head_counts import WEIGHT, has_label

    return office[has_label(office)].drop(columns=WEIGHT, errors="ignore")


def _counted_days(office: pd.DataFrame) -> int:
    """Count the days that have head counts."""
    from occupair.readings.head_counts import has_label
    from occupair.readings.schema import date_slices

    return len(date_slices(office[has_label(office)]))


def _how_good(estimator: OccupancyEstimator, days: int) -> str:
    from occupair.estimator import NOBODY

    error = f"{estimator.training_error_:.2f} people"
    if estimator.most_people_ == 0:
        return f"{NOBODY[0].upper()}{NOBODY[1:]}."
    if estimator.layer != "room":
        return (
            f"Training error {error}, one step ahead of the true past; how good it is on its own, "
            "'occupair evaluate' tells on other days."
        )
    if estimator.comparison_ is None and days > 1:
        return "How good it is, so few head counts do not tell: count at the same time on several days."
    if estimator.comparison_ is None:
        return "How good it is, a single day does not tell: train on three or more."
    return f"{estimator.comparison_}."


def estimate(
    model: Model,
    readings: Readings,
    path: Annotated[
        Path | None, typer.Option("--out", help="CSV or Parquet to write; else to the screen.")
    ] = None,
    mode: Mode = "live",
    lag: Lag = 0,
    interval: Annotated[
        float | None, typer.Option(help="Also a range that holds the true count so often, e.g. 0.9.")
    ] = None,
    timezone: Timezone = None,
    column: Columns = None,
    dayfirst: Dayfirst = None,
) -> None:
    """Estimate the people in the room at every reading.

    Example: occupair estimate office.occupair today.csv --out people.csv --interval 0.9
    """
    from occupair.metrics import whole_people
    from occupair.readings.files import write_readings

    keep_inputs(path, model, readings)
    _, _, table = _estimate(model, readings, mode, lag, timezone, column, dayfirst, interval=interval)
    people = table["people"]
    table.insert(1, "people_whole", whole_people(people).astype(int))
    if path is None:
        table.rename_axis("time").to_csv(sys.stdout)
        return
    write_readings(table, path)
    out.print(f"{path}: {len(table)} estimates, {people.min():.1f} to {people.max():.1f} people.")


def evaluate(
    model: Model,
    readings: Readings,
    mode: Mode = "live",
    lag: Lag = 0,
    timezone: Timezone = None,
    column: Columns = None,
    dayfirst: Dayfirst = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON for programs.")] = False,
) -> None:
    """Score a model on readings with head counts that it was not trained on.

    All readings are estimated; those with a count that is to be looked at are scored, all alike.

    Example: occupair evaluate office.occupair next-week.csv
    """
    from occupair import metrics
    from occupair.readings.head_counts import has_label

    estimator, office, table = _estimate(
        model, readings, mode, lag, timezone, column, dayfirst, occupancy=True
    )
    used = estimator.lag_used(lag, mode)  # type: ignore[arg-type]
    known = has_label(office)
    truth, people = office["occupancy"][known], table["people"][known]
    whole = metrics.whole_people(people)
    scores: dict[str, Any] = metrics.scores(truth, people)
    scores |= {f"within_{x}": metrics.tolerance_accuracy(truth, whole, tolerance=x) for x in range(5)}
    if as_json:
        print_json({"readings": len(truth), "mode": mode, "lag": lag, "lag_used": used} | scores)
        return
    lines = Table("score", "value", "what it is", box=None, padding=(0, 2))
    for name, words in _SCORE_WORDS.items():
        lines.add_row(name, number(scores[name]), words)
    out.print(lines)
    out.print(ROUNDING)
    if mode == "live" and used != lag:
        out.print(_lag_words(lag, used or 0.0), soft_wrap=True)


def _lag_words(lag: float, used: float) -> str:
    how = "our estimator thinks again of a reading 10 and 20 min later, in whole readings"
    return f"Lag used: {used:g} min of the {lag:g} given; {how}."


def check(
    readings: Readings,
    path: Annotated[Path | None, typer.Option("--out", help="HTML page with a figure to write.")] = None,
    timezone: Timezone = None,
    column: Columns = None,
    dayfirst: Dayfirst = None,
) -> None:
    """Say what is wrong with readings before anyone trains on them; exit status 1 when something is.

    Example: occupair check office.csv --out office-check.html
    """
    from occupair.checks import find_faults, fit_to_train, format_faults

    keep_inputs(path, readings)
    office = read(readings, timezone, column, dayfirst, lenient=True)
    with naming(readings):
        faults = find_faults(office)
    if timezone is not None:
        faults = [fault for fault in faults if fault.kind != "utc_times"]  # as asked for
    out.print(format_faults(faults), soft_wrap=True)
    if path is not None:
        from occupair.report.check_page import write_check_page

        write_check_page(office, faults, path, name=readings.name)
        out.print(f"\nThe figure: {path.resolve().as_uri()}", soft_wrap=True)
    raise typer.Exit(0 if fit_to_train(faults) else 1)


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
    """Read readings as the model needs them, and estimate: a table of people, and low and high if asked."""
    from occupair.estimator import OccupancyEstimator

    estimator = OccupancyEstimator.load(model)
    scale: dict[str, Any] = {
        "ventilation": estimator.uses_ventilation_,
        "ventilation_full": estimator.ventilation_full_,
        "ventilation_unit": estimator.ventilation_unit_,
    }
    if occupancy:
        office = read_labelled(readings, timezone, *options, **scale)
    else:
        office = read(readings, timezone, *options, **scale, occupancy=False)
    with naming(readings), bar():
        if interval is None:
            table = estimator.estimate(office, mode, lag=lag).to_frame()
        else:
            table = estimator.estimate(office, mode, lag=lag, interval=interval)
    for words in _differences(office, estimator, zone_given=timezone is not None):
        note(f"{readings}: {words}")
    return estimator, office, table


def _differences(office: pd.DataFrame, estimator: OccupancyEstimator, *, zone_given: bool) -> list[str]:
    """Say how readings are written otherwise than those of training, and what is made of it."""
    from occupair.readings.time_zones import time_zone_name

    here, trained = time_zone_name(office.index), estimator.timezone_  # type: ignore[arg-type]
    words = []
    if here is None and trained is not None:
        words.append(f"has local times, and the model was trained in {trained}: {_GIVE_ZONE}")
    elif here is not None and trained is None and not zone_given:
        words.append(f"has times in {here}, and the model was trained on local times: {_GIVE_ZONE}")
    elif here != trained and trained is not None and trained.startswith("UTC"):
        words.append(f"times are taken at {trained}, as in training: {_GIVE_ZONE} to fit, too")
    unit = office.attrs.get("ventilation_unit")
    if unit is not None and estimator.ventilation_unit_ not in (None, unit):
        words.append(
            f"ventilation is taken as {unit}, and the model was trained in {estimator.ventilation_unit_}"
        )
    return words


def _extent(office: pd.DataFrame, estimator: OccupancyEstimator) -> str:
    from occupair.readings.head_counts import has_label
    from occupair.wording import plural

    days, known = plural(_counted_days(office), "day"), int(has_label(office).sum())
    counts = "" if known == len(office) else f", {known} of them with a head count"
    return f"{days} ({len(office)} readings, one every {estimator.interval_:g} min{counts})"
