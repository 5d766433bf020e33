"""The Device object of the service."""

from __future__ import annotations

from typing import Any

from bacpypes3.basetypes import ObjectTypesSupported
from bacpypes3.constructeddata import ArrayOf
from bacpypes3.local.device import DeviceObject
from bacpypes3.primitivedata import ObjectIdentifier

from occupair._version import __version__

MODEL = "occupair"
"""Model name, by which a service recognises others of its kind."""
_OBJECT_TYPES = ("analogValue", "binaryValue", "device", "networkPort")
_ObjectIdentifiers = ArrayOf(ObjectIdentifier)


class RoomDevice(DeviceObject):  # type: ignore[misc]
    """The Device object, with a list of objects that clients may read one by one.

    bacpypes3 makes the whole list for each of its elements: 15 ms with the objects of 10,000 rooms. Here it
    is made once, and again when ``databaseRevision`` or the number of objects changes.

    Parameters
    ----------
    instance : int
        Device instance number.
    name : str
        Object name, which is unique in the BACnet network.
    **properties
        Other properties, such as ``maxApduLengthAccepted``.
    """

    def __init__(self, instance: int, name: str, **properties: Any) -> None:
        self._listed: tuple[tuple[int, int], Any] | None = None
        super().__init__(
            objectIdentifier=("device", instance),
            objectName=name,
            vendorName="occupair",
            modelName=MODEL,
            description="Occupancy of rooms, estimated from CO2",
            applicationSoftwareVersion=__version__,
            **properties,
        )

    @property
    def objectList(self) -> Any:
        """Identifiers of all objects."""
        if self._app is None:
            return _ObjectIdentifiers([self.objectIdentifier])
        objects = self._app.objectIdentifier
        state = int(self.databaseRevision), len(objects)
        if self._listed is None or self._listed[0] != state:
            self._listed = state, _ObjectIdentifiers(list(objects))
        return self._listed[1]

    @objectList.setter
    def objectList(self, value: Any) -> None:
        """Ignore a list: the objects are those of the application."""

    @property
    def protocolObjectTypesSupported(self) -> Any:
        """Types of objects in this device."""
        supported = ObjectTypesSupported([])
        for name in _OBJECT_TYPES:
            supported[getattr(ObjectTypesSupported, name)] = 1
        return supported

    @protocolObjectTypesSupported.setter
    def protocolObjectTypesSupported(self, value: Any) -> None:
        """Ignore types: they are constant."""
