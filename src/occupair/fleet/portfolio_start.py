"""What the rooms of a portfolio start from: read-outs and mass balances pooled over other rooms of it.

Workers return sums over their rooms, never readings; see ``occupair.room.pooling``. Rooms are divided into
five groups by their names, and a room starts from the sums of the other four. So nothing of a room's own
held-out days reaches its start, and its expected error stays honest. Rooms with other intervals have a start
of their own. A portfolio with too few labelled rooms has none, and its rooms start from public rooms.

The start is computed once for a portfolio and kept in its folder: rooms that are added or changed later start
from it, and the others need not be trained again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby

import pandas as pd

from occupair.checks import find_faults
from occupair.fleet.read_room import UnavailableError, open_room
from occupair.fleet.room_sources import RoomSource
from occupair.fleet.storage import Storage
from occupair.fleet.task_report import TaskReport, report
from occupair.fleet.task_runner import Batch
from occupair.fleet.train_room import plan_training
from occupair.readings.files import read_labelled, read_readings
from occupair.readings.head_counts import WEIGHT, has_label
from occupair.readings.labelled_days import ENOUGH_DAYS, labelled_days
from occupair.readings.schema import interval_of
from occupair.room.pooled_start import PooledStart, start_from_json, start_to_json
from occupair.room.pooling import PoolSums, start_of, sum_room

FILE = "start.json"
GROUPS = 5
"""Groups of rooms; a room starts from the others."""
FEWEST_ROOMS = 20
"""Labelled rooms without which a portfolio has no start of its own; the package's is from eight rooms."""
MOST_ROOMS = 400
"""Labelled rooms that are enough: sums over more hardly change."""
ROOMS_AT_ONCE, MOST_CANDIDATES = 200, 2_000
"""Rooms that are looked at before counting the labelled ones again; and at most."""
ROOMS_PER_TASK = 10

Key = tuple[float, int]
"""Interval [min] and group."""


Sums = TaskReport[dict[Key, PoolSums]]
Run = Callable[[Sequence[Batch]], Iterator[tuple[Batch, Sums | None]]]
"""Runs ``sum_rooms`` on batches of rooms and yields them with their reports, in any order."""


def group_of(room: str) -> int:
    """Return the group of a room, the same on every machine.

    Examples
    --------
    >>> [group_of(room) for room in ("lab", "office", "room 3")]
    [0, 4, 4]
    """
    return _hash(room) % GROUPS


def _hash(room: str) -> int:
    return int.from_bytes(hashlib.blake2b(room.encode(), digest_size=8).digest())


def sum_rooms(batch: Batch) -> Sums:
    """Return the sums over the labelled rooms of a batch; rooms that cannot be used are left out."""
    return report((_add_up(_labelled_sums(one)), True) for one in [batch])


def _labelled_sums(batch: Batch) -> Iterator[tuple[Key, PoolSums]]:
    for source in batch:
        try:
            with open_room(source) as raw:
                readings = raw.read(read_labelled, needs_counts=False, **source.options.reading)
                if not has_label(readings).any():
                    continue
                faults = find_faults(raw.read(read_readings, lenient=True, **source.options.reading))
            plan = plan_training(readings, faults, has_size=False)
            whole = _whole_days(plan.readings)
            if plan.status == "trained" and labelled_days(whole["occupancy"]).sum() >= ENOUGH_DAYS:
                sums = PoolSums.of(source.room, sum_room(whole))
                yield (interval_of(whole), group_of(source.room)), sums
        except Exception:  # noqa: BLE001  # training reports it
            continue


def _whole_days(readings: pd.DataFrame) -> pd.DataFrame:
    """Return the days on which every reading has a head count."""
    days = pd.DatetimeIndex(readings.index).tz_localize(None).normalize()
    whole = pd.Series(has_label(readings)).groupby(days).transform("all").to_numpy()
    return readings[whole].drop(columns=WEIGHT, errors="ignore")


def _add_up(parts: Iterable[tuple[Key, PoolSums]]) -> dict[Key, PoolSums]:
    total: dict[Key, PoolSums] = {}
    for key, sums in parts:
        total[key] = total[key] + sums if key in total else sums
    return total


def portfolio_start(sources: Sequence[RoomSource], run: Run) -> bytes | None:
    """Return the file with the starts of a portfolio; None if it has too few labelled rooms.

    Parameters
    ----------
    sources : sequence of RoomSource
        The rooms.
    run : callable
        Runs ``sum_rooms`` on workers.

    Notes
    -----
    Which rooms are looked at, and the order in which their sums are added, depend on names only, so the
    result does not depend on the number of workers, or on which is the fastest.
    """
    candidates = sorted(sources, key=lambda source: _hash(source.room))[:MOST_CANDIDATES]
    total: dict[Key, PoolSums] = {}
    for first in range(0, len(candidates), ROOMS_AT_ONCE):
        batches = _batches(candidates[first : first + ROOMS_AT_ONCE])
        total = _add_up([*total.items(), *_sums_by_batch(batches, run)])
        if sum(len(sums.rooms) for sums in total.values()) >= MOST_ROOMS:
            break
    starts = {}
    for interval in sorted({interval for interval, _ in total}):
        groups = {group: sums for (minutes, group), sums in total.items() if minutes == interval}
        if sum(len(sums.rooms) for sums in groups.values()) >= FEWEST_ROOMS and len(groups) > 1:
            starts[f"{interval:g}"] = [_json_without(groups, group) for group in range(GROUPS)]
    if not starts:
        return None
    n_rooms = sum(len(sums.rooms) for sums in total.values())
    return json.dumps({"rooms": n_rooms, "starts": starts}, separators=(",", ":")).encode()


def _sums_by_batch(batches: Sequence[Batch], run: Run) -> Iterator[tuple[Key, PoolSums]]:
    """Yield the sums of each batch, in order.

    The rooms of a batch that was divided, because its workers were lost, are added up as the worker would
    have done, so that the result is the same to the last bit.
    """
    place = {source.room: (k, n) for k, batch in enumerate(batches) for n, source in enumerate(batch)}
    done = sorted(run(batches), key=lambda one: place[one[0][0].room])
    for _, parts in groupby(done, key=lambda one: place[one[0][0].room][0]):
        yield from _add_up(
            item for _, one in parts if one is not None for sums in one.results for item in sums.items()
        ).items()


def _batches(sources: Sequence[RoomSource]) -> list[Batch]:
    """Return batches of one group each, so that a task returns few sums."""
    batches: list[Batch] = []
    for group in range(GROUPS):
        own = [source for source in sources if group_of(source.room) == group]
        batches += [tuple(own[k : k + ROOMS_PER_TASK]) for k in range(0, len(own), ROOMS_PER_TASK)]
    return batches


def _json_without(groups: dict[int, PoolSums], left_out: int) -> dict[str, object]:
    first, *others = (sums for group, sums in sorted(groups.items()) if group != left_out)
    for one in others:
        first += one
    return start_to_json(start_of(first)) | {"rooms": []}  # names are not needed


def digest_of(content: bytes) -> str:
    """Return the digest of a file of starts."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def read_start(storage: Storage, digest: str, room: str, interval: float) -> PooledStart | None:
    """Return the start of a room; None if the portfolio has none for rooms with its interval [min]."""
    return _starts(storage.url, digest).get((f"{interval:g}", group_of(room)))


@lru_cache(maxsize=1)
def _starts(url: str, digest: str) -> dict[tuple[str, int], PooledStart]:
    content = Storage(url).read(FILE)
    if content is None or digest_of(content) != digest:
        raise UnavailableError(f"{FILE} has changed during the run")
    starts = json.loads(content)["starts"]
    return {
        (interval, group): start_from_json(values)
        for interval, groups in starts.items()
        for group, values in enumerate(groups)
    }
