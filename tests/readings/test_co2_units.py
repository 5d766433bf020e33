"""Conversion of CO2 from other units to ppm."""

import numpy as np
import pytest

from occupair import InputError
from occupair.readings.co2_units import to_ppm
from occupair.readings.source import Source


def converted(values, stated):
    return to_ppm(np.array(values), stated, column="CO2", source=Source("room.csv")).tolist()


@pytest.mark.parametrize("stated", ["CO2 [%]", "co2 vol", "CO2 Prozent", "CO2  Vol-%"])
def test_stated_percent_is_converted(stated):
    assert converted([0.041, 0.1], stated) == [410, 1000]


@pytest.mark.parametrize("stated", ["CO2", "CO2 [ppm]", "co2_volume", "CO2 [% of 2000]"])
def test_ppm_is_unchanged(stated):
    assert converted([410.0, np.inf, -5.0], stated) == [410, np.inf, -5]


def test_missing_values_are_unchanged():
    assert np.isnan(converted([np.nan, np.nan], "CO2")).all()
    assert converted([0.0, 0.0], "CO2") == [0, 0]


@pytest.mark.parametrize("stated", ["CO2 [mg/m3]", "CO2 mg/m³", "CO2 mg/m^3"])
def test_mg_per_m3_is_rejected(stated):
    with pytest.raises(InputError, match=r"room\.csv, column CO2: must be in ppm, got mg/m3: multiply"):
        converted([800.0], stated)


def test_values_too_low_for_ppm_are_rejected():
    with pytest.raises(InputError, match=r"must be in ppm .*, got at most 0.1: if this is percent"):
        converted([0.04, 0.1, 0.0], "CO2")


def test_temperature_is_not_called_percent():
    with pytest.raises(InputError, match=r"must be in ppm .*, got at most 21.3: is this another quantity"):
        to_ppm(np.array([20.1, 21.3]), "CO2", column="CO2", source=Source("room.csv"))
