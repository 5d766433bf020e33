"""Trained rooms survive JSON bit for bit; invalid ones are rejected."""

import copy
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import occupair as oc
from occupair.model_file import VERSION, _canonical, _checksum, dump_model, parse_model
from occupair.room.model_json import _from_runs, _runs, room_from_json, room_to_json

EARLIER = Path(__file__).parents[1] / "compatibility"


@pytest.fixture(scope="module")
def plain(trained_room):
    """A model as JSON values."""
    return json.loads(dump_model(trained_room))["model"]


def signed(model):
    """A file with a valid checksum and arbitrary content."""
    text = _canonical(model)
    head = f'{{"format":"occupair model","version":{VERSION},"checksum":"{_checksum(text)}"'
    return f'{head},"model":{text}}}\n'.encode()


def test_saved_model_loads_identically(trained_room, last_day, tmp_path):
    trained_room.save(tmp_path / "room.occupair")
    loaded = oc.OccupancyEstimator.load(tmp_path / "room.occupair")
    for lag in (0, 10, 20):
        pd.testing.assert_frame_equal(
            loaded.estimate(last_day, lag=lag, interval=0.8),
            trained_room.estimate(last_day, lag=lag, interval=0.8),
            check_exact=True,
        )
    assert loaded.get_params() == trained_room.get_params()
    assert loaded.comparison_ == trained_room.comparison_
    assert loaded.training_error_ == trained_room.training_error_
    assert dump_model(loaded) == dump_model(trained_room) == (tmp_path / "room.occupair").read_bytes()


def test_loaded_room_runs_live(trained_room, last_day):
    ours, theirs = trained_room.live(), parse_model(dump_model(trained_room)).live()
    for time, *row in last_day.iloc[90:150, :2].itertuples():
        assert ours.update(time, *row) == theirs.update(time, *row)


@pytest.mark.filterwarnings("ignore:CO2 adds almost nothing")
@pytest.mark.parametrize(
    "change",
    [
        lambda readings: readings.iloc[:288],
        lambda readings: readings.assign(occupancy=0),
        lambda readings: readings.assign(co2=412.3),
        lambda readings: readings.drop(columns="ventilation"),
        lambda readings: readings.iloc[::12],
    ],
    ids=["a single day", "no people", "constant CO2", "no ventilation", "hourly"],
)
@pytest.mark.filterwarnings("ignore:the room is empty at every head count")
def test_unusual_rooms_are_saved(slow_office, change):
    readings = change(slow_office)
    model = oc.OccupancyEstimator(n_hidden=4, random_state=0).fit(readings)
    loaded = parse_model(dump_model(model))
    pd.testing.assert_series_equal(loaded.estimate(readings), model.estimate(readings), check_exact=True)


def test_lags_and_columns_are_written(trained_room):
    values = room_to_json(trained_room.room_)
    assert (values["lags"], values["columns"]) == ([0, 10, 20], 2)
    assert room_from_json(values | {"lags": [0, 10.5, 20]}).lags == (0, 10.5, 20)
    assert room_to_json(replace(trained_room.room_, lags=(0, 10.5, 20)))["lags"] == [0, 10.5, 20]


def test_files_without_limit_and_thresholds_estimate_as_before(trained_room, slow_office):
    loose = replace(trained_room.room_, people_limit=2 * trained_room.most_people_)
    values = room_to_json(loose)
    assert room_from_json(values).people_limit == 2 * trained_room.most_people_
    assert values.pop("people_limit") == 2 * trained_room.most_people_
    assert values.pop("evidence_thresholds") == list(trained_room.room_.evidence_thresholds)
    earlier = copy.copy(trained_room)
    earlier.room_ = room_from_json(values)
    assert (earlier.room_.people_limit, earlier.room_.evidence_thresholds) == (None, None)
    wild = slow_office.assign(co2=np.random.default_rng(0).uniform(0, 1e5, len(slow_office)))
    people = earlier.estimate(wild)
    assert 0.9 * trained_room.most_people_ < people.max() <= trained_room.most_people_
    later = copy.copy(trained_room)
    later.room_ = loose
    assert later.estimate(wild).max() > trained_room.most_people_
    minute = wild.index.hour * 60 + wild.index.minute
    assert (people[~earlier.room_.hours.is_open[0, minute]] == 0).all()


@pytest.fixture(scope="module")
def earlier():
    """A room of an earlier version: without lags, columns, weights and trees."""
    values = json.loads((EARLIER / "2026-11/room.occupair").read_text())["model"]["room"]
    assert not {"lags", "columns", "profile"} & set(values)
    assert not {"weights", "trees", "kernel"} & set(values["refinements"][0])
    return values


@pytest.fixture(scope="module")
def with_trees():
    """A room of a later version: with three members, without kernel regression and profile."""
    values = json.loads((EARLIER / "2026-11-17/room.occupair").read_text())["model"]["room"]
    assert "profile" not in values
    assert "kernel" not in values["refinements"][0]
    assert len(values["refinements"][0]["weights"]) == 3
    return values


def test_room_of_earlier_version(earlier):
    """One share of the network for all lags, and one scale for each group of features."""
    room = room_from_json(earlier)
    assert (room.lags, room.column_set) == ((0, 10, 20), 1)
    for one, values in zip(room.refinements, earlier["refinements"], strict=True):
        assert one.weights == (earlier["network_share"], 1 - earlier["network_share"], 0, 0, 0)
        assert (one.trees, one.kernel, room.profile) == (None, None, None)
        a, b, c, d, e = values["alphas"]
        assert one.layer.alphas.tolist() == [a] * 5 + [b] * 8 + [c] * 4 + [d] * 7 + [e] * 3


def test_room_with_three_members(with_trees):
    room = room_from_json(with_trees)
    assert room.profile is None
    for one, values in zip(room.refinements, with_trees["refinements"], strict=True):
        assert one.weights == (*values["weights"], 0, 0)
        assert one.kernel is None
        assert len(one.trees.feature) == 100


def test_rooms_of_earlier_versions_survive_new_format(earlier, with_trees):
    for plain, columns in ((earlier, 1), (with_trees, 2)):
        values = room_to_json(room_from_json(plain))
        assert values["columns"] == columns
        assert "profile" not in values
        assert room_to_json(room_from_json(json.loads(json.dumps(values)))) == values


def test_kernel_and_profile_are_written_with_full_precision(trained_room):
    values = json.loads(json.dumps(room_to_json(trained_room.room_)))
    again = room_from_json(values)
    np.testing.assert_array_equal(again.profile.people, trained_room.room_.profile.people)
    assert again.profile.people.any()
    for one, other in zip(again.refinements, trained_room.room_.refinements, strict=True):
        for name in ("mean", "scale", "coef"):
            np.testing.assert_array_equal(getattr(one.kernel, name), getattr(other.kernel, name))


@pytest.mark.parametrize("share", [1.5, -0.1, None, "x"])
def test_invalid_share_of_earlier_version_is_rejected(earlier, share):
    with pytest.raises((ValueError, TypeError), match=r"number out of range|must be a number"):
        room_from_json(earlier | {"network_share": share})


def test_plain_values_survive_json(trained_room):
    values = room_to_json(trained_room.room_)
    assert room_to_json(room_from_json(json.loads(json.dumps(values)))) == values


@given(st.lists(st.integers(0, 1440), max_size=12))
def test_open_hours_survive_run_length_encoding(changes):
    is_open = np.zeros(1440, dtype=bool)
    for minute in changes:
        is_open[minute:] ^= True
    runs = _runs(is_open)
    assert runs == sorted(set(runs))
    assert (_from_runs(runs) == is_open).all()


def test_open_hours_encoding_worked_by_hand():
    is_open = np.zeros(1440, dtype=bool)
    is_open[[0, 1, 2, 100, 1438, 1439]] = True
    assert _runs(is_open) == [0, 3, 100, 101, 1438, 1440]


def setting(name, value, at=None):
    """Change a value of the first refinement, or one of its items."""

    def change(model):
        one = model["room"]["refinements"][0]
        if at is None:
            one[name] = value
        else:
            one[name][at] = value

    return change


def in_intervals(name, value, at=None):
    """Change a value of the prediction intervals of the first refinement, or one of its items."""

    def change(model):
        intervals = model["room"]["refinements"][0]["intervals"]
        if at is None:
            intervals[name] = value
        else:
            intervals[name][at] = value

    return change


def in_room(**values):
    return lambda model: model["room"].update(values)


def in_variant(at, value):
    return lambda model: model["room"]["refinements"][0]["choices"][0].__setitem__(at, value)


def in_trees(name, value):
    return lambda model: model["room"]["refinements"][0]["trees"].__setitem__(name, value)


def in_kernel(name, value, at=None):
    """Change a value of the kernel regression of the first refinement, or one of its items."""

    def change(model):
        kernel = model["room"]["refinements"][0]["kernel"]
        if at is None:
            kernel[name] = value
        else:
            kernel[name][at] = value

    return change


def without_kernel(k):
    """Remove the kernel regression of one refinement, and its weight."""
    return lambda model: model["room"]["refinements"][k].update(
        kernel=None, weights=[0.5, 0.5, 0.0, 0.0, 0.0]
    )


def in_profile(weekend, step, value):
    return lambda model: model["room"]["profile"][weekend].__setitem__(step, value)


def one_tree(model):
    trees = model["room"]["refinements"][0]["trees"]
    for name in ("feature", "threshold", "value"):
        trees[name] = trees[name][:1]


def no_member(name):
    """Remove a member of all refinements, but not its weight."""

    def change(model):
        for one in model["room"]["refinements"]:
            one[name] = None

    return change


def without_trees(k):
    """Remove the trees of one refinement, and their weight."""
    return lambda model: model["room"]["refinements"][k].update(trees=None, weights=[0.5, 0.5, 0.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.update(room=None), "is not a valid model"),
        (lambda m: m.update(room=[1, 2]), "is not a valid model"),
        (lambda m: m["room"].pop("hours"), "is not a valid model: 'hours'"),
        (lambda m: m["room"]["refinements"].pop(), "refinements do not match the interval"),
        (lambda m: m["room"]["refinements"].reverse(), "refinements do not match the interval"),
        (in_room(refinements=[]), "refinements do not match the interval"),
        (in_room(refinements="x"), "is not a valid model"),
        (in_room(lags=[0, 10, 20, 30]), "is not a valid model"),
        (in_room(lags=[]), "lags must be up to 20 increasing numbers from 0"),
        (in_room(lags=[10, 20]), "lags must be up to 20 increasing numbers from 0"),
        (in_room(lags=[0, 20, 10]), "lags must be up to 20 increasing numbers from 0"),
        (in_room(lags=list(range(21))), "lags must be up to 20 increasing numbers from 0"),
        (in_room(lags=[0, 1e9]), "number out of range: 1000000000.0"),
        (in_room(lags=20), "is not a valid model"),
        (in_room(refinements=[7]), "is not a valid model"),
        (in_room(interval=1.0), "must be an integer from 0 to|do not match"),
        (in_room(interval=0), "number out of range: 0"),
        (in_room(interval="5"), "must be a number, got '5'"),
        (lambda m: m.update(interval=4.5), "the interval of the room does not match that of the model"),
        (in_room(smoothing=-1), "number out of range: -1"),
        (in_room(smoothing=True), "must be a number, got True"),
        (in_room(people_limit=-1), "number out of range: -1"),
        (in_room(people_limit=None), "must be a number, got None"),
        (in_room(evidence_thresholds=[2.0]), "evidence_thresholds must be one for each pair"),
        (in_room(evidence_thresholds=[2.0, -1]), "number out of range: -1"),
        (in_room(evidence_thresholds=[2.0, "3"]), "must be a number, got '3'"),
        (in_room(evidence_thresholds=7), "is not a valid model"),
        (lambda m: m["parameters"].update(closed="night"), "closed must be a period of the day"),
        (in_room(columns=3), r"columns must be one of \[1, 2\], got 3: upgrade occupair"),
        (in_room(columns=1), "is not a valid model"),
        (in_room(columns=None), r"columns must be one of \[1, 2\], got None: upgrade occupair"),
        (in_room(columns=[2]), "is not a valid model"),
        (setting("weights", [0.5, 0.6, 0.2, 0.0, 0.0]), "weights of the members must sum to 1"),
        (setting("weights", [0.5, 0.6]), "weights of the members must sum to 1"),
        (setting("weights", [0.2] * 4), "weights of the members must sum to 1"),
        (setting("weights", [1.0]), "weights of the members must sum to 1"),
        (setting("weights", []), "weights of the members must sum to 1"),
        (setting("weights", [0.5, 0.5, 0.0, 0.0, 0.0, 0.0]), "weights of the members must sum to 1"),
        (setting("weights", [1.5, -0.5, 0.0]), "number out of range: 1.5"),
        (setting("weights", [10**400, 0, 0]), "is not a valid model"),
        (setting("weights", "abc"), "must be a number, got 'a'"),
        (setting("weights", None), "is not a valid model"),
        (setting("trees", None), "the same number of trees|trees must not be missing if it has a weight"),
        (no_member("trees"), "trees must not be missing if it has a weight"),
        (no_member("kernel"), "kernel must not be missing if it has a weight"),
        (lambda m: m["room"].pop("profile"), "profile must not be missing if it has a weight"),
        (without_kernel(0), "either all refinements must have a kernel regression or none"),
        (without_kernel(2), "either all refinements must have a kernel regression or none"),
        (in_kernel("checksum", 7), "the random layer of the model cannot be reproduced on this machine"),
        (in_kernel("mean", [0.0] * 34), r"must be finite numbers of shape \(35,\)"),
        (in_kernel("scale", None, at=3), r"must be finite numbers of shape \(35,\)"),
        (in_kernel("coef", [0.0] * 200), r"must be finite numbers of shape \(201,\)"),
        (in_kernel("coef", "x", at=3), "is not a valid model"),
        (setting("kernel", 4), "is not a valid model"),
        (setting("kernel", {}), "is not a valid model: 'checksum'"),
        (in_room(profile=[[0.0] * 96]), r"must be finite numbers of shape \(2, 96\)"),
        (in_room(profile=[[0.0] * 95] * 2), r"must be finite numbers of shape \(2, 96\)"),
        (in_room(profile="x"), "is not a valid model"),
        (in_profile(1, 40, -0.5), "profile must be 0 or more people"),
        (in_profile(0, 95, None), r"must be finite numbers of shape \(2, 96\)"),
        (without_trees(0), "all refinements must have the same number of trees"),
        (without_trees(2), "all refinements must have the same number of trees"),
        (in_trees("feature", [[0] * 7]), r"must be finite numbers of shape \(1, 7\)"),
        (one_tree, "all refinements must have the same number of trees"),
        (in_trees("feature", [[29] * 7] * 100), "must be an integer from 0 to 28, got 29"),
        (in_trees("feature", [[0] * 7] * 10_000), "there must be at most 1000 trees, got 10000"),
        (in_trees("threshold", [[1e39] * 7] * 100), "must be numbers in single precision"),
        (in_trees("value", [[0.0] * 7] * 100), r"must be finite numbers of shape \(100, 8\)"),
        (in_trees("start", "x"), "must be a number, got 'x'"),
        (in_room(hours=[[60, 30], []]), "hours must alternate between opening and closing minutes"),
        (in_room(hours=[[30, 60, 90], []]), "hours must alternate between opening and closing minutes"),
        (in_room(hours=[[30, 30], []]), "hours must alternate between opening and closing minutes"),
        (in_room(hours=[[30, 1441], []]), "must be an integer from 0 to 1440, got 1441"),
        (in_room(hours=[[-5, 30], []]), "must be an integer from 0 to 1440, got -5"),
        (in_room(hours=[[30, 60.5], []]), "must be an integer from 0 to 1440, got 60.5"),
        (in_room(hours=[[30, 60]]), "is not a valid model"),
        (in_room(hours=[[], [], []]), "is not a valid model"),
        (in_room(hours=3), "is not a valid model"),
        (setting("layer_seed", -1), "must be an integer from 0 to 4294967295, got -1"),
        (setting("layer_seed", 2**32), "must be an integer from 0 to 4294967295, got 4294967296"),
        (setting("layer_seed", 1.5), "must be an integer from 0 to 4294967295, got 1.5"),
        (setting("layer_seed", 7), "the random layer of the model cannot be reproduced on this machine"),
        (setting("layer_checksum", 7), "the random layer of the model cannot be reproduced on this machine"),
        (
            setting("layer_checksum", "x"),
            "the random layer of the model cannot be reproduced on this machine",
        ),
        (setting("n_hidden", 10**9), "a hidden layer of 1000000000 neurons and 17 lags is too large"),
        (setting("n_hidden", 10**30), "is too large for a model file"),
        (setting("n_hidden", 150_000), "must be an integer from 1 to 100000, got 150000"),
        (setting("n_hidden", 0), "must be an integer from 1 to 100000, got 0"),
        (setting("n_hidden", -20), "must be an integer from 1 to 100000, got -20"),
        (setting("n_hidden", 21), "cannot be reproduced on this machine|finite numbers"),
        (setting("coef", [1.0, 2.0]), r"must be finite numbers of shape \(56,\)"),
        (setting("coef", None, at=3), r"must be finite numbers of shape \(56,\)"),
        (setting("coef", "x", at=3), "is not a valid model"),
        (setting("coef", [1.0], at=3), "is not a valid model"),
        (setting("presence", []), r"must be finite numbers of shape \(56,\)"),
        (setting("alphas", [1.0] * 4), r"must be finite numbers of shape \(35,\)"),
        (setting("alphas", [1.0] * 4 + ["x"]), "is not a valid model"),
        (setting("mean", [1.0] * 27), r"must be finite numbers of shape \(35,\)"),
        (setting("scale", {"a": 1}), "is not a valid model"),
        (setting("base", [400.0, 420.0]), r"must be finite numbers of shape \(3,\)"),
        (setting("base", "abc"), "is not a valid model"),
        (setting("threshold", "high"), "must be a number, got 'high'"),
        (setting("threshold", None), "must be a number, got None"),
        (in_intervals("edges", 9.0, at=0), "edges must increase from 0"),
        (in_intervals("edges", -9.0, at=1), "edges must increase from 0"),
        (in_intervals("edges", []), "edges must increase from 0"),
        (in_intervals("edges", 4), "is not a valid model"),
        (in_intervals("edges", [0.0]), r"must be finite numbers of shape \(1, 103\)"),
        (in_intervals("errors", [0.0], at=0), "is not a valid model"),
        (setting("intervals", 4), "is not a valid model"),
        (setting("intervals", {}), "is not a valid model"),
        (in_intervals("scale_mean", [0.0]), r"must be finite numbers of shape \(10,\)"),
        (in_intervals("scale_spread", 0.0, at=2), "scale_spread must be above 0"),
        (in_intervals("scale_coef", [[1.0] * 10]), r"must be finite numbers of shape \(2, 10\)"),
        (in_intervals("scale_people", 0), "number out of range: 0"),
        (in_intervals("highest", -1), "number out of range: -1"),
        (setting("moment", [0, 0]), "is not a valid model"),
        (setting("moment", [0, 1, 0.5]), "must be an integer from 0 to 0, got 1"),
        (setting("moment", [0, -1, 0.5]), "must be an integer from 0 to 0, got -1"),
        (setting("moment", [99, 0, 0.5]), "must be an integer from 0 to 17, got 99"),
        (setting("moment", ["0", 0, 0.5]), "must be an integer from 0 to 17, got '0'"),
        (setting("choices", []), "weights of the mass balances must sum to 1"),
        (setting("choices", [[]]), "is not a valid model"),
        (setting("choices", None), "is not a valid model"),
        (in_variant(1, -5.0), "number out of range: -5.0"),
        (in_variant(2, 15), "must be an integer from 0 to 0, got 15"),
        (in_variant(3, -0.5), "number out of range: -0.5"),
        (in_variant(3, 5.0), "weights of the mass balances must sum to 1"),
        (in_variant(9, "x"), "is not a valid model"),
        (
            lambda m: m["room"]["refinements"][0]["choices"][0].pop(),
            r"must be finite numbers of shape \(6,\)",
        ),
        (
            lambda m: m.update(comparison={"error": -1, "profile_error": 1}),
            "error must be a finite number, 0",
        ),
        (lambda m: m.update(comparison=3), "is not a valid model"),
    ],
)
def test_invalid_room_is_rejected(plain, change, message):
    model = copy.deepcopy(plain)
    change(model)
    with pytest.raises(oc.InputError, match=message) as error:
        parse_model(signed(model))
    assert "\n" not in str(error.value)


def test_offset_beyond_lag_is_rejected(plain):
    model = copy.deepcopy(plain)
    model["room"]["refinements"][2]["moment"][1] = 5  # lag 20 is 4 readings
    with pytest.raises(oc.InputError, match="must be an integer from 0 to 4, got 5"):
        parse_model(signed(model))


def test_nan_is_rejected(plain):
    content = signed(plain).replace(b'"threshold":', b'"threshold":NaN,"x":', 1)
    with pytest.raises(oc.InputError, match="is damaged"):
        parse_model(content)


def leaves(values, path=()):
    """Every path in nested JSON values."""
    items = values.items() if isinstance(values, dict) else enumerate(values)
    for key, value in items:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from leaves(value, (*path, key))


JUNK = st.sampled_from([None, True, -1, 0, 3, 0.5, 1e6, -1e6, 10**30, "x", "", [], [1.0], {}, {"a": 1}])


@given(st.data(), JUNK)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_modified_model_is_rejected_or_runs(plain, last_day, data, junk):
    model = copy.deepcopy(plain)
    *path, last = data.draw(st.sampled_from(list(leaves(plain["room"]))))
    place = model["room"]
    for key in path:
        place = place[key]
    place[last] = junk
    try:
        loaded = parse_model(signed(model))
    except oc.InputError:
        return
    people = loaded.estimate(last_day.iloc[100:130], lag=20, interval=0.9)
    assert people["people"].between(0, loaded.most_people_).all()
    assert (people["low"] <= people["people"]).all()
    assert (people["people"] <= people["high"]).all()


@pytest.mark.parametrize("seed", range(4))
def test_model_loads_when_maximum_occupancy_was_not_sampled(seed):
    """Training samples every third minute, so it may miss the maximum occupancy."""
    office = oc.simulate_office(days=2, seed=seed)
    draw = np.random.default_rng(seed)
    office.iloc[draw.integers(600, 900), office.columns.get_loc("occupancy")] += 5
    model = oc.OccupancyEstimator(n_hidden=5, random_state=0).fit(office)
    loaded = parse_model(dump_model(model))
    assert loaded.most_people_ == model.most_people_ == office["occupancy"].max()
    pd.testing.assert_series_equal(loaded.estimate(office), model.estimate(office), check_exact=True)
