"""CO2 in other units than ppm."""

import numpy as np
import pytest

from occupair import InputError
from occupair.readings.co2_units import to_ppm
from occupair.readings.source import Source


def converted(values, stated):
    return to_ppm(np.array(values), stated, column="CO2", source=Source("room.csv")).tolist()


@pytest.mark.parametrize("stated", ["CO2 [%]", "co2 vol", "CO2 Prozent", "CO2  Vol-%"])
def test_per_cent_is_converted_where_it_is_stated(stated):
    assert converted([0.041, 0.1], stated) == [410, 1000]


@pytest.mark.parametrize("stated", ["CO2", "CO2 [ppm]", "co2_volume", "CO2 [% of 2000]"])
def test_ppm_stay(stated):
    assert converted([410.0, np.inf, -5.0], stated) == [410, np.inf, -5]


def test_nothing_known_is_left_to_others():
    assert np.isnan(converted([np.nan, np.nan], "CO2")).all()
    assert converted([0.0, 0.0], "CO2") == [0, 0]


@pytest.mark.parametrize("stated", ["CO2 [mg/m3]", "CO2 mg/m³", "CO2 mg/m^3"])
def test_weight_is_refused(stated):
    with pytest.raises(InputError, match=r"room\.csv, column CO2: is in mg/m3, but must be in ppm: multiply"):
        converted([800.0], stated)


def test_what_no_air_has_is_refused():
    with pytest.raises(InputError, match=r"must be in ppm, .* never goes above 0.1 \(in per cent\?"):
        converted([0.04, 0.1, 0.0], "CO2")
