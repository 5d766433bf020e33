"""Estimates of the paper's network for a table of readings: Eqs. (21), (22), (24) and (26)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.paper.live_day import LiveDay
from occupair.paper.network import Network
from occupair.progress import track
from occupair.readings.schema import episode_slices, ventilation_of
from occupair.smoothing import smooth

Array = NDArray[np.float64]


def estimate_readings(
    readings: pd.DataFrame, network: Network, *, mode: str, wait: int = 0, verbose: bool | None = None
) -> Array:
    """Estimate the people at every reading [people]; see ``OccupancyEstimator.estimate`` for the modes.

    Parameters
    ----------
    readings : DataFrame
        Checked readings.
    network : Network
        The trained estimator.
    mode : {"live", "hindsight", "drifting"}
        Eq. (26), (22) or (24).
    wait : int
        Lag of the refined estimates [readings]; 0 returns the immediate ones.
    verbose : bool, optional
        Whether to show progress; None does so in a terminal, if it takes long.
    """
    if mode == "hindsight":
        return _in_hindsight(readings, network)
    return _one_by_one(readings, network, revise=mode == "live", wait=wait, verbose=verbose)


def _in_hindsight(readings: pd.DataFrame, network: Network) -> Array:
    """Estimate with the CO2 of each episode smoothed as a whole [people].

    Jiang et al. 2016, Eqs. (22) and (23); Eq. (21) without smoothing.
    """
    co2, ventilation, people = readings["co2"].to_numpy(), ventilation_of(readings), np.zeros(len(readings))
    horizon = network.layer.horizon
    for one in episode_slices(readings):
        smoothed = smooth(co2[one], smoothing=network.smoothing)
        network.run(smoothed, ventilation[one], people[one], start=horizon)
    return people


def _one_by_one(
    readings: pd.DataFrame, network: Network, *, revise: bool, wait: int, verbose: bool | None
) -> Array:
    """Estimate causally, one reading at a time [people]: Eq. (26), or Eq. (24) without ``revise``."""
    co2, ventilation, people = readings["co2"].to_numpy(), ventilation_of(readings), np.zeros(len(readings))
    starts = {episode.start for episode in episode_slices(readings)}
    for k in track(range(co2.size), "estimating", show=verbose):
        if k in starts:
            day = LiveDay(network, revise=revise)
        day.append(co2[k], ventilation[k])
        recent = min(wait + 1, len(day))
        people[k + 1 - recent : k + 1] = day.people[-recent:]
    return people
