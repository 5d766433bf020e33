"""BACnet in the running service: states of rooms, reload, the port, and the package."""

import signal
import socket
import subprocess
import sys
import time

from live.bacnet_service import FastService
from live.ports import free_port
from live.waiting import wait_for

from tools.simulated_bms import Bms

CO2 = {"object": "analog-input,1", "name": "CO2", "value": 600}


def room_text(room, port, more=""):
    point = f'bacnet = "127.0.0.1:{port}", object = "analog-input,1"'
    return f"[rooms.{room}]\nco2 = {{ {point} }}\n{more}"


def test_vanished_device_makes_only_its_room_stale_until_it_returns(tmp_path, model, start):
    model.save(tmp_path / "model.occupair")
    ports = [free_port(), free_port()]
    more = 'model = "model.occupair"\nstale_after = 0.1\n'
    rooms = "".join(room_text(name, port, more) for name, port in zip(("gone", "other"), ports, strict=True))
    with Bms([{"port": port, "instance": port, "points": [CO2]} for port in ports]) as bms:
        service = start(FastService(tmp_path, rooms=rooms, interval=0.5))

        def quality(room):
            time.sleep(0.3)
            return service.get(f"/api/rooms/{room}")["state"]["quality"]

        wait_for(lambda: quality("gone") != "stale" and quality("other") != "stale")
        bms.command(down=ports[:1])
        wait_for(lambda: quality("gone") == "stale")
        wait_for(lambda: quality("other") != "stale")
        assert service.health() == "degraded"
        assert service.bacnet_status() == f"no answer from 1 of 2 devices: 127.0.0.1:{ports[0]}"
        bms.command(up=ports[:1])
        wait_for(lambda: quality("gone") != "stale")
        wait_for(lambda: service.bacnet_status() == "connected")
        wait_for(lambda: bms.ask(ports[0])["subscriptions"] == 1)

        # a room moves to another device, and BACnet is switched off
        text = service.path.read_text()
        service.path.write_text(text.replace(f"127.0.0.1:{ports[0]}", f"127.0.0.1:{ports[1]}"))
        service.signal(signal.SIGHUP)
        wait_for(lambda: bms.ask(ports[0])["subscriptions"] == 0)
        wait_for(lambda: service.bacnet_status() == "connected")
        wait_for(lambda: bms.ask(ports[1])["subscriptions"] == 1)
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
    done = serve(settings(tmp_path, free_port(), rooms), "-m", "occupair")
    assert (done.returncode, done.stderr) == (
        2,
        "occupair: rooms.lab.co2.object: BACnet has no type 'analogue-input', such as analog-input\n",
    )
