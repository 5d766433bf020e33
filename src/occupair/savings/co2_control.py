"""Settings of CO2 control: those of the user's manual of ASHRAE 62.1, and those tuned on earlier days.

Tuned settings are the ones with the least outdoor air among all candidates with at most a given share of
person-hours below the required flow, on days before the evaluated ones. They are chosen for each office, as
the estimators are trained for each office.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from occupair.savings.building import OfficeVentilation
from occupair.savings.closed_loop import LoopRun, Period
from occupair.savings.energy import EnergyModel
from occupair.savings.outcome import RunTotals, total_up
from occupair.savings.policies import PICo2, ProportionalCo2

ASSUMED_OUTDOOR_CO2 = 400.0  # [ppm] what a controller without an outdoor sensor assumes
GENERATION = 0.0052  # [L/s] CO2 per person at 1.2 met: ASHRAE 62.1-2016, appendix D (0.31 L/min)

BEGINS = (400.0, 450.0, 500.0, 600.0)  # [ppm]
WIDTHS = (
    100.0,
    150.0,
    200.0,
    300.0,
    400.0,
    500.0,
    600.0,
    700.0,
    800.0,
    900.0,
    1000.0,
    1150.0,
    1300.0,
)  # [ppm]
SETPOINTS = (450.0, 500.0, 550.0, 600.0, 650.0, 700.0, 800.0, 900.0, 1000.0)  # [ppm]
BANDS = (100.0, 300.0, 1000.0)  # [ppm] error at which the proportional part alone opens the damper fully
RESET_TIMES = (30.0, 120.0)  # [min]

Co2Policy = ProportionalCo2 | PICo2


def manual_control(ventilation: OfficeVentilation) -> ProportionalCo2:
    """Return the proportional control of the user's manual of ASHRAE 62.1 for a single zone.

    The outdoor air rises from the flow of the empty room at outdoor CO2 to the design flow at the steady
    state of the design occupancy, ``C_out + N P / V`` (Taylor 2006, ASHRAE Journal 48(5), 67-77). The formula
    applies to the flows of EN 16798-1 in the same way.

    Examples
    --------
    ASHRAE 62.1: 400 ppm + 0.0052 L/s * 35 / 143.3 L/s

    >>> round(manual_control(OfficeVentilation("ASHRAE 62.1")).end)
    1670
    """
    people = ventilation.control.design_people
    rise = 1e6 * GENERATION * people / ventilation.design_flow
    return ProportionalCo2(
        ventilation.lowest_flow,
        ventilation.design_flow,
        begin=ASSUMED_OUTDOOR_CO2,
        end=ASSUMED_OUTDOOR_CO2 + rise,
    )


def proportional_candidates(ventilation: OfficeVentilation) -> list[ProportionalCo2]:
    """Return proportional controls with all bands to choose from."""
    low, high = ventilation.lowest_flow, ventilation.design_flow
    pairs = itertools.product(BEGINS, WIDTHS)
    return [ProportionalCo2(low, high, begin=begin, end=begin + width) for begin, width in pairs]


def pi_candidates(ventilation: OfficeVentilation) -> list[PICo2]:
    """Return proportional-integral controls with all settings to choose from."""
    low, high = ventilation.lowest_flow, ventilation.design_flow
    settings = itertools.product(SETPOINTS, BANDS, RESET_TIMES)
    return [PICo2(low, high, setpoint, (high - low) / band, reset) for setpoint, band, reset in settings]


def try_policies(
    seeds: Sequence[int],
    policies: Sequence[Co2Policy],
    ventilation: OfficeVentilation,
    period: Period,
) -> dict[int, list[RunTotals]]:
    """Return the totals of each policy over a period, by seed."""
    runs = [LoopRun(seed, fresh(policy)) for seed in seeds for policy in policies]
    results, n = total_up(runs, ventilation, EnergyModel(), period), len(policies)
    return {seed: results[k * n : (k + 1) * n] for k, seed in enumerate(seeds)}


class Shortfall(Protocol):
    """Totals that settings are chosen by: outdoor air [m3], all person-hours and those below the flow [h]."""

    @property
    def outdoor_air(self) -> float: ...  # noqa: D102
    @property
    def person_hours(self) -> float: ...  # noqa: D102
    @property
    def below_flow(self) -> float: ...  # noqa: D102


def least_air(totals: Sequence[Shortfall], below_flow: float) -> int:
    """Return the number of the policy with the least air among those that are rarely below the flow.

    Parameters
    ----------
    totals
        Totals of each policy.
    below_flow
        Largest share of person-hours below the required flow [0..1]. If no policy achieves it, the one with
        the smallest share is returned.
    """
    shares = np.array([one.below_flow / max(one.person_hours, 1e-9) for one in totals])
    air = np.array([one.outdoor_air for one in totals])
    allowed = shares <= max(below_flow, shares.min())
    return int(np.argmin(np.where(allowed, air, np.inf)))


def fresh(policy: Co2Policy) -> Co2Policy:
    """Return the same policy without a state, for a run of its own."""
    if isinstance(policy, ProportionalCo2):
        return policy
    return PICo2(policy.lowest, policy.highest, policy.setpoint, policy.gain, policy.reset_time)
