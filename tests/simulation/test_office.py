import numpy as np
import pandas as pd
import pytest

from occupair import feature_layer
from occupair.errors import InputError
from occupair.simulation import simulate_history, simulate_office
from occupair.simulation.multizone_air import co2_volume
from occupair.simulation.paper_room import SENSOR, paper_room

SEEDS = [0, 1, 2, 3, 4]


@pytest.fixture(scope="module", params=SEEDS)
def readings(request):
    return simulate_office(30, seed=request.param)


def by_day(column):
    return column.to_numpy().reshape(-1, 1440)


def test_readings_cover_whole_weekdays_from_a_monday(readings):
    assert readings.index.name == "time"
    assert readings.index.tz is None
    assert len(readings) == 30 * 1440
    days = readings.index.normalize().unique()
    assert len(days) == 30
    assert days[0].day_name() == "Monday"
    assert set(days.day_of_week) == {0, 1, 2, 3, 4}
    whole = [day + pd.Timedelta(minutes=k) for day in days for k in (0, 1, 1439)]
    assert readings.index.isin(whole).sum() == 90
    assert readings.index.is_unique
    assert readings.index.is_monotonic_increasing


def test_columns_and_dtypes(readings):
    assert list(readings.columns) == ["co2", "ventilation", "occupancy"]
    assert readings["co2"].dtype == np.float64
    assert readings["ventilation"].dtype == np.float64
    assert readings["occupancy"].dtype.kind == "i"
    assert (readings["co2"] == readings["co2"].round()).all()


def test_ventilation_is_on_from_0730_to_2200(readings):
    clock = readings.index.hour * 60 + readings.index.minute
    assert (readings["ventilation"].to_numpy() == ((clock >= 450) & (clock < 1320))).all()


def test_room_is_empty_at_night(readings):
    people = by_day(readings["occupancy"])
    assert (people[:, 1410:] == 0).all()
    assert (people[:, :420] == 0).all()


def test_maximum_occupancy_agrees_with_the_paper(readings):
    people = by_day(readings["occupancy"])
    assert 0 <= people.min() <= people.max() <= 35
    assert 20 <= people.max() <= 30  # the paper: 28 in 25 days
    assert people.max(axis=1).min() >= 10


def test_daily_profile_has_a_dip_at_noon(readings):
    mean_day = by_day(readings["occupancy"]).mean(axis=0)
    morning, noon, afternoon = mean_day[660:700].mean(), mean_day[740:790].mean(), mean_day[860:1000].mean()
    assert mean_day[480:510].mean() < 5 < morning
    assert noon < 0.85 * morning
    assert noon < 0.85 * afternoon
    assert mean_day[1200:1260].mean() < afternoon / 2


def test_co2_is_in_the_range_of_an_office(readings):
    co2 = by_day(readings["co2"])
    assert co2.min() > 370
    assert co2.max() < 2000
    assert 400 < np.median(co2[:, 420:450]) < 480  # before the ventilation starts
    assert 600 < np.median(co2[:, 600:1080]) < 1000


def running_median(series, width=15):
    return pd.Series(series).rolling(width, center=True, min_periods=1).median().to_numpy()


def test_spikes_exceed_the_noise(readings):
    """Jiang et al. 2016, CO2 figure: spikes while the room is occupied, none at night."""
    co2, people = readings["co2"].to_numpy(), readings["occupancy"].to_numpy()
    above = co2 - running_median(co2)
    busy, empty = people > 5, pd.Series(people).rolling(120, min_periods=1).max().to_numpy() == 0
    # in pure noise 30 ppm, ten standard deviations, is never seen
    assert (above[busy] > 10 * SENSOR.noise).mean() > 0.01
    assert (above[busy] > 10 * SENSOR.noise).sum() / 30 > 5  # a day
    assert above[empty].max() < 10 * SENSOR.noise
    assert np.quantile(above, 0.999) > -2 * np.quantile(above, 0.001)  # up, not down


def test_spikes_agree_with_table_1_of_the_paper(readings):
    """Table I implies their size: alpha_I = 0.0012 and alpha_D = 0.005 for raw CO2, z_max = 1, 25 days."""
    weights = np.random.default_rng(0).uniform(-1, 1, (1000, 51))  # R of the groups I and D
    largest = {"I": 0.0, "D": 0.0}
    for co2 in by_day(readings["co2"])[:25]:
        layer = feature_layer(co2, np.zeros(1440), np.zeros(1440))
        for name, r in (("I", weights[:, :21]), ("D", weights[:, 21:])):
            largest[name] = max(largest[name], float(np.abs(layer[name] @ r.T).max()))
    assert largest["I"] == pytest.approx(1 / 0.0012, rel=0.35)
    assert largest["D"] == pytest.approx(1 / 0.005, rel=0.35)


def test_co2_rises_after_2200_with_people_present(readings):
    """Jiang et al. 2016, CO2 figure: outdoor air stops at 22:00 and CO2 rises."""
    co2 = np.array([running_median(day) for day in by_day(readings["co2"])])
    people = by_day(readings["occupancy"])
    stayed = people[:, 1320:1350].min(axis=1) >= 1
    before = co2[:, 1318] - co2[:, 1288]
    after = co2[:, 1352] - co2[:, 1322]
    assert stayed.sum() >= 5
    assert (after > before)[stayed].mean() > 0.8
    assert after[stayed].mean() > 0 > before[stayed].mean()


def test_late_work_on_a_fraction_of_days(readings):
    late = (by_day(readings["occupancy"])[:, 1320:] > 0).any(axis=1)
    assert 0.2 < late.mean() <= 1.0


def test_same_seed_gives_same_readings():
    pd.testing.assert_frame_equal(simulate_office(3, seed=7), simulate_office(3, seed=7))


def test_other_seed_gives_other_readings():
    a, b = simulate_office(3, seed=7), simulate_office(3, seed=8)
    assert (a["co2"] != b["co2"]).mean() > 0.5
    assert (a["occupancy"] != b["occupancy"]).mean() > 0.2


@pytest.mark.parametrize("days", [1, 5, 6, 11])
def test_more_days_extend_fewer_days(days):
    pd.testing.assert_frame_equal(
        simulate_office(days, seed=2), simulate_office(30, seed=2).iloc[: days * 1440]
    )


def test_history_agrees_with_readings():
    history, readings = simulate_history(6, seed=1), simulate_office(6, seed=1)
    weekday = history.time.day_of_week < 5
    assert np.array_equal(history.presence.sum(axis=1)[weekday], readings["occupancy"])
    assert np.array_equal(history.co2[weekday], readings["co2"])
    assert not history.presence[~weekday].any()
    assert np.array_equal(history.generation.sum(axis=1) > 0, history.presence.any(axis=1))


def test_history_conserves_co2():
    history = simulate_history(6, seed=1)
    room = paper_room()
    change = np.diff(co2_volume(room, history.air.co2))
    breathed = 60 * history.generation.sum(axis=1)  # [L] in a minute
    expected = breathed + history.air.brought_in - history.air.carried_out
    np.testing.assert_allclose(change, expected, rtol=0, atol=1e-9 * breathed.max())


def test_generation_varies_between_people_and_minutes():
    history = simulate_history(5, seed=1)
    people = history.occupancy()
    alone = history.generation.sum(axis=1)[people > 0] / people[people > 0]
    # Persily and de Jonge 2017: adults from 0.0031 L/s at rest to 0.008 L/s at 2 met
    assert 0.0025 < alone.min() < alone.max() < 0.0105
    assert alone.std() / alone.mean() > 0.02


def test_co2_falls_to_outdoor_level_at_weekends():
    history = simulate_history(6, seed=1)
    monday = 7 * 1440
    excess = history.air.co2[monday] - history.outdoor[monday]
    assert np.abs(excess).max() < 10


def test_corner_seats_are_rarely_used():
    used = simulate_history(30, seed=0).presence.mean(axis=0)
    assert used[30:].max() < used[:30].min()
    assert used[30:].sum() < 0.05 * used[:30].sum()


@pytest.mark.parametrize("days", [0, -1, 1.5, "3", True, None])
def test_days_must_be_a_positive_integer(days):
    with pytest.raises(InputError, match=f"^days must be a positive integer, got {days!r}$"):
        simulate_office(days)


@pytest.mark.parametrize("seed", [-1, 0.5, None, False])
def test_seed_must_be_an_integer(seed):
    with pytest.raises(InputError, match=f"^seed must be a non-negative integer, got {seed!r}$"):
        simulate_office(1, seed=seed)


def test_numpy_integers_are_accepted():
    pd.testing.assert_frame_equal(simulate_office(np.int64(1), seed=np.uint8(3)), simulate_office(1, seed=3))
