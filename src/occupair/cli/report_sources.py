"""Sources of the command report: a store, files with estimates, or models with readings, as tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from occupair.cli.shared import note
from occupair.errors import InputError
from occupair.wording import plural

if TYPE_CHECKING:
    import pandas as pd

    from occupair.utilisation.calendar_events import CalendarEvent
    from occupair.utilisation.opening_hours import OpeningHours
    from occupair.utilisation.room_list import ListedRoom
    from occupair.utilisation.room_order import RoomOrder
    from occupair.utilisation.room_usage import RoomInfo, RoomUsage

Task = tuple[Callable[[Any], "RoomUsage"], Any]
"""A function that returns the use of a room, and its argument."""

URLS = ("sqlite:", "postgresql:", "postgres:", "postgresql+psycopg:")
DATABASES = (".db", ".sqlite", ".sqlite3")
MODEL = ".occupair"
LONG_AGO = "2000-01-01"  # first day of meetings, if the period of the counts is not known

HINDSIGHT = (
    "Estimates by the model of each room from its CO2 readings, made in hindsight: the estimate at "
    "every time uses the readings before and after it. They are better than the live estimates."
)
REFINED = (
    "The estimates of the live service as stored, refined after 20 minutes; intervals are those of the live "
    "estimates."
)
FROM_FILES = "Estimates as read from files."


@dataclass(frozen=True)
class Request:
    """Options of the command."""

    opening: OpeningHours
    first: pd.Timestamp | None
    last: pd.Timestamp | None
    listed: Mapping[str, ListedRoom]
    wanted: tuple[str, ...]
    capacity: int | None
    timezone: str | None
    quick: bool
    calendar: Path | None
    outputs: frozenset[Path]
    columns: Mapping[str, str] = field(default_factory=dict)
    dayfirst: bool | None = None

    def info(self, id_: str, known: RoomInfo | None = None) -> RoomInfo:
        """Return what is known of a room."""
        from occupair.utilisation.room_usage import RoomInfo

        info, listed = known or RoomInfo(id_), self.listed.get(id_)
        if listed is not None:
            one = listed.info
            info = RoomInfo(
                id_, one.name or info.name, one.floor or info.floor, one.capacity or info.capacity
            )
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


def find_tasks(sources: Sequence[str], request: Request) -> tuple[str, list[Task]]:
    """Return what the counts are, and for each room a function and its argument."""
    kinds = {_kind(source) for source in sources}
    if "model" not in kinds and (request.columns or request.dayfirst is not None):
        raise InputError("--column and --dayfirst are for a model with readings of its room: drop them")
    if kinds & {"settings", "store"}:
        if len(sources) > 1:
            raise InputError(
                f"give one database or settings file and nothing else, got {len(sources)} sources"
            )
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


def _stored(source: str, request: Request) -> tuple[str, list[Task]]:
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
        stored, period = choose_rooms(store, [*(known or request.listed)])
    ids = request.keep(stored)
    zones = {id_: request.zone(id_, zones.get(id_, stored[id_])) or "UTC" for id_ in ids}
    infos = [request.info(id_, known.get(id_)) for id_ in ids]
    request = _until_yesterday(request, zones.values(), period.newest)
    events = _events(request, infos, next(iter(zones.values()), "UTC"), oldest=period.oldest)
    tasks: list[Task] = [
        (stored_room_usage, StoredRoom(url, zones[info.id], request.order(info, events), request.quick))
        for info in infos
    ]
    return (REFINED if request.quick else HINDSIGHT), tasks


def _until_yesterday(request: Request, zones: Iterable[str], newest: pd.Timestamp) -> Request:
    """End the period with the last day that is over and has readings, unless an earlier day is given."""
    import pandas as pd

    day = pd.Timedelta(days=1)
    ends = [
        min(newest.tz_convert(zone).tz_localize(None), pd.Timestamp.now(zone).tz_localize(None) - day)
        for zone in set(zones)
    ]
    last = max(end.normalize() for end in ends)
    return replace(request, last=last if request.last is None else min(last, request.last))


def _from_files(paths: Sequence[Path], request: Request) -> tuple[str, list[Task]]:
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
        found = find_estimate_files(path, without=request.outputs) if path.is_dir() else {room_of(path): path}
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
    zones = (request.zone(info.id) for info in infos)
    events = _events(request, infos, next((zone for zone in zones if zone), None))
    tasks: list[Task] = [
        (
            file_room_usage,
            RoomFiles(
                files[info.id][1],
                request.order(info, events),
                files[info.id][0],
                request.zone(info.id),
                request.columns,
                request.dayfirst,
            ),
        )
        for info in infos
    ]
    return (HINDSIGHT if any(own for own, _ in files.values()) else FROM_FILES), tasks


def _events(
    request: Request, infos: Sequence[RoomInfo], timezone: str | None, *, oldest: pd.Timestamp | None = None
) -> dict[str, list[CalendarEvent]] | None:
    """Return the meetings of each room; None without a calendar."""
    if request.calendar is None:
        return None
    import pandas as pd

    from occupair.readings.time_zones import parse_time_zone
    from occupair.utilisation.calendar_events import assign_events, calendar_files, read_calendar
    from occupair.utilisation.room_order import local_midnight

    zone = parse_time_zone(timezone)
    since = request.first or (
        pd.Timestamp(LONG_AGO) if oldest is None else oldest.tz_localize(None).normalize()
    )
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
