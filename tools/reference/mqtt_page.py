"""MQTT topics of the live service, from the functions that publish and read them."""

import datetime as dt
import json

from occupair.live.config import MqttConfig, OutdoorAirTable, RoomConfig
from occupair.live.http.schemas import State
from occupair.live.messages import Quality, RoomState
from occupair.live.mqtt.client import QOS
from occupair.live.mqtt.discovery import discovery_payload, discovery_topic, home_assistant_topic
from occupair.live.mqtt.formats import CO2_KEYS, FORMATS, SENSOR_KEYS, VENTILATION_KEYS
from occupair.live.mqtt.publisher import Publisher
from occupair.live.mqtt.topics import (
    OFFLINE,
    ONLINE,
    availability_topic,
    state_payload,
    state_topic,
    status_topic,
)
from occupair.live.room_shards import parse_shard
from occupair.room.lags import PUBLISHED_FIELDS
from tools.reference.markdown import code, prose, table

MQTT = MqttConfig(host="broker")
ROOM = RoomConfig(
    id="lab",
    name="Laboratory",
    capacity=12,
    area=30.0,
    outdoor_air=OutdoorAirTable(standard="EN 16798-1"),
)
STATE = RoomState(
    room="lab",
    time=dt.datetime(2026, 3, 2, 9, tzinfo=dt.UTC),
    people=12,
    people_exact=12.36,
    low=8.68,
    high=16.9,
    occupied=True,
    co2=703.0,
    co2_smoothed=700.5,
    ventilation=0.4,
    people_refined=tuple(11.25 for _ in PUBLISHED_FIELDS),
    quality=Quality.OK,
    reason="",
    outdoor_air=105.0,
    damper=0.8,
    outdoor_air_people=16.9,
)
"""The state of a room, for the example of a payload."""


def page() -> str:
    shard = parse_shard("2/8")
    room = "<room>"
    published = [
        [state_topic(MQTT, room), "state of a room, JSON", "every change"],
        [
            availability_topic(MQTT, room),
            f"`{ONLINE}` while the room is in the settings, else empty",
            "start, reload",
        ],
        [status_topic(MQTT), f"`{ONLINE}`, or `{OFFLINE}` as last will", "connect, disconnect"],
        [
            status_topic(MQTT, shard),
            "the same of shard 2 of 8, in place of the topic above",
            "connect, disconnect",
        ],
        [
            discovery_topic(MQTT, "ROOM").replace("ROOM", room),
            "Home Assistant device discovery, JSON",
            "start, reload, start of Home Assistant",
        ],
    ]
    rows = [[code(topic), payload, str(QOS), "yes", when] for topic, payload, when in published]
    payload = json.loads(state_payload(STATE))
    return f"""# MQTT topics

`{MQTT.prefix}` is `prefix` and `{MQTT.discovery_prefix}` is `discovery_prefix` in `[mqtt]` of the
[settings](settings.md). `<room>` is the id of a room.

## Published topics

{table(["Topic", "Payload", "QoS", "Retained", "When"], rows)}
## State of a room

`{state_topic(MQTT, "lab")}`:

```json
{json.dumps(payload, indent=2)}
```

{state_table(list(payload))}
Unknown values are `null`. Only rooms with settings for outdoor air have `outdoor_air`, `damper` and
`outdoor_air_people`. Texts are in English.

## Home Assistant entities

`{discovery_topic(MQTT, ROOM.id)}` announces a device with these entities, the last two in rooms with
settings for outdoor air:

{entity_table()}
## Subscribed topics

{table(["Topic", "QoS", "Use"], subscribed_rows())}
## Payload formats

The `shape` of a topic in the [settings](settings.md#sources-of-readings):

{table(["Shape", "Payload", "Keys of the time, in order"], format_rows())}
Values are found in JSON by these keys, or by the `path` of the topic:

{table(["Quantity", "Keys"], key_rows())}"""


def state_table(keys: list[str]) -> str:
    fields = State.model_fields
    types = State.model_json_schema()["properties"]
    rows = []
    for key in keys:
        options = types[key].get("anyOf", [types[key]])
        kinds = [one.get("type", "string") for one in options if one.get("type") != "null"]
        description = (fields[key].description or "").replace(" See `Accept-Language` (en, de).", "")
        rows.append([code(key), " or ".join(kinds), prose(description)])
    return table(["Key", "Type", "Description"], rows)


def entity_table() -> str:
    components = json.loads(discovery_payload(MQTT, ROOM))["components"].values()
    rows = (
        [
            code(one["default_entity_id"].replace(ROOM.id, "<room>", 1)),
            one["name"],
            one.get("unit_of_measurement", ""),
            one.get("device_class", ""),
        ]
        for one in components
    )
    return table(["Entity", "Name", "Unit", "Device class"], rows)


def subscribed_rows() -> list[list[str]]:
    uses = {
        availability_topic(
            MQTT, "+"
        ): "finds rooms that were removed from the settings, to clear their topics",
        home_assistant_topic(MQTT): "announces the rooms again when Home Assistant starts",
    }
    rows = [[code(topic), str(QOS), uses[topic]] for topic in Publisher(MQTT, {}).topics]
    return [["topics of the rooms in the settings", str(QOS), "readings"], *rows]


def format_rows() -> list[list[str]]:
    return [
        [
            code(name),
            "JSON" if one.is_json else "number, or JSON",
            ", ".join(map(code, one.time_keys)) or "`time_path` of the topic",
        ]
        for name, one in FORMATS.items()
    ]


def key_rows() -> list[list[str]]:
    keys = {"co2": CO2_KEYS, "ventilation": VENTILATION_KEYS, **SENSOR_KEYS}
    return [[code(name), ", ".join(map(code, names))] for name, names in keys.items()]
