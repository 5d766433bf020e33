"""A BAC0 client reads objects, subscribes to COV and tries to write. It is not our code."""

import asyncio
import json
import math
import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path

from live.bacnet.bacnet_device import free_udp_port, running_device
from live.fake_pipeline import make_state

from occupair.live.messages import Quality

CLIENT = Path(__file__).parent / "bac0_client.py"
TIMEOUT = 300.0
"""Longer than an answer takes on a slow machine [s]."""


class Bac0:
    def __init__(self, process) -> None:
        self.process = process

    async def answer(self) -> dict:
        """Return the next line that is JSON."""
        while line := await asyncio.wait_for(self.process.stdout.readline(), TIMEOUT):
            if line.startswith(b"{"):
                return json.loads(line)
        raise AssertionError("BAC0 has ended")

    def tell(self, line: str) -> None:
        self.process.stdin.write(f"{line}\n".encode())

    async def ask(self, line: str) -> dict:
        self.tell(line)
        return await self.answer()

    async def change(self) -> dict:
        """Return present value and status flags of one notification."""
        two = [await self.answer() for _ in range(2)]
        return {one["property"]: one["changed"] for one in two}


@asynccontextmanager
async def bac0(device, home):
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(CLIENT), device.address, str(free_udp_port()),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        env=os.environ | {"HOME": str(home)}, cwd=home,
    )  # fmt: skip
    try:
        client = Bac0(process)
        assert await client.answer() == {"ready": True}
        yield client
    finally:
        process.kill()
        await process.communicate()


def test_bac0_reads_subscribes_and_cannot_write(tmp_path):
    async def main():
        async with running_device("lab", "kitchen") as device, bac0(device, tmp_path) as client:
            device.pipeline.publish(make_state("lab", 3))
            names = {}
            for kind, instance in (*(("analogValue", 10 + k) for k in (1, 2, 3, 4)), ("binaryValue", 15)):
                names[instance] = (await client.ask(f"read {kind} {instance} objectName"))["value"]
            assert names == {
                11: "lab.people",
                12: "lab.low",
                13: "lab.high",
                14: "lab.co2",
                15: "lab.occupied",
            }
            assert (await client.ask("read analogValue 11 presentValue"))["value"] == 3.0
            assert (await client.ask("read analogValue 14 presentValue"))["value"] == 808.5
            assert (await client.ask("read analogValue 14 units"))["value"] == "parts-per-million"
            assert (await client.ask("read binaryValue 15 presentValue"))["value"] == "active"
            everything = (await client.ask("all analogValue 21"))["values"]
            assert len(everything) == 11
            assert {"kitchen.people", "Kitchen, 1: people, estimated from CO2", "no-units"} < set(everything)

            refused = await client.ask("write analogValue 11 presentValue 9")
            assert "write-access-denied" in refused["error"]
            refused = await client.ask("write binaryValue 15 presentValue inactive - 8")
            assert "write-access-denied" in refused["error"]
            assert (await client.ask("read analogValue 11 presentValue"))["value"] == 3.0

            client.tell("cov analog-value 11")
            assert await client.change() == {"present-value": 3.0, "status-flags": [0, 0, 0, 0]}
            device.pipeline.publish(make_state("lab", 4))
            assert await client.change() == {"present-value": 4.0, "status-flags": [0, 0, 0, 0]}
            device.pipeline.publish(make_state("lab", None, quality=Quality.STALE))
            change = await client.change()
            assert math.isnan(change["present-value"])
            assert change["status-flags"] == [0, 1, 0, 0]
            assert (await client.ask("read analogValue 11 reliability"))["value"] == "communication-failure"
            device.pipeline.publish(make_state("lab", 4))
            assert await client.change() == {"present-value": 4.0, "status-flags": [0, 0, 0, 0]}

    asyncio.run(main())
