"""What a period of a policy comes to in the building: energy, outdoor air, air quality, errors of counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from occupair.control import AirControl
from occupair.savings.energyplus.building_run import BuildingRun
from occupair.savings.energyplus.reference_building import INTERVAL
from occupair.savings.energyplus.zone_control import is_ventilated

Array = NDArray[np.float64]

CO2_LIMIT = 1000.0
WELL_BELOW = 0.9


@dataclass(frozen=True)
class BuildingOutcome:
    """Totals of one run, over all zones.

    Parameters
    ----------
    policy : str
        Name of the policy.
    heating : float
        Gas of the furnaces [kWh].
    cooling, fans : float
        Electricity of the DX coils and fans [kWh].
    hvac : float
        All energy of the HVAC systems, electricity and gas [kWh].
    outdoor_air : float
        Outdoor air supplied [m3].
    person_hours : float
        Person-hours in ventilation hours [h].
    above_limit : float
        Person-hours above 1,000 ppm in ventilation hours [h].
    below_flow, well_below_flow : float
        Person-hours in ventilation hours with less than 100 % and 90 % of the outdoor air that the standard
        requires for the true count in the zone [h].
    missing_air : float
        Outdoor air that was missing to the required flow [m3].
    off_hours : float
        Person-hours outside of ventilation hours, without outdoor air for all policies [h].
    rmse, bias : float or None
        Error of the estimates in ventilation hours [people]; None without an estimator.
    coverage : float or None
        Share of true counts at or below the upper end of the interval; None without intervals.
    """

    policy: str
    heating: float
    cooling: float
    fans: float
    hvac: float
    outdoor_air: float
    person_hours: float
    above_limit: float
    below_flow: float
    well_below_flow: float
    missing_air: float
    off_hours: float
    rmse: float | None
    bias: float | None
    coverage: float | None


def building_outcome(
    policy: str, run: BuildingRun, controls: list[AirControl], *, estimates: Array, upper_ends: Array
) -> BuildingOutcome:
    """Return the totals of a run.

    Parameters
    ----------
    policy
        Name of the policy.
    run
        History of the run.
    controls
        Standard and design occupancy of each zone.
    estimates, upper_ends
        Estimated counts and upper ends of their intervals; NaN without, shape (n, zones).
    """
    hours, seconds = INTERVAL / 60, INTERVAL * 60
    on = np.array([is_ventilated(time) for time in run.time.to_pydatetime()])
    people, flow = run.people[on].astype(float), run.outdoor_air[on]
    required = np.column_stack(
        [
            np.minimum(control.demand.flow(people[:, zone]), control.design_flow)
            for zone, control in enumerate(controls)
        ]
    )
    missing = np.where(people > 0, np.maximum(required - flow, 0.0), 0.0)
    error, high = estimates[on] - people, upper_ends[on]
    known, bounded = np.isfinite(error), np.isfinite(high)
    return BuildingOutcome(
        policy,
        heating=run.energy["heating"],
        cooling=run.energy["cooling"],
        fans=run.energy["fans"],
        hvac=run.energy["electricity"] + run.energy["gas"],
        outdoor_air=float(run.outdoor_air.sum()) * seconds / 1000,
        person_hours=float(people.sum()) * hours,
        above_limit=float(people[_mean_co2(run)[on] > CO2_LIMIT].sum()) * hours,
        below_flow=float(people[missing > 1e-6 * required].sum()) * hours,
        well_below_flow=float(people[flow < WELL_BELOW * required].sum()) * hours,
        missing_air=float(missing.sum()) * seconds / 1000,
        off_hours=float(run.people[~on].sum()) * hours,
        rmse=float(np.sqrt(np.mean(error[known] ** 2))) if known.any() else None,
        bias=float(error[known].mean()) if known.any() else None,
        coverage=float((people <= high)[bounded].mean()) if bounded.any() else None,
    )


def _mean_co2(run: BuildingRun) -> Array:
    """Return the mean CO2 of each time step [ppm], between its start and the start of the next."""
    after = np.vstack([run.co2[1:], run.co2[-1:]])
    return np.asarray((run.co2 + after) / 2)
