"""A simulated BMS: BACnet devices on different ports of one address, in a process of their own.

`Bms` starts and controls it; commands and answers are lines of JSON on its standard input and output. Tests
and the load test use it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import struct
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from bacpypes3.apdu import (
    AbortPDU,
    AbortReason,
    ConfirmedCOVNotificationRequest,
    Error,
    ReadPropertyMultipleRequest,
    RejectPDU,
    RejectReason,
    SubscribeCOVRequest,
)
from bacpypes3.app import Application
from bacpypes3.basetypes import StatusFlags
from bacpypes3.local.analog import AnalogInputObject, AnalogValueObject
from bacpypes3.local.binary import BinaryInputObject
from bacpypes3.local.device import DeviceObject
from bacpypes3.local.multistate import MultiStateValueObject
from bacpypes3.local.networkport import NetworkPortObject
from bacpypes3.primitivedata import ObjectIdentifier


def _with_flags(kind: Any) -> Any:
    """Return a class of objects whose status flags can be set, also to contradict other properties."""

    def get(self: Any) -> StatusFlags:
        return StatusFlags(getattr(self, "_flags", [0, 0, 0, 0]))

    def put(self: Any, value: Any) -> None:
        if value is not None:
            object.__setattr__(self, "_flags", list(value))

    return type(kind)(kind.__name__, (kind,), {"statusFlags": property(get, put)})


KINDS = {
    "analog-input": _with_flags(AnalogInputObject),
    "analog-value": _with_flags(AnalogValueObject),
    "binary-input": _with_flags(BinaryInputObject),
    "multi-state-value": _with_flags(MultiStateValueObject),
}
FLAGS = {"fault": 1, "overridden": 2, "out": 3}


class Device(Application):
    """A device that can be slow, refuse services, and replay a recorded day.

    ``spec`` has ``port``, ``instance``, ``points`` (see `make_object`), and optionally ``address``, ``delay``
    of answers [s], ``cov`` and ``multiple`` (whether COV and ReadPropertyMultiple are supported) and
    ``batch`` (most objects per request).
    """

    spec: dict[str, Any]

    def start(self, spec: dict[str, Any]) -> None:
        self.spec = spec
        self.delay = spec.get("delay", 0.0)
        self.counts: Counter[str] = Counter()  # requests by class
        self.notified: list[tuple[str, float, float]] = []  # object, value, time; once acknowledged
        self.rows: list[dict[str, float]] = []  # of a replay
        self.row, self.clock, self.answered = 0, "", {}

    async def indication(self, apdu: Any) -> None:
        name = type(apdu).__name__
        self.counts[name] += 1
        if self.delay:
            await asyncio.sleep(self.delay)
        if isinstance(apdu, ReadPropertyMultipleRequest):
            if not self.spec.get("multiple", True):
                await self.response(RejectPDU(reason=RejectReason.unrecognizedService, context=apdu))
                return
            if len(apdu.listOfReadAccessSpecs) > self.spec.get("batch", 1000):
                await self.response(AbortPDU(True, reason=AbortReason.bufferOverflow, context=apdu))
                return
            self._replay()
        if isinstance(apdu, SubscribeCOVRequest) and not self.spec.get("cov", True):
            error = {"errorClass": "services", "errorCode": "covSubscriptionFailed"}
            await self.response(Error(service_choice=apdu.apduService, context=apdu, **error))
            return
        await super().indication(apdu)

    def _replay(self) -> None:
        """Show the next row of a replay, and set its clock, which the reader looks at after the answer."""
        if self.rows and self.row < len(self.rows):
            for name, value in self.rows[self.row].items():
                change(self, name, value=value)
            Path(self.clock).write_bytes(struct.pack("<q", self.row))
            self.row += 1

    def cov_notification(self, cov: Any, apdu: Any) -> None:
        """Send a notification and note its value once it is acknowledged."""
        value, sent = float(cov.obj_ref.presentValue), time.time()
        answer = self.request(apdu)
        if isinstance(apdu, ConfirmedCOVNotificationRequest):
            answer.add_done_callback(
                lambda done: (
                    self.notified.append((str(cov.obj_id), value, sent))
                    if not done.cancelled() and done.exception() is None
                    else None
                )
            )


def make_object(spec: dict[str, Any]) -> Any:
    """Make an object of ``object``, ``name``, ``value``, and optionally ``units`` and ``increment``."""
    kind = spec["object"].partition(",")[0]
    given: dict[str, Any] = {"statusFlags": [0, 0, 0, 0], "outOfService": False, "eventState": "normal"}
    if kind.startswith("analog"):
        given |= {"units": spec.get("units", "parts-per-million"), "covIncrement": spec.get("increment", 1.0)}
        given |= {"presentValue": float(spec["value"])}
    elif kind == "binary-input":
        given |= {"presentValue": spec["value"], "polarity": "normal"}
    else:
        given |= {"presentValue": spec["value"], "numberOfStates": 4}
    return KINDS[kind](
        objectIdentifier=spec["object"],
        objectName=spec["name"],
        description=spec.get("description", ""),
        reliability="no-fault-detected",
        **given,
    )


def open_device(spec: dict[str, Any]) -> Device:
    device = DeviceObject(
        objectIdentifier=("device", spec["instance"]), objectName=spec.get("name", f"AHU {spec['instance']}")
    )
    port = NetworkPortObject(
        f"{spec.get('address', '127.0.0.1/32')}:{spec['port']}",
        objectIdentifier=("network-port", 1),
        objectName="port",
    )
    application = Device.from_object_list([device, port, *map(make_object, spec["points"])])
    application.start(spec)
    return application


def change(device: Device, name: str, **changes: Any) -> None:
    """Change ``value``, ``units``, ``reliability`` or a status flag of an object."""
    found = device.objectIdentifier[ObjectIdentifier(name)]
    if "value" in changes:
        value = changes["value"]
        found.presentValue = float(value) if name.startswith("analog") else value
    for key in ("units", "reliability"):
        if key in changes:
            setattr(found, key, changes[key])
    flags = [0, 0, 0, 0]
    for key, bit in FLAGS.items():
        flags[bit] = int(changes.get(key, found.statusFlags[bit]))
    if flags != list(found.statusFlags):
        found.statusFlags = flags


class Building:
    """All devices, by port."""

    def __init__(self, specs: list[dict[str, Any]]) -> None:
        self.specs = {spec["port"]: spec for spec in specs}
        self.devices = {port: open_device(spec) for port, spec in self.specs.items()}
        self.totals: Counter[str] = Counter()  # of devices that are gone

    def handle(self, command: dict[str, Any]) -> Any:
        """Carry out one command and return the answer."""
        for port, name, changes in command.get("set", ()):
            for point in self.specs[port]["points"]:
                if point["object"] == name and "value" in changes:
                    point["value"] = changes["value"]
            if port in self.devices:
                change(self.devices[port], name, **changes)
        for port in command.get("down", ()):
            gone = self.devices.pop(port)
            self.totals += gone.counts
            gone.close()
        for port in command.get("up", ()):
            self.devices[port] = open_device(self.specs[port])
        for port, delay in command.get("delay", ()):
            self.devices[port].delay = delay
        if "replay" in command:
            device = self.devices[command["replay"]["port"]]
            device.rows, device.row = command["replay"]["rows"], command["replay"].get("row", 0)
            device.clock = command["replay"]["clock"]
            Path(device.clock).write_bytes(struct.pack("<q", device.row))
        answer = {
            str(port): {
                "counts": device.counts,
                "row": device.row,
                "subscriptions": sum(len(one.cov_subscriptions) for one in device._cov_detections.values()),
                "notified": device.notified if command.get("notified") else [],
            }
            for port, device in self.devices.items()
            if port in command.get("ask", ())
        }
        if "totals" in command:
            answer["totals"] = sum((device.counts for device in self.devices.values()), self.totals)
        return answer


async def serve() -> None:
    """Run the devices until the standard input ends."""
    logging.getLogger("bacpypes3").setLevel(logging.CRITICAL)
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda *_: None)  # of notifications that nobody acknowledges
    lines = asyncio.StreamReader(limit=1 << 26)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    building = Building(json.loads(await lines.readline()))
    await asyncio.sleep(0.2)
    print("{}", flush=True)
    while line := await lines.readline():
        print(json.dumps(building.handle(json.loads(line))), flush=True)


class Bms:
    """The simulated BMS as a child process."""

    def __init__(self, devices: list[dict[str, Any]], *, prefix: tuple[str, ...] = ()) -> None:
        command = [*prefix, sys.executable, str(Path(__file__).resolve())]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._send(devices)

    def _send(self, what: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the simulated BMS has ended")
        return json.loads(line)

    def set(self, port: int, name: str, **changes: Any) -> None:
        """Change an object of a device."""
        self.command(set=[[port, name, changes]])

    def command(self, **what: Any) -> Any:
        return self._send(what)

    def ask(self, port: int) -> dict[str, Any]:
        """Return the counts, the row of a replay and the subscriptions of a device."""
        return self.command(ask=[port], notified=True)[str(port)]

    def totals(self) -> Counter[str]:
        """Return the number of requests to all devices, by class."""
        return Counter(self.command(totals=True)["totals"])

    def stop(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> Bms:
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()


if __name__ == "__main__":
    asyncio.run(serve())
