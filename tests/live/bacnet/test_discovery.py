"""`occupair bacnet discover` and `read`, against simulated devices."""

import contextlib
import os
import subprocess
import sys
import tomllib

import pytest
from bacpypes3.primitivedata import ObjectIdentifier
from command import occupair
from live.ports import free_port

from occupair.live.bacnet.discovery import (
    Co2Point,
    FoundDevice,
    co2_point,
    describe_properties,
    settings_lines,
)
from occupair.live.config import read_config
from tools.simulated_bms import Bms

POINTS = [
    {"object": "analog-input,12", "name": "R2.14 CO2", "value": 612.4},
    {"object": "analog-input,13", "name": "R2.15 air quality", "value": 455, "description": "duct sensor"},
    {"object": "analog-value,1", "name": "CO₂ Halle", "value": 0.0625, "units": "percent"},
    {"object": "analog-value,2", "name": "CO2 corridor", "value": 500, "units": "no-units"},
    {"object": "analog-value,3", "name": "R2.14 CO2 setpoint", "value": 900},
    {"object": "analog-value,4", "name": "R2.14 VOC", "value": 3},
    {"object": "analog-value,5", "name": "R2.14 temperature", "value": 21, "units": "degrees-celsius"},
    {"object": "analog-value,6", "name": 'R9 "CO2"\n[rooms.evil]', "value": 700},
    {"object": "binary-input,1", "name": "CO2 alarm", "value": "inactive"},
]


OWN = ("--address", "127.0.0.1")


def child(*words, prefix=()):
    """Run a command in a process of its own, which a prefix may move to another network."""
    command = [*prefix, sys.executable, "-m", "occupair", "bacnet", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


@pytest.fixture
def here():
    """Options of an own address on this machine."""
    return "--address", "127.0.0.1", "--port", str(free_port())


@contextlib.contextmanager
def two_namespaces():
    """Two network namespaces that are connected, as ``ip`` commands to run a program in each."""
    names = [f"occupair{os.getpid()}{end}" for end in "ab"]
    run = lambda *words: subprocess.run(["ip", *words], check=True, capture_output=True)  # noqa: E731
    try:
        for name in names:
            run("netns", "add", name)
        run("link", "add", "veth0", "netns", names[0], "type", "veth", "peer", "veth0", "netns", names[1])
        for number, name in enumerate(names, start=1):
            run("-n", name, "addr", "add", f"10.77.0.{number}/24", "broadcast", "10.77.0.255", "dev", "veth0")
            run("-n", name, "link", "set", "veth0", "up")
            run("-n", name, "link", "set", "lo", "up")
        yield [("ip", "netns", "exec", name) for name in names]
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


@contextlib.contextmanager
def building():
    """Run two devices; yield a function that runs a command beside them, and their addresses.

    By broadcast between two network namespaces if this user may create them, else by directed requests.
    """
    with contextlib.ExitStack() as stack:
        try:
            ours, theirs = stack.enter_context(two_namespaces())
        except (OSError, subprocess.CalledProcessError):
            ports = [free_port(), free_port()]
            devices = [{"port": p, "instance": 1201 + k, "points": POINTS} for k, p in enumerate(ports)]
            stack.enter_context(Bms(devices))
            own = ("--address", "127.0.0.1", "--port", str(free_port()))
            to = [word for port in ports for word in ("--to", f"127.0.0.1:{port}")]
            yield lambda *words: child(*words, *own, *to), [f"127.0.0.1:{port}" for port in ports]
        else:
            device = {"port": 47808, "address": "10.77.0.2/24", "instance": 1201, "points": POINTS}
            stack.enter_context(Bms([device], prefix=theirs))
            own = ("--address", "10.77.0.1/24")
            yield lambda *words: child(*words, *own, prefix=ours), ["10.77.0.2"]


def test_discovered_points_are_settings(tmp_path):
    with building() as (run, addresses):
        done = run("discover", "--timeout", "3")
        nothing = run("discover", "--low", "1", "--high", "5", "--timeout", "0.5")
    assert (done.returncode, nothing.returncode) == (0, 0)
    assert nothing.stdout == ""
    assert nothing.stderr == "occupair: 0 devices, 0 CO2 points\n"
    assert f"# {addresses[0]}: device 1201, AHU 1201, 11 objects" in done.stdout.splitlines()
    assert "# analog-value,2 CO2 corridor: must be in ppm, got no unit: correct the unit" in done.stdout
    path = tmp_path / "rooms.toml"
    path.write_text(f'[bacnet]\naddress = "10.77.0.1/24"\ndevice = 5\n{done.stdout}', encoding="utf-8")
    rooms = list(read_config(path, {}).rooms.values())[:3]
    assert [(room.id, room.name, room.co2.bacnet, room.co2.object, room.co2.cov) for room in rooms] == [
        ("r2-14", "R2.14", addresses[0], "analog-input,12", True),
        ("r2-15-air-quality", "R2.15 air quality", addresses[0], "analog-input,13", True),
        ("r9-rooms-evil", 'R9 "CO2" [rooms.evil]', addresses[0], "analog-value,6", True),
    ]
    comments = [line.partition("  # ")[2] for line in done.stdout.splitlines() if line.startswith("co2 = ")]
    assert comments[:3] == ["612 ppm", "455 ppm", "700 ppm"]
    assert "# analog-value,1 CO₂ Halle: is in percent, add it if it is a CO2 concentration" in done.stdout
    assert done.stderr.endswith(f", {3 * len(addresses)} CO2 points\n")


@pytest.mark.parametrize(
    ("name", "id_", "display"),
    [
        ("R2.14 CO2", "r2-14", "R2.14"),
        ("R214_co2", "r214", "R214"),
        ("Büro - Kohlendioxid", "buero", "Büro"),
        ("CO2 Halle", "halle", "CO2 Halle"),
        ("CO₂", "room-1", "CO₂"),
        ("Кухня CO2", "room-1", "Кухня"),
    ],
)
def test_room_is_named_without_its_quantity(name, id_, display):
    device = FoundDevice("10.0.2.7", 1201, points=(Co2Point("analog-input,12", name, 612.0),))
    rooms = tomllib.loads("\n".join(settings_lines([device])))["rooms"]
    assert {key: room["name"] for key, room in rooms.items()} == {id_: display}


def test_devices_of_little_ability_are_discovered(here):
    """No ReadPropertyMultiple, no COV, and an answer that is not in the first second."""
    device = {"port": free_port(), "instance": 7, "points": POINTS[:1], "multiple": False, "delay": 0.1}
    with Bms([device]) as bms:
        done = occupair("bacnet", "discover", *here, "--to", f"127.0.0.1:{device['port']}", "--low", "7")
        requests = bms.totals()
    assert "[rooms.r2-14]" in done.stdout.splitlines()
    assert done.stderr == "occupair: 1 device, 1 CO2 point\n"
    assert not [name for name in requests if "Write" in name or "Subscribe" in name]


@pytest.mark.parametrize("units", ["ppm", [96, 96], -1])
def test_point_with_invalid_units_is_a_comment(units):
    point = co2_point(
        "10.0.2.7",
        ObjectIdentifier("analog-input,3"),
        {"object-name": "CO2", "present-value": 600.0, "units": units},
    )
    lines = settings_lines([FoundDevice("10.0.2.7", 1, points=(point,))])
    assert lines[1] == f"# analog-input,3 CO2: has invalid units, got '{units}': correct the device"


def test_odd_properties_are_described():
    odd = {"units": "ppm", "reliability": [1, 2], "status-flags": 3, "out-of-service": None}
    assert describe_properties(odd) == {
        "units": "ppm",
        "reliability": "[1, 2]",
        "status-flags": "3",
        "out-of-service": "false",
    }


def test_point_is_read(here):
    device = {"port": free_port(), "instance": 7, "points": POINTS}
    address = f"127.0.0.1:{device['port']}"
    with Bms([device]) as bms:
        done = occupair("bacnet", "read", address, "analog-input,12", *here)
        bms.set(device["port"], "analog-input,12", reliability="no-sensor", fault=1)
        faulty = occupair("bacnet", "read", address, "analog-input,12", *here)
        missing = occupair("bacnet", "read", address, "analog-input,99", *here)
    lines = dict(line.split(maxsplit=1) for line in done.stdout.splitlines() if len(line.split()) > 1)
    assert lines["object-name"] == "R2.14 CO2"
    assert float(lines["present-value"]) == pytest.approx(612.4, abs=1e-4)
    assert (lines["units"], lines["status-flags"]) == ("parts-per-million", "none")
    assert lines["as"] == "co2          612.4 ppm"
    assert "no reading: is faulty (no-sensor)" in faulty.stdout
    assert (missing.returncode, missing.stderr) == (
        2,
        f"occupair: {address}: has no object analog-input,99\n",
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["discover", "--address", "10.0.0"], "--address must be an IPv4 address, best with its network"),
        (["discover", *OWN], "the address must have the length of its network mask to find devices"),
        (["discover", *OWN, "--to", "x"], "--to must be IP, IP:PORT or NETWORK:STATION"),
        (["read", "x", "analog-input,1", *OWN], "ADDRESS must be IP, IP:PORT or NETWORK:STATION"),
        (["discover", *OWN, "--low", "9", "--high", "1"], "--low and --high must be a range up to 4194302"),
        (["discover", *OWN, "--bbmd", "a"], "--bbmd must be IP or IP:PORT"),
        (["read", "127.0.0.1", "co2", *OWN], "OBJECT must be a type and an instance number"),
        (
            ["read", "10.0.2.7", "gas-sensor,1", *OWN],
            "OBJECT has an unknown object type, use",
        ),
    ],
)
def test_mistakes_are_one_line(words, message):
    done = occupair("bacnet", *words, "--port", str(free_port()))
    assert done.returncode == 2
    assert done.stderr.startswith(f"occupair: {message}")
    assert done.stderr.count("\n") == 1


def test_silent_device_is_one_line(here):
    done = occupair("bacnet", "read", f"127.0.0.1:{free_port()}", "analog-input,1", *here)
    assert done.returncode == 2
    assert done.stderr.endswith(": no answer\n")
