"""Helpers for tests of the pipeline: readings, a clock to set, a store that blocks and fails."""

import asyncio
import datetime as dt
import threading

from occupair.live.messages import Reading
from occupair.live.pipeline import Pipeline
from occupair.live.store import Store, StoreError

UTC = dt.UTC


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self, now=dt.datetime(2024, 1, 11, 12, tzinfo=UTC)):
        self.now = now

    def __call__(self):
        return self.now


def readings_of(frame, room="lab"):
    return [
        Reading(room, time.to_pydatetime(), co2, flow, "http", dt.datetime.now(UTC))
        for time, co2, flow in zip(frame.index, frame["co2"], frame["ventilation"], strict=True)
    ]


def with_pipeline(setup, store, work, **options):
    """Run a coroutine with a pipeline that is started and stopped."""

    async def run():
        pipeline = Pipeline(setup, store, **options)
        await pipeline.start()
        try:
            return await work(pipeline)
        finally:
            await pipeline.stop()

    return asyncio.run(run())


def stored_estimates(store, room="lab"):
    return store.estimates(room, None, None, limit=10_000)


class BlockingStore(Store):
    """A store whose writes block until ``free`` is set, and then fail ``failures`` times.

    ``is_writing`` is set as soon as a write has been called.
    """

    def __init__(self, url):
        super().__init__(url)
        self.free, self.is_writing = threading.Event(), threading.Event()
        self.failures = self.writes = 0

    def write(self, readings, estimates, *, activate=None, cleared=None):
        self.is_writing.set()
        self.free.wait()
        self.writes += 1
        if self.failures:
            self.failures -= 1
            raise StoreError("the disk is full")
        super().write(readings, estimates, activate=activate, cleared=cleared)


async def do_nothing(pipeline):
    pass
