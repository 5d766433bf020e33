"""The keys of the settings: what tables there are, what is in them, and the rule of each."""

from __future__ import annotations

from occupair.live.config import rules
from occupair.live.config.rules import Rule

SERVICE = {
    "store": rules.STORE,
    "host": rules.HOST,
    "port": rules.PORT,
    "timezone": rules.TIMEZONE,
    "retention_days": rules.whole(1, 36_500),
    "clock": rules.one_of("wall", "readings"),
    "log": rules.one_of("json", "text"),
    "log_level": rules.one_of("debug", "info", "warning", "error"),
    "room_metrics": rules.FLAG,
    "tolerance": rules.number(above=0, most=1),
}
MQTT = {
    "host": rules.HOST,
    "port": rules.PORT,
    "user": rules.TEXT,
    "password": rules.SECRET,
    "password_file": rules.FILE,
    "tls": rules.FLAG,
    "ca_file": rules.FILE,
    "cert_file": rules.FILE,
    "key_file": rules.FILE,
    "version": rules.one_of("5", "3.1.1"),
    "client_id": rules.TEXT,
    "prefix": rules.PREFIX,
    "discovery_prefix": rules.PREFIX,
    "discovery": rules.FLAG,
    "session_expiry": rules.whole(0, 4_294_967_295),
}
LIMITS = {
    "requests_per_minute": rules.whole(1, 1_000_000),
    "body_bytes": rules.whole(1_000, 1_000_000_000),
    "readings_per_post": rules.whole(1, 1_000_000),
    "people_per_label": rules.whole(1, 1_000_000),
}
TOKEN = {"role": rules.one_of("read", "write", "admin"), "hash": rules.HASH}
CO2 = {
    "topic": rules.TOPIC,
    "shape": rules.one_of("auto", "number", "zigbee2mqtt", "tasmota", "json"),
    "path": rules.TEXT,
    "time_path": rules.TEXT,
}
VENTILATION = CO2 | {"full": rules.number(above=0, most=1e9)}
ROOM = {
    "name": rules.TEXT,
    "model": rules.FILE,
    "timezone": rules.TIMEZONE,
    "co2": Rule(lambda value: value),
    "ventilation": Rule(lambda value: value),
    "floor": rules.TEXT,
    "stale_after": rules.number(above=0, most=1440),
    "capacity": rules.whole(1, 1_000_000),
}
SECTIONS = ("service", "mqtt", "limits", "tokens", "rooms")
BY_VARIABLE = {
    f"OCCUPAIR_{start}{key.upper()}": ((section, key), rule)
    for section, start, known in (
        ("service", "", SERVICE),
        ("mqtt", "MQTT__", MQTT),
        ("limits", "LIMITS__", LIMITS),
    )
    for key, rule in known.items()
}
