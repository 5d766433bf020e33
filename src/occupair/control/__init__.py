"""Outdoor air from counts: ventilation standards, the count to plan for, and limits on changes of the flow.

In the order of the data flow:

- `ashrae_62_1`, `en_16798_1`: flow that a standard requires for a count;
- `air_demand`: the standard and the properties of one room;
- `planned_people`: the count to plan for, from an estimate and its prediction interval;
- `outdoor_air`: recommended flow and damper position, step by step.

All functions are pure. The numbers of the standards are in ``occupair.ventilation_rates``.
"""

from occupair.control.air_demand import AirDemand
from occupair.control.ashrae_62_1 import breathing_zone_outdoor_air, default_people, zone_outdoor_air
from occupair.control.en_16798_1 import perceived_quality_outdoor_air
from occupair.control.outdoor_air import AirControl, OutdoorAir, next_outdoor_air
from occupair.control.planned_people import interval_confidence, people_to_plan_for

__all__ = [
    "AirControl",
    "AirDemand",
    "OutdoorAir",
    "breathing_zone_outdoor_air",
    "default_people",
    "interval_confidence",
    "next_outdoor_air",
    "people_to_plan_for",
    "perceived_quality_outdoor_air",
    "zone_outdoor_air",
]
