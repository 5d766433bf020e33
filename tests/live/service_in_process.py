"""The service in the process of a test, and a class that counts its links to the broker."""

import asyncio
import os
import signal

from live.waiting import HANG_GUARD

from occupair.live import service as live_service
from occupair.live.config import read_config


class CountedLinks:
    """Stands for ``MqttBridge`` and counts links."""

    def __init__(self):
        self.n_started = self.n_alive = self.max_alive = 0
        self.removed = []

    def __call__(self, mqtt, rooms, *, shard):
        return self

    def remove_room(self, room):
        self.removed.append(room)

    async def run(self, pipeline):
        self.n_started, self.n_alive = self.n_started + 1, self.n_alive + 1
        self.max_alive = max(self.max_alive, self.n_alive)
        pipeline.mqtt_status = "connected"
        try:
            await asyncio.Event().wait()
        finally:
            self.n_alive -= 1


def run_here(path, work):
    """Run the service in this process, run a coroutine with its pipeline, and stop it."""
    finished = []

    async def background(pipeline):
        await asyncio.wait_for(work(pipeline), HANG_GUARD)
        finished.append(True)
        os.kill(os.getpid(), signal.SIGTERM)

    config = read_config(path, {})
    with (
        live_service.open_store(config.store, config.shard) as store,
        live_service.listen("127.0.0.1", 0) as listening,
    ):
        asyncio.run(live_service.run(config, store, [listening], background))
    assert finished


def send_sighup():
    os.kill(os.getpid(), signal.SIGHUP)
