"""The EnergyPlus model of the study: the DOE reference small office, with CO2 and occupants from outside.

Deru et al. 2011, "U.S. Department of Energy commercial reference building models of the national building
stock", NREL/TP-5500-46861: new construction, one storey of 511 m2, a core and four perimeter zones. Each zone
has a packaged single-zone unit with a constant-volume fan, a DX cooling coil and a gas furnace. No unit has
an economizer, so all outdoor air is ventilation air.
"""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from occupair.savings.energyplus.installation import energyplus_api, reference_building_file

INTERVAL = 5
"""Time step of EnergyPlus and interval of the readings [min], a usual polling interval of a BMS.

The reference building uses 10 min. Shorter steps multiply the computing time of a year and hardly change CO2:
outdoor air takes some two hours to renew the air of a zone.
"""
OPENING, CLOSING = 7, 22  # [h] ventilation hours of weekdays, those of the reference building
CO2_PER_HEAT = 3.82e-8  # [m3/(s W)] CO2 per metabolic rate, EnergyPlus default (ASHRAE 62.1-2007)
OUTDOOR_CO2 = "Outdoor CO2"


@dataclass(frozen=True)
class BuildingZone:
    """A zone: name, air loop, floor area [m2] and number of seats."""

    name: str
    loop: str
    area: float
    seats: int

    @property
    def people(self) -> str:
        """Name of its People object."""
        return f"{self.name} People"

    @property
    def activity(self) -> str:
        """Name of the schedule of its metabolic rate [W]."""
        return f"{self.name} Activity"

    @property
    def controller(self) -> str:
        """Name of its outdoor air controller."""
        return f"{self.loop}_OA_Controller"


ZONES = (
    BuildingZone("Core_ZN", "PSZ-AC:1", 149.66, 10),
    BuildingZone("Perimeter_ZN_1", "PSZ-AC:2", 113.45, 8),
    BuildingZone("Perimeter_ZN_2", "PSZ-AC:3", 67.30, 5),
    BuildingZone("Perimeter_ZN_3", "PSZ-AC:4", 113.45, 8),
    BuildingZone("Perimeter_ZN_4", "PSZ-AC:5", 67.30, 4),
)
"""Zones with the 35 seats of the simulated office, by floor area.

Some 28 of its 35 people are present at most, as many as the reference building assumes (5.4 per 100 m2).
"""

_REPORTS = ("Output:", "OutputControl:Table", "UtilityCost:", "EnvironmentalImpactFactors", "FuelFactors")


def building_model(*, first_day: dt.date, days: int) -> dict[str, Any]:
    """Return the EnergyPlus model (epJSON) for a period of ``days`` days.

    Differences from the reference building: CO2 is simulated, people and their metabolic rates are set from
    outside in every time step, there are no public holidays and no daylight saving time, and no reports.
    The number of system steps per time step is one, so flows are constant within a time step.
    """
    model = _reference_model()
    for kind in list(model):
        if kind.startswith((*_REPORTS, "RunPeriodControl:")):
            del model[kind]
    _only(model, "SimulationControl").update(
        run_simulation_for_sizing_periods="No", run_simulation_for_weather_file_run_periods="Yes"
    )
    model["RunPeriod"] = {"Period": _run_period(first_day, first_day + dt.timedelta(days=days - 1))}
    _only(model, "Timestep")["number_of_timesteps_per_hour"] = 60 // INTERVAL
    _only(model, "ConvergenceLimits")["minimum_system_timestep"] = 0  # the time step of the zones
    _only(model, "Sizing:Parameters")["timesteps_in_averaging_window"] = 60 // INTERVAL
    model["ZoneAirContaminantBalance"] = {
        "CO2": {"carbon_dioxide_concentration": "Yes", "outdoor_carbon_dioxide_schedule_name": OUTDOOR_CO2}
    }
    model["Schedule:Constant"] = {OUTDOOR_CO2: _constant(400.0)}
    for zone in ZONES:
        model["Schedule:Constant"][zone.activity] = _constant(120.0)
        model["People"][zone.people].update(
            activity_level_schedule_name=zone.activity, carbon_dioxide_generation_rate=CO2_PER_HEAT
        )
    return model


def _reference_model() -> dict[str, Any]:
    """Return the reference building as epJSON, converted by EnergyPlus itself."""
    api, source = energyplus_api(), reference_building_file()
    state = api.state_manager.new_state()
    api.runtime.set_console_output_status(state, False)
    try:
        with TemporaryDirectory() as folder:
            api.runtime.run_energyplus(state, ["-d", folder, "--convert-only", "-c", str(source)])
            converted = Path(folder, source.name).with_suffix(".epJSON")
            model: dict[str, Any] = json.loads(converted.read_text())
    finally:
        api.state_manager.delete_state(state)
    return model


def _only(model: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return the fields of the only object of a kind."""
    fields: dict[str, Any]
    (fields,) = model[kind].values()
    return fields


def _run_period(first: dt.date, last: dt.date) -> dict[str, Any]:
    ends = {
        f"{end}_{field}": value
        for end, day in (("begin", first), ("end", last))
        for field, value in (("year", day.year), ("month", day.month), ("day_of_month", day.day))
    }
    from_weather_file = ("holidays_and_special_days", "daylight_saving_period")
    return ends | {f"use_weather_file_{what}": "No" for what in from_weather_file}


def _constant(value: float) -> dict[str, Any]:
    return {"hourly_value": value, "schedule_type_limits_name": "Any Number"}
