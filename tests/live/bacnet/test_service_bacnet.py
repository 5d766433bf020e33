"""BACnet in the running service: states of rooms, reload, the port, and the package."""

import asyncio
import contextlib
import signal
import socket
import subprocess
import sys
import time

import pytest
from command import occupair
from live.bacnet.bacnet_client import (
    ANALOG_VALUE,
    PRESENT_VALUE,
    STATUS_FLAGS,
    BacnetClient,
    Refused,
    real,
)
from live.bacnet.bacnet_device import FAULT, LOW, NORMAL, OCCUPIED, PEOPLE
from live.bacnet_service import FastService
from live.ports import free_port
from live.waiting import wait_for

from tools.simulated_bms import Bms

pytestmark = pytest.mark.slow

POINTS = [
    {"object": "analog-input,1", "name": "CO2", "value": 600},
    {"object": "binary-input,1", "name": "fan", "value": "active"},
]


def read_object(address, name):
    """Return the properties of an object, as `occupair bacnet read` prints them."""
    done = occupair("bacnet", "read", address, name, "--address", "127.0.0.1", "--port", free_port())
    return dict(line.split(maxsplit=1) for line in done.stdout.splitlines() if len(line.split()) > 1)


def discover(address):
    own = ("--address", "127.0.0.1", "--port", free_port())
    return occupair("bacnet", "discover", "--to", address, *own).stdout


def room_text(room, port, more=""):
    co2, fan = (f'{{ bacnet = "127.0.0.1:{port}", object = "{one["object"]}" }}' for one in POINTS)
    return f"[rooms.{room}]\nco2 = {co2}\nventilation = {fan}\n{more}"


def test_vanished_device_makes_only_its_room_stale_until_it_returns(tmp_path, model, start):
    model.save(tmp_path / "model.occupair")
    ports = [free_port(), free_port()]
    more = 'model = "model.occupair"\nstale_after = 0.1\n'
    rooms = "".join(room_text(name, port, more) for name, port in zip(("gone", "other"), ports, strict=True))
    with Bms([{"port": port, "instance": port, "points": POINTS} for port in ports]) as bms:
        service = start(FastService(tmp_path, rooms=rooms, interval=0.5))

        def quality(room):
            time.sleep(0.3)
            return service.get(f"/api/rooms/{room}")["state"]["quality"]

        wait_for(lambda: quality("gone") != "stale" and quality("other") != "stale")
        own = f"127.0.0.1:{service.bacnet_port}"  # the counts are objects of the same device
        wait_for(lambda: "600" in read_object(own, "analog-value,24").get("present-value", ""))
        assert read_object(own, "analog-value,24")["object-name"] == "other.co2"
        found = discover(own)
        assert f"# {own}: device 4000000, occupair, a service of its own" in found
        assert "[rooms." not in found
        bms.command(down=ports[:1])
        wait_for(lambda: quality("gone") == "stale")
        wait_for(lambda: quality("other") != "stale")
        assert service.health() == "degraded"
        assert service.bacnet_status() == f"no answer from 1 of 2 devices: 127.0.0.1:{ports[0]}"
        bms.command(up=ports[:1])
        wait_for(lambda: quality("gone") != "stale")
        wait_for(lambda: service.bacnet_status() == "connected")
        wait_for(lambda: bms.ask(ports[0])["subscriptions"] == 2)

        # a room moves to another device, and BACnet is switched off
        text = service.path.read_text()
        service.path.write_text(text.replace(f"127.0.0.1:{ports[0]}", f"127.0.0.1:{ports[1]}"))
        service.signal(signal.SIGHUP)
        wait_for(lambda: bms.ask(ports[0])["subscriptions"] == 0)
        wait_for(lambda: service.bacnet_status() == "connected")
        wait_for(lambda: bms.ask(ports[1])["subscriptions"] == 2)
        service.path.write_text(text.partition("[bacnet]")[0] + "[rooms.gone]\n")
        service.signal(signal.SIGHUP)
        wait_for(lambda: service.bacnet_status() == "off")
        assert service.stop() == 0
    assert "Traceback" not in service.log.read_text()


def serve(path, *words):
    command = [sys.executable, *words, "serve", str(path)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def settings(tmp_path, bacnet_port, more=""):
    path = tmp_path / "rooms.toml"
    service = f"[service]\nport = {free_port()}\n"
    bacnet = f'[bacnet]\naddress = "127.0.0.1"\ndevice = 5\nport = {bacnet_port}\n'
    path.write_text(f"{service}{bacnet}{more or room_text('lab', free_port())}")
    return path


def test_port_in_use_ends_the_service_with_one_line(tmp_path):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        done = serve(settings(tmp_path, port), "-m", "occupair")
    assert done.returncode == 2
    assert done.stderr == (
        f"occupair: cannot use UDP 127.0.0.1:{port} for BACnet: Address already in use: "
        "stop the other program, or choose another port\n"
    )


def test_missing_package_is_one_line(tmp_path):
    without = (
        "import sys, importlib.util as u; find = u.find_spec; "
        "u.find_spec = lambda name, *rest: None if name == 'bacpypes3' else find(name, *rest); "
        "sys.modules['bacpypes3'] = None; from occupair.__main__ import main; main()"
    )
    done = serve(settings(tmp_path, free_port()), "-c", without)
    assert done.returncode == 2
    assert done.stderr == (
        "occupair: BACnet requires packages that are not installed: pip install 'occupair[bacnet]'\n"
    )


def test_service_without_bacnet_does_not_load_the_package():
    code = "import sys, occupair.live.service; print('bacpypes3' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert done.stdout == "False\n"


def test_unknown_object_type_is_found_before_the_start(tmp_path):
    rooms = '[rooms.lab]\nco2 = { bacnet = "10.0.2.7", object = "analogue-input,1" }\n'
    path = settings(tmp_path, free_port(), rooms)
    line = path.read_text().splitlines().index(rooms.splitlines()[1]) + 1
    done = occupair("serve", path)
    assert (done.returncode, done.stderr) == (
        2,
        f"occupair: {path}, line {line}, rooms.lab.co2.object: has an unknown object type, "
        "use for example analog-input, got 'analogue-input,1'\n",
    )


def test_counts_are_objects_whose_numbers_survive_restarts_and_whose_subscriptions_survive_a_reload(
    tmp_path, office, model, start
):
    model.save(tmp_path / "model.occupair")
    text = '[rooms.lab]\nmodel = "model.occupair"\n'
    service = start(FastService(tmp_path, rooms=text, interval=60, more='clock = "readings"'))
    day = office.iloc[3 * 288 : 4 * 288]
    noon = 144

    def post(first, last):
        rows = day.iloc[first:last]
        readings = [
            {"time": time.isoformat(), "co2": one.co2, "ventilation": one.ventilation}
            for time, one in zip(rows.index, rows.itertuples(), strict=True)
        ]
        service.post("/api/rooms/lab/readings", readings)
        return service.get("/api/rooms/lab")["state"]

    async def read(target):
        async with BacnetClient.connect(service.bacnet_port) as client:
            return await client.read(target, PRESENT_VALUE), await client.read(target, STATUS_FLAGS)

    async def exchange():
        async with BacnetClient.connect(service.bacnet_port) as client:
            await until_answered(client, PEOPLE)
            before = await client.read(PEOPLE, STATUS_FLAGS)
            state = await asyncio.to_thread(post, 0, noon)
            await until_equal(client, PEOPLE, state["people"])
            assert await client.read(LOW, PRESENT_VALUE) == pytest.approx(state["low"], abs=1e-4)
            assert await client.read(OCCUPIED, PRESENT_VALUE) == int(state["people"] > 0)
            with pytest.raises(Refused):
                await client.write(PEOPLE, PRESENT_VALUE, real(99.0))
            await client.subscribe(PEOPLE)
            assert (await client.notification()).values[PRESENT_VALUE] == state["people"]
            # another room that would come first in any sorted order
            service.path.write_text(service.path.read_text() + "[rooms.annex]\n")
            service.signal(signal.SIGHUP)
            second = (ANALOG_VALUE, 21)
            await until_answered(client, second)
            assert await client.read(second, STATUS_FLAGS) == FAULT
            later = await asyncio.to_thread(post, noon, 288)
            while (await client.notification()).values[PRESENT_VALUE] != later["people"]:
                pass
            return before, later

    before, later = asyncio.run(exchange())
    assert before == FAULT
    service.kill()
    service.path.write_text(service.path.read_text().replace(text, "") + text)  # annex is first in the file
    service.start()

    async def is_back():
        with contextlib.suppress(Refused):
            return await read(PEOPLE) == (later["people"], NORMAL)

    wait_for(lambda: asyncio.run(is_back()))
    assert service.stop() == 0
    assert "Traceback" not in service.log.read_text()


async def until_equal(client, target, value):
    while await client.read(target, PRESENT_VALUE) != value:
        await asyncio.sleep(0.05)


async def until_answered(client, target):
    while True:
        with contextlib.suppress(Refused):
            return await client.read(target, PRESENT_VALUE)
        await asyncio.sleep(0.05)
