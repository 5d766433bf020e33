"""The service with BACnet and short times, as a child process."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from live.ports import free_port
from live.service_process import ServiceProcess

SHORT = {
    "device_poller.START_SPREAD": 0.5,
    "device_poller.FIRST_PAUSE": 0.2,
    "device_poller.MAX_PAUSE": 1.0,
    "device_poller.CONFIRM_EVERY": 10.0,
    "device_poller.RESTART_SPACING": 0.1,
    "application.APDU_TIMEOUT": 1000,
    "application.APDU_RETRIES": 1,
    "property_reads.ANSWER_WITHIN": 4.0,
    "subscription.LIFETIME": 20,
}
"""Constants of the modules in `occupair.live.bacnet`."""


class FastService(ServiceProcess):
    """The service with BACnet on a free port, reading all rooms every ``interval`` [s]."""

    def __init__(self, folder, *, rooms, interval, more="", constants=None, clock=None, start="", step=0.0):
        self.bacnet_port = free_port()
        address = f'[bacnet]\naddress = "127.0.0.1"\ndevice = 4000000\nport = {self.bacnet_port}\n'
        url = f"sqlite:///{folder}/rooms.db"
        super().__init__(folder, store=url, broker=None, rooms=f"{address}{rooms}", more=more)
        settings = {"interval": interval, "constants": SHORT | (constants or {})}
        settings |= {"clock": str(clock) if clock else None, "start": start, "step": step}
        self.command = [
            sys.executable,
            str(Path(__file__).with_name("bacnet_process.py")),
            str(self.path),
            json.dumps(settings),
        ]

    def bacnet_status(self) -> str:
        """Return the status of the link; not more often than the service allows requests."""
        time.sleep(0.3)
        return self.get("/healthz")["parts"]["bacnet"]
