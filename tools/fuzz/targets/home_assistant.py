"""Options of the Home Assistant app: options.json."""

from __future__ import annotations

from random import Random

from occupair.live.home_assistant import OPTIONS, ROOM_OPTIONS, read_options, read_settings
from tools.fuzz.json_mutations import json_bytes, mutate_json
from tools.fuzz.scratch import scratch_file, scratch_folder
from tools.fuzz.targets.settings import check_config

ONE_LINE = False
_EXAMPLE = {
    "access": "write",
    "timezone": "Europe/Copenhagen",
    "retention_days": 400,
    "log_level": "info",
    "mqtt_host": "core-mosquitto",
    "mqtt_port": 1883,
    "mqtt_user": "occupair",
    "mqtt_password": "secret",
    "mqtt_tls": False,
    "rooms": [
        {"name": "Lab", "co2": "zigbee2mqtt/lab", "capacity": 12, "volume": 90, "closed": "22:00-06:00"},
        {"id": "hall", "name": "Halle Süd", "co2": "hall", "co2_path": "a.b[0]", "ventilation": "fan",
         "ventilation_full": 100, "area": 30, "capacity": 6, "height": 2.5, "interval": 10, "floor": "1"},
    ],
}  # fmt: skip
_NAMES = (*OPTIONS, *ROOM_OPTIONS, "rooms", "__class__")


def generate(random: Random) -> bytes:
    return json_bytes(mutate_json(_EXAMPLE, random, _NAMES), random)


def run(data: bytes) -> None:
    folder = scratch_folder()
    options = read_options(scratch_file("options.json", data))
    check_config(read_settings(options, {}, broker=None, config=folder / "no-config", folder=folder / "data"))
