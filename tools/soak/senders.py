"""The sensors of the soak test: MQTT with QoS 1 and HTTP, and the latency of their estimates."""

from __future__ import annotations

import datetime as dt
import json
import queue
import threading
import time
from collections.abc import Callable

import paho.mqtt.client as mqtt
from live.service_process import ServiceProcess
from live.waiting import HANG_GUARD, wait_for

from tools.soak.rooms import Message, Rooms

MAX_OUTSTANDING = 200
"""Readings sent before the estimate of the first of them must have been published."""


class Sensors:
    """All devices that publish by MQTT, on one connection, and a listener to the published states.

    Readings are sent as fast as the service publishes their estimates, with up to ``MAX_OUTSTANDING`` under
    way, or without waiting while the service is down.
    """

    def __init__(self, port: int, rooms: Rooms) -> None:
        self._rooms = rooms
        self._changed = threading.Condition()
        self._sent: dict[str, tuple[dt.datetime, float]] = {}  # by room: time of the reading, when sent [s]
        self._disturbed: set[str] = set()  # rooms whose latency includes a fault
        self._latencies: list[float] = []
        self._listener = self._client("soak-listener")
        self._listener.on_connect = lambda client, *_: client.subscribe("occupair/+/state", 0)
        self._listener.on_message = self._on_state
        self._sender = self._client("soak-sensors")
        self._sender.max_queued_messages_set(0)
        self._sender.max_inflight_messages_set(1000)
        for client in (self._listener, self._sender):
            client.connect("127.0.0.1", port)
            client.loop_start()

    @staticmethod
    def _client(name: str) -> mqtt.Client:
        client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, name, clean_session=name != "soak-sensors")
        client.reconnect_delay_set(1, 1)
        return client

    def send(self, message: Message, *, waits: bool) -> None:
        """Publish a message; ``waits`` if the service is running."""
        room = self._rooms.name(message.room)
        with self._changed:
            if waits:
                self._wait(lambda: len(self._sent) < MAX_OUTSTANDING, "no estimates are published")
            if message.is_regular:
                self._sent[room] = message.time, time.monotonic()
                if not waits:
                    self._disturbed.add(room)
        self._sender.publish(f"soak/{room}", json.dumps(message.payload), qos=1)

    def disturb(self) -> None:
        """Exclude readings under way from the latencies: a fault has occurred."""
        with self._changed:
            self._disturbed |= set(self._sent)

    def wait_for_all(self) -> None:
        """Wait until the estimates of all readings have been published."""
        with self._changed:
            self._wait(lambda: not self._sent, "estimates are missing")

    def latencies(self) -> list[float]:
        """Return the latencies since the last call [s]."""
        with self._changed:
            found, self._latencies = self._latencies, []
            return found

    def close(self) -> None:
        for client in (self._sender, self._listener):
            client.disconnect()
            client.loop_stop()

    def _wait(self, is_met: Callable[[], bool], otherwise: str) -> None:
        if not self._changed.wait_for(is_met, HANG_GUARD):
            late = ", ".join(sorted(self._sent)[:5])
            raise TimeoutError(f"{otherwise} for {HANG_GUARD:g} s: {len(self._sent)} rooms, such as {late}")

    def _on_state(self, client: mqtt.Client, userdata: object, message: mqtt.MQTTMessage) -> None:
        if not message.payload:
            return
        room, text = message.topic.split("/")[1], json.loads(message.payload)["time"]
        with self._changed:
            if text is None or room not in self._sent:
                return
            reading, sent = self._sent[room]
            if dt.datetime.fromisoformat(text) < reading:
                return
            del self._sent[room]
            if room in self._disturbed:
                self._disturbed.discard(room)
            else:
                self._latencies.append(time.monotonic() - sent)
            self._changed.notify_all()


class Posters:
    """All devices that post by HTTP, each reading again until it is acknowledged."""

    def __init__(self, service: ServiceProcess, rooms: Rooms) -> None:
        self._service, self._rooms = service, rooms
        self._queue: queue.Queue[Message | None] = queue.Queue()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def send(self, message: Message) -> None:
        self._queue.put(message)

    def wait_for_all(self) -> None:
        """Wait until all readings are acknowledged."""
        wait_for(lambda: not self._queue.unfinished_tasks)

    def close(self) -> None:
        self._queue.put(None)
        self._thread.join(HANG_GUARD)

    def _run(self) -> None:
        while (message := self._queue.get()) is not None:
            self._post(message)
            self._queue.task_done()

    def _post(self, message: Message) -> None:
        path = f"/api/rooms/{self._rooms.name(message.room)}/readings"
        while True:
            try:
                self._service.post(path, message.payload)
                return
            except OSError:  # also every HTTPError
                time.sleep(0.2)
