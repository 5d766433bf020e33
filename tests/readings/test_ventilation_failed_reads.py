"""Failed reads and noise of the ventilation do not change its scale; rare but real values do."""

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from occupair.readings.ventilation_failed_reads import find_failed_reads
from occupair.readings.ventilation_units import highest_level

DAY = 288  # readings every 5 min


def fan(days=7, seed=0, *, full=4800.0, noise=5.0):
    """A fan from 30 % to full speed in working hours, off at night, with noise of the flow meter."""
    rng = np.random.default_rng(seed)
    hour = np.tile(np.arange(DAY) / 12, days)
    on = (hour >= 7) & (hour < 18)
    level = np.repeat(rng.uniform(0.3, 1.0, days * 24), 12)
    level[(hour >= 12) & (hour < 14)] = 1.0
    return np.where(on, level * full, 0.0) + rng.normal(0, noise, days * DAY)


def read(values, header="Supply air [m3/h]", **options):
    times = pd.date_range("2024-01-08", periods=len(values), freq="5min")
    return oc.read_readings(pd.DataFrame({"co2": 500.0, header: values}, index=times), **options)


@pytest.mark.parametrize(
    ("seed", "value"),
    list(enumerate([65535, 32767, 6553.5, 999999, 9999, 50000, 2**32 - 1, np.inf, -1, -32768])),
)
def test_failed_read_is_missing_and_leaves_the_scale(value, seed):
    values = fan(seed=seed)
    clean = read(values)
    at = 3 * DAY + 150 + seed  # half past twelve, at full speed
    values[at] = value
    readings = read(values)
    assert readings.attrs["ventilation_full"] == pytest.approx(clean.attrs["ventilation_full"], rel=1e-3)
    assert readings["ventilation"].iloc[at] == readings["ventilation"].iloc[at - 1]  # held
    assert readings.attrs["ventilation_failed"] == f"1 failed read ({value:.10g}, first in row {at + 1})"


def test_outage_of_an_hour_is_a_gap():
    values = fan()
    values[1000:1012] = 65535
    readings = read(values)
    assert readings.attrs["ventilation_full"] == pytest.approx(4800, rel=0.01)
    assert len(readings) == values.size - 12


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("usual", "run"), [(1200.0, 3), (1200.0, 1), (0.0, 3), (0.0, 1)])
def test_full_speed_for_one_percent_of_the_time_is_real(seed, usual, run):
    rng = np.random.default_rng(seed)
    values = usual + rng.normal(0, 5, 14 * DAY)
    starts = rng.choice(np.arange(0, values.size - 10, 12), values.size // 100 // run, replace=False)
    rare = (starts[:, None] + np.arange(run)).ravel()
    values[rare] = 4800 + rng.normal(0, 20, rare.size)
    assert not find_failed_reads(values).any()
    assert highest_level(values) == pytest.approx(4800, rel=0.02)


def test_level_that_is_used_once_is_real():
    """A purge of half an hour in a month, five minutes each: 0.07 % of the readings."""
    values = np.full(30 * DAY, 1000.0)
    values[5000:5006] = 4800
    assert not find_failed_reads(values).any()
    assert highest_level(values) == 4800


def test_raw_counts_of_a_converter_are_real():
    modulating = np.linspace(0, 65535, 500)
    switched = np.tile([0.0, 32767.0], 200)
    assert not find_failed_reads(modulating).any()
    assert not find_failed_reads(switched).any()


def test_values_of_a_short_file_are_not_judged():
    assert not find_failed_reads(np.array([0.0, 10.0, 850.0])).any()


@pytest.mark.parametrize(("seed", "noise"), list(enumerate([0.0005, 0.005, 0.02])))
def test_noisy_fraction_is_not_a_percentage(seed, noise):
    values = fan(seed=seed, full=1.0, noise=noise)
    assert values.max() > 1
    readings = read(values, "damper")
    assert (readings.attrs["ventilation_full"], readings.attrs["ventilation_unit"]) == (1.0, "0..1")
    np.testing.assert_allclose(readings["ventilation"], np.clip(values, 0, 1))
    trained = {"ventilation_full": 1.0, "ventilation_unit": "0..1"}
    later = read(np.minimum(values, 0.98), "damper", **trained)
    np.testing.assert_allclose(later["ventilation"], np.clip(values, 0, 0.98))


def test_scale_of_noisy_flow_hardly_depends_on_the_file():
    """Maxima of noise differ from file to file; quantiles at full speed do not."""
    full = [read(fan(seed=seed, noise=60)).attrs["ventilation_full"] for seed in range(6)]
    assert np.ptp(full) < 0.02 * 4800
    assert max(full) < 1.05 * 4800


def test_failed_reads_in_a_later_file_are_missing():
    values = fan(days=2)
    values[140] = 65535
    trained = {"ventilation_full": 4800, "ventilation_unit": "m3/h"}
    readings = read(values, **trained)
    assert readings["ventilation"].iloc[140] == readings["ventilation"].iloc[139]
    assert readings.attrs["ventilation_full"] == 4800


@pytest.mark.parametrize("header", ["damper [%]", "damper", "fan [Hz]", "Supply air [0..4800 m3/h]"])
def test_full_ventilation_for_a_few_minutes_is_real(header):
    full = {"damper [%]": 100.0, "damper": 1.0, "fan [Hz]": 50.0}.get(header, 4800.0)
    values = np.full(5 * DAY, 0.25 * full)
    values[600:602] = full
    readings = read(values, header)
    assert "ventilation_failed" not in readings.attrs
    np.testing.assert_array_equal(readings["ventilation"], values / full)


@pytest.mark.parametrize("value", [20_000.0, 65535.0, np.inf, -32768.0, -1.0])
def test_later_readings_do_not_change_earlier_ones_on_a_trained_scale(value):
    values = fan(days=2)
    values[[12, 140]] = value
    trained = {"ventilation_full": 4800, "ventilation_unit": "m3/h"}
    whole = read(values, **trained)
    for stop in (15, 150, 200):
        pd.testing.assert_frame_equal(read(values[:stop], **trained), whole.iloc[:stop])


def test_minus_infinity_is_a_failed_read():
    values = fan()
    values[140] = -np.inf
    assert read(values).attrs["ventilation_failed"] == "1 failed read (-inf, first in row 141)"


def test_minus_one_while_off_is_noise():
    values = np.round(fan())
    off = np.flatnonzero(values < 20)[:3]
    values[off] = -1
    assert "ventilation_failed" not in read(values).attrs


@pytest.mark.parametrize(
    ("header", "values", "description"),
    [
        ("Supply air [m3/h]", fan(), "m3/h, fully on = {full:g} m3/h (99.9 % quantile)"),
        ("Supply air [m3/h]", fan()[:300], "m3/h, fully on = {full:g} m3/h (maximum)"),
        ("Supply air", fan(), "unit unknown, fully on = {full:g} (99.9 % quantile)"),
        ("damper [%]", fan(full=100, noise=0), "%, fully on = 100 %"),
        ("fan [0..60 Hz]", fan(full=50, noise=0), "Hz, fully on = 60 Hz"),
        ("damper", fan(full=1, noise=0.001), "0..1"),
    ],
)
def test_columns_are_described(header, values, description):
    readings = read(values, header)
    text = description.format(full=readings.attrs["ventilation_full"])
    assert readings.attrs["columns"] == {
        "time": "column 'time', local time",
        "co2": "column 'co2', ppm",
        "ventilation": f"column {header!r}, {text}",
    }
