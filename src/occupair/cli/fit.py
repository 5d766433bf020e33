"""The fit command: train an estimator on a file, or on a room of the live service."""

from __future__ import annotations

import os
import warnings
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from occupair.cli.estimate_and_evaluate import SET_ZONE
from occupair.cli.shared import (
    MOST_NEURONS,
    READINGS_HELP,
    Area,
    Capacity,
    Closed,
    Columns,
    Dayfirst,
    Height,
    Overwrite,
    Seed,
    Timezone,
    Volume,
    bar,
    check_output,
    describe_columns,
    keep_model,
    naming,
    note,
    out,
    read_labelled,
)
from occupair.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from occupair.estimator import OccupancyEstimator


def fit(
    readings: Annotated[Path | None, typer.Argument(metavar="READINGS", help=READINGS_HELP)] = None,
    model: Annotated[Path, typer.Option("--out", help="Model file to write.")] = Path("room.occupair"),
    paper: Annotated[bool, typer.Option("--paper", help="Use the paper's estimator and settings.")] = False,
    draws: Annotated[int | None, typer.Option(min=1, help="Random hidden layers to select from.")] = None,
    hidden: Annotated[int | None, typer.Option(min=1, max=MOST_NEURONS, help="Hidden neurons.")] = None,
    horizon: Annotated[
        float | None, typer.Option(help="History that the features cover, paper's layers only [min].")
    ] = None,
    stride: Annotated[
        float | None, typer.Option(help="Time difference of CO2 feature I, paper's layers only [min].")
    ] = None,
    smoothing: Annotated[float | None, typer.Option(help="CO2 smoothing [min squared]; 0 for none.")] = None,
    ridge: Annotated[float | None, typer.Option(help="Ridge penalty of the read-out.")] = None,
    layer: Annotated[
        str | None, typer.Option(help="Input layer: room (default), or fs-elm or elm of the paper.")
    ] = None,
    like: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="MODEL",
            help="Model of a similar room to start from when labelled days are few; repeatable.",
        ),
    ] = None,
    closed: Closed = None,
    volume: Volume = None,
    capacity: Capacity = None,
    area: Area = None,
    height: Height = None,
    air_flow: Annotated[
        float | None, typer.Option(help="Outdoor air flow at full ventilation [m3/h], if known.")
    ] = None,
    activity: Annotated[
        str | None,
        typer.Option(
            help="What people do: sleeping, seated (default), office, standing, light work, exercise; or "
            "the CO2 of one person [m3/h]."
        ),
    ] = None,
    outdoor_co2: Annotated[float | None, typer.Option(help="Outdoor CO2 [ppm], if known.")] = None,
    seed: Seed = 0,
    room: Annotated[
        str | None,
        typer.Option(help="Train on the readings and head counts of this room of the live service."),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            help="Database of the live service: sqlite:///FILE or postgresql://...; or set OCCUPAIR_STORE."
        ),
    ] = None,
    timezone: Timezone = None,
    column: Columns = None,
    dayfirst: Dayfirst = None,
    overwrite: Overwrite = False,
) -> None:
    """Train an estimator, with or without head counts.

    Without head counts, give the size of the room: --volume (or --area) and --capacity. The readings come
    from a file or from the database of the live service. An existing model is replaced if it was trained on
    some of the same days; --overwrite replaces any file.

    Example: occupair fit office.csv --out office.occupair

    Example: occupair fit office.csv --volume 180 --capacity 24 --closed 22:00-06:00
    """
    from occupair.estimator import OccupancyEstimator
    from occupair.physics.room_properties import room_properties
    from occupair.readings.time_zones import is_utc

    is_paper = paper or layer in ("fs-elm", "elm")
    if like and is_paper:
        raise InputError("--like applies to the default estimator only: drop --paper and --layer")
    if closed and is_paper:
        raise InputError("--closed applies to the default estimator only: drop --paper and --layer")
    known = {
        "volume": volume,
        "capacity": capacity,
        "area": area,
        "height": height,
        "air_flow": air_flow,
        "activity": activity,
        "outdoor_co2": outdoor_co2,
    }
    known = {name: value for name, value in known.items() if value is not None}
    if known and is_paper:
        raise InputError(
            "--volume and --capacity apply to the default estimator only: drop --paper and --layer"
        )
    has_size = room_properties(**known) is not None
    if not paper and layer in (None, "room") and (horizon, stride) != (None, None):
        raise InputError(
            "--horizon and --stride apply to the paper's layers only: add --paper or --layer fs-elm"
        )
    database = _database(readings, room, store, file_options=column is not None or dayfirst is not None)
    check_output(model, "model", *([] if readings is None else [readings]), *(like or []))
    if readings is None:
        assert room is not None
        office = _read_room(room, database, timezone, needs_counts=not has_size)
        source = Path(f"room {room}")
    else:
        office = read_labelled(readings, timezone, column, dayfirst, needs_counts=not has_size)
        source = readings
        office = _only_labelled(office) if is_paper else office
    if timezone is None and is_utc(office.index):  # type: ignore[arg-type]
        note(f"{source}: times of day are in UTC: {SET_ZONE}")
    keep_model(model, office, overwrite=overwrite)
    given: dict[str, Any] = {
        "layer": layer,
        "horizon": horizon,
        "stride": stride,
        "smoothing": smoothing,
        "n_hidden": hidden,
        "ridge": ridge,
        "n_draws": draws,
        "closed": tuple(closed) if closed else None,
    }
    given = {name: value for name, value in given.items() if value is not None} | known
    if like:
        estimator = OccupancyEstimator.transfer(like, random_state=seed, **given)
    else:
        estimator = (OccupancyEstimator.paper if paper else OccupancyEstimator)(random_state=seed, **given)
    with naming(source), bar(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # printed below
        estimator.fit(office)
    estimator.save(model)
    out.print(
        f"{model}: trained on {_extent(office, estimator)}, up to {estimator.most_people_:.0f} people.",
        soft_wrap=True,
    )
    out.print(_quality(estimator, _labelled_days(office)), soft_wrap=True)
    if estimator.layer == "room" and estimator.air_ is not None:
        out.print(f"\n{estimator.air_}", soft_wrap=True)
    for trial in getattr(estimator, "sensor_trials_", ()):
        out.print(str(trial), soft_wrap=True)
    if columns := describe_columns(office):
        out.print(f"\n{columns}", soft_wrap=True)


def _database(readings: Path | None, room: str | None, store: str | None, *, file_options: bool) -> str:
    """Return the URL of the database to train from, or an empty string for a file.

    Raises
    ------
    InputError
        If the options contradict each other.
    """
    if readings is not None:
        if room is not None or store is not None:
            raise InputError("specify either READINGS or --room and --store, not both")
        return ""
    store = store or (os.environ.get("OCCUPAIR_STORE") if room is not None else None)
    if room is None or store is None:
        raise InputError("specify either READINGS or a --room of the live service and its --store")
    if file_options:
        raise InputError("--column and --dayfirst apply to files only: drop them with --store")
    return store


def _read_room(room: str, url: str, timezone: str | None, *, needs_counts: bool) -> pd.DataFrame:
    """Read the readings and labels of a room from the database of the live service."""
    from occupair.cli.service import check_store, need_live

    need_live("fit --store")
    check_store(url)
    from occupair.live.store import Store
    from occupair.wording import quoted_list

    with closing(Store(url)) as store:
        if store.url.get_backend_name() == "sqlite" and not Path(str(store.url.database)).is_file():
            raise InputError(f"store {store}: file not found")
        rooms = store.newest_readings()
        if room not in rooms:
            available = f"only of {quoted_list(sorted(rooms))}" if rooms else "nor of any other room"
            raise InputError(f"store {store}: has no readings of room {room!r}, {available}")
        if needs_counts and not store.labels(room):
            raise InputError(
                f"store {store}: room {room!r} has no labels: enter head counts on its page, "
                "or give --volume and --capacity"
            )
        return store.training_readings(room, timezone or "UTC")


def _only_labelled(office: pd.DataFrame) -> pd.DataFrame:
    """Drop readings without a head count and the label weights, which the paper's layers do not use."""
    from occupair.readings.head_counts import WEIGHT, has_label

    return office[has_label(office)].drop(columns=WEIGHT, errors="ignore")


def _labelled_days(office: pd.DataFrame) -> int:
    """Count the days with at least one head count."""
    from occupair.readings.head_counts import has_label
    from occupair.readings.schema import date_slices

    known = has_label(office)
    return len(date_slices(office[known])) if known.any() else 0


def _extent(office: pd.DataFrame, estimator: OccupancyEstimator) -> str:
    from occupair.readings.head_counts import has_label
    from occupair.readings.schema import date_slices
    from occupair.readings.thinning import thin_days
    from occupair.wording import plural

    known = int(has_label(office).sum())
    if known == 0:
        n_days = plural(len(date_slices(office)), "day")
        return f"{n_days} ({len(office)} readings, one every {estimator.interval_:g} min, no head counts)"
    days, used = _labelled_days(office), _labelled_days(thin_days(office))
    labels = "" if known == len(office) else f", {known} of them labelled"
    extent = plural(days, "day") if used == days else f"{used} of {days} days"
    return f"{extent} ({len(office)} readings, one every {estimator.interval_:g} min{labels})"


def _quality(estimator: OccupancyEstimator, days: int) -> str:
    """Describe the expected accuracy of a trained estimator, as far as training reveals it."""
    from occupair.estimator import ALWAYS_EMPTY
    from occupair.inferred_training import MOSTLY
    from occupair.readings.labelled_days import WANTED

    if estimator.most_people_ == 0:
        return f"{ALWAYS_EMPTY[0].upper()}{ALWAYS_EMPTY[1:]}."
    if estimator.layer != "room":
        return (
            f"Training error {estimator.training_error_:.2f} people, one step ahead of the true past; "
            "run 'occupair evaluate' on other days for the free-running error."
        )
    if estimator.air_ is not None and estimator.air_.inferred_share > MOSTLY:
        return (
            f"Expected error about {estimator.training_error_:.1f} people: people were inferred from CO2 "
            f"{'where nobody counted' if estimator.air_.is_calibrated else 'without any head count'}."
        )
    if estimator.comparison_ is None and days > 1:
        return "Accuracy not assessed: too few head counts. Count at the same time of day on several days."
    if estimator.comparison_ is None:
        return f"Accuracy not assessed: only one labelled day. Count people {WANTED}."
    return f"{estimator.comparison_}.\n{estimator.expectation_}"
