"""A pipeline, a store and a trainer in memory, with real messages, for tests of the interfaces."""

from __future__ import annotations

import asyncio
import datetime as dt
import hashlib
from collections import Counter
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import groupby
from types import SimpleNamespace

import httpx

from occupair.errors import InputError
from occupair.live.config import Limits, RoomConfig, ServiceConfig, TokenConfig
from occupair.live.delays import DelayCounts
from occupair.live.hours import EMPTY, QuarterHour, quarter_number
from occupair.live.messages import EstimateRecord, Quality, ReadingOutcome, RoomState, to_microseconds
from occupair.live.rooms.interval_correction import UNCORRECTED, IntervalCorrection
from occupair.live.store import ModelVersion, Place, Plan
from occupair.live.training_scores import Score, Scores
from occupair.web.tokens import hash_token

START = dt.datetime(2026, 3, 2, 8, tzinfo=dt.UTC)  # a Monday
MODEL = b'{"format":"occupair model","fake":true}'
TOKENS = {role: f"occupair_{role}-{role * 5}" for role in ("read", "write", "admin")}


def make_config(*rooms: str, tokens: bool = False, limits: Limits | None = None, **settings) -> ServiceConfig:
    """Create settings for some rooms, with or without tokens."""
    names = rooms or ("lab", "kitchen")
    return ServiceConfig(
        store="sqlite:////nowhere.db",
        rooms={
            name: RoomConfig(id=name, name=name.title(), floor="1", timezone="Europe/Copenhagen", capacity=8)
            for name in names
        },
        tokens=tuple(
            TokenConfig(name=role, role=role, hash=hash_token(token)) for role, token in TOKENS.items()
        )
        if tokens
        else (),
        limits=limits or Limits(requests_per_minute=1_000_000),
        **settings,
    )


def make_state(room: str, people: int | None = 3, **changes) -> RoomState:
    """Create a state whose fields are all different."""
    state = RoomState(
        room=room,
        time=START,
        people=people,
        people_exact=None if people is None else people + 0.25,
        low=1.5,
        high=4.5,
        occupied=None if people is None else people > 0,
        co2=812.0,
        co2_smoothed=808.5,
        ventilation=0.5,
        people_refined=(2.75,),
        quality=Quality.OK,
        reason="",
        trend=1,
        baseline_shift=42.5,
    )
    return replace(state, **changes)


def make_estimates(room: str, count: int) -> list[EstimateRecord]:
    """Create one estimate per minute, from START."""
    return [
        EstimateRecord(
            room,
            START + dt.timedelta(minutes=place),
            float(place),
            place - 0.5,
            place + 0.5,
            (None,),
            400.0 + place,
            400.5 + place,
            None,
            Quality.OK,
        )
        for place in range(count)
    ]


def quarter_hour(room: str, number: int, estimates: list[EstimateRecord]) -> QuarterHour:
    """Sum up the estimates of a quarter of an hour, one by one."""
    refined = [one.people if one.people_refined[-1] is None else one.people_refined[-1] for one in estimates]
    people = [value for value in refined if value is not None]
    limits = [(one.low, one.high) for one in estimates if one.low is not None and one.high is not None]
    return QuarterHour(
        room=room,
        number=number,
        n=len(estimates),
        known=len(people),
        used=sum(value > EMPTY for value in people),
        first=to_microseconds(estimates[0].time),
        last=to_microseconds(estimates[-1].time),
        people=sum(people) if people else None,
        peak=max(people, default=None),
        low=sum(low for low, _ in limits) if limits else None,
        high=sum(high for _, high in limits) if limits else None,
        with_interval=len(limits),
    )


class FakeStore:
    """Store in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, list[EstimateRecord]] = {}
        self._labels: dict[tuple[str, dt.datetime], object] = {}
        self._models: dict[int, tuple[ModelVersion, bytes]] = {}
        self._plans: dict[str, tuple[Plan, bytes]] = {}
        self._places: dict[str, Place] = {}
        self.error: Exception | None = None

    def _check(self) -> None:
        if self.error is not None:
            raise self.error

    def estimates(self, room, since, until, *, limit, after=None):
        self._check()
        found = [
            one
            for one in self.kept.get(room, [])
            if (since is None or one.time >= since)
            and (until is None or one.time < until)
            and (after is None or one.time > after)
        ]
        return found[:limit]

    def quarter_hours(self, rooms, since, until):
        return [
            quarter_hour(room, number, list(some))
            for room in sorted(rooms)
            for number, some in groupby(
                self.estimates(room, since, until, limit=10**9), key=lambda one: quarter_number(one.time)
            )
        ]

    def plans(self):
        self._check()
        return [about for _, (about, _) in sorted(self._plans.items())]

    def plan(self, floor):
        self._check()
        return self._plans.get(floor)

    def set_plan(self, floor, data, *, media_type, width, height):
        self._check()
        digest = hashlib.sha256(data).hexdigest()
        plan = Plan(floor, media_type, width, height, digest, len(data), START)
        self._plans[floor] = (plan, data)
        return plan

    def remove_plan(self, floor):
        self._check()
        return self._plans.pop(floor, None) is not None

    def places(self):
        self._check()
        return dict(self._places)

    def set_place(self, room, place):
        self._check()
        self._places[room] = place

    def remove_place(self, room):
        self._check()
        return self._places.pop(room, None) is not None

    def add_label(self, label):
        self._check()
        self._labels[label.room, label.time] = label

    def labels(self, room):
        self._check()
        return [label for (of, _), label in sorted(self._labels.items()) if of == room]

    def remove_label(self, room, time):
        self._check()
        return self._labels.pop((room, time), None) is not None

    def add_model(self, room, data, *, origin, note="", activate=False):
        number = len(self._models) + 1
        about = ModelVersion(
            number, room, origin, note, hashlib.sha256(data).hexdigest(), len(data), START, False
        )
        self._models[number] = (about, data)
        if activate:
            self.activate(room, number)
        return number

    def activate(self, room, version):
        for number, (about, data) in self._models.items():
            if about.room == room:
                self._models[number] = (replace(about, active=number == version), data)

    def models(self, room):
        self._check()
        return [about for about, _ in self._models.values() if about.room == room]

    def active_model(self, room):
        self._check()
        active = [
            (k, data) for k, (about, data) in self._models.items() if about.room == room and about.active
        ]
        return active[0] if active else None

    def model(self, room, version):
        self._check()
        about, data = self._models.get(version, (None, None))
        return data if about is not None and about.room == room else None


class FakeTrainer:
    """Trainer that finishes at once, if there is a label."""

    def __init__(self, store: FakeStore) -> None:
        self.store = store
        self.known: dict[str, str] = {}

    async def start(self, room):
        if not self.store.labels(room):
            raise InputError(f"{room} has no labels to train from")
        self.known[room] = "done"

    async def status(self, room):
        scores = Scores(
            Score(float("nan"), 4, 4, 3), Score(2.5, 4, 4, 3), Score(3.0, 4, 4, 3), "old"
        ).to_dict()
        status = self.known.get(room, "idle")
        return {"status": status, "progress": 1.0 if status == "done" else 0.0, "message": "", **scores}

    async def accept(self, room):
        if self.known.pop(room, None) is None:
            raise InputError(f"{room} has no new model")

    async def discard(self, room):
        if self.known.pop(room, None) is None:
            raise InputError(f"{room} is not being trained and has no new model")


class FakePipeline:
    """Pipeline that stores readings in memory; `publish` changes states."""

    def __init__(self, config: ServiceConfig) -> None:
        self.config = config
        self.store = FakeStore()
        self.trainer = FakeTrainer(self.store)
        self.counters: Counter[tuple[str, ReadingOutcome]] = Counter()
        self.delays = DelayCounts()
        self.estimates_total = 0
        self.waiting = 0
        self.links = frozenset({"mqtt", "bacnet"})
        self.part_status = {"store": "ok", "mqtt": "off", "engine": "ok"}
        self.taken: dict[tuple[str, dt.datetime], object] = {}
        self.durable_after = 0.0  # [s]
        self.listeners: list[SimpleNamespace] = []
        self.tracked: list[str] = []  # rooms whose labels changed
        self.corrections: dict[str, IntervalCorrection] = {}
        self._states = {room: make_state(room, place) for place, room in enumerate(config.rooms)}

    def now(self):
        if self.config.clock == "readings":
            return max(state.time for state in self._states.values())
        return dt.datetime.now(dt.UTC)

    async def submit(self, readings):
        await asyncio.sleep(self.durable_after)
        return [self._take(reading) for reading in readings]

    def _take(self, reading):
        key = (reading.room, reading.time)
        outcome = ReadingOutcome.DUPLICATE if key in self.taken else ReadingOutcome.ACCEPTED
        if reading.time.year > 2100:
            outcome = ReadingOutcome.FUTURE
        elif not 0 <= (reading.ventilation or 0) <= 1:
            outcome = ReadingOutcome.NONSENSE
        if outcome is ReadingOutcome.ACCEPTED:
            self.taken[key] = reading
        self.counters[reading.source, outcome] += 1
        return outcome

    def states(self):
        return dict(self._states)

    def state(self, room):
        return self._states.get(room)

    def publish(self, *states):
        for state in states:
            self._states[state.room] = state
        for listener in self.listeners:
            listener.changed |= {state.room: state for state in states}
            listener.news.set()

    @asynccontextmanager
    async def subscribe(self):
        listener = SimpleNamespace(changed={}, news=asyncio.Event())
        self.listeners.append(listener)

        async def changes():
            while True:
                await listener.news.wait()
                listener.news.clear()
                changed, listener.changed = listener.changed, {}
                yield list(changed.values())

        try:
            yield changes()
        finally:
            self.listeners.remove(listener)

    async def use_model(self, room, data, *, origin, note=""):
        if not data.startswith(MODEL[:10]):
            raise InputError("is not an occupair model file")
        number = self.store.add_model(room, data, origin=origin, note=note)
        self.store.activate(room, number)
        return number

    async def activate(self, room, version):
        self.store.activate(room, version)

    async def labels_changed(self, room):
        self.tracked.append(room)

    def correction(self, room):
        return self.corrections.get(room, UNCORRECTED)

    async def forget(self, room):
        self.store._labels = {key: one for key, one in self.store._labels.items() if key[0] != room}


class Client:
    """Client of an application without a network, with the token of a role or without."""

    def __init__(self, app, role=None, *, base="http://localhost", address="127.0.0.1") -> None:
        self.headers = {} if role is None else {"Authorization": f"Bearer {TOKENS[role]}"}
        self.base = base
        self.transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=(address, 5))

    def __call__(self, method, path, *, headers=None, **what) -> httpx.Response:
        async def ask():
            async with httpx.AsyncClient(transport=self.transport, base_url=self.base) as client:
                return await client.request(method, path, headers={**self.headers, **(headers or {})}, **what)

        return asyncio.run(ask())


def error_detail(response: httpx.Response) -> str:
    """Return the text of an error response, which must be one line and nothing else."""
    assert response.headers["content-type"] == "application/json"
    assert list(response.json()) == ["detail"]
    detail = response.json()["detail"]
    assert isinstance(detail, str)
    assert detail.isprintable()
    return detail
