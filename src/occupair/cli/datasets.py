"""The datasets commands: list, download and export public data sets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from occupair.cli.shared import bar, check_output, check_period, out, parse_day
from occupair.errors import InputError
from occupair.wording import plural

if TYPE_CHECKING:
    import pandas as pd

    from occupair.datasets import Room

datasets_app = typer.Typer(rich_markup_mode=None)


@datasets_app.callback(invoke_without_command=True)
def datasets(context: typer.Context) -> None:
    """List, download and export public data sets.

    Without a command, lists them with their licence and location.

    Example: occupair datasets
    """
    from occupair.datasets import DATASETS, ROOMS, find_folder

    if context.invoked_subcommand:
        return
    for name, data_set in DATASETS.items():
        folder = find_folder(name)
        out.print(f"{name}: {data_set.title}", soft_wrap=True)
        out.print(f"    {data_set.licence}; {data_set.page}", soft_wrap=True)
        place = f"in {folder}" if folder else f"to download: occupair datasets fetch {name}"
        out.print(f"    {place}", soft_wrap=True)
        if rooms := [key for key, room in ROOMS.items() if room.dataset == name]:
            out.print(f"    rooms: {', '.join(rooms)}", soft_wrap=True)


@datasets_app.command()
def fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Data set, as listed by 'occupair datasets'.")],
    folder: Annotated[
        Path | None,
        typer.Option("--into", help="Parent folder; default: OCCUPAIR_DATA, else the user's cache folder."),
    ] = None,
) -> None:
    """Download a data set from its publisher and verify its checksums.

    Example: occupair datasets fetch sdu2018 --into occupair-data
    """
    from occupair.datasets import fetch as download
    from occupair.user_folders import data_folders

    found = data_folders()
    parent = found[0] if folder is None else folder
    with bar():
        files = download(name, parent / name)
    out.print(f"{parent / name}: {len(files)} files.", soft_wrap=True)
    if parent.resolve() not in [one.resolve() for one in found]:
        out.print(f"To use it: export OCCUPAIR_DATA={parent.resolve()}", soft_wrap=True)


@datasets_app.command()
def export(
    room: Annotated[str, typer.Argument(metavar="ROOM", help="Room, as listed by 'occupair datasets'.")],
    path: Annotated[Path, typer.Option("--out", help="CSV or Parquet file to write.")] = Path("room.csv"),
    first: Annotated[
        str | None, typer.Option("--from", metavar="YYYY-MM-DD", help="First day; default: first with data.")
    ] = None,
    last: Annotated[
        str | None, typer.Option("--to", metavar="YYYY-MM-DD", help="Last day; default: last with data.")
    ] = None,
    days: Annotated[
        int | None, typer.Option(min=1, help="Number of days with data, in place of --to.")
    ] = None,
    occupancy: Annotated[
        bool, typer.Option("--occupancy/--no-occupancy", help="With or without the head counts.")
    ] = True,
    as_published: Annotated[
        bool, typer.Option("--as-published", help="Do not correct known clock errors.")
    ] = False,
) -> None:
    """Write the readings of a public room to a file.

    The file is like an export of a building management system.

    Example: occupair datasets export robod-3 --from 2021-09-07 --days 8 --out office.csv
    """
    from occupair.datasets import DATASETS, ROOMS, read_room
    from occupair.readings.files import write_readings

    check_output(path, "table")
    start, end = parse_day(first, "--from"), parse_day(last, "--to")
    check_period(start, end)
    if days is not None and end is not None:
        raise InputError("--days and --to exclude each other: drop one")
    readings = _select_days(read_room(room, aligned=not as_published), room, start, end, days)
    readings = readings if occupancy else readings.drop(columns="occupancy")
    write_readings(readings, path)
    data_set = DATASETS[ROOMS[room].dataset]
    out.print(f"{path}: {_extent(readings)}", soft_wrap=True)
    out.print(f"{room}: {_describe(ROOMS[room])}", soft_wrap=True)
    out.print(f"{data_set.licence}: {data_set.citation}", soft_wrap=True)


def _select_days(
    readings: pd.DataFrame,
    room: str,
    first: pd.Timestamp | None,
    last: pd.Timestamp | None,
    days: int | None,
) -> pd.DataFrame:
    """Return the readings of the days from ``first`` to ``last``, or of ``days`` days."""
    import pandas as pd

    dates = pd.DatetimeIndex(readings.index).tz_localize(None).normalize()
    wanted = dates.unique()
    wanted = wanted[wanted >= first] if first is not None else wanted
    wanted = wanted[wanted <= last] if last is not None else wanted[:days]
    if wanted.empty:
        raise InputError(f"{room}: no readings in this period, only from {_period(readings)}")
    return readings[dates.isin(wanted)]


def _extent(readings: pd.DataFrame) -> str:
    days = plural(readings.index.normalize().nunique(), "day")  # type: ignore[attr-defined]
    counts = (
        f"up to {readings['occupancy'].max():.0f} people" if "occupancy" in readings else "no head counts"
    )
    return f"{len(readings)} readings of {days}, {_period(readings)}, {counts}."


def _period(readings: pd.DataFrame) -> str:
    first, last = (f"{readings.index[k]:%Y-%m-%d}" for k in (0, -1))
    return first if first == last else f"{first} to {last}"


def _describe(room: Room) -> str:
    """Describe what is published about a room."""
    known = {"m2": room.area, "m3": room.volume, "seats": room.seats}
    sizes = [f"{value:g} {unit}" for unit, value in known.items() if value is not None]
    return f"{', '.join([room.use, *sizes])}, a reading every {room.interval:g} min."
