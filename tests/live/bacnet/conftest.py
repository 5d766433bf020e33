"""Shared fixtures: an office, and a model of it."""

import pandas as pd
import pytest

import occupair as oc


@pytest.fixture(scope="session")
def office():
    """Four days with a reading every five minutes, until yesterday, as a BMS has them: with 32 bits."""
    office = oc.simulate_office(days=4, seed=5).iloc[::5]
    end = pd.Timestamp.now(tz="UTC").normalize() - pd.Timedelta(days=1)
    office = office.set_axis(pd.date_range(end=end, periods=len(office) + 1, freq="5min")[:-1])
    return office.assign(co2=office["co2"].astype("float32").astype(float))


@pytest.fixture(scope="session")
def model(office):
    return oc.OccupancyEstimator(n_hidden=40, random_state=0).fit(office.iloc[: 3 * 288])
