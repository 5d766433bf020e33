"""A simulated building behind the HTTP interface of the live service, for browser tests.

``PYTHONPATH=tests python -m live.page_server [ROOMS]`` serves it at http://127.0.0.1:8098.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import math
import socket
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import uvicorn
from live.fake_pipeline import MODEL, FakePipeline, FakeStore, FakeTrainer, make_config

from occupair import simulate_office
from occupair.control import next_outdoor_air, people_to_plan_for
from occupair.errors import InputError
from occupair.live.config import OutdoorAirTable, RoomConfig
from occupair.live.hours import EMPTY, QuarterHour, quarter_number
from occupair.live.http.app import make_app
from occupair.live.http.events import Streams
from occupair.live.messages import (
    NOT_REFINED,
    EstimateRecord,
    Label,
    Quality,
    RoomState,
    to_microseconds,
)
from occupair.live.reasons import Cause, Reason
from occupair.live.training_scores import Score, Scores

ZONE = ZoneInfo("Europe/Copenhagen")
TODAY = dt.datetime(2026, 3, 11, tzinfo=ZONE)
MINUTE = dt.timedelta(minutes=1)
START = TODAY - 24 * 60 * MINUTE  # start of yesterday
NOW = 24 * 60 + 14 * 60 + 32  # minutes since START: today, 14:32
WEEK_BEFORE = {-8: 0.9, -7: 1.1, -6: 0.7, -5: 1.5, -4: 0.5, -3: 0.0, -2: 0.0, -1: 1.0}
"""Hours of the days before START, from a Monday on, as multiples of the two simulated days."""
FIRST, OFFLINE = -8 * 1440, range(-6 * 1440 + 12 * 60, -6 * 1440 + 16 * 60)  # on Wednesday
LABELS_NEEDED = 8

KINDS = (
    ("Meeting room", 10), ("Open office", 36), ("Project room", 14), ("Lab", 18), ("Reading room", 40),
    ("Studio", 12), ("Seminar room", 28), ("Workshop", 20), ("Quiet room", 6), ("Lecture hall", 90),
)  # fmt: skip
OUTDOOR_AIR = {
    2: OutdoorAirTable(standard="EN 16798-1", area=60, minimum=40),
    3: OutdoorAirTable(standard="ASHRAE 62.1", space="classroom", area=60),
}
"""Rooms with recommended outdoor air; room 3 is offline."""
FLOORS = ("Ground floor", "1st floor", "2nd floor", "3rd floor", "4th floor", "5th floor")


@lru_cache(maxsize=8)
def office_days(seed: int) -> dict[str, np.ndarray]:
    """Return two days of a simulated office: sensor readings, and occupancy as a good estimator sees it."""
    days = simulate_office(days=2, seed=seed)
    rng = np.random.default_rng(seed)
    co2 = days["co2"].to_numpy(float)
    smoothed = pd.Series(co2).ewm(halflife=4).mean().to_numpy()
    true = days["occupancy"].to_numpy(float)
    slow = pd.Series(true).ewm(halflife=3).mean().to_numpy()
    drift = pd.Series(rng.normal(0, 1, len(true))).rolling(25, min_periods=1).mean().to_numpy()
    people = np.where(slow < 0.4, 0.0, np.maximum(0, slow + 2.2 * drift))
    return {
        "co2": co2,
        "smoothed": smoothed,
        "ventilation": days["ventilation"].to_numpy(float),
        "people": people,
    }


@dataclass
class FakeRoom:
    """A simulated room with a given size, quality and schedule."""

    config: RoomConfig
    seed: int
    quality: Quality = Quality.OK
    since: int = 0  # minute from which the quality applies
    reason: str = ""
    cause: Cause | None = None
    shift: int = 0  # delay of its schedule [min]
    busy: float = 1.0  # 0: always empty
    changed: dict[int, dict[str, Any]] = field(default_factory=dict)  # corrections by minute

    def estimate(self, minute: int) -> EstimateRecord:
        """Return the stored estimate of a minute."""
        days, at = office_days(self.seed), max(0, minute - self.shift)
        size = (self.config.capacity or 24) / 26
        people = float(days["people"][at]) * size * self.busy
        quality = self.quality if minute >= self.since else Quality.OK
        known = quality in (Quality.OK, Quality.STARTING)
        spread = 0.9 + 0.16 * people if people else 0.0
        air = (1 - 0.25 * min(1.0, size)) * (0.1 + 0.9 * self.busy)
        row = EstimateRecord(
            room=self.config.id,
            time=(START + minute * MINUTE).astimezone(dt.UTC),
            people=people if known else None,
            low=max(0.0, people - spread) if known else None,
            high=people + spread + (0.6 if not people else 0) if known else None,
            people_refined=NOT_REFINED,
            co2=0.0 if quality is Quality.SUSPECT else float(round(420 + (days["co2"][at] - 420) * air)),
            co2_smoothed=420 + (days["smoothed"][at] - 420) * air,
            ventilation=float(days["ventilation"][at]),
            quality=quality,
        )
        return replace(row, **self.changed.get(minute, {}))

    def quarter_hour(self, first: int, end: int) -> QuarterHour:
        """Return the sums of the minutes of a quarter of an hour."""
        at = np.maximum(0, np.arange(first, end) - self.shift) if first >= 0 else np.arange(first, end) % 2880
        size = (self.config.capacity or 24) / 26 * (1.0 if first >= 0 else WEEK_BEFORE[first // 1440])
        people = office_days(self.seed)["people"][at] * size * self.busy
        is_known = self.quality in (Quality.OK, Quality.STARTING)
        if first in OFFLINE:
            is_known, people = False, people[:0]
        known = people if is_known else people[: max(0, self.since - first)]
        spread = np.where(known > 0, 0.9 + 0.16 * known, 0.0)
        low, high = np.maximum(0, known - spread), known + spread + np.where(known > 0, 0, 0.6)
        sums = [float(one.sum()) if len(known) else None for one in (known, low, high)]
        times = [to_microseconds(START + minute * MINUTE) for minute in (first, end - 1)]
        return QuarterHour(
            room=self.config.id,
            number=quarter_number(START + first * MINUTE),
            n=end - first,
            known=len(known),
            used=int((known > EMPTY).sum()),
            first=times[0],
            last=times[1],
            people=sums[0],
            peak=float(known.max()) if len(known) else None,
            low=sums[1],
            high=sums[2],
            with_interval=len(known),
        )

    def last(self, minute: int) -> int:
        """Return the minute of the last reading; a stale sensor is offline since then."""
        return min(minute, self.since) if self.quality is Quality.STALE else minute

    def state(self, minute: int) -> RoomState:
        """Return the state of the room at a minute."""
        last = self.last(minute)
        now, before = self.estimate(last), self.estimate(max(0, last - 10))
        people = None if now.people is None else round(now.people)
        rise = 0 if now.people is None or before.people is None else now.people - before.people
        return self.with_outdoor_air(RoomState(
            room=now.room,
            time=now.time,
            people=people,
            people_exact=now.people,
            low=now.low,
            high=now.high,
            occupied=None if people is None else people > 0,
            co2=now.co2,
            co2_smoothed=now.co2_smoothed,
            ventilation=now.ventilation,
            people_refined=now.people_refined,
            quality=now.quality,
            reason=(self.cause.text() if self.cause else self.reason) if people is None else "",
            trend=0 if abs(rise) < 0.7 else (1 if rise > 0 else -1),
            cause=self.cause if people is None else None,
        ))  # fmt: skip

    def with_outdoor_air(self, state: RoomState) -> RoomState:
        """Return a state with the recommended outdoor air, if the room has settings for it."""
        if (control := self.config.air_control) is None:
            return state
        planned = None
        if state.people_exact is not None and state.high is not None:
            planned = people_to_plan_for(state.people_exact, state.high, design_people=control.design_people)
        air = next_outdoor_air(None, planned, 0, control)
        return replace(state, outdoor_air=air.flow, damper=air.damper, outdoor_air_people=air.people)


def make_rooms(number: int) -> list[FakeRoom]:
    """Create rooms of different kinds, sizes and qualities."""
    rooms = []
    for i in range(number):
        kind, capacity = KINDS[(i * 7) % len(KINDS)]
        floor = (i // 8) % len(FLOORS)
        code = f"{floor}.{1 + i % 8 + 8 * (i // (8 * len(FLOORS))):02d}"
        about = RoomConfig(
            id=f"room-{i}",
            name=f"{kind} {code}",
            floor=FLOORS[floor],
            timezone=str(ZONE),
            capacity=capacity,
            outdoor_air=OUTDOOR_AIR.get(i),
        )
        rooms.append(FakeRoom(about, seed=i % 5, shift=(i * 37) % 90 - 45, busy=0 if i % 6 == 4 else 1))
    offline_since = START + (NOW - 41) * MINUTE
    impaired = {
        3: (Quality.STALE, NOW - 41, Cause(Reason.OFFLINE_SINCE_TIME, {"since": offline_since})),
        10: (Quality.SUSPECT, NOW - 75, Cause(Reason.OUT_OF_RANGE, {"co2": 0.0})),
        14: (Quality.UNTRAINED, 0, Cause(Reason.NO_MODEL)),
        18: (Quality.STARTING, NOW - 12, None),
    }
    for i, (quality, since, cause) in impaired.items():
        for room in rooms[i::23]:
            room.quality, room.since, room.cause = quality, since, cause
    return rooms


class SimulatedStore(FakeStore):
    """Store of labels and models; estimates are simulated on request."""

    def __init__(self, building: Building) -> None:
        super().__init__()
        self.building = building

    def estimates(self, room, since, until, *, limit, after=None):
        self._check()
        self.building.history_requests += 1
        first = max(0, 0 if since is None else math.ceil((since - START) / MINUTE))
        if after is not None:
            first = max(first, math.floor((after - START) / MINUTE) + 1)
        end = self.building.rooms[room].last(self.building.minute) + 1
        if until is not None:
            end = min(end, math.ceil((until - START) / MINUTE))
        return [
            self.building.rooms[room].estimate(minute) for minute in range(first, min(end, first + limit))
        ]

    def quarter_hours(self, rooms, since, until):
        """Return sums over arrays: one by one would take minutes for thousands of rooms."""
        self._check()
        first, end = (math.ceil((time - START) / MINUTE) for time in (since, until))
        found = []
        for name in sorted(rooms):
            room = self.building.rooms[name]
            if room.changed:
                found += FakeStore.quarter_hours(self, [name], since, until)
                continue
            last = min(end, room.last(self.building.minute) + 1)
            for start in range(max(first, FIRST), last, 15):
                found.append(room.quarter_hour(start, min(start + 15, last)))
        return found


class SlowTrainer(FakeTrainer):
    """Trainer that advances with every status request, and needs some labels."""

    scores = Scores(
        new=Score(2.14, 143, 9, 8, occupied_rmse=2.31),
        old=Score(3.06, 60, 4, 4),
        new_on_same_days=Score(1.98, 60, 4, 4),
        better="new",
    )

    async def start(self, room):
        labels = len(self.store.labels(room))
        if labels < LABELS_NEEDED:
            raise InputError(
                f"{LABELS_NEEDED - labels} more labels needed: {labels} of {LABELS_NEEDED} available"
            )
        self.known[room] = 0

    async def status(self, room):
        if room not in self.known:
            return {"status": "idle", "progress": 0.0, "message": ""}
        self.known[room] += 1
        if self.known[room] < 4:
            return {"status": "running", "progress": self.known[room] / 4, "message": "fitting"}
        return {"status": "done", "progress": 1.0, "message": str(self.scores), **self.scores.to_dict()}

    async def accept(self, room):
        await super().accept(room)
        self.store.activate(room, self.store.add_model(room, MODEL, origin="trained"))


class Building(FakePipeline):
    """Pipeline of simulated rooms. Its time is `minute`, which only `advance` changes."""

    def __init__(self, rooms: Sequence[FakeRoom], *, tokens: bool = False, **settings: Any) -> None:
        self.rooms = {room.config.id: room for room in rooms}
        config = make_config("none", tokens=tokens, clock="readings", **settings)
        super().__init__(config.model_copy(update={"rooms": {room.config.id: room.config for room in rooms}}))
        self.loop: asyncio.AbstractEventLoop | None = None
        self.reset()

    def reset(self) -> None:
        """Restore the initial state, for the next test."""
        self.minute = NOW
        for room in self.rooms.values():
            room.changed = {}
        self._states = {name: room.state(NOW) for name, room in self.rooms.items()}
        self.store = SimulatedStore(self)
        self.trainer = SlowTrainer(self.store)
        self.history_requests = 0

    @asynccontextmanager
    async def subscribe(self):
        self.loop = asyncio.get_running_loop()
        async with super().subscribe() as changes:
            yield changes

    def publish_threadsafe(self, *states: RoomState) -> None:
        """Publish states from another thread."""
        if self.loop is None:
            self.publish(*states)
        else:
            self.loop.call_soon_threadsafe(self.publish, *states)

    def advance(self, minutes: int = 1) -> None:
        """Advance the time of every room."""
        for _ in range(minutes):
            self.minute += 1
            self.publish_threadsafe(*(room.state(self.minute) for room in self.rooms.values()))

    async def forget(self, room):
        await super().forget(room)
        models = self.store._models.items()
        self.store._models = {n: one for n, one in models if one[0].room != room or one[0].origin == "file"}
        for about in self.store.models(room):
            self.store.activate(room, about.id)

    def add_model_and_labels(self, room: str) -> None:
        """Add a model and five labels to a room."""
        number = self.store.add_model(room, MODEL + bytes(58_000), origin="file")
        self.store.activate(room, number)
        for minute in (NOW - 1440 + 120, NOW - 1440, NOW - 300, NOW - 205, NOW - 75):
            row = self.rooms[room].estimate(minute)
            self.store.add_label(Label(room, row.time, round(row.people or 0) + minute % 3 - 1, row.time))


@contextmanager
def serve(building: Building, *, port: int = 0, streams: Streams | None = None) -> Iterator[str]:
    """Serve a building on a loopback port in a thread, and yield its address."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        app = make_app(building, building.config, streams=streams)
        trusts_proxies = building.config.ingress is None  # as in `occupair.live.service`
        settings = uvicorn.Config(
            app,
            log_config=None,  # keep the loggers of the tests
            log_level="warning",
            timeout_graceful_shutdown=1,
            proxy_headers=trusts_proxies,
        )
        server = uvicorn.Server(settings)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield address
        finally:
            app.state.streams.stop()
            server.should_exit = True
            thread.join(timeout=10)


if __name__ == "__main__":
    demo = Building(make_rooms(int(sys.argv[1]) if len(sys.argv) > 1 else 48))
    demo.add_model_and_labels("room-1")
    with serve(demo, port=8098):
        while True:
            time.sleep(1)
            demo.advance()
