"""CO2 in a room that is not well mixed, as a row of well-mixed zones.

The balance of zone i, with volumes V [m3], flows [m3/h], concentrations c [ppm] and generation G [L/s]:

    V_i dc_i/dt = 3.6e6 G_i                                  CO2 generation
                + (s_i F + n V_i) (c_out - c_i)              outdoor air F with share s_i, leakage n [1/h]
                + s_i R (sum_j s_j c_j - c_i)                recirculated air R
                + X (c_{i-1} - c_i) + X (c_{i+1} - c_i)      exchange X with the neighbours

Inflow and outflow of every zone are equal, so air is conserved. Inputs are constant over a minute and
the equation is linear, so the step by matrix exponential is exact. ``AirSteps`` holds such steps for a set of
air flows, for rooms whose flows vary.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import expm

from occupair.errors import InputError

STEP = 1 / 60  # [h] one minute, the paper's sampling interval
PPM_M3_PER_LITRE = 1000.0  # [ppm m3/L] one litre in one cubic metre is 1000 ppm
SECONDS_PER_HOUR = 3600.0  # [s/h]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class AirFlows:
    """Air flows with ventilation on or off.

    Attributes
    ----------
    fresh : outdoor air supplied by the air handling unit [m3/h]
    recirculated : return air supplied to all zones [m3/h]
    exchange : air flow between two neighbouring zones, in each direction [m3/h]
    """

    fresh: float
    recirculated: float
    exchange: float

    def __post_init__(self) -> None:
        for name in ("fresh", "recirculated", "exchange"):
            if not getattr(self, name) >= 0:
                raise InputError(f"{name} must be 0 m3/h or more, got {getattr(self, name)}")


@dataclass(frozen=True)
class Room:
    """A room as a row of zones.

    Attributes
    ----------
    volumes : volume of each zone [m3]
    supply_share : share of the supply air of each zone, with sum 1 [-]
    leakage : infiltration, always [1/h]
    on, off : air flows with ventilation on and off

    Examples
    --------
    >>> still = AirFlows(fresh=0, recirculated=0, exchange=60)
    >>> Room((50.0, 50.0), (0.5, 0.5), leakage=0.2, on=AirFlows(300, 600, 120), off=still).leakage
    0.2
    """

    volumes: tuple[float, ...]
    supply_share: tuple[float, ...]
    leakage: float
    on: AirFlows
    off: AirFlows

    def __post_init__(self) -> None:
        if not self.volumes or not min(self.volumes) > 0:
            raise InputError(f"volumes must be one or more values above 0 m3, got {self.volumes}")
        if len(self.supply_share) != len(self.volumes) or not min(self.supply_share) >= 0:
            raise InputError(f"supply_share must be one value of 0 or more per zone, got {self.supply_share}")
        if not np.isclose(sum(self.supply_share), 1.0, rtol=0, atol=1e-12):
            raise InputError(f"supply_share must sum to 1, got {self.supply_share}")
        if not self.leakage >= 0:
            raise InputError(f"leakage must be 0 1/h or more, got {self.leakage}")


@dataclass(frozen=True)
class AirHistory:
    """Simulated CO2 and its exchange with outdoors.

    Attributes
    ----------
    co2 : concentration in each zone at the start of each minute and at the end [ppm], (n + 1, zones)
    brought_in : CO2 entering with outdoor air in each minute [L], shape (n,)
    carried_out : CO2 leaving with room air in each minute [L], shape (n,)
    """

    co2: Array
    brought_in: Array
    carried_out: Array


def outdoor_flows(room: Room, flows: AirFlows) -> Array:
    """Return the outdoor air flow of each zone, supply and infiltration [m3/h].

    Examples
    --------
    >>> flows = AirFlows(fresh=300, recirculated=0, exchange=0)
    >>> outdoor_flows(Room((50.0, 50.0), (0.8, 0.2), leakage=0.2, on=flows, off=flows), flows).tolist()
    [250.0, 70.0]
    """
    return np.asarray(room.supply_share) * flows.fresh + room.leakage * np.asarray(room.volumes)


def balance_matrix(room: Room, flows: AirFlows) -> Array:
    """Return the matrix A [1/h] of dc/dt = A c + ..., the balance above.

    Examples
    --------
    A single zone decays at its air change rate:

    >>> flows = AirFlows(fresh=90, recirculated=500, exchange=500)
    >>> balance_matrix(Room((50.0,), (1.0,), leakage=0.2, on=flows, off=flows), flows).tolist()
    [[-2.0]]
    """
    share = np.asarray(room.supply_share)
    n = len(share)
    neighbours = np.eye(n, k=1) + np.eye(n, k=-1)
    into = flows.recirculated * np.outer(share, share) + flows.exchange * neighbours  # [m3/h], from j to i
    np.fill_diagonal(into, 0.0)  # recirculation within a zone has no effect
    out = into.sum(axis=1) + outdoor_flows(room, flows)
    return np.asarray((into - np.diag(out)) / np.asarray(room.volumes)[:, None])


def simulate_air(
    room: Room, *, generation: Array, outdoor: Array, ventilation: Array, start: Array
) -> AirHistory:
    """Simulate CO2 in all zones, with one exact step per minute.

    Parameters
    ----------
    room
        The room.
    generation
        CO2 generation in each zone [L/s], shape (n, zones), constant over each minute.
    outdoor
        Outdoor CO2 [ppm], shape (n,).
    ventilation
        1 with ventilation on, else 0, shape (n,).
    start
        Initial CO2 in each zone [ppm].

    Examples
    --------
    An empty room at the outdoor concentration stays there:

    >>> flows = AirFlows(fresh=90, recirculated=500, exchange=500)
    >>> room = Room((50.0,), (1.0,), leakage=0.2, on=flows, off=flows)
    >>> air = simulate_air(room, generation=np.zeros((2, 1)), outdoor=np.full(2, 400.0),
    ...                    ventilation=np.ones(2), start=np.array([400.0]))
    >>> air.co2.ravel().round(6).tolist()
    [400.0, 400.0, 400.0]
    """
    on = np.asarray(ventilation) > 0
    inputs = np.column_stack([generation * SECONDS_PER_HOUR, outdoor])  # [L/h] per zone, [ppm]
    co2, integral = _march(_steps(room, room.on), _steps(room, room.off), inputs, on, start)
    flow = np.where(on[:, None], outdoor_flows(room, room.on), outdoor_flows(room, room.off))
    brought_in = flow.sum(axis=1) * outdoor * STEP / PPM_M3_PER_LITRE
    carried_out = (flow * integral).sum(axis=1) / PPM_M3_PER_LITRE
    return AirHistory(co2, brought_in, carried_out)


def co2_volume(room: Room, co2: Array) -> Array:
    """Return the CO2 volume in the room [L] for each row of zone concentrations [ppm].

    Examples
    --------
    >>> flows = AirFlows(fresh=0, recirculated=0, exchange=0)
    >>> room = Room((50.0, 50.0), (0.5, 0.5), leakage=0, on=flows, off=flows)
    >>> co2_volume(room, np.array([[400.0, 600.0]])).tolist()
    [50.0]
    """
    return np.asarray(co2 @ np.asarray(room.volumes) / PPM_M3_PER_LITRE)


class AirSteps:
    """Exact one-minute steps of a room for a set of air flows, for many runs at once.

    Parameters
    ----------
    room : Room
        Volumes, supply shares and leakage; its own ``on`` and ``off`` are not used.
    flows : sequence of AirFlows
        Air flows to choose from.

    Examples
    --------
    One zone of 50 m3 with leakage of 10 m3/h, from 1000 ppm, with 0 and with 90 m3/h of outdoor air:

    >>> still, fresh = AirFlows(0, 0, 0), AirFlows(90, 0, 0)
    >>> steps = AirSteps(Room((50.0,), (1.0,), leakage=0.2, on=fresh, off=still), [still, fresh])
    >>> step = steps.advance(np.full((2, 1), 1000.0), np.array([0, 1]), np.zeros((2, 1)), np.full(2, 400.0))
    >>> step.co2.ravel().round(2).tolist(), (400 + 600 * np.exp(-np.array([0.2, 2.0]) / 60)).round(2).tolist()
    ([998.0, 980.33], [998.0, 980.33])
    """

    def __init__(self, room: Room, flows: Sequence[AirFlows]) -> None:
        steps = [_steps(room, one) for one in flows]
        self._matrices = np.array([np.concatenate(pair) for pair in steps])  # to c, then to its integral
        self.outdoor = np.array([outdoor_flows(room, one) for one in flows])  # [m3/h], (flows, zones)

    def advance(self, co2: Array, which: NDArray[np.int64], generation: Array, outdoor: Array) -> "AirStep":
        """Return the air of all runs one minute later.

        Parameters
        ----------
        co2
            CO2 in each zone [ppm], shape (runs, zones).
        which
            Number of the air flows of each run, shape (runs,).
        generation
            CO2 generation in each zone [L/s], shape (runs, zones).
        outdoor
            Outdoor CO2 [ppm], shape (runs,).
        """
        n = co2.shape[1]
        inputs = np.column_stack([co2, generation * SECONDS_PER_HOUR, outdoor])
        both = np.matmul(self._matrices[which], inputs[:, :, np.newaxis])[:, :, 0]
        flow = self.outdoor[which]
        brought_in = flow.sum(axis=1) * outdoor * STEP / PPM_M3_PER_LITRE
        carried_out = (flow * both[:, n:]).sum(axis=1) / PPM_M3_PER_LITRE
        return AirStep(both[:, :n], both[:, n:] / STEP, brought_in, carried_out)


@dataclass(frozen=True)
class AirStep:
    """One minute of several runs.

    Attributes
    ----------
    co2 : concentration in each zone at the end [ppm], shape (runs, zones)
    mean : mean concentration over the minute [ppm], shape (runs, zones)
    brought_in : CO2 entering with outdoor air [L], shape (runs,)
    carried_out : CO2 leaving with room air [L], shape (runs,)
    """

    co2: Array
    mean: Array
    brought_in: Array
    carried_out: Array


def _steps(room: Room, flows: AirFlows) -> tuple[Array, Array]:
    """Return the matrices from (c, inputs) to c after one minute and to the integral of c [ppm h].

    Both come from one exponential of the system augmented with its integral and constant inputs
    (Van Loan 1978, IEEE Trans. Automatic Control 23, 395-404).
    """
    n = len(room.volumes)
    volumes = np.asarray(room.volumes)
    system = np.zeros((3 * n + 1, 3 * n + 1))  # c, its integral, generation [L/h], outdoor CO2 [ppm]
    system[:n, :n] = balance_matrix(room, flows)
    system[:n, 2 * n : 3 * n] = np.diag(PPM_M3_PER_LITRE / volumes)
    system[:n, 3 * n] = outdoor_flows(room, flows) / volumes
    system[n : 2 * n, :n] = np.eye(n)
    whole = expm(system * STEP)
    keep = np.r_[0:n, 2 * n : 3 * n + 1]
    return whole[:n, keep], whole[n : 2 * n, keep]


def _march(
    on_steps: tuple[Array, Array],
    off_steps: tuple[Array, Array],
    inputs: Array,
    on: NDArray[np.bool_],
    start: Array,
) -> tuple[Array, Array]:
    """Return the concentrations at every minute [ppm] and their integral over each minute [ppm h]."""
    n = len(start)
    (c_on, i_on), (c_off, i_off) = on_steps, off_steps
    push = np.where(on[:, None], inputs @ c_on[:, n:].T, inputs @ c_off[:, n:].T)
    co2 = np.empty((len(inputs) + 1, n))
    co2[0] = start
    for k, running in enumerate(on):
        co2[k + 1] = (c_on if running else c_off)[:, :n] @ co2[k] + push[k]
    both = np.column_stack([co2[:-1], inputs])
    return co2, np.where(on[:, None], both @ i_on.T, both @ i_off.T)
