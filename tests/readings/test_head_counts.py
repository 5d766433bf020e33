"""Sparse and weighted labels, and their validation."""

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from occupair.model_file import dump_model
from occupair.readings.head_counts import WEIGHT, check_labelled, has_label

TIMES = pd.date_range("2024-01-08 08:00", periods=4, freq="5min")


def table(**columns):
    return pd.DataFrame({"co2": 500.0} | columns, index=TIMES)


def test_complete_labels_need_no_weight():
    for weight in ({}, {WEIGHT: 1}, {WEIGHT: [1, None, 1, None]}, {WEIGHT: ["1", "", "1.0", ""]}):
        checked = check_labelled(table(occupancy=[1, 2, 3, 4], **weight))
        assert checked.columns.tolist() == ["co2", "occupancy"]
        assert checked["occupancy"].tolist() == [1, 2, 3, 4]


def test_head_count_with_weight_0_is_ignored():
    checked = check_labelled(table(occupancy=[1, -7.5, None, 4], occupancy_weight=[0.5, 0, 1, None]))
    assert checked[WEIGHT].tolist() == [0.5, 0, 0, 1]
    np.testing.assert_array_equal(checked["occupancy"], [1, np.nan, np.nan, 4])
    assert has_label(checked).tolist() == [True, False, False, True]


def test_attrs_are_preserved_and_input_is_unchanged():
    given = table(occupancy=[1, None, 3, 4], occupancy_weight=0.5)
    given.attrs["ventilation_unit"] = "%"
    before = given.copy()
    assert check_labelled(given).attrs == {"ventilation_unit": "%"}
    pd.testing.assert_frame_equal(given, before)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"occupancy": [1, 2, 2.5, None]},
            ", row 3, column occupancy: must be a non-negative integer.*2.5",
        ),
        ({"occupancy": [1, -2, 3, None]}, ", row 2, column occupancy: must be a non-negative integer.*-2"),
        ({"occupancy": [1, "two", 3, None]}, ", row 2, column occupancy: must be a number, got 'two'"),
        ({"occupancy": np.nan}, ", column occupancy: must have a head count at one reading or more"),
        ({"occupancy": 1, WEIGHT: 0}, ", column occupancy: must have a head count at one reading or more"),
        (
            {"occupancy": 1, WEIGHT: [1, 1, 1, 1.5]},
            r", row 4, column occupancy_weight: must be from 0 \(ignored\) to 1 \(full weight\), got 1.5 at",
        ),
        (
            {"occupancy": 1, WEIGHT: [1, -0.1, 1, 1]},
            ", row 2, column occupancy_weight: must be from 0 .*-0.1",
        ),
        (
            {"occupancy": 1, WEIGHT: [1, np.inf, 1, 1]},
            ", row 2, column occupancy_weight: must be from 0 .*inf",
        ),
        ({}, ": has no column 'occupancy', only 'co2'; head counts are needed here"),
        ({"co2": [1, 2, None, 4], "occupancy": [1, None, 1, 1]}, ", row 3, column co2: must be from 0"),
    ],
)
def test_invalid_labels_are_rejected(columns, message):
    with pytest.raises(oc.InputError, match=f"^readings{message}"):
        check_labelled(table(**columns))
    with pytest.raises(oc.InputError, match=f"^readings{message}"):
        oc.OccupancyEstimator().fit(table(**columns))


def test_duplicate_weight_column_is_rejected():
    twice = pd.concat([table(occupancy=1, occupancy_weight=1), table(occupancy_weight=1)[[WEIGHT]]], axis=1)
    with pytest.raises(oc.InputError, match=r"^readings: has two columns 'occupancy_weight': rename"):
        check_labelled(twice)


def test_missing_occupancy_is_rejected():
    with pytest.raises(oc.InputError, match=r"^readings: has no column 'occupancy', only 'co2'"):
        has_label(table())
    with pytest.raises(oc.InputError, match=r"^readings: must be a DataFrame with a DatetimeIndex"):
        check_labelled([1, 2])


@pytest.mark.parametrize("layer", ["fs-elm", "elm"])
def test_paper_estimator_needs_complete_labels(slow_office, last_day, layer):
    model = oc.OccupancyEstimator(layer=layer, n_hidden=5, random_state=0)
    known = np.arange(len(slow_office)) % 12 == 0
    message = r"^readings: head counts are missing at 1056 of 1152 readings; the paper's layers need one"
    for missing in (
        slow_office.assign(occupancy=slow_office["occupancy"].where(known)),
        slow_office.assign(occupancy_weight=known * 1.0),
    ):
        with pytest.raises(oc.InputError, match=message) as error:
            model.fit(missing)
        assert "\n" not in str(error.value)
    plain = dump_model(model.fit(slow_office))
    assert dump_model(model.fit(slow_office.assign(occupancy_weight=0.5))) == plain  # equal weights


@pytest.mark.parametrize("kind", ["trained_room", "estimator"])
def test_estimates_ignore_labels_and_weights(request, kind, last_day):
    model = request.getfixturevalue(kind)
    odd = last_day.assign(occupancy=np.nan, occupancy_weight=7.0)
    pd.testing.assert_series_equal(model.estimate(odd), model.estimate(last_day))


def test_checks_accept_sparse_labels(slow_office):
    from occupair.checks import find_faults

    known = np.arange(len(slow_office)) % 6 == 0
    sparse = slow_office.assign(occupancy=slow_office["occupancy"].where(known), occupancy_weight=0.5)
    assert "no_counts" not in {fault.kind for fault in find_faults(sparse)}
