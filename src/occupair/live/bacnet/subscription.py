"""One COV subscription: when it has to be renewed, and whether it is known to work.

A device sends no notification while a value does not change, and forgets its subscriptions when it restarts.
bacpypes3 stops renewing a subscription when the device does not answer, so it is renewed here.
"""

from __future__ import annotations

import math
from typing import Any

from bacpypes3.apdu import SubscribeCOVRequest
from bacpypes3.pdu import Address
from bacpypes3.primitivedata import ObjectIdentifier

from occupair.live.bacnet.application import BacnetApplication
from occupair.live.bacnet.property_reads import Refused, send_request

PROCESS = 1
"""Process identifier of the subscriber; device and object identify the subscription."""
LIFETIME = 600
"""How long a subscription lasts, which is renewed after half of it [s]."""
RETRY_AFTER = 3600.0
"""A device that refused a subscription is asked again after this time [s]."""


class Subscription:
    """A subscription to changes of the value of one object.

    Parameters
    ----------
    application : BacnetApplication
    address : Address
    object_ : ObjectIdentifier

    Attributes
    ----------
    due : float
        When to subscribe or renew, in the time of the event loop [s].
    """

    def __init__(self, application: BacnetApplication, address: Address, object_: ObjectIdentifier) -> None:
        self._application, self._address, self._object = application, address, object_
        self._confirmed = True  # whether notifications are confirmed, which the device may not support
        self.reset()

    def reset(self) -> None:
        """Forget the subscription: the device is gone."""
        self.due, self._asked, self._expires, self._notified = -math.inf, math.inf, -math.inf, -math.inf

    def renew(self) -> None:
        """Renew the subscription now, if the device has not refused it."""
        if self.is_requested:
            self.due = -math.inf

    @property
    def is_requested(self) -> bool:
        """Whether the device may send notifications."""
        return self._asked < math.inf

    def is_alive(self, now: float) -> bool:
        """Whether the device has sent a notification since the last request, as every request causes one."""
        return now < self._expires and self._notified >= self._asked

    def notify(self, now: float) -> None:
        """Note that a notification has arrived."""
        self._notified = now

    async def subscribe(self, now: float) -> str:
        """Subscribe or renew, and return the reason if the device refuses.

        Raises
        ------
        NoAnswer
            If the device does not answer.
        """
        self._asked = now
        for confirmed in dict.fromkeys((self._confirmed, False)):
            try:
                await send_request(self._application, self._request(confirmed, LIFETIME))
            except Refused as refusal:
                reason = str(refusal)
            else:
                self._confirmed = confirmed
                self._expires, self.due = now + LIFETIME, now + LIFETIME / 2
                return ""
        self.reset()
        self.due = now + RETRY_AFTER
        return reason

    async def cancel(self) -> None:
        """End the subscription in the device."""
        if self.is_requested:
            self.reset()
            await send_request(self._application, self._request(None, None))

    def _request(self, confirmed: bool | None, lifetime: int | None) -> Any:
        return SubscribeCOVRequest(
            subscriberProcessIdentifier=PROCESS,
            monitoredObjectIdentifier=self._object,
            issueConfirmedNotifications=confirmed,
            lifetime=lifetime,
            destination=self._address,
        )
