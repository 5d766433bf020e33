"""Shares of readings with more people than planned, by hand."""

import pandas as pd
import pytest

from tools import planned_people


class Constant:
    """Estimates the same upper end at every reading: ten times the confidence of the interval."""

    def fit(self, readings):
        return self

    def estimate(self, readings, *, interval):
        return pd.DataFrame({"high": 10 * interval}, index=readings.index)


def test_shares_of_readings_and_people(monkeypatch):
    monkeypatch.setattr(planned_people, "make_ours", lambda room: Constant())
    times = pd.date_range("2024-01-08", periods=3 * 288, freq="5min")
    people = [0] * 144 + [6] * 72 + [12] * 72
    readings = pd.DataFrame({"co2": 500.0, "occupancy": people * 3}, index=times)
    table = planned_people.measure({"lab": readings})
    # at 0.8 the upper end is 6 people, at 0.95 it is 9: half of the readings with people have 12
    assert table.loc[("lab", 0.8)].tolist() == pytest.approx([25, 50, 100 * 6 / 18, 12 / 18])
    assert table.loc[("lab", 0.95)].tolist() == pytest.approx([25, 50, 100 * 3 / 18, 1])
