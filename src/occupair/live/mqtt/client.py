"""One connection to the MQTT broker, with explicit acknowledgements.

aiomqtt acknowledges a message when it hands it over. A reading must be acknowledged only once it is stored,
so this module, and only this one, uses the paho client underneath aiomqtt.
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

from occupair.live.mqtt.topics import OFFLINE, status_topic
from occupair.live.wall_clock import CLOCK_STEP, utc_now

if TYPE_CHECKING:
    from occupair.live.config import MqttConfig
    from occupair.live.room_shards import Shard

log = logging.getLogger(__name__)
_paho_log = log.getChild("paho")
_paho_log.setLevel(logging.CRITICAL)  # lost connections are logged in one line by the bridge
T = TypeVar("T")

RECEIVE_MAXIMUM = 20_000
"""Unacknowledged messages the broker may send. Large, because a slow store must not delay estimates."""
QOS = 1
"""Quality of service of all messages, sent and received."""
SEND_WINDOW = 10
"""Published messages that may await acknowledgement, unless the broker allows fewer."""
MAX_PACKET_BYTES = 262_144
"""Largest packet the broker may send; MQTT 5 only."""
MAX_QOS0_BACKLOG = 10_000
"""Messages of QoS 0 in the inbox, beyond which further ones are dropped."""
TIMEOUT = 30.0
"""Time limit for replies of the broker [s]."""
KEEPALIVE = 30
"""MQTT keep-alive interval [s]."""
_TOPICS_PER_SUBSCRIBE = 200
_FAILURE = 0x80  # lowest reason code of a refused subscription
_SESSION_TAKEN_OVER = 0x8E  # reason code: another client has connected with the same client id


class IncomingMessage(NamedTuple):
    """A message with its time of arrival in UTC."""

    topic: str
    payload: bytes
    qos: int
    retained: bool
    mid: int
    received: dt.datetime


class CancellableClient(aiomqtt.Client):
    """A client that can be cancelled at any moment, unlike that of aiomqtt."""

    async def __aenter__(self) -> Self:
        """Connect, and close the socket if that fails."""
        try:
            return await super().__aenter__()
        except BaseException:
            self._client._sock_close()
            raise

    async def _wait_for(self, fut: Awaitable[T], timeout: float | None) -> T:
        """Wait like aiomqtt, without losing a cancellation as ``asyncio.wait_for`` can before Python 3.12."""
        try:
            async with asyncio.timeout(self.timeout if timeout is None else timeout):
                return await fut
        except TimeoutError:
            raise aiomqtt.MqttError("the broker does not respond") from None

    def _on_socket_register_write(self, client: Client, userdata: Any, sock: Any) -> None:
        """Write when the socket is ready, like aiomqtt, unless it is closed before it can be registered."""

        def write() -> None:
            try:
                client.loop_write()
            except Exception as error:  # noqa: BLE001, it ends the connection
                if not self._disconnected.done():
                    self._disconnected.set_exception(error)

        def register() -> None:
            if sock.fileno() >= 0:
                self._loop.add_writer(sock.fileno(), write)

        self._loop.call_soon_threadsafe(register)


class BrokerClient(CancellableClient):
    """One connection to the broker, never reused: acknowledgements are valid on their connection only.

    Parameters
    ----------
    mqtt : MqttConfig
    tls : SSLContext, optional
    shard : Shard, optional
        The shard whose session this is.
    """

    def __init__(self, mqtt: MqttConfig, tls: ssl.SSLContext | None, *, shard: Shard | None = None) -> None:
        is_v5 = mqtt.version == "5"
        super().__init__(
            mqtt.host,
            mqtt.port,
            username=mqtt.user,
            password=mqtt.password.get_secret_value() if mqtt.password else None,
            identifier=client_id(mqtt, shard),
            protocol=aiomqtt.ProtocolVersion.V5 if is_v5 else aiomqtt.ProtocolVersion.V311,
            clean_session=None if is_v5 else False,
            clean_start=False if is_v5 else MQTT_CLEAN_START_FIRST_ONLY,
            properties=_connect_properties(mqtt) if is_v5 else None,
            will=aiomqtt.Will(status_topic(mqtt, shard), OFFLINE, qos=QOS, retain=True),
            tls_context=tls,
            timeout=TIMEOUT,
            keepalive=KEEPALIVE,
            max_inflight_messages=0,  # unlimited in paho: `publish_retained` has its own window
            socket_options=[(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)],
            logger=_paho_log,
        )
        self._is_v5 = is_v5
        self._client.manual_ack_set(True)
        self.pending_calls_threshold = 2 * SEND_WINDOW
        self.session_resumed = False
        self.taken_over = False
        self._window = asyncio.Semaphore(SEND_WINDOW)
        self._inbox: deque[IncomingMessage] = deque()
        self._arrival = asyncio.Event()
        self._last_arrival = dt.datetime.min.replace(tzinfo=dt.UTC)
        self._dropped = False

    @property
    def connected(self) -> bool:
        """Whether the connection is up."""
        return self._connected.done() and not self._disconnected.done()

    def _on_connect(
        self,
        client: Client,
        userdata: Any,
        flags: ConnectFlags,
        reason_code: ReasonCode,
        properties: Properties | None = None,
    ) -> None:
        if not self._connected.done():
            self.session_resumed = bool(flags.session_present)
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
        if not self._connected.done():  # aiomqtt would wait for a reply that cannot arrive any more
            self._connected.set_exception(
                aiomqtt.MqttError("the connection was lost before the broker responded")
            )
        elif (
            reason_code.is_failure  # "Unspecified error", unless the broker gave a reason
            and not flags.is_disconnect_packet_from_server
            and self._connected.exception() is None
            and not self._disconnected.done()
        ):
            self._disconnected.set_exception(aiomqtt.MqttError("closed by the broker or the network"))
        self.taken_over = reason_code.value == _SESSION_TAKEN_OVER
        super()._on_disconnect(client, userdata, flags, reason_code, properties)

    def _on_message(self, client: Client, userdata: Any, message: MQTTMessage) -> None:
        """Put a message in the inbox with its time of arrival, later than that of the message before.

        If the system clock is set back, times follow it. Otherwise they would be in the future until
        the clock has caught up.
        """
        if message.qos == 0 and len(self._inbox) >= MAX_QOS0_BACKLOG:
            if not self._dropped:
                log.warning("messages of QoS 0 arrive faster than they are stored: dropping some")
            self._dropped = True
            return
        now = utc_now()
        in_order = now > self._last_arrival or self._last_arrival - now > CLOCK_STEP
        self._last_arrival = now if in_order else self._last_arrival + dt.timedelta(microseconds=1)
        self._inbox.append(
            IncomingMessage(
                message.topic,
                bytes(message.payload),
                message.qos,
                message.retain,
                message.mid,
                self._last_arrival,
            )
        )
        self._arrival.set()

    async def receive(self, *, limit: int) -> list[IncomingMessage]:
        """Wait for messages and return those in the inbox, up to ``limit``.

        Raises
        ------
        aiomqtt.MqttError
            When the connection is lost and the inbox is empty.
        """
        while not self._inbox:
            self._arrival.clear()
            arrival = asyncio.ensure_future(self._arrival.wait())
            either: list[asyncio.Future[Any]] = [arrival, self._disconnected]
            try:
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            finally:
                arrival.cancel()
            if not self._inbox and self._disconnected.done():
                cause = self._disconnected.exception()
                raise aiomqtt.MqttError(f"the connection was lost ({cause or 'closed'})") from cause
        return [self._inbox.popleft() for _ in range(min(limit, len(self._inbox)))]

    def acknowledge(self, messages: Iterable[IncomingMessage]) -> None:
        """Acknowledge stored messages; the broker resends unacknowledged ones on the next connection."""
        if self.connected:
            for message in messages:
                self._client.ack(message.mid, message.qos)

    async def publish_all(self, messages: Iterable[tuple[str, str]]) -> None:
        """Publish retained (topic, payload) messages and wait until the broker has acknowledged them."""
        async with asyncio.TaskGroup() as tasks:
            for topic, payload in messages:
                tasks.create_task(self.publish_retained(topic, payload))

    async def publish_retained(self, topic: str, payload: str) -> None:
        """Publish a retained message with QoS 1 and wait until the broker has acknowledged it."""
        async with self._window:
            await self.publish(topic, payload, qos=QOS, retain=True)

    async def subscribe_all(self, topics: Sequence[str], *, resend_retained: bool = False) -> list[str]:
        """Subscribe to topics with QoS 1.

        Parameters
        ----------
        topics : sequence of str
        resend_retained : bool
            Whether the broker sends retained messages again for existing subscriptions; MQTT 5 only.

        Returns
        -------
        list of str
            Topics that the broker refused.
        """
        refused: list[str] = []
        for start in range(0, len(topics), _TOPICS_PER_SUBSCRIBE):
            batch = topics[start : start + _TOPICS_PER_SUBSCRIBE]
            if self._is_v5:
                granted = await self.subscribe([(topic, _options(resend_retained)) for topic in batch])
            else:
                granted = await self.subscribe([(topic, QOS) for topic in batch])
            codes = [code if isinstance(code, int) else code.value for code in granted]
            refused += [topic for topic, code in zip(batch, codes, strict=True) if code >= _FAILURE]
        return refused


def _options(resend_retained: bool) -> SubscribeOptions:
    options = SubscribeOptions
    handling = options.RETAIN_SEND_ON_SUBSCRIBE if resend_retained else options.RETAIN_SEND_IF_NEW_SUB
    return options(qos=QOS, retainHandling=handling)


def client_id(mqtt: MqttConfig, shard: Shard | None = None) -> str:
    """Return the client id of a service or shard, which identifies its session."""
    return mqtt.client_id if shard is None else f"{mqtt.client_id}-{shard.suffix}"


def _connect_properties(mqtt: MqttConfig) -> Properties:
    properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
    properties.SessionExpiryInterval = mqtt.session_expiry
    properties.ReceiveMaximum = RECEIVE_MAXIMUM
    properties.MaximumPacketSize = MAX_PACKET_BYTES
    return properties


def make_tls_context(mqtt: MqttConfig) -> ssl.SSLContext | None:
    """Return the TLS context, or None without TLS; certificates are read again for each connection."""
    if not mqtt.tls:
        return None
    context = ssl.create_default_context(cafile=mqtt.ca_file)
    if mqtt.cert_file is not None:
        context.load_cert_chain(mqtt.cert_file, mqtt.key_file)
    return context
