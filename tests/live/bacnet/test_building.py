"""The real service against a simulated BMS of 50 devices with 500 points."""

import json
import math
import sqlite3

import pytest
from live.bacnet_service import FastService
from live.ports import free_port
from live.waiting import wait_for

from tools.simulated_bms import Bms

pytestmark = pytest.mark.slow

DEVICES, ROOMS_EACH = 50, 5
KINDS = (  # of devices, in turn
    {},
    {"multiple": False},
    {"cov": False},
    {"cov": False, "batch": 3, "delay": 0.2},
    {"batch": 1},
)


def make_device(number):
    points = []
    for room in range(ROOMS_EACH):
        points.append({"object": f"analog-input,{room}", "name": f"CO2 {room}", "value": co2(number, room)})
        fan = {
            "object": f"analog-value,{room}",
            "name": f"fan {room}",
            "units": "percent",
            "value": 25 * room,
        }
        points.append(fan)
    return {"port": free_port(), "instance": 100 + number, "points": points, **KINDS[number % len(KINDS)]}


def co2(device, room):
    return 450.0 + 10 * device + room


def room_name(device, room):
    return f"d{device:02d}-r{room}"


def settings_of(devices, cov=True):
    lines = []
    for number, device in enumerate(devices):
        for room in range(ROOMS_EACH):
            address = f'bacnet = "127.0.0.1:{device["port"]}", cov = {json.dumps(cov)}'
            lines += [
                f"[rooms.{room_name(number, room)}]",
                f'co2 = {{ {address}, object = "analog-input,{room}" }}',
                f'ventilation = {{ {address}, object = "analog-value,{room}" }}',
            ]
    return "\n".join(lines) + "\n"


class Stored:
    """The readings in the database of a service."""

    def __init__(self, folder):
        self.path = folder / "rooms.db"

    def query(self, text):
        connection = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, timeout=60)
        try:
            return connection.execute(text).fetchall()
        finally:
            connection.close()

    def newest(self):
        """Return (time, co2, ventilation) of the newest reading with CO2 of each room."""
        rows = self.query(
            "SELECT room, max(time), co2, ventilation FROM readings WHERE co2 > 0 GROUP BY room"
        )
        return {room: values for room, *values in rows}

    def values(self, room):
        return {co2 for (co2,) in self.query(f"SELECT co2 FROM readings WHERE room = '{room}'")}


def all_rooms():
    return {room_name(number, room) for number in range(DEVICES) for room in range(ROOMS_EACH)}


def test_building_with_faults_restarts_and_slow_devices(tmp_path, start):
    devices = [make_device(number) for number in range(DEVICES)]
    ports = [device["port"] for device in devices]
    expected = {
        room_name(number, room): (co2(number, room), room / 4)
        for number in range(DEVICES)
        for room in range(ROOMS_EACH)
    }
    with Bms(devices) as bms:
        bms.set(ports[0], "analog-input,0", fault=1)
        bms.set(ports[1], "analog-input,0", reliability="no-sensor")
        bms.set(ports[2], "analog-input,0", out=1)
        bms.set(ports[3], "analog-input,0", value=math.nan)
        bms.set(ports[4], "analog-input,0", units="degrees-celsius")
        silent = {room_name(number, 0) for number in range(5)}
        bms.set(ports[5], "analog-input,0", overridden=1)
        bms.set(ports[6], "analog-input,0", units="percent", value=0.0625)
        expected[room_name(6, 0)] = (625.0, 0.0)
        bms.set(ports[7], "analog-input,0", value=0.0625)  # percent, but the device states ppm
        expected[room_name(7, 0)] = (0.0625, 0.0)
        service = start(FastService(tmp_path, rooms=settings_of(devices), interval=3.0))
        stored = Stored(tmp_path)
        wait_for(lambda: stored.newest().keys() == expected.keys() - silent)
        wait_for(lambda: service.bacnet_status().startswith("no reading from 5 of 500 points: "))
        for room, (_, *values) in stored.newest().items():
            assert values == list(expected[room]), room
        log = service.log.read_text()
        for text in (
            f"d00-r0, co2: analog-input,0 of BACnet device 127.0.0.1:{ports[0]} is faulty",
            f"d01-r0, co2: analog-input,0 of BACnet device 127.0.0.1:{ports[1]} is faulty (no-sensor)",
            f"d02-r0, co2: analog-input,0 of BACnet device 127.0.0.1:{ports[2]} is out of service",
            f"d03-r0, co2: analog-input,0 of BACnet device 127.0.0.1:{ports[3]} is nan",
            f"127.0.0.1:{ports[4]} must be in ppm, got degrees-celsius: correct the unit in the device",
        ):
            assert text in log

        # COV: a change arrives long before the next read
        wait_for(lambda: bms.ask(ports[10])["subscriptions"] == 2 * ROOMS_EACH)
        assert bms.ask(ports[12])["subscriptions"] == 0
        bms.set(ports[10], "analog-input,3", value=987.0)
        wait_for(lambda: 987.0 in stored.values(room_name(10, 3)))

        # a fault that ends
        bms.set(ports[0], "analog-input,0", fault=0)
        bms.set(ports[1], "analog-input,0", reliability="no-fault-detected")
        wait_for(lambda: {room_name(0, 0), room_name(1, 0)} <= stored.newest().keys())

        # devices of every kind vanish: only their rooms are affected
        gone = range(20, 25)
        bms.command(down=[ports[number] for number in gone])
        wait_for(lambda: "no answer from 5 of 50 devices" in service.bacnet_status())
        assert service.health() == "degraded"
        affected = {room_name(number, room) for number in gone for room in range(ROOMS_EACH)}
        before = stored.newest()
        wait_for(lambda: all(stored.newest()[room][0] > before[room][0] for room in before.keys() - affected))
        wait_for(lambda: all(stored.newest()[room][0] > before[room][0] for room in before.keys() - affected))
        assert {room: stored.newest()[room] for room in affected} == {room: before[room] for room in affected}

        # they return with other values, and without their subscriptions
        changes = [
            [ports[n], f"analog-input,{room}", {"value": 1200.0 + n}] for n in gone for room in range(5)
        ]
        bms.command(set=changes, up=[ports[number] for number in gone])
        wait_for(lambda: all(stored.newest()[room_name(n, 0)][1] == 1200.0 + n for n in gone))
        wait_for(lambda: bms.ask(ports[20])["subscriptions"] == 2 * ROOMS_EACH)
        wait_for(lambda: service.bacnet_status().startswith("no reading from 3 of 500 points: "))

        # the service is killed, and reads on after a restart
        service.kill()
        before = stored.newest()
        bms.set(ports[30], "analog-input,1", value=777.0)
        service.start()
        wait_for(lambda: all(values[0] > before[room][0] for room, values in stored.newest().items()))
        wait_for(lambda: stored.newest()[room_name(30, 1)][1] == 777.0)
        assert service.stop() == 0
        wait_for(lambda: bms.ask(ports[30])["subscriptions"] == 0)
        assert not [name for name in bms.totals() if "Write" in name]
    assert "Traceback" not in service.log.read_text()
