"""Faults by simulated hour, the same in every run."""

from __future__ import annotations

from typing import NamedTuple


class Faults(NamedTuple):
    """Faults of one simulated hour."""

    kill: bool = False  # kill -9 of the service, during the first readings of the hour
    broker: str = ""  # "restart", or "down" for a slot
    database: str = ""  # "restart", or "crash"
    disk_full: bool = False  # for the first slot of the hour, also while the service is killed
    clock: float = 0.0  # error of the service's clock during the hour [h]

    def __str__(self) -> str:
        parts = ["kill -9"] if self.kill else []
        parts += [f"broker {self.broker}"] if self.broker else []
        parts += [f"database {self.database}"] if self.database else []
        parts += ["disk full"] if self.disk_full else []
        parts += [f"clock {self.clock:+g} h"] if self.clock else []
        return ", ".join(parts) or "none"


_SCHEDULE = {
    0: Faults(broker="restart"),
    1: Faults(database="restart"),
    2: Faults(disk_full=True),
    3: Faults(clock=-1),
    4: Faults(clock=3),
    6: Faults(broker="down"),
    7: Faults(database="crash"),
    10: Faults(disk_full=True, broker="restart"),
    12: Faults(broker="restart", database="restart"),
    13: Faults(clock=3),
    14: Faults(clock=-1),
    17: Faults(database="crash", broker="down"),
    18: Faults(clock=-1),  # at midnight
    20: Faults(disk_full=True),
    22: Faults(broker="restart"),
}


def faults_of(hour: int, *, fault_hours: int) -> Faults:
    """Return the faults of an hour: a kill and the scheduled ones, none after the first ``fault_hours``."""
    return _SCHEDULE.get(hour, Faults())._replace(kill=True) if hour < fault_hours else Faults()
