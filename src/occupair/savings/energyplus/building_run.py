"""One EnergyPlus run of the building, with the outdoor air of every zone set in every time step."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.savings.energyplus.building_occupants import BuildingOccupants
from occupair.savings.energyplus.installation import energyplus_api, weather_file
from occupair.savings.energyplus.reference_building import (
    CO2_PER_HEAT,
    INTERVAL,
    OUTDOOR_CO2,
    ZONES,
    building_model,
)

Array = NDArray[np.float64]
Controller = Callable[[int, Array, Array], Array]
"""Returns the outdoor air of each zone [L/s] in a time step, from the number of the step, CO2 at its start
[ppm] and the outdoor air of the step before [L/s]."""

STANDARD_DENSITY = 1.2  # [kg/m3] of the volume flows, as in ASHRAE 62.1
METERS = {
    "fans": "Fans:Electricity",
    "cooling": "Cooling:Electricity",
    "heating": "Heating:NaturalGas",
    "electricity": "Electricity:HVAC",
    "gas": "NaturalGas:HVAC",
}
"""EnergyPlus meters of a run, by the name of their energy."""
STEPS_PER_DAY = 24 * 60 // INTERVAL

_CO2 = "Zone Air CO2 Concentration"
_OUTDOOR_AIR = "Air System Outdoor Air Mass Flow Rate"


@dataclass(frozen=True)
class BuildingRun:
    """History of a run, one row per time step.

    Attributes
    ----------
    time : start of each time step, local standard time
    people : number of people in each zone, shape (n, zones)
    co2 : CO2 in each zone at the start of the time step [ppm], shape (n, zones)
    outdoor_air : outdoor air of each zone [L/s], shape (n, zones)
    energy : energy of the period [kWh], by the names of `METERS`
    recorded : values of the variables of ``record`` at the end of each time step
    """

    time: pd.DatetimeIndex
    people: NDArray[np.int64]
    co2: Array
    outdoor_air: Array
    energy: dict[str, float]
    recorded: dict[str, Array]


def run_building(
    controller: Controller,
    occupants: BuildingOccupants,
    *,
    first_day: dt.date,
    climate: str = "chicago",
    record: Mapping[str, tuple[str, str]] | None = None,
    after_day: Callable[[], object] | None = None,
) -> BuildingRun:
    """Simulate the building with EnergyPlus over the period of its occupants.

    Before the period, EnergyPlus repeats the first day without outdoor air until its temperatures converge.

    Parameters
    ----------
    controller
        Chooses the outdoor air of every zone in every time step.
    occupants
        People, CO2 generation and outdoor CO2.
    first_day
        First day of the period.
    climate
        Name of the climate, see ``installation.CLIMATES``.
    record
        EnergyPlus output variables to record: variable and key, by any name.
    after_day
        Called after each simulated day.
    """
    days, rest = divmod(len(occupants.people), STEPS_PER_DAY)
    if rest:
        raise ValueError(f"occupants must cover whole days of {STEPS_PER_DAY} steps, got {rest} steps more")
    model = building_model(first_day=first_day, days=days)
    loop = _Loop(controller, occupants, dict(record or {}), after_day)
    with TemporaryDirectory() as folder:
        source = Path(folder, "building.epJSON")
        source.write_text(json.dumps(model))
        loop.run(["-d", folder, "-w", str(weather_file(climate)), str(source)], Path(folder, "eplusout.err"))
    time = pd.date_range(first_day, periods=len(occupants.people), freq=f"{INTERVAL}min", name="time")
    return BuildingRun(
        pd.DatetimeIndex(time),
        occupants.people,
        loop.co2,
        loop.outdoor_air,
        {name: joules / 3.6e6 for name, joules in zip(METERS, loop.meters, strict=True)},
        loop.recorded,
    )


class _Loop:
    """The callbacks of one run, and the values they collect."""

    def __init__(
        self,
        controller: Controller,
        occupants: BuildingOccupants,
        record: dict[str, tuple[str, str]],
        after_day: Callable[[], object] | None,
    ) -> None:
        steps = len(occupants.people)
        self.api = energyplus_api()
        self.exchange = self.api.exchange
        self.controller, self.occupants = controller, occupants
        self.record, self.after_day = record, after_day
        self.co2 = np.zeros((steps, len(ZONES)))
        self.outdoor_air = np.zeros((steps, len(ZONES)))
        self.recorded = {name: np.zeros(steps) for name in record}
        self.meters = np.zeros(len(METERS))
        self.step = 0  # the time step that begins next, or that is under way
        self.handles: _Handles | None = None
        self.settings: dict[int, float] = {}  # of the actuators, by handle
        self.error: BaseException | None = None

    def run(self, arguments: list[str], log: Path) -> None:
        """Run EnergyPlus, and raise what went wrong in it or in a callback."""
        runtime, state = self.api.runtime, self.api.state_manager.new_state()
        runtime.set_console_output_status(state, False)
        for variable, key in _variables(self.record):
            self.exchange.request_variable(state, variable, key)
        runtime.callback_begin_zone_timestep_after_init_heat_balance(state, self._guarded(self._begin_step))
        runtime.callback_end_zone_timestep_after_zone_reporting(state, self._guarded(self._end_step))
        try:
            status = runtime.run_energyplus(state, arguments)
        finally:
            runtime.clear_callbacks()
            self.api.state_manager.delete_state(state)
        if self.error is not None:
            raise self.error
        if status != 0 or self.step != len(self.co2):
            raise RuntimeError(f"EnergyPlus failed: {_first_severe(log)}")

    def _guarded(self, callback: Callable[[Any], None]) -> Callable[[Any], None]:
        """Return a callback that ends the run with its first exception, which ctypes would only print."""

        def guarded(state: Any) -> None:
            if self.error is not None or not self.exchange.api_data_fully_ready(state):
                return
            try:
                callback(state)
            except BaseException as error:  # noqa: BLE001 - raised again after the run
                self.error = error
                self.api.runtime.stop_simulation(state)

        return guarded

    def _begin_step(self, state: Any) -> None:
        if self.handles is None:
            self.handles = _find_handles(self.exchange, state, self.record)
        handles, step = self.handles, self.step
        before = self.outdoor_air[step - 1] if step else np.zeros(len(ZONES))
        if self.exchange.warmup_flag(state):
            step = _step_of_day(self.exchange, state)
            outdoor_air = before
        else:
            self.co2[step] = self._values(state, handles.co2)
            outdoor_air = self.controller(step, self.co2[step], before)
        self._set(state, handles.outdoor_air_setting, outdoor_air * STANDARD_DENSITY / 1000)
        people, breath = self.occupants.people[step], self.occupants.generation[step]
        self._set(state, handles.people, people)
        heat = np.divide(breath / 1000 / CO2_PER_HEAT, people, out=np.zeros(len(ZONES)), where=people > 0)
        self._set(state, handles.activity, heat)
        self._set(state, handles.outdoor_co2, [self.occupants.outdoor_co2[step]])

    def _end_step(self, state: Any) -> None:
        handles = self.handles
        if handles is None or self.exchange.warmup_flag(state):
            return
        self.outdoor_air[self.step] = self._values(state, handles.outdoor_air) / STANDARD_DENSITY * 1000
        for name, handle in handles.recorded.items():
            self.recorded[name][self.step] = self.exchange.get_variable_value(state, handle)
        self.meters += [self.exchange.get_meter_value(state, handle) for handle in handles.meters]
        self.step += 1
        if self.after_day is not None and self.step % STEPS_PER_DAY == 0:
            self.after_day()

    def _values(self, state: Any, handles: list[int]) -> Array:
        return np.array([self.exchange.get_variable_value(state, handle) for handle in handles])

    def _set(self, state: Any, handles: list[int], values: Any) -> None:
        """Set actuators; they keep a value until it changes."""
        for handle, value in zip(handles, np.asarray(values, dtype=float).tolist(), strict=True):
            if self.settings.get(handle) != value:
                self.exchange.set_actuator_value(state, handle, value)
                self.settings[handle] = value


@dataclass(frozen=True)
class _Handles:
    """Handles of variables, actuators and meters in the API, by zone where not stated otherwise."""

    co2: list[int]
    outdoor_air: list[int]
    outdoor_air_setting: list[int]
    people: list[int]
    activity: list[int]
    outdoor_co2: list[int]  # of the building
    meters: list[int]  # of the building, in the order of METERS
    recorded: dict[str, int]


def _find_handles(exchange: Any, state: Any, record: Mapping[str, tuple[str, str]]) -> _Handles:
    def variable(name: str, key: str) -> int:
        return _found(exchange.get_variable_handle(state, name, key), name, key)

    def actuator(kind: str, control: str, key: str) -> int:
        return _found(exchange.get_actuator_handle(state, kind, control, key), kind, key)

    schedule = ("Schedule:Constant", "Schedule Value")
    return _Handles(
        co2=[variable(_CO2, zone.name) for zone in ZONES],
        outdoor_air=[variable(_OUTDOOR_AIR, zone.loop) for zone in ZONES],
        outdoor_air_setting=[
            actuator("Outdoor Air Controller", "Air Mass Flow Rate", zone.controller) for zone in ZONES
        ],
        people=[actuator("People", "Number of People", zone.people) for zone in ZONES],
        activity=[actuator(*schedule, zone.activity) for zone in ZONES],
        outdoor_co2=[actuator(*schedule, OUTDOOR_CO2)],
        meters=[_found(exchange.get_meter_handle(state, meter), "meter", meter) for meter in METERS.values()],
        recorded={name: variable(*keys) for name, keys in record.items()},
    )


def _step_of_day(exchange: Any, state: Any) -> int:
    return int(exchange.hour(state)) * 60 // INTERVAL + int(exchange.zone_time_step_number(state)) - 1


def _found(handle: int, what: str, key: str) -> int:
    if handle < 0:
        raise RuntimeError(f"EnergyPlus has no {what} of {key}")
    return handle


def _variables(record: Mapping[str, tuple[str, str]]) -> list[tuple[str, str]]:
    of_zones = [(_CO2, zone.name) for zone in ZONES] + [(_OUTDOOR_AIR, zone.loop) for zone in ZONES]
    return [*of_zones, *record.values()]


def _first_severe(log: Path) -> str:
    """Return the first error in the log of a run."""
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    severe = [line for line in lines if "** Severe" in line or "**  Fatal" in line]
    return severe[0].strip(" *") if severe else "no message in its log"
