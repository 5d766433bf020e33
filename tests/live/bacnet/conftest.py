"""Shared fixtures: an office, a model of it, and short times of the link."""

import pandas as pd
import pytest

import occupair as oc
from occupair.live.bacnet import application as bacnet_application
from occupair.live.bacnet import device_poller, link, property_reads, subscription


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


@pytest.fixture
def short_times(monkeypatch):
    """Shorten the pauses, timeouts and lifetimes of the link."""
    for module, name, value in (
        (device_poller, "START_SPREAD", 0.0),
        (device_poller, "FIRST_PAUSE", 0.1),
        (device_poller, "MAX_PAUSE", 0.4),
        (device_poller, "CONFIRM_EVERY", 3.0),
        (device_poller, "RESTART_SPACING", 0.05),
        (bacnet_application, "APDU_TIMEOUT", 400),
        (bacnet_application, "APDU_RETRIES", 1),
        (property_reads, "ANSWER_WITHIN", 3.0),
        (subscription, "LIFETIME", 60),
        (link, "STATUS_EVERY", 0.05),
    ):
        monkeypatch.setattr(module, name, value)
