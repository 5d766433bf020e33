"""The command report: the use of rooms over weeks, as a page and tables."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from occupair.cli.shared import Timezone, bar, check_output, note, out
from occupair.errors import InputError
from occupair.wording import plural

if TYPE_CHECKING:
    import pandas as pd

    from occupair.utilisation.calendar_events import CalendarEvent
    from occupair.utilisation.room_list import ListedRoom
    from occupair.utilisation.room_order import RoomOrder
    from occupair.utilisation.room_usage import RoomInfo, RoomUsage

URLS = ("sqlite:", "postgresql:", "postgres:", "postgresql+psycopg:")
DATABASES = (".db", ".sqlite", ".sqlite3")
MODEL = ".occupair"
LISTED = 5  # rooms without figures that are listed in the terminal

HINDSIGHT = (
    "Estimates by the model of each room from its CO2 readings, made in hindsight: the estimate of every "
    "minute uses the readings before and after it. They are better than the live estimates."
)
REFINED = (
    "The estimates of the live service as stored, refined after 20 minutes; intervals are those of the live "
    "estimates."
)
FROM_FILES = "Estimates as read from files."


def report(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="ROOMS.toml of the live service, a database (file or URL), files or folders with estimates, "
            "or a model and the readings of its room.",
        ),
    ],
    path: Annotated[Path, typer.Option("--out", help="HTML file to write.")] = Path("utilisation.html"),
    csv: Annotated[bool, typer.Option("--csv/--no-csv", help="Write tables as CSV beside the page.")] = True,
    first: Annotated[
        str | None, typer.Option("--from", metavar="YYYY-MM-DD", help="First day; default: all.")
    ] = None,
    last: Annotated[
        str | None,
        typer.Option("--to", metavar="YYYY-MM-DD", help="Last day; default: the last day that is over."),
    ] = None,
    hours: Annotated[str, typer.Option(metavar="HH:MM-HH:MM", help="Opening hours.")] = "08:00-18:00",
    weekdays: Annotated[
        str, typer.Option(help="Days with opening hours, e.g. mon-fri or mon,wed.")
    ] = "mon-fri",
    rooms: Annotated[
        Path | None,
        typer.Option(help="Names, floors and seats: rooms.toml, or CSV with room, name, floor and capacity."),
    ] = None,
    room: Annotated[list[str] | None, typer.Option(help="Only this room, by id; repeatable.")] = None,
    capacity: Annotated[int | None, typer.Option(min=1, help="Seats of rooms without a capacity.")] = None,
    calendar: Annotated[
        Path | None, typer.Option(help="Calendar file (.ics), or a folder with one named like each room.")
    ] = None,
    titles: Annotated[bool, typer.Option("--titles", help="Show the subjects of meetings.")] = False,
    title: Annotated[str, typer.Option(help="Title of the page.")] = "Room utilisation",
    quick: Annotated[
        bool, typer.Option("--quick", help="Use the refined estimates in the database, not new ones.")
    ] = False,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Worker processes; default: one per core.")
    ] = None,
    timezone: Timezone = None,
) -> None:
    """Report the use of rooms: when they are used, by how many people, and which seats never are.

    Example: occupair report rooms.toml --from 2026-09-01 --calendar rooms.ics --out report.html
    """
    check_output(path, "report")
    from occupair.utilisation.opening_hours import OpeningHours
    from occupair.utilisation.page import write_report
    from occupair.utilisation.room_list import read_room_list
    from occupair.utilisation.tables import table_paths, write_tables

    if csv:
        for table in table_paths(path).values():
            check_output(table, "table")
    opening = OpeningHours(hours, weekdays)
    request = _Request(
        opening=opening,
        first=_day(first, "--from"),
        last=_day(last, "--to"),
        listed=read_room_list(rooms) if rooms is not None else {},
        wanted=tuple(room or ()),
        capacity=capacity,
        timezone=timezone,
        quick=quick,
        calendar=calendar,
    )
    if request.first is not None and request.last is not None and request.last < request.first:
        raise InputError(f"--to must not be before --from, got {last} and {first}")
    method, tasks = _tasks(sources, request)
    usage = _run(tasks, workers)
    write_report(usage, path, opening=opening, method=method, title=title, show_titles=titles)
    written = write_tables(usage if titles else [_without_titles(one) for one in usage], path) if csv else []
    _summarise(usage, path, written)


@dataclass(frozen=True)
class _Request:
    """Options of the command."""

    opening: Any
    first: pd.Timestamp | None
    last: pd.Timestamp | None
    listed: Mapping[str, ListedRoom]
    wanted: tuple[str, ...]
    capacity: int | None
    timezone: str | None
    quick: bool
    calendar: Path | None

    def info(self, id_: str, known: RoomInfo | None = None) -> RoomInfo:
        """Return what is known of a room."""
        from occupair.utilisation.room_usage import RoomInfo

        listed = self.listed.get(id_)
        info = listed.info if listed is not None else known or RoomInfo(id_)
        return replace(info, capacity=self.capacity) if info.capacity is None else info

    def zone(self, id_: str, default: str | None = None) -> str | None:
        """Return the time zone of a room."""
        listed = self.listed.get(id_)
        return (listed.timezone if listed is not None else None) or self.timezone or default

    def keep(self, ids: Iterable[str]) -> list[str]:
        """Return the rooms that are wanted."""
        ids = list(ids)
        unknown = [one for one in self.wanted if one not in ids]
        if unknown:
            raise InputError(f"--room {unknown[0]}: no such room; there are {', '.join(ids[:20])}")
        return [one for one in ids if one in self.wanted] if self.wanted else ids

    def order(self, info: RoomInfo, events: Mapping[str, Sequence[CalendarEvent]] | None) -> RoomOrder:
        """Return what to report of a room."""
        from occupair.utilisation.room_order import RoomOrder

        own = None if events is None else tuple(events[info.id])
        return RoomOrder(info, self.opening, self.first, self.last, own)


def _tasks(
    sources: Sequence[str], request: _Request
) -> tuple[str, list[tuple[Callable[[Any], RoomUsage], Any]]]:
    """Return what the counts are, and for each room a function and its argument."""
    kinds = {_kind(source) for source in sources}
    if kinds & {"settings", "store"}:
        if len(sources) > 1:
            raise InputError(f"give one database or settings file, and nothing else, got {' '.join(sources)}")
        return _stored(sources[0], request)
    if request.quick:
        raise InputError("--quick is for a database of the live service")
    return _from_files([Path(source) for source in sources], request)


def _kind(source: str) -> str:
    suffix = Path(source).suffix.lower()
    if source.startswith(URLS) or suffix in DATABASES:
        return "store"
    if suffix == ".toml":
        return "settings"
    return "model" if suffix == MODEL else "files"


def _stored(source: str, request: _Request) -> tuple[str, list[tuple[Callable[[Any], RoomUsage], Any]]]:
    from occupair.cli.service import check_store, need_live

    need_live("report on a database")
    from occupair.live.config import read_config
    from occupair.live.store import Store
    from occupair.live.stored_usage import StoredRoom, check_readable, choose_rooms, stored_room_usage
    from occupair.utilisation.room_usage import RoomInfo

    known: dict[str, RoomInfo] = {}
    zones: dict[str, str] = {}
    if _kind(source) == "settings":
        config = read_config(source)
        url = config.store
        known = {id_: RoomInfo(id_, one.name, one.floor, one.capacity) for id_, one in config.rooms.items()}
        zones = {id_: one.timezone for id_, one in config.rooms.items()}
    else:
        url = source if source.startswith(URLS) else f"sqlite:///{source}"
        check_store(url)
    with closing(Store(url)) as store:
        check_readable(store)
        stored = choose_rooms(store, [*(known or request.listed)])
    ids = request.keep(stored)
    zones = {id_: request.zone(id_, zones.get(id_, stored[id_])) or "UTC" for id_ in ids}
    infos = [request.info(id_, known.get(id_)) for id_ in ids]
    request = _until_yesterday(request, zones.values())
    events = _events(request, infos, next(iter(zones.values()), "UTC"))
    tasks: list[tuple[Callable[[Any], RoomUsage], Any]] = [
        (stored_room_usage, StoredRoom(url, zones[info.id], request.order(info, events), request.quick))
        for info in infos
    ]
    return (REFINED if request.quick else HINDSIGHT), tasks


def _until_yesterday(request: _Request, zones: Iterable[str]) -> _Request:
    """End the period with the last day that is over in all time zones, unless an earlier day is given."""
    import pandas as pd

    today = min((pd.Timestamp.now(zone).tz_localize(None).normalize() for zone in set(zones)), default=None)
    if today is None or (request.last is not None and request.last < today):
        return request
    return replace(request, last=today - pd.Timedelta(days=1))


def _from_files(
    paths: Sequence[Path], request: _Request
) -> tuple[str, list[tuple[Callable[[Any], RoomUsage], Any]]]:
    from occupair.utilisation.estimate_files import find_estimate_files, room_of
    from occupair.utilisation.file_usage import RoomFiles, file_room_usage

    files: dict[str, tuple[Path | None, Path]] = {}
    model: Path | None = None
    for path in paths:
        if not path.exists():
            raise InputError(f"{path}: no such file or folder")
        if path.suffix.lower() == MODEL:
            if model is not None:
                raise InputError(f"{model}: give the readings of its room after it, got another model")
            model = path
            continue
        found = find_estimate_files(path) if path.is_dir() else {room_of(path): path}
        if model is not None:
            if path.is_dir():
                raise InputError(
                    f"{model}: give one file with the readings of its room after it, got a folder"
                )
            found, own = {model.stem: path}, model
        else:
            own = None
        for id_, one in found.items():
            if id_ in files:
                raise InputError(f"room {id_!r} has two files, {files[id_][1]} and {one}: rename one")
            files[id_] = (own, one)
        model = None
    if model is not None:
        raise InputError(f"{model}: give the readings of its room after it")
    infos = [request.info(id_) for id_ in request.keep(files)]
    events = _events(request, infos, request.timezone)
    tasks: list[tuple[Callable[[Any], RoomUsage], Any]] = [
        (
            file_room_usage,
            RoomFiles(
                files[info.id][1], request.order(info, events), files[info.id][0], request.zone(info.id)
            ),
        )
        for info in infos
    ]
    return (HINDSIGHT if any(own for own, _ in files.values()) else FROM_FILES), tasks


def _events(
    request: _Request, infos: Sequence[RoomInfo], timezone: str | None
) -> dict[str, list[CalendarEvent]] | None:
    """Return the meetings of each room; None without a calendar."""
    if request.calendar is None:
        return None
    import pandas as pd

    from occupair.readings.time_zones import parse_time_zone
    from occupair.utilisation.calendar_events import assign_events, calendar_files, read_calendar
    from occupair.utilisation.room_order import local_midnight

    zone = parse_time_zone(timezone)
    since = request.first or pd.Timestamp("2000-01-01")
    until = (request.last or pd.Timestamp.now().normalize()) + pd.Timedelta(days=1)
    found = {
        path.stem: read_calendar(
            path, since=local_midnight(since, zone), until=local_midnight(until, zone), zone=zone
        )
        for path in calendar_files(request.calendar)
    }
    events, others = assign_events(found, {info.id: (info.id, info.label) for info in infos})
    if others:
        note(f"{request.calendar}: {plural(others, 'meeting')} of no room of this report")
    if not any(events.values()):
        note(f"{request.calendar}: has no meeting of these rooms in this period")
    return events


def _run(tasks: Sequence[tuple[Callable[[Any], RoomUsage], Any]], workers: int | None) -> list[RoomUsage]:
    """Return the use of all rooms, computed in worker processes if there are several."""
    from occupair.progress import track

    workers = min(workers or os.cpu_count() or 1, len(tasks))
    with bar():
        if workers <= 1:
            return [function(argument) for function, argument in track(tasks, "estimating rooms")]
        from occupair.fleet.worker_processes import WorkerProcesses

        pool = WorkerProcesses(workers)
        try:
            futures: list[Future[RoomUsage]] = [pool.submit(function, one) for function, one in tasks]
            return [future.result() for future in track(futures, "estimating rooms")]
        finally:
            pool.shutdown(cancel_futures=True)


def _without_titles(usage: RoomUsage) -> RoomUsage:
    if usage.meetings is None:
        return usage
    return replace(usage, meetings=[one._replace(title="") for one in usage.meetings])


def _summarise(usage: Sequence[RoomUsage], path: Path, written: Sequence[Path]) -> None:
    from occupair.utilisation.findings import data_quality, summary

    failed = [one for one in usage if one.problem]
    out.print(f"{path}: {plural(len(usage), 'room')}, {path.stat().st_size / 1e6:.1f} MB", soft_wrap=True)
    for table in written:
        out.print(str(table), soft_wrap=True)
    out.print(f"{summary(usage)} {data_quality(usage)}", soft_wrap=True)
    for one in failed[:LISTED]:
        note(f"{one.room.label}: {one.problem}")
    if len(failed) > LISTED:
        note(f"{len(failed) - LISTED} more rooms have no figures; the page says why")
    if failed and len(failed) == len(usage):
        raise typer.Exit(1)


def _day(text: str | None, option: str) -> pd.Timestamp | None:
    import pandas as pd

    if text is None:
        return None
    try:
        return pd.Timestamp(dt.date.fromisoformat(text))
    except ValueError:
        raise InputError(f"{option} must be a date such as 2026-09-01, got {text!r}") from None
