"""A connection to a broker on which we decide when a message is acknowledged.

aiomqtt acknowledges a message when it hands it out. Here it is acknowledged when it is kept, so this is the
one place that reaches below aiomqtt, to paho.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
import socket
import ssl
from collections import deque
from collections.abc import Awaitable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

import aiomqtt
from paho.mqtt.client import (
    MQTT_CLEAN_START_FIRST_ONLY,
    Client,
    ConnectFlags,
    DisconnectFlags,
    MQTTMessage,
)
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from occupair.live.mqtt.discovery import OFFLINE, status_topic

if TYPE_CHECKING:
    from occupair.live.config import MqttConfig

log = logging.getLogger("occupair.live.mqtt.link")
_paho_log = log.getChild("paho")
_paho_log.setLevel(logging.CRITICAL)  # what it has to say about a lost link we say in one line
T = TypeVar("T")

RECEIVE_MAXIMUM = 20_000
"""Messages the broker may send before the first is acknowledged, so that a slow store delays no estimate."""
SEND_WINDOW = 10
"""Messages of ours that wait for the broker's acknowledgement; fewer if it says so."""
LARGEST_PACKET = 262_144
"""The broker keeps larger ones to itself, by MQTT 5 [bytes]."""
MOST_UNSURE = 10_000
"""Messages of QoS 0 that wait for us; more are dropped, as their sender allows."""
PATIENCE = 30.0
"""How long the broker may take to answer [s]."""
CLOCK_BACK = dt.timedelta(seconds=5)
"""Our clock was put back if it is that much behind the last message; if less, messages keep their order."""
KEEPALIVE = 30
"""A link on which nothing comes for some time longer than this is lost [s]."""
_TOPICS_AT_ONCE = 200
_REFUSED = 0x80


class Arrived(NamedTuple):
    """A message, and when it came."""

    topic: str
    payload: bytes
    qos: int
    retained: bool
    mid: int
    received: dt.datetime


class BrokerClient(aiomqtt.Client):
    """One connection, never used again once it is lost: an acknowledgement belongs to its connection.

    Parameters
    ----------
    mqtt : MqttConfig
    tls : SSLContext, optional
    """

    def __init__(self, mqtt: MqttConfig, tls: ssl.SSLContext | None) -> None:
        five = mqtt.version == "5"
        super().__init__(
            mqtt.host,
            mqtt.port,
            username=mqtt.user,
            password=mqtt.password.get_secret_value() if mqtt.password else None,
            identifier=mqtt.client_id,
            protocol=aiomqtt.ProtocolVersion.V5 if five else aiomqtt.ProtocolVersion.V311,
            clean_session=None if five else False,
            clean_start=False if five else MQTT_CLEAN_START_FIRST_ONLY,
            properties=_connect_properties(mqtt) if five else None,
            will=aiomqtt.Will(status_topic(mqtt), OFFLINE, qos=1, retain=True),
            tls_context=tls,
            timeout=PATIENCE,
            keepalive=KEEPALIVE,
            max_inflight_messages=0,  # no limit of paho's: `send` has ours
            socket_options=[(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)],
            logger=_paho_log,
        )
        self._five = five
        self._client.manual_ack_set(True)
        self.pending_calls_threshold = 2 * SEND_WINDOW
        self.resumed = False
        self._window = asyncio.Semaphore(SEND_WINDOW)
        self._inbox: deque[Arrived] = deque()
        self._news = asyncio.Event()
        self._last = dt.datetime.min.replace(tzinfo=dt.UTC)
        self._dropped = False

    async def __aenter__(self) -> Self:
        """Connect, and leave nothing open if that fails."""
        try:
            return await super().__aenter__()
        except BaseException:
            self._client._sock_close()
            raise

    @property
    def connected(self) -> bool:
        """Whether the link is up."""
        return self._connected.done() and not self._disconnected.done()

    async def _wait_for(self, fut: Awaitable[T], timeout: float | None) -> T:
        """Wait as aiomqtt does, but never miss being cancelled, as ``asyncio.wait_for`` may before 3.12."""
        try:
            async with asyncio.timeout(self.timeout if timeout is None else timeout):
                return await fut
        except TimeoutError:
            raise aiomqtt.MqttError("the broker does not answer") from None

    def _on_connect(
        self,
        client: Client,
        userdata: Any,
        flags: ConnectFlags,
        reason_code: ReasonCode,
        properties: Properties | None = None,
    ) -> None:
        if not self._connected.done():
            self.resumed = bool(flags.session_present)
            window = getattr(properties, "ReceiveMaximum", SEND_WINDOW)
            self._window = asyncio.Semaphore(max(1, min(SEND_WINDOW, window)))
        super()._on_connect(client, userdata, flags, reason_code, properties)

    def _on_disconnect(
        self,
        client: Client,
        userdata: Any,
        flags: DisconnectFlags,
        reason_code: ReasonCode,
        properties: Properties | None = None,
    ) -> None:
        if not self._connected.done():  # aiomqtt would wait for an answer that cannot come any more
            self._connected.set_exception(aiomqtt.MqttError("the link was lost before the broker answered"))
        super()._on_disconnect(client, userdata, flags, reason_code, properties)

    def _on_message(self, client: Client, userdata: Any, message: MQTTMessage) -> None:
        """Put a message into the inbox with the time it came, each later than the one before.

        Only when our clock is put back they follow it: they would be of the future until it has caught up.
        """
        if message.qos == 0 and len(self._inbox) >= MOST_UNSURE:
            if not self._dropped:
                log.warning("messages of QoS 0 come faster than they are kept: some are dropped")
            self._dropped = True
            return
        now = dt.datetime.now(dt.UTC)
        in_order = now > self._last or self._last - now > CLOCK_BACK
        self._last = now if in_order else self._last + dt.timedelta(microseconds=1)
        self._inbox.append(
            Arrived(
                message.topic, bytes(message.payload), message.qos, message.retain, message.mid, self._last
            )
        )
        self._news.set()

    async def arrived(self, *, most: int) -> list[Arrived]:
        """Wait for messages and give all that are there, up to ``most``.

        Raises
        ------
        aiomqtt.MqttError
            When the link is lost and none is left.
        """
        while not self._inbox:
            self._news.clear()
            news = asyncio.ensure_future(self._news.wait())
            either: list[asyncio.Future[Any]] = [news, self._disconnected]
            try:
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            finally:
                news.cancel()
            if not self._inbox and self._disconnected.done():
                cause = self._disconnected.exception()
                raise aiomqtt.MqttError(f"the link was lost ({cause or 'the broker left'})") from cause
        return [self._inbox.popleft() for _ in range(min(most, len(self._inbox)))]

    def acknowledge(self, messages: Iterable[Arrived]) -> None:
        """Tell the broker that messages are kept; those it is not told of it sends again on the next link."""
        if self.connected:
            for message in messages:
                self._client.ack(message.mid, message.qos)

    async def send_all(self, messages: Iterable[tuple[str, str]]) -> None:
        """Publish messages, (topic, payload) each, and wait until the broker has them."""
        async with asyncio.TaskGroup() as tasks:
            for topic, payload in messages:
                tasks.create_task(self.send(topic, payload))

    async def send(self, topic: str, payload: str) -> None:
        """Publish a message, retained and at QoS 1, and wait until the broker has it."""
        async with self._window:
            await self.publish(topic, payload, qos=1, retain=True)

    async def follow(self, topics: Sequence[str], *, again: bool = False) -> list[str]:
        """Subscribe to topics at QoS 1.

        Parameters
        ----------
        topics : sequence of str
        again : bool
            Whether to be sent what is retained even if we had it before.

        Returns
        -------
        list of str
            Topics that the broker refuses.
        """
        refused: list[str] = []
        for start in range(0, len(topics), _TOPICS_AT_ONCE):
            part = topics[start : start + _TOPICS_AT_ONCE]
            if self._five:
                granted = await self.subscribe([(topic, _options(again)) for topic in part])
            else:
                granted = await self.subscribe([(topic, 1) for topic in part])
            codes = [code if isinstance(code, int) else code.value for code in granted]
            refused += [topic for topic, code in zip(part, codes, strict=True) if code >= _REFUSED]
        return refused


def _options(again: bool) -> SubscribeOptions:
    options = SubscribeOptions
    handling = options.RETAIN_SEND_ON_SUBSCRIBE if again else options.RETAIN_SEND_IF_NEW_SUB
    return options(qos=1, retainHandling=handling)


def _connect_properties(mqtt: MqttConfig) -> Properties:
    properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
    properties.SessionExpiryInterval = mqtt.session_expiry
    properties.ReceiveMaximum = RECEIVE_MAXIMUM
    properties.MaximumPacketSize = LARGEST_PACKET
    return properties


def tls_context(mqtt: MqttConfig) -> ssl.SSLContext | None:
    """Make what TLS needs: whom to trust, and who we are; read anew for each connection."""
    if not mqtt.tls:
        return None
    context = ssl.create_default_context(cafile=mqtt.ca_file)
    if mqtt.cert_file is not None:
        context.load_cert_chain(mqtt.cert_file, mqtt.key_file)
    return context
