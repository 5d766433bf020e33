"""The methods of the benchmark."""

import pytest

import occupair as oc
from occupair.baselines import BASELINES
from occupair.benchmark.methods import METHODS, methods_called


def test_methods_are_the_baselines_the_paper_and_the_default():
    assert list(METHODS) == [*BASELINES, "paper", "occupair"]
    assert {name for name, method in METHODS.items() if method.is_baseline} == set(BASELINES)


def test_baselines_are_built_for_their_lag():
    assert all(METHODS[name].make(lag=20).lag == 20 for name in BASELINES)


def test_paper_method_has_the_settings_of_the_paper():
    made, paper = METHODS["paper"].make(lag=0), oc.OccupancyEstimator.paper(n_draws=1, random_state=0)
    assert made.get_params() == paper.get_params()


def test_occupair_method_is_the_default_estimator():
    assert METHODS["occupair"].make(lag=0).get_params() == oc.OccupancyEstimator(random_state=0).get_params()


def test_unknown_method_is_refused():
    with pytest.raises(oc.InputError, match=r"unknown method 'magic', choose from mean, .*, occupair"):
        methods_called(["mean", "magic"])
    assert methods_called([]) == METHODS
