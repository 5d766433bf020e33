"""The BACnet device of the service: one UDP port, to read other devices and to be read by them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bacpypes3.apdu import SimpleAckPDU
from bacpypes3.basetypes import HostNPort, IPMode
from bacpypes3.errors import ServicesError
from bacpypes3.local.networkport import NetworkPortObject
from bacpypes3.pdu import Address
from bacpypes3.primitivedata import ObjectIdentifier

from occupair.live.bacnet.device import RoomDevice
from occupair.live.bacnet.port_check import check_port
from occupair.live.bacnet.read_only import ReadOnlyApplication

if TYPE_CHECKING:
    from occupair.live.config import BacnetConfig

MAX_APDU = 1476
"""Largest message that is accepted [bytes], that of BACnet/IP."""
APDU_TIMEOUT, APDU_RETRIES = 3_000, 3
"""How long to wait for an answer [ms], and how often to ask again, as in the standard."""

CLOSE_TIMEOUT = 1.0
"""Time limit for closing a port that is not open yet [s]."""


class BacnetApplication(ReadOnlyApplication):
    """A BACnet device that others can read but not change.

    It passes notifications on to the readers of the devices that sent them.

    Attributes
    ----------
    on_change : dict
        By address: called with the object and its new values when a notification (COV) arrives; returns
        whether there is a subscription.
    on_start : dict
        By address: called when the device announces itself (I-Am), as after a restart.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.on_change: dict[Address, Callable[[ObjectIdentifier, Any], bool]] = {}
        self.on_start: dict[Address, Callable[[], None]] = {}

    async def do_ConfirmedCOVNotificationRequest(self, apdu: Any) -> None:
        """Pass a notification on, and acknowledge it."""
        if not self._notify(apdu):
            raise ServicesError(errorCode="unknownSubscription")
        await self.response(SimpleAckPDU(context=apdu))

    async def do_UnconfirmedCOVNotificationRequest(self, apdu: Any) -> None:
        """Pass a notification on."""
        self._notify(apdu)

    def _notify(self, apdu: Any) -> bool:
        on_change = self.on_change.get(apdu.pduSource)
        return on_change is not None and on_change(apdu.monitoredObjectIdentifier, apdu.listOfValues)

    async def do_IAmRequest(self, apdu: Any) -> None:
        """Note that a device announces itself."""
        await super().do_IAmRequest(apdu)
        if (on_start := self.on_start.get(apdu.pduSource)) is not None:
            on_start()


def open_application(
    config: BacnetConfig, kind: type[BacnetApplication] = BacnetApplication
) -> BacnetApplication:
    """Open the BACnet device of the service in the running event loop.

    Parameters
    ----------
    config : BacnetConfig
        Own address, port and device instance number, and the BBMD if there is one.
    kind : type
        Class of the application.

    Raises
    ------
    InputError
        If the port cannot be bound.
    """
    check_port(config)
    logging.getLogger("bacpypes3").setLevel(logging.CRITICAL)  # else any stray datagram logs a traceback
    device = RoomDevice(
        config.device,
        f"occupair-{config.device}",  # names of devices are unique in the network
        maxApduLengthAccepted=MAX_APDU,
        apduTimeout=APDU_TIMEOUT,
        numberOfApduRetries=APDU_RETRIES,
    )
    port = NetworkPortObject(
        f"{config.address}:{config.port}", objectIdentifier=("network-port", 1), objectName="BACnet/IP"
    )
    if config.bbmd is not None:
        port.bacnetIPMode = IPMode.foreign
        port.fdBBMDAddress = HostNPort(config.bbmd if ":" in config.bbmd else f"{config.bbmd}:47808")
        port.fdSubscriptionLifetime = config.foreign_ttl
    application: BacnetApplication = kind.from_object_list([device, port])
    return application


async def close_application(application: BacnetApplication) -> None:
    """End all subscriptions of others and the registration with the BBMD, and release the port."""
    application.stop_notifications()
    for link in application.link_layers.values():
        if hasattr(link, "unregister"):
            link.unregister()
        if link.server._transport_tasks:  # still being opened, which cannot be cancelled
            await asyncio.wait(link.server._transport_tasks, timeout=CLOSE_TIMEOUT)
    application.close()
