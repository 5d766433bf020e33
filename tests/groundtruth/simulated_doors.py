"""Passages at two doors of the simulated office, and typical counting errors."""

from functools import lru_cache

import numpy as np
import pandas as pd

from occupair.simulation.office import simulate_history

DOORS = np.array(["north", "south"])


def office(days=5, seed=0, *, through=10, share=0.6):
    """Single passages of the simulated people and the true occupancy by minute, weekdays only.

    Each passage uses the north door with probability ``share``. In addition, ``through`` visitors per day
    enter and leave again within two minutes.
    """
    history = _history(days, seed)
    rng = np.random.default_rng([seed, 99])
    weekday = history.time.day_of_week < 5
    steps = np.diff(history.presence.astype(int), axis=0, prepend=0)
    minute, _ = np.nonzero(steps)
    way = steps[np.nonzero(steps)]
    looks = rng.choice(
        np.flatnonzero(weekday & (history.time.hour >= 7) & (history.time.hour < 22)), through * days
    )
    minute = np.concatenate([minute, looks, looks + rng.integers(0, 3, looks.size)])
    way = np.concatenate([way, np.ones(looks.size, int), -np.ones(looks.size, int)])
    stay = np.zeros(len(history.time), int)
    np.add.at(stay, minute, way)
    truth = pd.Series(np.cumsum(stay), index=history.time)[weekday]
    single = pd.DataFrame(
        {
            "door": DOORS[(rng.random(minute.size) > share).astype(int)],
            "entered": (way > 0).astype(int),
            "left": (way < 0).astype(int),
            "weight": 1.0,
        },
        index=history.time[minute] + pd.to_timedelta(rng.integers(0, 60, minute.size), unit="s"),
    ).sort_index()
    return single, truth


@lru_cache(maxsize=4)
def _history(days, seed):
    return simulate_history(days, seed=seed)


def missed(single, number, *, way="left", seed=0):
    """Remove some passages of one direction."""
    rng = np.random.default_rng(seed)
    gone = rng.choice(np.flatnonzero(single[way] > 0), number, replace=False)
    return single.iloc[np.setdiff1d(np.arange(len(single)), gone)]


def doubled(single, share, *, way="entered", door=None, seed=0):
    """Repeat some passages of one direction, at one door or all, a second later."""
    rng = np.random.default_rng(seed)
    chosen = (single[way] > 0).to_numpy() & (rng.random(len(single)) < share)
    if door is not None:
        chosen &= (single["door"] == door).to_numpy()
    again = single[chosen].set_axis(single.index[chosen] + pd.Timedelta(seconds=1))
    return pd.concat([single, again]).sort_index()


def off(single, minutes, *, door="south"):
    """Shift the clock of one door."""
    there = (single["door"] == door).to_numpy()
    times = single.index + pd.to_timedelta(np.where(there, minutes, 0), unit="min")
    return single.set_axis(times).sort_index()


def rmse(found, truth):
    """RMSE of an occupancy against the truth [people]."""
    both = pd.concat([found, truth], axis=1, join="inner").to_numpy(float)
    assert len(both) == len(truth)
    return float(np.sqrt(np.mean((both[:, 0] - both[:, 1]) ** 2)))


def swapped(single, door="south"):
    """Swap entries and exits of a door."""
    there = (single["door"] == door).to_numpy()
    entered, left = single["entered"], single["left"]
    return single.assign(entered=entered.where(~there, left), left=left.where(~there, entered))
