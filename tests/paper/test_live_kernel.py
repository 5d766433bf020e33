"""The optimised live estimator against the reference implementation of Eq. (26), on adverse readings."""

import importlib.util
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from dense import PaperReference
from occupair.errors import SlowFallbackWarning
from occupair.paper import live_kernel, revised_day
from occupair.paper.live_day import LiveDay
from occupair.paper.stability import error_growth
from occupair.smoothing import LocalSmoother, smooth

TOLERANCES = (0.0, 1e-6, 1e-3)


def hard_readings(n=170, seed=0):
    """Return noise, a constant stretch, spikes, steps, and values far outside the training range."""
    draw = np.random.default_rng(seed)
    co2 = 550.0 + np.cumsum(draw.normal(0, 6, n))
    co2[30:60] = co2[29]
    co2[[20, 70, 71, 90, 150]] += [3000, 800, -500, -400, 40]
    co2[100:115] += 1500
    co2[120:130] = 30_000
    co2[130:140] = 0
    ventilation = np.repeat(draw.integers(0, 2, n // 10 + 1), 10)[:n].astype(float)
    return np.maximum(co2, 0), ventilation


def model_of(readings, **changes):
    settings = {"n_hidden": 40, "n_draws": 1, "random_state": 0} | changes
    return oc.OccupancyEstimator.paper(**settings).fit(readings)


def worst_errors(network, rerun, co2, ventilation, tolerances=TOLERANCES):
    """Return the largest error of any estimate after any reading, for each tolerance [people]."""
    days = [LiveDay(network, tolerance=tolerance) for tolerance in tolerances]
    worst = np.zeros(len(days))
    for k in range(co2.size):
        expected = rerun(smooth(co2[: k + 1], smoothing=network.smoothing), ventilation[: k + 1])
        for i, day in enumerate(days):
            day.append(co2[k], ventilation[k])
            worst[i] = max(worst[i], np.abs(day.people - expected).max())
    return worst


def run_of(network):
    """Return ``Network.run`` from midnight on, which other tests compare with the equations."""

    def run(co2, ventilation):
        people = np.zeros(co2.size)
        if co2.size > network.layer.horizon:
            network.run(co2, ventilation, people, start=network.layer.horizon)
        return people

    return run


@pytest.mark.parametrize("horizon", [3, 30])
@pytest.mark.parametrize("smoothing", [0, 10, 50, 500])
def test_estimates_stay_within_tolerance_of_equation_26(office, horizon, smoothing):
    model = model_of(office.iloc[:2880], horizon=horizon, stride=3, smoothing=smoothing, n_hidden=25)
    model.most_people_ = 12.0
    co2, ventilation = hard_readings()
    errors = worst_errors(model.network(), PaperReference(model).free_run, co2, ventilation)
    assert (errors <= [1e-9, 1e-6, 1e-3]).all(), errors
    people = PaperReference(model).free_run(smooth(co2, smoothing=smoothing), ventilation)
    assert {0, 12} < set(people[horizon:])  # both clamps are active


@pytest.mark.parametrize("gain", [1.03, 1.3, 3.0])
def test_unstable_feedback_stays_within_tolerance(slow_office, last_day, gain):
    model = model_of(slow_office.iloc[:864])
    model.regressor_.coef_ = gain * model.regressor_.coef_
    network, run = model.network(), run_of(model.network())
    co2 = last_day["co2"].to_numpy() + np.random.default_rng(1).normal(0, 20, 288)
    co2[150] = 0
    ventilation = last_day["ventilation"].to_numpy()
    people = run(smooth(co2, smoothing=network.smoothing), ventilation)
    growth = [
        error_growth(network, co2[k - 6 : k + 1], ventilation[k - 6 : k + 1], people[k - 6 : k])
        for k in range(6, 288)
        if 0 < people[k] < network.most_people
    ]
    assert max(growth) > 1
    errors = worst_errors(network, run, co2, ventilation)
    assert (errors <= [1e-9, 1e-6, 1e-3]).all(), errors


@pytest.mark.parametrize("seed", range(3))
def test_1000_neurons_stay_within_tolerance(office, seed):
    model = model_of(office.iloc[: 2 * 1440], n_hidden=1000, random_state=seed)
    day = office.iloc[3 * 1440 + 480 : 3 * 1440 + 700]
    co2, ventilation = day["co2"].to_numpy().copy(), day["ventilation"].to_numpy()
    co2[100], co2[160:] = 5000, co2[160:] + 400
    errors = worst_errors(model.network(), run_of(model.network()), co2, ventilation)
    assert (errors <= [1e-9, 1e-6, 1e-3]).all(), errors


def test_gaps_stay_within_tolerance(estimator, last_day):
    with_gaps = last_day.drop(last_day.index[[*range(60, 63), *range(150, 170)]])
    parts = np.split(np.arange(len(with_gaps)), [60, 147])
    co2, ventilation = with_gaps["co2"].to_numpy(), with_gaps["ventilation"].to_numpy()
    expected = [PaperReference(estimator).live(co2[part], ventilation[part]) for part in parts]
    for tolerance in TOLERANCES:
        room = estimator.live(tolerance=tolerance)
        live = [room.update(*row).people for row in zip(with_gaps.index, co2, ventilation, strict=True)]
        assert np.abs(live - np.concatenate(expected)).max() <= max(tolerance, 1e-8)


def test_larger_tolerance_needs_fewer_full_evaluations(estimator, last_day):
    work = []
    for tolerance in TOLERANCES:
        day = revised_day.RevisedDay(estimator.network(), tolerance=tolerance)
        work.append(0)
        for co2, ventilation in zip(last_day["co2"], last_day["ventilation"], strict=True):
            day.append(co2, ventilation)
            work[-1] += day.in_full
    assert work[0] > 3 * work[1] > 3 * work[2]


def test_cost_does_not_depend_on_time_of_day(office):
    model = model_of(office.iloc[:1440], n_hidden=10)
    draw = np.random.default_rng(0)
    day = revised_day.RevisedDay(model.network(), tolerance=1e-6)
    work = []
    for co2 in 550 + draw.normal(0, 5, 2000):
        day.append(co2, 1.0)
        work.append((day.revised, day.in_full))
    early, late = np.array(work[300:600]), np.array(work[1700:])
    np.testing.assert_allclose(early.mean(axis=0), late.mean(axis=0), rtol=0.1)
    assert late.max() < 300


@pytest.mark.parametrize("smoothing", [0, 2, 50, 5000])
def test_smoothing_matches_local_smoother_bitwise(estimator, smoothing):
    network = replace(estimator.network(), smoothing=float(smoothing))
    day, smoother = revised_day.RevisedDay(network, tolerance=1e-6), LocalSmoother(smoothing)
    for co2, ventilation in zip(*hard_readings(), strict=True):
        day.append(co2, ventilation)
        smoother.append(co2)
        assert (day.co2_smoothed == smoother.values).all()


def with_replaced(module, monkeypatch, **replaced):
    """Return a second copy of a module, imported with some other modules replaced."""
    spec = importlib.util.spec_from_file_location(f"numpy_{module.__name__}", module.__file__)
    copy = importlib.util.module_from_spec(spec)
    with monkeypatch.context() as patch:
        for name, other in replaced.items():
            patch.setitem(sys.modules, name, other)
        spec.loader.exec_module(copy)
    return copy


@pytest.fixture
def numpy_kernel(monkeypatch):
    """The kernel without numba."""
    kernel = with_replaced(live_kernel, monkeypatch, **{"occupair.compiler": SimpleNamespace(njit=None)})
    assert kernel.njit is None
    return kernel


@pytest.fixture
def numpy_day(numpy_kernel, monkeypatch):
    """The day that runs on the kernel without numba."""
    return with_replaced(revised_day, monkeypatch, **{live_kernel.__name__: numpy_kernel}).RevisedDay


@pytest.mark.parametrize("tolerance", [1e-6, 1e-3])
def test_compiled_and_numpy_days_agree(estimator, numpy_day, tolerance):
    days = [make(estimator.network(), tolerance=tolerance) for make in (revised_day.RevisedDay, numpy_day)]
    for co2, ventilation in zip(*hard_readings(), strict=True):
        for day in days:
            day.append(co2, ventilation)
        np.testing.assert_allclose(days[0].people, days[1].people, rtol=0, atol=0.05 * tolerance)


def test_estimates_without_numba(estimator, last_day, monkeypatch):
    day = last_day.iloc[90:150]
    compiled = estimator.estimate(day)
    monkeypatch.setitem(sys.modules, "numba", None)
    for name in ("compiler", "paper.live_kernel", "paper.revised_day"):
        monkeypatch.delitem(sys.modules, f"occupair.{name}")
    with pytest.warns(SlowFallbackWarning, match="numba cannot be imported"):
        without = estimator.estimate(day)
    assert sys.modules["occupair.paper.live_kernel"].njit is None
    pd.testing.assert_series_equal(without, compiled, rtol=0, atol=1e-7)


def test_warm_up_compiles_every_signature(estimator, last_day):
    revised_day.warm_up()
    if live_kernel.njit is None:
        pytest.skip("numba is not installed, nothing is compiled")
    before = list(live_kernel.revise.signatures)
    coef = estimator.network().coef.copy()
    coef.flags.writeable = False  # as read from a model file
    for tolerance in (0, 1, 1e-6):
        day = LiveDay(replace(estimator.network(), coef=coef), tolerance=tolerance)
        for co2, ventilation in zip(last_day["co2"], last_day["ventilation"], strict=True):
            day.append(co2, ventilation)
    assert live_kernel.revise.signatures == before


def test_import_does_not_load_numba():
    code = "import sys, occupair; print('numba' in sys.modules, 'occupair.paper.live_kernel' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


@pytest.mark.parametrize("tolerance", [-1e-6, float("nan"), float("inf"), "small", None])
def test_invalid_tolerance_is_rejected(estimator, tolerance):
    with pytest.raises(oc.InputError, match="tolerance must be a number of people, 0 or more, got"):
        estimator.live(tolerance=tolerance)


def test_lean_rooms_share_memory_and_estimate_the_same(office):
    model, other = (model_of(office.iloc[k * 1440 : (k + 1) * 1440], n_hidden=30) for k in (0, 1))
    networks = [one.network(lean=True) for one in (model, other)]
    weights = [network.live_weights for network in networks]
    for name in ("co2", "ventilation", "feedback", "single", "bias"):
        assert getattr(weights[0], name) is getattr(weights[1], name)
    day = office.iloc[3 * 1440 + 480 : 3 * 1440 + 700]
    people = []
    for lean in (False, True):
        room = model.live(lean=lean)
        people.append(
            [
                room.update(t, c, v).people
                for t, c, v in zip(day.index, day["co2"], day["ventilation"], strict=True)
            ]
        )
    np.testing.assert_allclose(people[1], people[0], rtol=0, atol=1e-9)
    assert max(people[0]) > 0
