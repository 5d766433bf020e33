"""A room of the service, against the library on the same readings."""

import datetime as dt
import math
from dataclasses import replace
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import occupair as oc
from occupair.live.instants import to_microseconds, to_time
from occupair.live.messages import Fate, Quality, Reading
from occupair.live.rooms.batching import alone
from occupair.live.rooms.engine import read_model
from occupair.live.rooms.room import Model, Track, window
from occupair.model_file import dump_model

MINUTES = dt.timedelta(minutes=1)
UTC, ZONE = dt.UTC, ZoneInfo("Europe/Copenhagen")


@pytest.fixture(scope="module")
def office():
    return oc.simulate_office(days=5, seed=3).iloc[::5].tz_localize("Europe/Copenhagen")


@pytest.fixture(scope="module", params=["default", "paper"])
def estimator(request, office):
    paper = oc.OccupancyEstimator.paper(n_hidden=25, n_draws=1, random_state=0)
    kind = oc.OccupancyEstimator(n_hidden=15, random_state=0) if request.param == "default" else paper
    return kind.fit(office.iloc[: 3 * 288])


@pytest.fixture(scope="module")
def model(estimator):
    return Model(1, read_model(dump_model(estimator)))


def reading(time, co2=None, ventilation=None, received=None):
    time = pd.Timestamp(time).to_pydatetime().astimezone(UTC)
    return Reading("lab", time, co2, ventilation, "http", received or time)


def readings_of(frame):
    return [
        reading(time, co2, flow)
        for time, co2, flow in zip(frame.index, frame["co2"], frame["ventilation"], strict=True)
    ]


class Kept:
    """What a store would hold: the newest estimate of every time, and the readings."""

    def __init__(self, track):
        self.track, self.estimates, self.fates, self.readings = track, {}, [], []

    def take(self, readings):
        for one in readings:
            self.take_together([one])
        return self

    def take_together(self, readings):
        fates, estimates = alone(self.track.take(readings))
        self.fates += fates
        self.estimates.update({estimate.time: estimate for estimate in estimates})
        self.readings += [
            one for one, fate in zip(readings, fates, strict=True) if fate is not Fate.DUPLICATE
        ]

    def restart(self, quickly=True):
        """Die, and go on from what was kept."""
        old = self.track
        self.track = Track(old.room, old.zone, old.model)
        if self.readings:
            newest = max(one.time for one in self.readings)
            since = window(newest, self.track.zone)
            readings = sorted((r for r in self.readings if r.time >= since), key=lambda r: r.time)
            said = self.estimates.values() if quickly else ()
            alone(self.track.restore(readings, [one for one in said if one.time > newest - 40 * MINUTES]))
        return self


def people_of(kept):
    return {time: one.people for time, one in sorted(kept.estimates.items())}


def assert_same(one, other):
    assert list(one) == list(other)
    for time, expected in other.items():
        got = one[time]
        for name in ("people", "low", "high", "people_refined", "co2_smoothed"):
            assert getattr(got, name) == pytest.approx(getattr(expected, name), abs=1e-6), (time, name)
        assert (got.co2, got.ventilation, got.quality) == (
            expected.co2,
            expected.ventilation,
            expected.quality,
        )


def test_says_what_the_library_says_and_twenty_minutes_later_too(estimator, model, office):
    two_days = office.iloc[3 * 288 :]
    kept = Kept(Track("lab", ZONE, model)).take(readings_of(two_days))
    assert set(kept.fates) == {Fate.ACCEPTED}
    expected = estimator.estimate(two_days)
    said = [one for _, one in sorted(kept.estimates.items())]
    np.testing.assert_allclose([one.people for one in said], expected, rtol=0, atol=1e-6)
    later = estimator.estimate(two_days, lag=20)
    whole = [k for k in range(len(said)) if k % 288 < 284]  # the last minutes of a day wait for no more
    np.testing.assert_allclose([said[k].people_refined for k in whole], later.iloc[whole], rtol=0, atol=1e-6)
    assert max(expected) > 2


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_order_repeats_and_restarts_leave_the_same_estimates(model, office, data):
    day = office.iloc[3 * 288 + 80 : 3 * 288 + 200]
    whole = readings_of(day)
    expected = Kept(Track("lab", ZONE, model)).take(whole)
    kept = Kept(Track("lab", ZONE, model))
    mixed = list(whole)
    for _ in range(data.draw(st.integers(0, 6))):  # some come late, some twice
        place, later = data.draw(st.integers(0, len(mixed) - 2)), data.draw(st.integers(1, 40))
        mixed.insert(min(place + later, len(mixed)), mixed[place])
        if data.draw(st.booleans()):
            del mixed[place]
    kills = data.draw(st.sets(st.integers(0, len(mixed)), max_size=4))
    for k, one in enumerate(mixed):
        if k in kills:
            kept.restart(quickly=data.draw(st.booleans()))
        kept.take([one])
    assert_same(dict(sorted(kept.estimates.items())), dict(sorted(expected.estimates.items())))


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_gaps_spikes_and_sensors_faster_than_the_grid_in_whatever_order(model, data):
    """What is kept is what one replay of all readings says."""
    seconds = data.draw(st.lists(st.integers(0, 3 * 3600), min_size=10, max_size=60, unique=True))
    spikes = data.draw(st.lists(st.sampled_from(seconds), max_size=2))
    start = pd.Timestamp("2015-08-06 09:00", tz=ZONE)
    sent = [
        reading(start + pd.Timedelta(seconds=s), 700.0 + s % 97 + 1500.0 * (s in spikes), 0.5)
        for s in seconds
    ]
    kept = Kept(Track("lab", ZONE, model))
    while sent:
        size = data.draw(st.integers(1, min(8, len(sent))))
        kept.take_together(sent[:size])
        sent = sent[size:]
    if data.draw(st.booleans()):
        kept.restart()
    replayed = Track("lab", ZONE, model)
    said = alone(replayed.restore(sorted(kept.readings, key=lambda one: one.time)))
    assert_same(dict(sorted(kept.estimates.items())), {one.time: one for one in said})
    assert kept.track.fault == replayed.fault


def test_what_a_sensor_said_first_of_a_time_stays_also_if_it_cannot_be(model):
    kept = Kept(fed(model, 60, wavy)).take([reading(NOW + MINUTES, 0.0), reading(NOW + MINUTES, 700.0, 0.5)])
    kept.take([reading(NOW + 2 * MINUTES, 650.0, 0.5)])
    assert 700.0 not in kept.track._slots.co2.values


def test_a_late_reading_corrects_what_was_said_after_it(model, office):
    day = office.iloc[3 * 288 + 100 : 3 * 288 + 160]
    whole = readings_of(day)
    kept = Kept(Track("lab", ZONE, model)).take(whole[:30] + whole[31:])
    before = people_of(kept)
    assert to_time(to_microseconds(whole[30].time)) in before  # bridged with the value before
    kept.take([whole[30]])
    assert kept.fates[-1] is Fate.LATE
    after = people_of(kept)
    assert list(after) == list(before)
    changed = [time for time in after if after[time] != pytest.approx(before[time], abs=1e-9)]
    assert changed
    assert min(changed) >= whole[30].time
    assert_same(
        dict(sorted(kept.estimates.items())),
        dict(sorted(Kept(Track("lab", ZONE, model)).take(whole).estimates.items())),
    )


def test_a_reading_of_a_day_that_is_over_changes_nothing(model, office):
    two = office.iloc[4 * 288 - 30 : 4 * 288 + 30]
    whole = readings_of(two)
    kept = Kept(Track("lab", ZONE, model)).take(whole[:5] + whole[6:])
    before = dict(kept.estimates)
    kept.take([whole[5]])
    assert kept.fates[-1] is Fate.TOO_LATE
    assert kept.estimates == before


def test_ventilation_that_comes_after_its_co2_counts_for_it(model, office):
    day = office.iloc[3 * 288 + 100 : 3 * 288 + 150]
    apart = []
    for one in readings_of(day):
        apart += [replace(one, ventilation=None), replace(one, co2=None)]
    apart.insert(0, replace(apart.pop(1), ventilation=day["ventilation"].iloc[0]))
    kept = Kept(Track("lab", ZONE, model)).take(apart)
    together = Kept(Track("lab", ZONE, model)).take(readings_of(day))
    assert_same(dict(sorted(kept.estimates.items())), dict(sorted(together.estimates.items())))


def test_a_sensor_faster_than_the_model_gives_its_last_value_before_each_grid_time(estimator, model, office):
    day = office.iloc[3 * 288 + 100 : 3 * 288 + 150]
    fast = []
    for one in readings_of(day):
        for early in (200, 100, 0):
            wrong = 35.0 if early else 0.0
            fast.append(replace(one, time=one.time - dt.timedelta(seconds=early), co2=one.co2 + wrong))
    kept = Kept(Track("lab", ZONE, model)).take(fast)
    said = np.array(list(people_of(kept).values()), dtype=float)
    known = ~np.isnan(said)
    assert known.sum() > 40
    np.testing.assert_allclose(said[known], estimator.estimate(day)[known], rtol=0, atol=1e-6)


def test_midnight_is_local(model, office):
    """Two days of UTC that are one and a half local ones: the count starts anew at 23:00 UTC."""
    day = office.iloc[3 * 288 + 200 : 4 * 288 + 12]
    kept = Kept(Track("lab", ZONE, model)).take(readings_of(day))
    midnight = day.index[88]
    assert midnight == midnight.normalize()
    quality = {time: one.quality for time, one in kept.estimates.items()}
    assert quality[day.index[87].astimezone(UTC)] is Quality.OK
    assert quality[midnight.astimezone(UTC)] is Quality.STARTING


NOW = dt.datetime(2024, 1, 11, 12, tzinfo=UTC)


def fed(model, minutes, co2, ventilation=0.5):
    """A room that has had a reading every five minutes until now."""
    track = Track("lab", ZONE, model)
    values = co2 if callable(co2) else (lambda _: co2)
    for k in range(minutes // 5, -1, -1):
        alone(track.take([reading(NOW - dt.timedelta(minutes=5 * k), values(k), ventilation)]))
    return track


def wavy(k):
    return 600.0 + 3 * (k % 7)


def test_a_state_has_everything(model):
    state = fed(model, 300, wavy).state(NOW, 15)
    assert state.quality is Quality.OK
    assert state.reason == ""
    assert state.time == NOW
    assert state.people == round(state.people_exact)
    assert state.occupied == (state.people > 0)
    assert state.co2 == 600.0
    assert 595 < state.co2_smoothed < 620
    assert state.ventilation == 0.5
    assert state.people_refined is not None


@pytest.mark.parametrize(
    ("track", "later", "quality", "reason"),
    [
        (lambda m: fed(m, 300, wavy), 16, "stale", "no reading since 13:00"),
        (lambda m: fed(m, 300, wavy), 900, "stale", "no reading since 11 January"),
        (lambda m: Track("lab", ZONE, m), 0, "stale", "no reading yet"),
        (lambda m: fed(m, 300, 612.0), 0, "suspect", "CO2 has been the same for 5 hours"),
        (lambda m: fed(m, 300, lambda k: wavy(k) if k else 0.0), 0, "suspect", "the sensor reads 0 ppm"),
        (lambda m: fed(m, 300, lambda k: wavy(k) if k else 65535.0), 0, "suspect", "reads 65535 ppm"),
        (lambda m: fed(m, 300, lambda k: wavy(k) + 900 * (k < 2)), 0, "suspect", "CO2 jumped"),
        (lambda m: fed(m, 300, wavy, None), 0, "suspect", "ventilation is not known"),
        (lambda m: fed(m, 10, wavy), 0, "starting", "little was seen since readings began"),
        (lambda m: fed(None, 300, wavy), 0, "untrained", "the room has no model yet"),
    ],
)
def test_what_is_not_known_is_not_said(model, track, later, quality, reason):
    state = track(model).state(NOW + dt.timedelta(minutes=later), 15)
    assert state.quality == quality
    assert reason in state.reason
    assert (state.people, state.people_exact, state.occupied, state.low, state.high) == (None,) * 5


@pytest.mark.parametrize(
    "co2",
    [
        lambda k: wavy(k) if k != 1 else 0.0,  # one failed read, then a good one
        lambda k: wavy(k) + 900 * (k == 5),  # somebody breathed at the sensor half an hour ago
        lambda k: 612.0 if k > 3 else wavy(k),  # it hung, and moves again
        lambda k: 600.0 + 10 * (k > 70),  # a coarse sensor that stands for some hours
    ],
)
def test_faults_pass(model, co2):
    state = fed(model, 420, co2).state(NOW, 15)
    assert state.quality is Quality.OK
    assert state.people is not None


def test_a_new_model_says_what_it_would_have_said(model, office, estimator):
    day = office.iloc[3 * 288 : 3 * 288 + 150]
    track = Track("lab", ZONE)
    kept = Kept(track).take(readings_of(day))
    assert {one.quality for one in kept.estimates.values()} == {Quality.UNTRAINED}
    said = alone(track.use(model))
    np.testing.assert_allclose([one.people for one in said], estimator.estimate(day), rtol=0, atol=1e-6)


def test_a_restart_estimates_nothing_anew_that_was_said(model, office, monkeypatch):
    kept = Kept(Track("lab", ZONE, model)).take(readings_of(office.iloc[3 * 288 : 3 * 288 + 150]))
    before = kept.track.state(NOW, math.inf)
    replays = []
    monkeypatch.setattr(Track, "_replay", lambda *given: replays.append(given) or [])
    after = kept.restart().track.state(NOW, math.inf)
    assert after.people_exact == before.people_exact
    assert after.people_refined == pytest.approx(before.people_refined, abs=1e-6)
    assert replace(after, people_refined=before.people_refined) == before
    assert replays == []


def lagging(model, behind, readings=60, pace=5.0):
    """A room whose readings came so long after they were measured [min], so far apart [min]."""
    track = Track("lab", ZONE, model)
    for k in range(readings - 1, -1, -1):
        received = NOW - dt.timedelta(minutes=pace * k)
        measured = NOW - dt.timedelta(minutes=5 * k + behind)
        alone(track.take([reading(measured, wavy(k), 0.5, received)]))
    return track


def test_a_clock_that_is_behind_is_told(model):
    state = lagging(model, 60).state(NOW, 15)
    assert (state.quality, state.reason) == ("suspect", "the sensor's clock is 60 minutes behind")
    assert lagging(model, 3).state(NOW, 15).quality is Quality.OK


def test_old_readings_that_catch_up_count_as_they_come_and_are_old_news_soon_after(model):
    track = lagging(model, 600, pace=0.001)
    assert track.state(NOW, 15).quality is Quality.OK
    later = track.state(NOW + dt.timedelta(seconds=6), 15)
    assert (later.quality, later.reason, later.people) == ("stale", "no reading since 03:00", None)


@pytest.mark.parametrize("zone", ["Europe/Copenhagen", "Australia/Lord_Howe", "Asia/Kathmandu"])
@pytest.mark.parametrize("interval", [7, 10, 25])
def test_every_day_has_its_own_grid_also_where_the_clock_changes(zone, interval):
    """Intervals that do not divide a day, over changes of the clock; every midnight is a grid time."""
    office = oc.simulate_office(days=5, seed=3).iloc[::interval]
    office.index = pd.date_range("2024-01-08", periods=len(office), freq=f"{interval}min")
    estimator = oc.OccupancyEstimator(n_hidden=5, ridge=1.0, random_state=0).fit(office)
    trained = Model(1, read_model(dump_model(estimator)))
    for begin in ("2024-03-30 12:00", "2024-04-06 12:00", "2024-10-05 12:00", "2024-10-26 12:00"):
        times = pd.date_range(begin, periods=60 * 60 // interval, freq=f"{interval}min", tz=zone)
        kept = Kept(Track("lab", ZoneInfo(zone), trained))
        kept.take([reading(times[0] - pd.Timedelta(hours=1), ventilation=0.5)])
        kept.take([reading(t, 500.0 + k % 9, 0.5) for k, t in enumerate(times)])
        assert set(kept.fates) == {Fate.ACCEPTED}
        local = [time.astimezone(ZoneInfo(zone)) for time in kept.estimates]
        midnights = {time.date() for time in local if (time.hour, time.minute) == (0, 0)}
        assert midnights == {time.date() for time in local} - {times[0].date()}
        before = kept.track.state(times[-1], math.inf)
        assert kept.restart().track.state(times[-1], math.inf) == before


def test_an_impossible_value_is_the_value_of_its_time(model):
    track = fed(model, 60, wavy)
    early, late = NOW + 1 * MINUTES, NOW + 2 * MINUTES
    together = [reading(early, 0.0), reading(late, 0.0), reading(early, 800.0), reading(late, 0.0)]
    fates, _ = alone(track.take(together))
    assert fates == [Fate.ACCEPTED, Fate.ACCEPTED, Fate.DUPLICATE, Fate.DUPLICATE]


def test_twenty_minutes_ago_is_not_mixed_up_when_ventilation_was_missing(office, estimator, model):
    day = office.iloc[3 * 288 : 3 * 288 + 150]
    readings = [replace(one, ventilation=None) if k < 120 else one for k, one in enumerate(readings_of(day))]
    kept = Kept(Track("lab", ZONE, model)).take(readings)
    later = estimator.estimate(day.iloc[120:], lag=20).to_numpy()
    said = [one.people_refined for _, one in sorted(kept.estimates.items())]
    assert said[:120] == [None] * 120
    known = [k for k in range(120, 146) if said[k] is not None]
    np.testing.assert_allclose([said[k] for k in known], [later[k - 120] for k in known], atol=1e-6)


def test_readings_of_months_ago_do_not_stay(model):
    track = fed(model, 300, wavy)
    before = track.state(NOW, 15)
    old = [reading(NOW - dt.timedelta(days=90, minutes=k), 500.0 + 0.001 * k, 0.5) for k in range(50)]
    fates, estimates = alone(track.take(old))
    assert (set(fates), estimates) == ({Fate.TOO_LATE}, [])
    assert track.state(NOW, 15) == before


def test_one_old_reading_is_no_news(model):
    """Silent for six hours, then what was held up somewhere comes bit by bit: still not known."""
    track = fed(model, 300, wavy)
    evening = NOW + dt.timedelta(hours=6)
    alone(track.take([reading(NOW + 3 * MINUTES, 640.0, 0.5, evening)]))
    assert track.state(evening, 15).quality is Quality.STALE
    for k in range(1, 40):
        came = evening + 20 * k * MINUTES / 60
        alone(track.take([reading(NOW + (3 + 5 * k) * MINUTES, 640.0 + k, 0.5, came)]))
        assert track.state(came, 15).people is None


def test_readings_of_a_time_to_come_are_not_believed(model):
    """Our own clock was ten hours ahead for a while."""
    track = fed(model, 300, wavy)
    ahead = NOW + dt.timedelta(hours=10)
    alone(track.take([reading(ahead, 640.0, 0.5, ahead)]))
    assert track.state(NOW + 5 * MINUTES, 15).quality is Quality.SUSPECT
