"""Reading of properties of one device: in batches as large as it accepts, else one by one."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any

from bacpypes3.apdu import (
    AbortPDU,
    AbortReason,
    ErrorRejectAbortNack,
    ReadPropertyMultipleRequest,
    ReadPropertyRequest,
    RejectPDU,
    RejectReason,
)
from bacpypes3.basetypes import ErrorCode, PropertyReference, ReadAccessSpecification
from bacpypes3.errors import DecodingError, InvalidTag
from bacpypes3.pdu import Address
from bacpypes3.primitivedata import ObjectIdentifier, TagClass

from occupair.live.bacnet.application import APDU_RETRIES, APDU_TIMEOUT, BacnetApplication

MAX_BATCH = 20
"""Objects in one ReadPropertyMultiple request."""
ANSWER_WITHIN = (APDU_RETRIES + 2) * APDU_TIMEOUT / 1000
"""A request that is not answered by then has failed, whatever bacpypes3 is still waiting for [s]."""
_SILENT = (ErrorCode.timeout, ErrorCode.networkDown, ErrorCode.unknownRoute)

Properties = dict[str, Any]
"""Values of properties by name; those that the object does not have are absent."""


class NoAnswer(Exception):
    """The device does not answer."""


class Refused(Exception):
    """The device answered with an error."""

    def __init__(self, answer: BaseException) -> None:
        super().__init__(str(answer))
        self.answer = answer


async def send_request(application: BacnetApplication, request: Any) -> Any:
    """Send a confirmed request and return the answer.

    Raises
    ------
    NoAnswer
        If there is none.
    Refused
        If it is an error.
    """
    try:
        async with asyncio.timeout(ANSWER_WITHIN):
            return await application.request(request)
    except TimeoutError:
        raise NoAnswer("no answer") from None
    except ErrorRejectAbortNack as answer:
        if _is_silence(answer):
            raise NoAnswer("no answer") from None
        raise Refused(answer) from None
    finally:
        _forget(application, request)


def _is_silence(answer: ErrorRejectAbortNack) -> bool:
    if isinstance(answer, AbortPDU):
        return bool(answer.apduAbortRejectReason == AbortReason.noResponse)
    return getattr(answer, "errorCode", None) in _SILENT


def _forget(application: BacnetApplication, request: Any) -> None:
    """End a request in bacpypes3, which would ask a router that does not answer again and again."""
    transactions = application.asap.clientTransactions
    for one in list(transactions):
        if one.invokeID == request.apduInvokeID and one.pdu_address == request.pduDestination:
            one.stop_timer()
            transactions.remove(one)


class DeviceReader:
    """Reads properties of the objects of one device.

    Parameters
    ----------
    application : BacnetApplication
    address : Address
    """

    def __init__(self, application: BacnetApplication, address: Address) -> None:
        self._application, self.address = application, address
        self._batch = MAX_BATCH
        self._has_multiple = True  # whether the device supports ReadPropertyMultiple
        self._alone: set[ObjectIdentifier] = set()  # objects for which it refused that

    def reset(self) -> None:
        """Forget what the device does not support: it may have been replaced."""
        self._batch, self._has_multiple = MAX_BATCH, True
        self._alone.clear()

    async def read(
        self, wanted: Mapping[ObjectIdentifier, Sequence[str]]
    ) -> AsyncIterator[dict[ObjectIdentifier, Properties]]:
        """Yield the properties of some objects after the other; an object that does not exist has none.

        Raises
        ------
        NoAnswer
            If the device does not answer.
        """
        waiting = dict(wanted)
        while waiting:
            one, names = next(iter(waiting.items()))
            if self._has_multiple and one not in self._alone:
                some = [one for one in waiting if one not in self._alone][: self._batch]
                found = await self._read_batch({one: waiting[one] for one in some})
            else:
                found = {one: await self._read_one_by_one(one, names)}
            waiting = {one: names for one, names in waiting.items() if one not in found}
            yield found

    async def _read_batch(
        self, wanted: Mapping[ObjectIdentifier, Sequence[str]]
    ) -> dict[ObjectIdentifier, Properties]:
        """Read some objects with one request; an empty answer means to try again with what was learned."""
        try:
            answer = await send_request(self._application, _multiple_request(self.address, wanted))
        except Refused as refusal:
            self._learn(refusal.answer, list(wanted))
            return {}
        found: dict[ObjectIdentifier, Properties] = {one: {} for one in wanted}
        for result in getattr(answer, "listOfReadAccessResults", ()):
            properties = found.get(result.objectIdentifier)
            for element in result.listOfResults if properties is not None else ():
                value = element.readResult.propertyValue
                if properties is not None and value is not None:
                    add_property(properties, str(element.propertyIdentifier), value)
        return found

    def _learn(self, refusal: BaseException, objects: list[ObjectIdentifier]) -> None:
        """Use smaller batches after a refusal, or single reads."""
        if (
            isinstance(refusal, RejectPDU)
            and refusal.apduAbortRejectReason == RejectReason.unrecognizedService
        ):
            self._has_multiple = False
        elif len(objects) > 1:
            self._batch = len(objects) // 2
        else:
            self._alone.update(objects)
            self._batch = MAX_BATCH if not isinstance(refusal, AbortPDU) else self._batch

    async def _read_one_by_one(self, object_: ObjectIdentifier, names: Iterable[str]) -> Properties:
        properties: Properties = {}
        for name in names:
            request = ReadPropertyRequest(
                objectIdentifier=object_, propertyIdentifier=name, destination=self.address
            )
            try:
                answer = await send_request(self._application, request)
            except Refused as refusal:
                if getattr(refusal.answer, "errorCode", None) == ErrorCode.unknownObject:
                    break
            else:
                if (value := getattr(answer, "propertyValue", None)) is not None:
                    add_property(properties, name, value)
        return properties


def _multiple_request(address: Address, wanted: Mapping[ObjectIdentifier, Sequence[str]]) -> Any:
    return ReadPropertyMultipleRequest(
        listOfReadAccessSpecs=[
            ReadAccessSpecification(
                objectIdentifier=one,
                listOfPropertyReferences=[PropertyReference(propertyIdentifier=name) for name in names],
            )
            for one, names in wanted.items()
        ],
        destination=address,
    )


def add_property(properties: Properties, name: str, value: Any) -> None:
    """Add the value of a property as a device sent it; one of a type that BACnet does not have is ignored."""
    try:
        properties[name] = decode_value(value)
    except (ValueError, TypeError, LookupError, AttributeError, struct.error, InvalidTag, DecodingError):
        return


def decode_value(value: Any) -> Any:
    """Return the value of a property by the type that the device sent: one value, or a list of several."""
    tags = [tag for tag in value.tagList if tag.tag_class == TagClass.application]
    values = [tag.app_to_object() for tag in tags]
    return values[0] if len(values) == 1 else values
