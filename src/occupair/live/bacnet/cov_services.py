"""COV subscriptions of other devices to the objects of this one, and notifications.

This replaces the COV server of bacpypes3 (0.0.110), which sends no notification when only the status flags
change, or when a value is compared with NaN; has neither a limit on the number of subscriptions nor on
lifetimes; goes through all objects of the device for each notification; and hangs in a loop with the 257th
unacknowledged notification to one client, because there are 256 invoke ids.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bacpypes3.apdu import ConfirmedCOVNotificationRequest, SimpleAckPDU, UnconfirmedCOVNotificationRequest
from bacpypes3.basetypes import (
    COVSubscription,
    DeviceAddress,
    ListOfCOVSubscription,
    ObjectPropertyReference,
    PropertyValue,
    Recipient,
    RecipientProcess,
)
from bacpypes3.constructeddata import Any as AnyValue
from bacpypes3.errors import (
    ExecutionError,
    MissingRequiredParameter,
    ObjectError,
    PropertyError,
    ServicesError,
)
from bacpypes3.pdu import Address

from occupair.live.bacnet.value_objects import Report, RoomValue

log = logging.getLogger("occupair.live.bacnet")

MAX_LIFETIME = 86_400
"""Longest lifetime of a subscription [s]; the standard requires 8 hours."""
MAX_SUBSCRIPTIONS = 50_000
"""Most subscriptions at a time, one for each object of 10,000 rooms."""
MAX_OF_CLIENT = 10_000
"""Most subscriptions of one client, so that it leaves room for others."""
MAX_LISTED = 200
"""Most subscriptions that Active_COV_Subscriptions lists; more do not fit into a response."""
MAX_UNACKNOWLEDGED = 8
"""Most confirmed notifications that wait for the acknowledgement of one client."""
BURST, BURST_PAUSE = 20, 0.005
"""Notifications sent to one client at once, and the pause after them, so that none is lost [s]."""

_Key = tuple[Address, int, Any]


@dataclass(eq=False)
class Subscription:
    """A subscription of a client to one object.

    Parameters
    ----------
    client : Address
        Address of the client.
    process : int
        Number that the client gave to its subscription.
    target : RoomValue
        The object.
    confirmed : bool
        Whether the client acknowledges notifications.
    timer : TimerHandle
        Ends the subscription.
    reported : Report, optional
        What the client was last told; None if that may not have arrived.
    is_unacknowledged, changed_again : bool
        Whether a notification waits for its acknowledgement, and whether another one has to follow. It is
        not sent before, because a repetition of the first could then arrive after it.
    """

    client: Address
    process: int
    target: RoomValue
    confirmed: bool
    timer: asyncio.TimerHandle
    reported: Report | None = None
    is_unacknowledged: bool = False
    changed_again: bool = False

    @property
    def key(self) -> _Key:
        """The key by which a client renews or cancels the subscription."""
        return self.client, self.process, self.target.objectIdentifier

    @property
    def time_remaining(self) -> int:
        """Time until the subscription ends [s], at least 1, because 0 would be indefinite."""
        return max(1, round(self.timer.when() - asyncio.get_running_loop().time()))

    @property
    def is_due(self) -> bool:
        """Whether the object has changed since the last notification."""
        return self.reported is None or self.target.has_changed(self.reported)


@dataclass
class _Outbox:
    """Subscriptions of one client that are to be notified, in the order of their changes."""

    pending: dict[Subscription, None] = field(default_factory=dict)
    unacknowledged: set[asyncio.Future[Any]] = field(default_factory=set)
    task: asyncio.Task[None] | None = None


class CovServices:
    """The COV server of an application; a mixin to be named before ``bacpypes3.app.Application``."""

    device_object: Any
    get_object_id: Callable[[Any], Any]
    request: Callable[[Any], asyncio.Future[Any]]
    response: Callable[[Any], Any]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._subscriptions: dict[_Key, Subscription] = {}
        self._subscriptions_of: dict[Any, dict[_Key, Subscription]] = {}  # by object
        self._n_of_client: Counter[Address] = Counter()
        self._outboxes: dict[Address, _Outbox] = {}

    @property
    def subscriptions(self) -> int:
        """Number of subscriptions."""
        return len(self._subscriptions)

    async def do_SubscribeCOVRequest(self, apdu: Any) -> None:
        """Add, renew or cancel a subscription, and send a first notification."""
        key = (apdu.pduSource, int(apdu.subscriberProcessIdentifier), apdu.monitoredObjectIdentifier)
        if apdu.issueConfirmedNotifications is None and apdu.lifetime is None:
            self._end_subscription(key)
            await self.response(SimpleAckPDU(context=apdu))
            return
        target = self.get_object_id(apdu.monitoredObjectIdentifier)
        if target is None:
            raise ObjectError("unknownObject")
        if not isinstance(target, RoomValue):
            raise ObjectError("optionalFunctionalityNotSupported")
        if apdu.issueConfirmedNotifications is None:
            raise MissingRequiredParameter("issueConfirmedNotifications required")
        if not 1 <= (apdu.lifetime or 0) <= MAX_LIFETIME:  # none and 0 are indefinite
            raise ServicesError("covSubscriptionFailed")
        if key not in self._subscriptions and self._is_full(apdu.pduSource):
            raise ExecutionError(errorClass="resources", errorCode="noSpaceToAddListElement")
        self._end_subscription(key)
        timer = asyncio.get_running_loop().call_later(int(apdu.lifetime), self._end_subscription, key)
        confirmed = bool(apdu.issueConfirmedNotifications)
        subscription = Subscription(apdu.pduSource, key[1], target, confirmed, timer)
        self._subscriptions[key] = subscription
        self._n_of_client[subscription.client] += 1
        self._subscriptions_of.setdefault(key[2], {})[key] = subscription
        await self.response(SimpleAckPDU(context=apdu))
        self._queue_notification(subscription)

    def _is_full(self, client: Address) -> bool:
        return self.subscriptions >= MAX_SUBSCRIPTIONS or self._n_of_client[client] >= MAX_OF_CLIENT

    def get_active_cov_subscriptions(self) -> Any:
        """Return all subscriptions, for Active_COV_Subscriptions of the Device object."""
        if self.subscriptions > MAX_LISTED:
            raise PropertyError("valueTooLong")
        return ListOfCOVSubscription([_listed(one) for one in self._subscriptions.values()])

    def object_changed(self, target: RoomValue) -> None:
        """Notify the subscribers of an object whose value or status may have changed."""
        for subscription in self._subscriptions_of.get(target.objectIdentifier, {}).values():
            if subscription.is_due:
                self._queue_notification(subscription)

    def end_subscriptions(self, target: RoomValue) -> None:
        """End the subscriptions to an object that is about to be removed."""
        for key in list(self._subscriptions_of.get(target.objectIdentifier, {})):
            self._end_subscription(key)

    def stop_notifications(self) -> None:
        """End all subscriptions, before the application is closed."""
        for key in list(self._subscriptions):
            self._end_subscription(key)
        for outbox in self._outboxes.values():
            if outbox.task is not None:
                outbox.task.cancel()
        self._outboxes.clear()

    def _end_subscription(self, key: _Key) -> None:
        subscription = self._subscriptions.pop(key, None)
        if subscription is None:
            return
        subscription.timer.cancel()
        self._n_of_client[subscription.client] -= 1
        if not self._n_of_client[subscription.client]:
            del self._n_of_client[subscription.client]
        others = self._subscriptions_of[key[2]]
        del others[key]
        if not others:
            del self._subscriptions_of[key[2]]
        if outbox := self._outboxes.get(subscription.client):
            outbox.pending.pop(subscription, None)

    def _queue_notification(self, subscription: Subscription) -> None:
        if subscription.is_unacknowledged:
            subscription.changed_again = True
            return
        outbox = self._outboxes.setdefault(subscription.client, _Outbox())
        outbox.pending[subscription] = None
        if outbox.task is None:
            outbox.task = asyncio.create_task(self._send_notifications(subscription.client, outbox))

    async def _send_notifications(self, client: Address, outbox: _Outbox) -> None:
        """Send notifications to one client until there is nothing to report. Each has the newest value."""
        n_sent = 0
        while outbox.pending:
            subscription = next(iter(outbox.pending))
            del outbox.pending[subscription]
            self._send_notification(subscription, outbox)
            n_sent += 1
            if n_sent % BURST == 0:
                await asyncio.sleep(BURST_PAUSE)
            while len(outbox.unacknowledged) >= MAX_UNACKNOWLEDGED:
                await asyncio.wait(outbox.unacknowledged, return_when=asyncio.FIRST_COMPLETED)
        outbox.task = None
        self._remove_idle_outbox(client)

    def _remove_idle_outbox(self, client: Address) -> None:
        outbox = self._outboxes.get(client)
        if outbox is not None and outbox.task is None and not outbox.unacknowledged:
            del self._outboxes[client]

    def _send_notification(self, subscription: Subscription, outbox: _Outbox) -> None:
        kind = (
            ConfirmedCOVNotificationRequest if subscription.confirmed else UnconfirmedCOVNotificationRequest
        )
        subscription.reported = report = subscription.target.report()
        sent = self.request(
            kind(
                subscriberProcessIdentifier=subscription.process,
                initiatingDeviceIdentifier=self.device_object.objectIdentifier,
                monitoredObjectIdentifier=subscription.target.objectIdentifier,
                timeRemaining=subscription.time_remaining,
                listOfValues=[
                    PropertyValue(propertyIdentifier="presentValue", value=AnyValue(report.value)),
                    PropertyValue(propertyIdentifier="statusFlags", value=AnyValue(report.status_flags)),
                ],
                destination=subscription.client,
            )
        )
        if not subscription.confirmed:
            return

        def acknowledge(done: asyncio.Future[Any]) -> None:
            outbox.unacknowledged.discard(done)
            subscription.is_unacknowledged = False
            if done.cancelled() or done.exception() is not None:
                subscription.reported = None  # the next estimate is sent in any case
                log.debug("%s did not acknowledge a COV notification", subscription.client)
            if subscription.changed_again and self._subscriptions.get(subscription.key) is subscription:
                self._queue_notification(subscription)
            self._remove_idle_outbox(subscription.client)

        outbox.unacknowledged.add(sent)
        subscription.is_unacknowledged, subscription.changed_again = True, False
        sent.add_done_callback(acknowledge)


def _listed(subscription: Subscription) -> Any:
    """Return an entry of Active_COV_Subscriptions."""
    target = subscription.target
    increment = getattr(target, "covIncrement", None)
    return COVSubscription(
        recipient=RecipientProcess(
            recipient=Recipient(address=DeviceAddress(subscription.client)),
            processIdentifier=subscription.process,
        ),
        monitoredPropertyReference=ObjectPropertyReference(
            objectIdentifier=target.objectIdentifier, propertyIdentifier="presentValue"
        ),
        issueConfirmedNotifications=subscription.confirmed,
        timeRemaining=subscription.time_remaining,
        **({} if increment is None else {"covIncrement": increment}),
    )
