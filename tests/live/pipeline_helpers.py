"""A pipeline with a store of its own, and what is sent through it."""

import asyncio
import datetime as dt
import threading

from occupair.live.messages import Reading
from occupair.live.pipeline import Pipeline
from occupair.live.store import Store, StoreError

UTC = dt.UTC


def readings_of(frame, room="lab"):
    return [
        Reading(room, time.to_pydatetime(), co2, flow, "http", dt.datetime.now(UTC))
        for time, co2, flow in zip(frame.index, frame["co2"], frame["ventilation"], strict=True)
    ]


def with_pipeline(setup, store, work):
    """Run some work with a pipeline that is started and stopped."""

    async def run():
        pipeline = Pipeline(setup, store)
        await pipeline.start()
        try:
            return await work(pipeline)
        finally:
            await pipeline.stop()

    return asyncio.run(run())


def kept(store, room="lab"):
    return store.estimates(room, None, None, limit=10_000)


class Slow(Store):
    """A store that is stuck until it is let go, and may fail some times after that."""

    def __init__(self, url):
        super().__init__(url)
        self.free, self.failures, self.writes = threading.Event(), 0, 0

    def write(self, readings, estimates, **more):
        self.free.wait()
        self.writes += 1
        if self.failures:
            self.failures -= 1
            raise StoreError("the disk is full")
        super().write(readings, estimates, **more)


async def nothing(pipeline):
    pass
