"""Energy for outdoor air: heating, cooling and fans, by a simple model.

Outdoor air is brought to the temperature of the room and moved by fans:

    heating  = rho cp V (1 - eta) (T_heat - T_out)   where T_out < T_heat
    cooling  = rho cp V (T_out - T_cool)             where T_out > T_cool, sensible only
    fan      = SFP V_design f(V / V_design)          f: part-load curve of a fan with variable speed

with the flow V, the efficiency eta of heat recovery and the specific fan power SFP of supply and extract fans
together. It does not know the heat balance of the building: gains from people, equipment and sun, which make
some of the heating unnecessary, and free cooling. A building simulation does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from occupair.errors import InputError

Array = NDArray[np.float64]

HEAT_CAPACITY = 1.2 * 1006.0  # [J/(m3 K)] of air: 1.2 kg/m3 times 1006 J/(kg K)
FAN_CURVE = (0.0013, 0.1470, 0.9506, -0.0998)
"""Power of a fan with variable speed by powers of the part load: ASHRAE 90.1-2010, Table G3.1.3.15, method 2.

A duct keeps some static pressure at part load, so that savings are smaller than by the cubic law.
"""
JOULES_PER_KWH = 3.6e6


@dataclass(frozen=True)
class EnergyModel:
    """Parameters of the energy for outdoor air.

    Parameters
    ----------
    heating_setpoint, cooling_setpoint : float
        Outdoor air is heated to the first and cooled to the second [degC]. The defaults are those of
        EN 16798-1 for offices of category II.
    heat_recovery : float
        Temperature efficiency of heat recovery [0..1].
    specific_fan_power : float
        Power of supply and extract fans at the design flow [W/(L/s)], equal to kW/(m3/s).
    """

    heating_setpoint: float = 20.0
    cooling_setpoint: float = 26.0
    heat_recovery: float = 0.0
    specific_fan_power: float = 1.8

    def __post_init__(self) -> None:
        if not 0 <= self.heat_recovery < 1:
            raise InputError(f"heat recovery must be 0 or more and below 1, got {self.heat_recovery!r}")


@dataclass(frozen=True)
class AirEnergy:
    """Energy for outdoor air [kWh], summed over time; one value per run.

    Parameters
    ----------
    heating, recovered, cooling, fan : array
        Heat from the heating coil, heat recovered from extract air, heat removed by cooling, electricity.
    unexplained : array
        Heat that the outdoor air gained and none of the first three explains.
    """

    heating: Array
    recovered: Array
    cooling: Array
    fan: Array
    unexplained: Array


def air_energy(flow: Array, temperature: Array, model: EnergyModel, *, design_flow: float) -> AirEnergy:
    """Return the energy for outdoor air over some minutes.

    Parameters
    ----------
    flow
        Outdoor air flow [L/s], shape (minutes, runs).
    temperature
        Outdoor temperature [degC], shape (minutes, runs) or (minutes, 1).
    model
        Parameters.
    design_flow
        Design flow of the fans [L/s].

    Examples
    --------
    100 L/s of air at 0 degC for an hour: 0.1 m3/s * 1207.2 J/(m3 K) * 20 K = 2414.4 W.

    >>> energy = air_energy(np.full((60, 1), 100.0), np.zeros((60, 1)), EnergyModel(), design_flow=100.0)
    >>> energy.heating.round(4).tolist(), energy.fan.round(4).tolist()
    ([2.4144], [0.1798])
    """
    supplied = np.clip(temperature, model.heating_setpoint, model.cooling_setpoint)
    volume = flow * 60.0 / 1000.0  # [m3] per minute
    kwh = HEAT_CAPACITY / JOULES_PER_KWH
    too_cold = np.maximum(model.heating_setpoint - temperature, 0.0)
    recovered = kwh * (volume * too_cold * model.heat_recovery).sum(axis=0)
    coil_rise = too_cold - model.heat_recovery * too_cold
    heating = kwh * (volume * coil_rise).sum(axis=0)
    cooling = kwh * (volume * np.maximum(temperature - model.cooling_setpoint, 0.0)).sum(axis=0)
    gained = kwh * (volume * supplied).sum(axis=0) - kwh * (volume * temperature).sum(axis=0)
    share = flow / design_flow
    power = model.specific_fan_power * design_flow * np.polynomial.polynomial.polyval(share, FAN_CURVE)
    fan = np.where(flow > 0, power, 0.0).sum(axis=0) / 60.0 / 1000.0  # [kWh]
    return AirEnergy(heating, recovered, cooling, fan, gained - heating - recovered + cooling)
