"""Which days to label next: the learning curve holds on days it has not seen, and unlike days come first."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from occupair.errors import InputError
from occupair.groundtruth.planning.day_similarity import dissimilarity, profile_days
from occupair.groundtruth.planning.learning_curve import (
    LearningCurve,
    bootstrap_interval,
    fit_curve,
    learning_curve,
)
from occupair.groundtruth.planning.plan import MOST_DAYS, START, plan_labels
from occupair.readings.schema import date_slices
from occupair.simulation import simulate_history

DAY = 288  # readings


def days_of(readings):
    return [readings.iloc[rows] for rows in date_slices(readings)]


def settings(**changes):
    return oc.OccupancyEstimator(n_hidden=40, random_state=0, **changes)


@pytest.fixture(scope="module")
def long_office():
    return oc.simulate_office(days=16, seed=3).iloc[::5]


@pytest.fixture(scope="module")
def labelled(long_office):
    return long_office.iloc[: 4 * DAY]


def moved(day, date, *, seed=0, **changes):
    """A copy of a day on another date: the same but for a little noise, and what is changed."""
    times = pd.Timestamp(date) + (day.index - day.index[0].normalize())
    noise = np.random.default_rng(seed).normal(0, 2, len(day))
    return day.assign(co2=day["co2"] + noise, occupancy=np.nan, **changes).set_axis(times)


@pytest.fixture(scope="module")
def choices(labelled):
    """Copies of labelled weekdays, one with an unusual ventilation, and an empty weekend."""
    first, second, third, _ = days_of(labelled)
    calm = 420 + 0.55 * (second["co2"] - 420)
    history = simulate_history(6, seed=3)
    air = pd.DataFrame({"co2": history.co2, "ventilation": history.ventilation}, index=history.time)
    saturday = days_of(air.iloc[::5])[5]
    assert saturday.index[0].day_name() == "Saturday"
    return pd.concat(
        [
            labelled,
            moved(first, "2015-08-17", seed=1),
            moved(second, "2015-08-18", seed=2),
            moved(second, "2015-08-19", seed=3).assign(co2=calm.to_numpy(), ventilation=0.6),
            moved(third, "2015-08-20", seed=4),
            saturday.assign(occupancy=np.nan).set_axis(pd.date_range("2015-08-22", periods=DAY, freq="5min")),
        ]
    )


# ---- how many ---------------------------------------------------------------------------------------------


def test_the_curve_is_found_again():
    sizes = np.array([1, 2, 3, 5, 8])
    a, b, power = fit_curve(sizes, 2.0 + 3.0 / sizes)
    assert (a, b, power) == (pytest.approx(2.0), pytest.approx(3.0), 1.0)


def test_a_curve_never_rises():
    a, b, _ = fit_curve(np.array([1, 2, 4]), np.array([1.0, 2.0, 3.0]))
    assert a > 0
    assert b == 0


def by_hand(*draws, luck=None):
    """E(n)^2 = 1 + 8 / n after four days, and draws; luck matters where there is something to learn."""
    curves = np.array([[1.0, 8.0, 1.0], *draws])
    luck = np.zeros((len(draws), 2, 4)) if luck is None else np.array(luck, dtype=float)
    return LearningCurve(4, {}, curves, luck)


def test_gains_by_hand():
    # 3 people squared after 4 days, 2 after 8
    curve = by_hand([1.0, 0.0, 1.0])
    assert curve.error(4).value == pytest.approx(3**0.5)
    assert curve.gain(4).value == pytest.approx(1 - (2 / 3) ** 0.5)
    # 8 days: 2 to 17/9, 2.8 %; 10 days: 1.8 to 1 + 8/11, 2.04 %; 11 days: 1.7273 to 1.6667, 1.8 %
    assert curve.enough().value == 11
    assert curve.enough().low == 4


def test_ranges_by_hand():
    """A single draw is both ends, moved from the value by 1.638 / 1.282 * sqrt(4 / 3), by a table of t."""
    wider = 1.6377 / 1.2816 * (4 / 3) ** 0.5
    curve = by_hand([1.0, 0.0, 1.0])  # nothing to learn: an error of 1 in place of the root of 3, and no gain
    assert curve.error(4).low == pytest.approx(3**0.5 * 3 ** (-0.5 * wider), rel=1e-3)
    assert curve.error(4).high == curve.error(4).value
    # what is left is 1 in the draw and sqrt(2/3) in the fit
    assert curve.gain(4).low == pytest.approx(1 - (2 / 3) ** 0.5 * (3 / 2) ** (0.5 * wider), rel=1e-2)
    assert curve.gain(4).low < 0  # three other days may also make it worse
    assert curve.gain(4).high == curve.gain(4).value


def test_lucky_days_by_hand():
    """Four days that tell all there is to know, then four that mislead twice as much as the average."""
    lucky, usual = [0.0] * 4, [2**0.5] * 4
    curve = by_hand([1.0, 8.0, 1.0], luck=[[lucky, usual]])
    wider = 1.6377 / 1.2816 * (4 / 3) ** 0.5
    assert curve.error(4).low == pytest.approx(3**0.5 * (1 / 3) ** (0.5 * wider), rel=1e-3)  # 1 + 0 * 8 / 4
    # of eight days half are lucky: 2 * 1/2 = 1 time the average, 1 + 8 / 8 = 2, and so the error grows
    # what is left is the root of 2 in the draw, that of 2/3 in the fit: the root of 3 times as much
    assert curve.gain(4).low == pytest.approx(1 - (2 / 3) ** 0.5 * 3 ** (0.5 * wider), rel=1e-2)


def test_a_range_holds_the_mean_of_a_few_days_about_as_often_as_it_says():
    """Squared errors of n days, log-normal; the mean of many such days is known: exp(1/2 s^2)."""
    rng, held = np.random.default_rng(0), []
    for _ in range(400):
        n = int(rng.integers(4, 9))
        days = np.exp(rng.normal(0, 0.6, n))
        drawn = days[rng.integers(0, n, (300, n))].mean(axis=1)
        found = bootstrap_interval(float(days.mean()), drawn, n)
        held.append(found.low <= np.exp(0.5 * 0.6**2) <= found.high)
    assert 0.75 < np.mean(held) < 0.87


@pytest.mark.parametrize("seed", [3, 11])
def test_what_the_curve_says_holds_on_days_not_used(seed):
    office = oc.simulate_office(days=16, seed=seed).iloc[::5]
    days = days_of(office)
    order = np.random.default_rng(seed).permutation(16)
    curve = learning_curve([days[k] for k in sorted(order[:5])], estimator=settings())
    later = [days[k] for k in order]
    test = pd.concat(sorted(later[8:], key=lambda day: day.index[0]))
    for n in (5, 8):
        train = pd.concat(sorted(later[:n], key=lambda day: day.index[0]))
        error = oc.metrics.rmse(test["occupancy"], settings().fit(train).estimate(test))
        said = curve.error(n)
        assert 0.85 * said.low < error < 1.15 * said.high
    assert curve.error(8).value <= curve.error(5).value
    assert list(curve.measured) == [1, 2, 3, 4]


class Spy(oc.OccupancyEstimator):
    """An estimator that remembers what it was trained on and asked about."""

    seen: ClassVar[list] = []

    def fit(self, readings):
        self.days = set(readings.index.normalize())
        return super().fit(readings)

    def estimate(self, readings, *arguments, **options):
        Spy.seen.append((self.days, set(readings.index.normalize())))
        return super().estimate(readings, *arguments, **options)


def test_no_day_is_estimated_by_what_was_trained_on_it(labelled):
    Spy.seen = []
    learning_curve(days_of(labelled), estimator=Spy(n_hidden=10, random_state=0))
    assert len(Spy.seen) == 8 * 3
    assert all(not trained & asked for trained, asked in Spy.seen)
    times = pd.Series([day for _, asked in Spy.seen for day in asked]).value_counts()
    assert times.min() == times.max() == 6  # all days alike


def test_counts_that_are_not_trusted_weigh_less(labelled):
    wrong = labelled.assign(occupancy=labelled["occupancy"].where(labelled.index.hour != 12, 99))
    weight = np.where(labelled.index.hour == 12, 0.0, 1.0)
    curve = learning_curve(days_of(wrong.assign(occupancy_weight=weight)), estimator=settings())
    assert max(curve.measured.values()) < 3


def test_fewer_than_three_days_are_no_curve(labelled):
    with pytest.raises(InputError, match="days must be 3 or more to tell a learning curve, got 2"):
        learning_curve(days_of(labelled)[:2])


# ---- which ------------------------------------------------------------------------------------------------


def test_unusual_ventilation_and_weekends_come_before_copies(choices):
    plan = plan_labels(choices, days=5)
    dates = [f"{day.date:%m-%d}" for day in plan.days]
    assert set(dates[:2]) == {"08-19", "08-22"}
    assert len(plan.labelled) == 4
    assert plan.unlabelled == 5
    reasons = {f"{day.date:%m-%d}": day.reason for day in plan.days}
    assert reasons["08-19"].startswith("ventilation 51 to 75 % for 24.0 h, ")
    assert reasons["08-22"].startswith("the first day of a weekend")
    assert reasons["08-17"].startswith("most like 2015-08-")
    assert plan.days[0].unlike > 2 > plan.days[2].unlike
    assert all(day.width > 0 for day in plan.days)
    assert plan.unlike == 2
    assert "2 days below are unlike all labelled ones" in plan.notes()[1]


def test_as_many_days_are_named_as_are_worth_it(choices):
    plan = plan_labels(choices, model=settings().fit(choices.iloc[: 4 * DAY]))
    assert len(plan.days) == max(plan.alike, 2) or len(plan.days) == START
    assert len(plan.days) <= MOST_DAYS
    assert plan.advice.startswith("Label ")


def test_what_is_not_labelled_has_no_say(choices):
    """Counts that are not looked at may be anything, and more days do not change the curve."""
    unknown = choices["occupancy"].isna()
    kept = {
        "occupancy": choices["occupancy"].where(~unknown, 7.0),
        "occupancy_weight": np.where(unknown, 0.0, 1.0),
    }
    model = settings().fit(choices.iloc[: 4 * DAY])
    one, other, fewer = (
        plan_labels(readings, model=model, days=3)
        for readings in (choices, choices.assign(**kept), choices.iloc[: 6 * DAY])
    )
    assert one.days == other.days
    np.testing.assert_array_equal(one.curve.curves, other.curve.curves)
    np.testing.assert_array_equal(one.curve.curves, fewer.curve.curves)


def test_with_no_labelled_day_the_range_of_the_air_is_covered(choices):
    air = choices.drop(columns="occupancy")
    plan = plan_labels(air, days=2)
    assert plan.labelled == ()
    assert plan.curve is None
    assert plan.advice.startswith("Label 3 days, then ask again: without a labelled day nothing tells")
    assert pd.Timestamp("2015-08-19") in [day.date for day in plan.days]  # ventilation as on no other day
    looks = {look.date: look.kinds for look in profile_days(air)}
    first, second = (looks[day.date] for day in plan.days)
    assert len(first) == max(map(len, looks.values()))
    assert len(second - first) == max(len(kinds - first) for kinds in looks.values())
    assert f": {len(first)} kinds of air" in plan.days[0].reason
    assert f": {len(second - first)} more kinds of air" in plan.days[1].reason
    assert len(plan_labels(air).days) == START


def test_two_labelled_days_do_not_tell_how_many(choices):
    some = choices.assign(occupancy=choices["occupancy"].where(choices.index < "2015-08-05"))
    plan = plan_labels(some, days=1)
    assert plan.curve is None
    assert plan.alike is None
    assert plan.advice == "Label 3 days, then ask again: 2 labelled days do not tell how much another gains."


def test_days_on_which_nobody_was_in_tell_nothing(choices):
    plan = plan_labels(choices.assign(occupancy=choices["occupancy"] * 0), days=1)
    assert plan.curve is None
    assert plan.advice == "Label days with people: on the 4 labelled ones there is nothing to learn from."


def test_a_model_may_be_given(choices, labelled):
    model = settings().fit(labelled)
    plan = plan_labels(choices, model=model, days=2)
    assert {f"{day.date:%m-%d}" for day in plan.days} == {"08-19", "08-22"}
    unknown = plan_labels(choices.drop(columns="occupancy"), model=model, days=1)
    assert unknown.days[0].width > 0
    with pytest.raises(InputError, match=r"model must be of ours \(layer room\)"):
        plan_labels(choices, model=oc.OccupancyEstimator.paper())


def test_days_with_few_readings_or_few_counts(choices, labelled):
    scraps = choices.iloc[: 4 * DAY + 100]  # eight hours of the fifth day
    plan = plan_labels(scraps, model=settings().fit(labelled))
    assert plan.days == ()
    assert plan.notes()[-1] == "There is no day without head counts that has 12 hours of readings."
    few = labelled.assign(occupancy=labelled["occupancy"].where(labelled.index.hour < 5))
    assert plan_labels(few).labelled == ()


def test_a_day_is_like_itself_and_weekends_are_not_like_weekdays(choices):
    looks = {f"{look.date:%m-%d}": look for look in profile_days(choices)}
    assert dissimilarity(looks["08-03"], looks["08-03"]) == 0
    assert dissimilarity(looks["08-03"], looks["08-17"]) < 0.2
    assert dissimilarity(looks["08-03"], looks["08-22"]) >= 2
    assert looks["08-22"].weekend
    assert looks["08-22"].hours == 0
    assert looks["08-19"].ventilation[3] == 1


@pytest.mark.parametrize("days", [0, 1.5])
def test_days_are_whole(choices, days):
    with pytest.raises(InputError, match=f"days must be a whole number, 1 or more, got {days}"):
        plan_labels(choices, days=days)
