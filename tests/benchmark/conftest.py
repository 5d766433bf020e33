"""A tiny benchmark, and methods that look ahead."""

import numpy as np
import pytest

from occupair.baselines import MassBalanceBaseline, MeanBaseline, ProfileBaseline
from occupair.benchmark.methods import Method
from occupair.benchmark.run_benchmark import run_benchmark


class Peeking(MassBalanceBaseline):
    """The mass balance, shifted to use the next reading."""

    def estimate(self, readings):
        return super().estimate(readings).shift(-1).ffill()


class Normalising(MeanBaseline):
    """CO2 divided by the maximum over all readings, including later ones."""

    def estimate(self, readings):
        return readings["co2"] / readings["co2"].max()


class Counting(MassBalanceBaseline):
    """The mass balance, counting its trainings."""

    trained = 0

    def fit(self, readings):
        type(self).trained += 1
        return super().fit(readings)


@pytest.fixture
def peeking():
    return Method(Peeking)


@pytest.fixture
def normalising():
    return Method(Normalising)


@pytest.fixture
def counting():
    Counting.trained = 0
    return Method(Counting, is_baseline=True)


@pytest.fixture(scope="session")
def cheap():
    """Three fast methods."""
    return {
        "mean": Method(MeanBaseline, is_baseline=True),
        "profile": Method(ProfileBaseline, is_baseline=True),
        "ours": Method(MassBalanceBaseline),
    }


@pytest.fixture(scope="session")
def rooms(slow_office):
    """Two rooms: the slow office, and three of its days with twice the people."""
    half = slow_office.iloc[288:]
    return {"one": slow_office, "two": half.assign(occupancy=2 * half["occupancy"])}


@pytest.fixture(scope="session")
def result(rooms, cheap):
    return run_benchmark(rooms, cheap, [0, 20])


@pytest.fixture
def changed():
    """Replace the CO2 of the given rows by random values."""

    def other(readings, rows):
        readings = readings.copy()
        size = len(readings.iloc[rows])
        readings.iloc[rows, readings.columns.get_loc("co2")] = np.random.default_rng(0).uniform(
            300, 3000, size
        )
        return readings

    return other
