"""A process with an MQTT bridge that stores readings in a file: ``mqtt_process.py PORT VERSION FILE``."""

import asyncio
import os
import random
import sys

from live.mqtt_helpers import LAB, FakePipeline, state

from occupair.live.config import MqttConfig
from occupair.live.mqtt.bridge import MqttBridge


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
    bridge = MqttBridge(
        MqttConfig(host="127.0.0.1", port=int(port), version=version),
        {"lab": LAB},
        first_delay=0.05,
        max_delay=0.2,
    )
    await bridge.run(FilePipeline(path))


if __name__ == "__main__":
    asyncio.run(main())
