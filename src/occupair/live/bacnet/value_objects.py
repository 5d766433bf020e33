"""BACnet objects that hold one value of a room each: Analog Value and Binary Value.

``Object.__init__`` of bacpypes3 sets every property that an object does not have to None, and looks each of
them up with ``inspect.getattr_static`` before: 1 ms per Analog Value, 50 s for the objects of 10,000 rooms.
The classes here declare only the properties they have, share values that are the same in many objects, and
set the others themselves. Values are passed with the type of their property, or bacpypes3 would copy them.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from bacpypes3.basetypes import BinaryPV, EngineeringUnits, EventState, Reliability, StatusFlags
from bacpypes3.constructeddata import ArrayOf
from bacpypes3.object import Object
from bacpypes3.primitivedata import (
    Boolean,
    CharacterString,
    ObjectIdentifier,
    ObjectType,
    PropertyIdentifier,
    Real,
)

NO_FAULT, UNRELIABLE = Reliability("no-fault-detected"), Reliability("unreliable-other")
_NO_FLAGS, _FAULT = StatusFlags([0, 0, 0, 0]), StatusFlags([0, 1, 0, 0])
_NAN, _INACTIVE, _ACTIVE = Real(math.nan), BinaryPV(0), BinaryPV(1)
_LISTED = ("presentValue", "statusFlags", "eventState", "reliability", "outOfService", "description")


class Report(NamedTuple):
    """What a COV notification reports."""

    value: Any
    status_flags: Any


class RoomValue(Object):  # type: ignore[misc]
    """A read-only value of a room, with the properties common to all types of objects.

    An unknown value has a reliability other than ``no-fault-detected``, and with it the fault flag.

    Parameters
    ----------
    instance : int
        Instance number.
    name, description : str
        Object name, which is unique in the device, and description.
    """

    statusFlags: StatusFlags
    eventState: EventState
    reliability: Reliability
    outOfService: Boolean
    eventState = EventState("normal")
    outOfService = Boolean(False)

    def __init__(self, instance: int, name: str, description: str) -> None:
        self.objectIdentifier = ObjectIdentifier((self.objectType, instance))
        self.objectName = CharacterString(name)
        self.description = CharacterString(description)
        self._app = None
        self.set_value(None, UNRELIABLE)

    def set_value(self, value: float | None, reliability: Any) -> None:
        """Set the value, None if it is unknown, and the reliability with its status flag."""
        self.presentValue = self._to_present_value(value)
        self.reliability = reliability
        self.statusFlags = _NO_FLAGS if reliability == NO_FAULT else _FAULT

    def report(self) -> Report:
        """Return what a COV notification reports now."""
        return Report(self.presentValue, self.statusFlags)

    def has_changed(self, since: Report) -> bool:
        """Whether the value or the status flags changed enough for a COV notification."""
        return bool(since.status_flags != self.statusFlags) or self._value_has_changed(since.value)

    def _to_present_value(self, value: float | None) -> Any:
        raise NotImplementedError

    def _value_has_changed(self, since: Any) -> bool:
        raise NotImplementedError


class AnalogValue(RoomValue):
    """A number; NaN while it is unknown, which no client can mistake for a count."""

    _required = ("presentValue", "statusFlags", "eventState", "outOfService", "units", "covIncrement")
    objectType = ObjectType("analogValue")
    presentValue: Real
    units: EngineeringUnits
    covIncrement: Real
    propertyList = ArrayOf(PropertyIdentifier)([*_LISTED, "units", "covIncrement"])

    def __init__(self, instance: int, name: str, description: str, *, units: Any, increment: Any) -> None:
        self.units, self.covIncrement = units, increment
        super().__init__(instance, name, description)

    def _to_present_value(self, value: float | None) -> Any:
        return _NAN if value is None else Real(float(value))

    def _value_has_changed(self, since: Any) -> bool:
        return bool(abs(self.presentValue - since) >= self.covIncrement)  # False for NaN


class BinaryValue(RoomValue):
    """A state; active while it is unknown, so that a client that ignores the fault flag ventilates."""

    _required = ("presentValue", "statusFlags", "eventState", "outOfService")
    objectType = ObjectType("binaryValue")
    presentValue: BinaryPV
    inactiveText: CharacterString
    activeText: CharacterString
    propertyList = ArrayOf(PropertyIdentifier)([*_LISTED, "inactiveText", "activeText"])

    def __init__(self, instance: int, name: str, description: str, *, inactive: Any, active: Any) -> None:
        self.inactiveText, self.activeText = inactive, active
        super().__init__(instance, name, description)

    def _to_present_value(self, value: float | None) -> Any:
        return _INACTIVE if value is not None and not value else _ACTIVE

    def _value_has_changed(self, since: Any) -> bool:
        return bool(self.presentValue != since)
