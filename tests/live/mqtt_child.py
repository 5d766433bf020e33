"""A process with a link that keeps readings in a file, to be killed: ``mqtt_child.py PORT VERSION FILE``."""

import asyncio
import os
import random
import sys

from live.mqtt_parts import LAB, FakePipeline, state

from occupair.live.config import MqttConfig
from occupair.live.mqtt.link import MqttLink


class FilePipeline(FakePipeline):
    def __init__(self, path):
        super().__init__([state()])
        self._file = open(path, "a")  # noqa: SIM115

    async def submit(self, readings):
        await asyncio.sleep(random.uniform(0, 0.005))
        self._file.write("".join(f"{reading.co2:g}\n" for reading in readings))
        self._file.flush()
        os.fsync(self._file.fileno())
        await asyncio.sleep(random.uniform(0, 0.005))
        return await super().submit(readings)


async def main():
    port, version, path = sys.argv[1:]
    link = MqttLink(
        MqttConfig(host="127.0.0.1", port=int(port), version=version),
        {"lab": LAB},
        first_wait=0.05,
        longest_wait=0.2,
    )
    await link.run(FilePipeline(path))


if __name__ == "__main__":
    asyncio.run(main())
