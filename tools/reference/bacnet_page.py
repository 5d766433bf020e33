"""BACnet objects of the live service, from the code that makes them."""

from occupair.live.bacnet.instance_numbers import DIGITS, object_names
from occupair.live.bacnet.room_objects import AIR, ANALOG, OCCUPIED, RELIABILITY
from occupair.live.config.values import OBJECT_TYPES
from tools.reference.markdown import code, prose, table


def page() -> str:
    return f"""# BACnet objects

The service is one BACnet/IP device, whose address and device instance number are in `[bacnet]` of the
[settings](settings.md). All objects are read-only. The [guide](../bacnet.md) describes discovery, reading
and COV.

## Objects of a room

k is the number of the room, which never changes; `ID` is its id. Only rooms with settings for outdoor air
have the last two objects.

{table(["Object", "Type", "Instance", "Units", "COV increment", "Description"], object_rows())}
The objects of room 12 are {", ".join(map(code, object_names({"lab": 12})["lab"].values()))}.

## Reliability

A value that is unknown has the fault flag in Status_Flags. Analog values are then NaN, and `{OCCUPIED}` is
active.

{table(["Quality of the room", "Reliability"], reliability_rows())}
## Points that can be read

Object types of `object` in the [settings](settings.md#sources-of-readings):
{", ".join(code(name) for name in OBJECT_TYPES)}.
"""


def object_rows() -> list[list[str]]:
    analog = {**ANALOG, **AIR}
    rows = []
    for key, digit in DIGITS.items():
        one = analog.get(key)
        rows.append(
            [
                code(f"ID.{key}"),
                "Binary Value" if one is None else "Analog Value",
                f"10 k + {digit}",
                "" if one is None else str(one.units),
                "every change" if one is None else f"{float(one.increment):g}",
                "inactive: empty, active: occupied" if one is None else prose(one.text),
            ]
        )
    return rows


def reliability_rows() -> list[list[str]]:
    return [[code(str(quality)), str(reliability)] for quality, reliability in RELIABILITY.items()]
