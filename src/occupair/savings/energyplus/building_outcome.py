"""What a period of a policy comes to in the building: energy, outdoor air, air quality, errors of counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from occupair.savings.building import OfficeVentilation
from occupair.savings.energyplus.building_run import BuildingRun
from occupair.savings.energyplus.reference_building import INTERVAL
from occupair.savings.energyplus.zone_control import ZoneControl, is_ventilated
from occupair.savings.outcome import CO2_LIMIT, WELL_BELOW

Array = NDArray[np.float64]


@dataclass(frozen=True)
class AirTotals:
    """Totals of one zone, or of all zones.

    Parameters
    ----------
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
    squared_error, error, estimated : float
        Sums over all decisions with an estimate: squared error, error (estimate minus true count), number.
    below_upper, bounded : float
        Number of true counts at or below the upper end of the interval, and number of upper ends.
    """

    outdoor_air: float
    person_hours: float
    above_limit: float
    below_flow: float
    well_below_flow: float
    missing_air: float
    off_hours: float
    squared_error: float
    error: float
    estimated: float
    below_upper: float
    bounded: float

    @property
    def rmse(self) -> float | None:
        """RMSE of the estimates [people]; None without."""
        return float(np.sqrt(self.squared_error / self.estimated)) if self.estimated else None

    @property
    def coverage(self) -> float | None:
        """Share of true counts at or below the upper end of the interval [0..1]; None without."""
        return self.below_upper / self.bounded if self.bounded else None


@dataclass(frozen=True)
class BuildingOutcome:
    """Outcome of one run.

    Parameters
    ----------
    heating : float
        Gas of the furnaces [kWh].
    cooling, fans : float
        Electricity of the DX coils and of the fans [kWh].
    hvac : float
        All energy of the HVAC systems, electricity and gas [kWh].
    zones : tuple of AirTotals
        Totals of each zone.
    """

    heating: float
    cooling: float
    fans: float
    hvac: float
    zones: tuple[AirTotals, ...]

    @property
    def building(self) -> AirTotals:
        """Totals of all zones."""
        return AirTotals(
            **{one.name: sum(getattr(zone, one.name) for zone in self.zones) for one in fields(AirTotals)}
        )


def building_outcome(
    run: BuildingRun, control: ZoneControl, ventilation: Sequence[OfficeVentilation]
) -> BuildingOutcome:
    """Return the outcome of a run.

    Parameters
    ----------
    run
        History of the run.
    control
        The control of its zones.
    ventilation
        Standard and design occupancy of each zone.
    """
    on = np.array([is_ventilated(time) for time in run.time.to_pydatetime()])
    co2 = _mean_co2(run)
    zones = [
        air_totals(
            one,
            on=on,
            people=run.people[:, zone].astype(float),
            flow=run.outdoor_air[:, zone],
            co2=co2[:, zone],
            estimates=control.estimates[:, zone],
            upper_ends=control.upper_ends[:, zone],
        )
        for zone, one in enumerate(ventilation)
    ]
    energy = run.energy
    return BuildingOutcome(
        energy["heating"],
        energy["cooling"],
        energy["fans"],
        energy["electricity"] + energy["gas"],
        tuple(zones),
    )


def air_totals(
    ventilation: OfficeVentilation,
    *,
    on: NDArray[np.bool_],
    people: Array,
    flow: Array,
    co2: Array,
    estimates: Array,
    upper_ends: Array,
) -> AirTotals:
    """Return the totals of one zone.

    Parameters
    ----------
    ventilation
        Standard and design occupancy.
    on
        Whether each time step is in the ventilation hours.
    people, flow, co2
        True count, outdoor air [L/s] and mean CO2 [ppm] of each time step.
    estimates, upper_ends
        Estimated count and upper end of its interval; NaN without.
    """
    hours, cubic_metres = INTERVAL / 60, INTERVAL * 60 / 1000
    off_hours, outdoor_air = people[~on].sum() * hours, flow.sum() * cubic_metres
    people, flow = people[on], flow[on]
    required = np.minimum(ventilation.control.demand.flow(people), ventilation.design_flow)
    missing = np.where(people > 0, np.maximum(required - flow, 0.0), 0.0)
    error, upper = estimates[on] - people, upper_ends[on]
    totals = {
        "outdoor_air": outdoor_air,
        "person_hours": people.sum() * hours,
        "above_limit": people[co2[on] > CO2_LIMIT].sum() * hours,
        "below_flow": people[missing > 1e-6 * required].sum() * hours,
        "well_below_flow": people[flow < WELL_BELOW * required].sum() * hours,
        "missing_air": missing.sum() * cubic_metres,
        "off_hours": off_hours,
        "squared_error": np.nansum(error**2),
        "error": np.nansum(error),
        "estimated": np.isfinite(error).sum(),
        "below_upper": (people <= upper).sum(),
        "bounded": np.isfinite(upper).sum(),
    }
    return AirTotals(**{name: float(total) for name, total in totals.items()})


def _mean_co2(run: BuildingRun) -> Array:
    """Return the mean CO2 of each time step [ppm], between its start and the start of the next."""
    after = np.vstack([run.co2[1:], run.co2[-1:]])
    return np.asarray((run.co2 + after) / 2)
