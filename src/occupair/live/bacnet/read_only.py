"""A BACnet application whose objects other devices can read and subscribe to, and nothing else.

``bacpypes3.app.Application`` lets any client overwrite the present value of any object.
"""

from __future__ import annotations

from typing import Any

from bacpypes3.apdu import (
    ConfirmedCOVNotificationRequest,
    ConfirmedRequestPDU,
    ErrorType,
    IAmRequest,
    IHaveRequest,
    ReadPropertyMultipleRequest,
    ReadPropertyRequest,
    RejectPDU,
    SubscribeCOVRequest,
    UnconfirmedCOVNotificationRequest,
    WhoHasRequest,
    WhoIsRequest,
    WritePropertyMultipleError,
    WritePropertyMultipleRequest,
    WritePropertyRequest,
)
from bacpypes3.app import Application
from bacpypes3.basetypes import ObjectPropertyReference, ServicesSupported
from bacpypes3.errors import ExecutionError
from bacpypes3.primitivedata import ObjectIdentifier

from occupair.live.bacnet.cov_services import CovServices

ANSWERED = {
    ReadPropertyRequest: "readProperty",
    ReadPropertyMultipleRequest: "readPropertyMultiple",
    SubscribeCOVRequest: "subscribeCOV",
    WritePropertyRequest: "writeProperty",
    WritePropertyMultipleRequest: "writePropertyMultiple",
    WhoIsRequest: "whoIs",
    WhoHasRequest: "whoHas",
    IAmRequest: "iAm",
    IHaveRequest: "iHave",
    ConfirmedCOVNotificationRequest: "confirmedCOVNotification",
    UnconfirmedCOVNotificationRequest: "unconfirmedCOVNotification",
}
"""The requests that are answered, with their names in Protocol_Services_Supported. Writes are answered with
write-access-denied. All other requests are rejected as unrecognized services, whatever bacpypes3 implements:
CreateObject, DeleteObject, AddListElement, RemoveListElement, ReinitializeDevice, AtomicWriteFile,
DeviceCommunicationControl and others. Requests without a reply, such as TimeSynchronization and WriteGroup,
are ignored."""
_ANY_DEVICE = ObjectIdentifier("device,4194303")


class ReadOnlyApplication(CovServices, Application):  # type: ignore[misc]
    """An application that refuses every request to change or control this device."""

    async def indication(self, apdu: Any) -> None:
        """Handle a request of another device."""
        if type(apdu) in ANSWERED:
            await super().indication(apdu)
        elif isinstance(apdu, ConfirmedRequestPDU):
            await self.response(RejectPDU(reason="unrecognizedService", context=apdu))

    def get_services_supported(self) -> Any:
        """Return Protocol_Services_Supported; bacpypes3 mixes up confirmed and unconfirmed services."""
        supported = ServicesSupported([])
        for name in ANSWERED.values():
            supported[getattr(ServicesSupported, name)] = 1
        return supported

    def get_object_id(self, objid: Any) -> Any:
        """Return an object; device 4194303 is this device, which bacpypes3 does not recognize."""
        return self.device_object if objid == _ANY_DEVICE else super().get_object_id(objid)

    async def do_WritePropertyRequest(self, apdu: Any) -> None:
        """Refuse to write a property."""
        raise self._refusal(apdu.objectIdentifier, apdu.propertyIdentifier)

    async def do_WritePropertyMultipleRequest(self, apdu: Any) -> None:
        """Refuse to write any property, and name the first one."""
        for specification in apdu.listOfWriteAccessSpecs:
            for value in specification.listOfProperties:
                await self._refuse_multiple(
                    apdu, specification.objectIdentifier, value.propertyIdentifier, value.propertyArrayIndex
                )
                return
        await self.response(RejectPDU(reason="missingRequiredParameter", context=apdu))

    def delete_object(self, obj: Any) -> None:
        """Remove an object and end the subscriptions to it."""
        self.end_subscriptions(obj)
        super().delete_object(obj)

    def close(self) -> None:
        """End all subscriptions and close the port."""
        self.stop_notifications()
        super().close()

    async def _refuse_multiple(self, apdu: Any, target: Any, prop: Any, index: Any) -> None:
        refusal = self._refusal(target, prop)
        await self.response(
            WritePropertyMultipleError(
                errorType=ErrorType(errorClass=refusal.errorClass, errorCode=refusal.errorCode),
                firstFailedWriteAttempt=ObjectPropertyReference(
                    objectIdentifier=target,
                    propertyIdentifier=prop,
                    **({} if index is None else {"propertyArrayIndex": index}),
                ),
                context=apdu,
            )
        )

    def _refusal(self, target: Any, prop: Any) -> Any:
        """Return why a property cannot be written."""
        found = self.get_object_id(target)
        if found is None:
            return ExecutionError(errorClass="object", errorCode="unknownObject")
        if found.get_property_type(prop) is None or getattr(found, prop.attr, None) is None:
            return ExecutionError(errorClass="property", errorCode="unknownProperty")
        return ExecutionError(errorClass="property", errorCode="writeAccessDenied")
