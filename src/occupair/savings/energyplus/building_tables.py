"""Results of the building study as tables and sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

import pandas as pd

from occupair.report.number_format import DASH
from occupair.report.text_table import Table
from occupair.savings.energyplus.building_outcome import BuildingOutcome
from occupair.savings.energyplus.building_study import TARGET, TUNED
from occupair.savings.policy_list import POLICY_NAMES, PolicyName

Outcomes = Mapping[str, BuildingOutcome]

NOTES = (
    ">1000 ppm, below flow, <90 % of flow: person-hours in ventilation hours in a zone with CO2 above "
    "1,000 ppm, with less outdoor air than the standard requires for the true count in the zone, and with "
    "less than 90 % of it. RMSE: error of the counts per zone in ventilation hours. Within bound: share of "
    "true counts at or below the upper end of the interval."
)

_NAMES = {name.key: name for name in POLICY_NAMES} | {"true": PolicyName("true", "True count")}


def energy_table(outcomes: Outcomes) -> Table:
    """Return the HVAC energy of every policy."""
    heads = ["policy", "trained on", "gas [kWh]", "cooling [kWh]", "fans [kWh]", "HVAC [kWh]", "of fixed [%]"]
    fixed = outcomes["fixed"].hvac
    rows = [
        [
            *_name(key),
            *(f"{value:,.0f}" for value in (one.heating, one.cooling, one.fans, one.hvac)),
            _percent(one.hvac, fixed),
        ]
        for key, one in outcomes.items()
    ]
    return Table(heads, rows)


def air_table(outcomes: Outcomes) -> Table:
    """Return outdoor air, air quality and errors of the counts of every policy."""
    heads = [
        "policy",
        "trained on",
        "air [1000 m3]",
        "of fixed [%]",
        ">1000 ppm [h]",
        "below flow [h]",
        "<90 % of flow [h]",
        "RMSE [people]",
        "within bound [%]",
    ]
    fixed = outcomes["fixed"].building.outdoor_air
    rows = []
    for key, outcome in outcomes.items():
        air = outcome.building
        hours = (air.above_limit, air.below_flow, air.well_below_flow)
        rows.append(
            [
                *_name(key),
                f"{air.outdoor_air / 1000:,.0f}",
                _percent(air.outdoor_air, fixed),
                *(f"{value:,.0f}" for value in hours),
                DASH if air.rmse is None else f"{air.rmse:.2f}",
                DASH if air.coverage is None or not key.startswith("upper") else f"{100 * air.coverage:.1f}",
            ]
        )
    return Table(heads, rows)


def totals(outcomes: Outcomes) -> pd.DataFrame:
    """Return all totals of the building, one row per policy."""
    rows = [
        {"policy": key}
        | {name: getattr(outcome, name) for name in ("heating", "cooling", "fans", "hvac")}
        | asdict(outcome.building)
        for key, outcome in outcomes.items()
    ]
    return pd.DataFrame(rows)


def conclusions(outcomes: Outcomes) -> list[str]:
    """Return what the tables say, in sentences; policies that were not run are left out."""
    air = outcomes["fixed"].building
    sentences = [
        f"{air.person_hours:,.0f} person-hours in ventilation hours, {air.off_hours:,.0f} outside of them, "
        "where no policy supplies outdoor air."
    ]
    named = (
        ("true", "The true count, which never supplies too little, saves"),
        ("schedule", "The schedule saves"),
        (TARGET, "The upper bound saves"),
        (TUNED, "CO2 control with the same share of person-hours below the flow in the tuning weeks saves"),
    )
    sentences += [f"{subject} {_saving(outcomes, key)}." for key, subject in named if key in outcomes]
    return sentences


def _saving(outcomes: Outcomes, key: str) -> str:
    fixed, one = outcomes["fixed"], outcomes[key]
    air = one.building
    share = 100 * air.below_flow / max(air.person_hours, 1e-9)
    return (
        f"{100 - 100 * air.outdoor_air / fixed.building.outdoor_air:.1f} % of the outdoor air, "
        f"{100 - 100 * one.heating / fixed.heating:.1f} % of the gas and "
        f"{100 - 100 * one.hvac / fixed.hvac:.1f} % of the HVAC energy of the fixed flow, "
        f"with {share:.1f} % of person-hours below the required flow"
    )


def _name(key: str) -> list[str]:
    return [_NAMES[key].label, _NAMES[key].training]


def _percent(value: float, whole: float) -> str:
    return f"{100 * value / whole:.1f}" if whole else DASH
