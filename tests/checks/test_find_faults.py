"""Single faults planted in a simulated office: each is found, and nothing else is wrong."""

import numpy as np
import pandas as pd
import pytest
from groundtruth.sparse_counts import error, taken

import occupair as oc
from occupair import InputError
from occupair.checks import CHECKS, Fault, find_faults, format_faults, is_trainable, verdict
from occupair.checks.prepared_readings import runs, whole_day_spans

FIRST = pd.Timestamp("2015-08-03")


def kinds(readings):
    return {fault.kind for fault in find_faults(readings)}


def test_failed_reads_are_wrong(planted, the_fault):
    planted.loc["2015-08-05 10:00":"2015-08-05 10:04", "co2"] = 0.0
    planted.loc["2015-08-07 12:00", "co2"] = 65535.0
    fault = the_fault(planted, "failed_reads")
    assert fault.severity == "wrong"
    assert fault.details["readings"] == 6
    assert fault.spans[0] == (pd.Timestamp("2015-08-05 10:00"), pd.Timestamp("2015-08-05 10:04"))
    assert fault.end == pd.Timestamp("2015-08-07 12:00")
    assert "CO2 reads 0, 65535 ppm 6 times (first 2015-08-05 10:00)" in fault.message


def test_stuck_with_people_present_is_wrong(planted, the_fault):
    planted.loc["2015-08-06 09:00":"2015-08-06 14:59", "co2"] = 612.0
    fault = the_fault(planted, "stuck")
    assert fault.severity == "wrong"
    assert fault.details["minutes"] == [pytest.approx(360, abs=2)]
    assert abs(fault.start - pd.Timestamp("2015-08-06 09:00")) <= pd.Timedelta(minutes=1)
    assert abs(fault.end - pd.Timestamp("2015-08-06 14:59")) <= pd.Timedelta(minutes=1)


def test_stuck_in_empty_room_is_doubtful(planted, the_fault):
    planted.loc["2015-08-06 00:00":"2015-08-06 04:59", "co2"] = 612.0
    assert the_fault(planted, "stuck").severity == "doubtful"


def test_constant_lowest_level_of_empty_room_is_not_stuck(planted):
    planted.loc["2015-08-06 00:00":"2015-08-06 04:59", "co2"] = planted["co2"].quantile(0.01)
    assert "stuck" not in kinds(planted)


def test_two_hours_of_constant_co2_are_not_stuck(planted):
    planted.loc["2015-08-06 09:00":"2015-08-06 10:59", "co2"] = 612.0
    assert "stuck" not in kinds(planted)


def test_a_staircase_is_noted(planted, the_fault):
    planted["co2"] = planted["co2"].iloc[::5].reindex(planted.index).ffill() + 0.0
    planted["co2"] += np.repeat(np.random.default_rng(0).normal(0, 0.1, len(planted) // 5), 5)
    fault = the_fault(planted, "staircase")
    assert (fault.severity, fault.details["step"]) == ("note", 5)


def test_readings_at_the_update_period_are_no_staircase(planted):
    assert "staircase" not in kinds(planted.iloc[::5])


@pytest.mark.parametrize(("a_day", "severity"), [(6, "wrong"), (1, "doubtful")])
def test_jumps(planted, the_fault, a_day, severity):
    rows = [day * 1440 + 60 * (8 + k) for day in range(10) for k in range(a_day)]
    co2 = planted["co2"].to_numpy(copy=True)
    co2[rows] += 700
    planted["co2"] = co2
    fault = the_fault(planted, "jumps")
    assert (fault.severity, fault.details["jumps"]) == (severity, 20 * a_day)  # up and down
    assert fault.start == planted.index[rows[0]]


def test_baseline_reset(planted, the_fault):
    planted.loc["2015-08-12 13:00":, "co2"] -= 200.0
    fault = the_fault(planted, "reset")
    assert fault.severity == "wrong"
    assert fault.start == pd.Timestamp("2015-08-12 13:00")
    assert fault.details["step"] == pytest.approx(-200, abs=25)


def test_baseline_drift(planted, the_fault):
    days = (planted.index - planted.index[0]) / pd.Timedelta(days=1)
    planted["co2"] += 8.0 * days
    fault = the_fault(planted, "drift")
    assert fault.severity == "doubtful"
    assert fault.details["a_day"] == pytest.approx(8, abs=2)


@pytest.fixture(scope="module")
def two_months():
    return oc.simulate_office(days=60, seed=1).iloc[::5]


@pytest.mark.parametrize("a_month", [20, -20])
def test_creep_of_20_ppm_a_month_is_named(two_months, the_fault, a_month):
    days = np.asarray((two_months.index - two_months.index[0]) / pd.Timedelta(days=1))
    fault = the_fault(two_months.assign(co2=two_months["co2"] + a_month / 30.44 * days), "drift")
    assert fault.details["a_month"] == pytest.approx(a_month, abs=6)
    assert "ppm per month" in fault.message


@pytest.mark.parametrize("step", [60, -60])
def test_step_of_60_ppm_is_named_with_its_date(two_months, the_fault, step):
    noon = two_months.index[30 * 288 + 144]
    fault = the_fault(two_months.assign(co2=two_months["co2"] + step * (two_months.index >= noon)), "reset")
    assert abs(fault.start - noon) < pd.Timedelta(days=2)
    assert fault.details["step"] == pytest.approx(step, abs=20)


def test_stable_baseline_is_no_fault(two_months):
    assert not {"drift", "reset"} & kinds(two_months)


def test_baseline_below_outdoor_air(planted, the_fault):
    planted["co2"] -= 100.0
    fault = the_fault(planted, "low_baseline")
    assert fault.severity == "doubtful"
    assert "less than the 400 ppm of outdoor air" in fault.message


def test_scaled_counts_are_doubtful(planted, the_fault):
    fault = the_fault(planted.assign(occupancy=planted["occupancy"] * 1000), "many_people")
    assert fault.severity == "doubtful"
    assert fault.details["most"] == planted["occupancy"].max() * 1000


def test_entries_per_reading_are_no_head_counts(planted, the_fault):
    five = planted["occupancy"].diff().clip(lower=0).resample("5min").sum()
    readings = planted.iloc[::5].assign(occupancy=five)
    fault = the_fault(readings, "passages")
    assert fault.severity == "doubtful"
    assert "are these passages, not people present?" in fault.finding
    hourly = planted["occupancy"].where(planted.index.minute == 15)  # sparse counts are not passages
    assert "passages" not in kinds(planted.assign(occupancy=hourly)) | kinds(planted)


def test_negative_counts(planted, the_fault):
    planted.loc["2015-08-05 19:30":"2015-08-05 23:59", "occupancy"] = -2.0
    fault = the_fault(planted, "negative_counts")
    assert fault.severity == "wrong"
    assert (fault.start, fault.end) == (
        pd.Timestamp("2015-08-05 19:30"),
        pd.Timestamp("2015-08-05 23:59"),
    )
    assert (fault.details["lowest"], fault.details["readings"]) == (-2, 270)


def test_counter_drift(planted, the_fault):
    planted["occupancy"] += ((planted.index - FIRST) // pd.Timedelta(days=1)) // 2
    fault = the_fault(planted, "counter_drift")
    assert fault.severity == "wrong"
    assert "it goes from 0 to 9 people over 19 days" in fault.message


def test_people_at_night(planted, the_fault):
    for night in ("2015-08-05", "2015-08-11"):
        planted.loc[f"{night} 00:00" : f"{night} 05:00", "occupancy"] = 2.0
    fault = the_fault(planted, "people_at_night")
    assert fault.severity == "doubtful"
    assert "2 people counted all night on 2 of 15 nights (2015-08-05 and 2015-08-11)" in fault.message
    assert fault.spans[1] == (pd.Timestamp("2015-08-11"), pd.Timestamp("2015-08-11 05:00"))


def test_midnight_reset_of_the_counter(planted, the_fault):
    planted.loc[planted.index.hour >= 21, "occupancy"] += 3.0
    fault = the_fault(planted, "midnight_reset")
    assert fault.severity == "doubtful"
    assert fault.details["times"] == 12  # 15 days in three weeks; the last day of a week has no next day


def test_co2_without_people(planted, the_fault):
    planted.loc["2015-08-06", "occupancy"] = 0.0
    fault = the_fault(planted, "co2_without_people")
    assert fault.severity == "doubtful"
    assert fault.days == [pd.Timestamp("2015-08-06")]
    assert "on 2015-08-06" in fault.message


def test_constant_ventilation(planted, the_fault):
    planted["ventilation"] = 0.5
    assert the_fault(planted, "still_ventilation").severity == "doubtful"


def test_ventilation_in_percent(planted, the_fault):
    planted["ventilation"] *= 100
    assert "must be from 0 to 1" in the_fault(planted, "ventilation_range").message


@pytest.mark.parametrize(("share", "severity"), [(0.05, "note"), (0.5, "doubtful")])
def test_unknown_ventilation(planted, the_fault, share, severity):
    planted.iloc[: round(share * len(planted)), planted.columns.get_loc("ventilation")] = np.nan
    fault = the_fault(planted, "ventilation_holes")
    assert fault.severity == severity
    assert fault.details["share"] == pytest.approx(share, abs=1e-3)
    assert fault.message.startswith(
        f"Ventilation is unknown at {share:.0%} of the readings, which are left out."
    )


def test_no_ventilation_is_noted(planted, the_fault):
    assert the_fault(planted.drop(columns="ventilation"), "no_ventilation").severity == "note"


@pytest.mark.parametrize(("days", "severity"), [(2, "wrong"), (4, "doubtful")])
def test_too_few_labelled_days(planted, the_fault, days, severity):
    fault = the_fault(planted.iloc[: days * 1440], "few_days")
    assert (fault.severity, fault.details["occupied_days"]) == (severity, days)


def test_a_working_week_of_labels_is_enough(planted):
    week = planted.loc["2015-08-03":"2015-08-07"]
    assert "few_days" not in kinds(week)


def test_days_without_head_counts_are_not_labelled(planted, the_fault):
    planted.loc[planted.index >= FIRST + pd.Timedelta(days=3), "occupancy"] = np.nan
    assert the_fault(planted, "few_days").details["occupied_days"] == 3


def test_no_head_counts(planted, the_fault):
    assert the_fault(planted[["co2", "ventilation"]], "no_counts").severity == "wrong"


def test_presence_only_is_noted(planted, the_fault):
    planted["occupancy"] = planted["occupancy"].clip(upper=1)
    assert the_fault(planted, "presence_only").severity == "note"


@pytest.mark.parametrize(("share", "severity"), [(0.05, "note"), (0.4, "doubtful")])
def test_missing_readings(planted, the_fault, share, severity):
    kept = np.random.default_rng(0).random(len(planted)) >= share
    kept[:2] = True
    fault = the_fault(planted[kept], "holes")
    assert fault.severity == severity
    assert fault.details["share"] == pytest.approx(share, abs=0.01)


def test_empty_cells_are_missing_readings(planted, the_fault):
    planted.loc["2015-08-05", "co2"] = np.nan
    assert the_fault(planted, "holes").details["share"] == pytest.approx(1 / 15)


def test_untidy_input_is_accepted(planted):
    """Every check accepts readings that break all rules at once."""
    mess = planted.iloc[::7].copy()
    mess.iloc[100:300, 0] = np.nan
    mess.iloc[400:420] = [0.0, np.nan, -3.0]
    mess.iloc[500] = [np.inf, 3.0, 0.5]
    mess = pd.concat([mess.iloc[1000:], mess.iloc[:1100]])  # unsorted, with duplicates
    assert {"failed_reads", "negative_counts"} <= kinds(mess)


@pytest.mark.parametrize("check", CHECKS)
def test_every_check_accepts_two_readings(check):
    times = pd.date_range("2024-01-08", periods=2, freq="min")
    for columns in ({"co2": 400.0}, {"co2": np.nan, "occupancy": np.nan}, {"co2": 0.0, "occupancy": 1.0}):
        check(pd.DataFrame(columns, index=times))


def test_unusable_input_is_rejected():
    times = pd.date_range("2024-01-08", periods=2, freq="min")
    with pytest.raises(InputError, match="DataFrame with a DatetimeIndex"):
        find_faults(pd.DataFrame({"co2": [1.0, 2.0]}))
    with pytest.raises(InputError, match="has no column 'co2', only 'CO2'"):
        find_faults(pd.DataFrame({"CO2": 400.0}, index=times))
    with pytest.raises(InputError, match="at least two rows to be checked, got 1"):
        find_faults(pd.DataFrame({"co2": 400.0}, index=times[:1]))


def test_faults_are_sorted_by_severity(planted):
    planted["co2"] -= 100.0
    planted.loc["2015-08-05 19:30", "occupancy"] = -1.0
    planted = planted.drop(columns="ventilation")
    assert [fault.severity for fault in find_faults(planted)] == ["wrong", "doubtful", "note"]


def test_format_faults():
    faults = [Fault("a", "note", "Small."), Fault("b", "wrong", "Big. " * 30)]
    text = format_faults(faults)
    assert text.index("WRONG (do not train before it is fixed)") < text.index("NOTE (for information)")
    assert max(map(len, text.splitlines())) <= 100
    assert not is_trainable(faults)
    assert verdict(faults) == "Not fit to train on: 1 fault to fix."
    assert verdict([Fault("a", "doubtful", "Hm.")] * 2) == "Fit to train on, but 2 findings to check."


def test_runs_and_spans():
    assert runs(np.array([False, False])) == []
    day = pd.Timedelta(days=1)
    assert whole_day_spans([FIRST, FIRST + day, FIRST + 3 * day]) == [
        (FIRST, FIRST + 2 * day),
        (FIRST + 3 * day, FIRST + 4 * day),
    ]


def test_head_counts_in_office_hours_are_sufficient(planted):
    hours = planted.index.hour
    planted.loc[(hours < 8) | (hours >= 18), "occupancy"] = np.nan
    assert "few_days" not in kinds(planted)


EVERY_OTHER_HOUR = [8, 10, 12, 14, 16, 18]


def test_sparse_head_counts_are_sufficient(planted):
    planted["occupancy"] = planted["occupancy"].where(taken(planted.index, EVERY_OTHER_HOUR))
    assert "few_days" not in kinds(planted)
    planted["occupancy"] = planted["occupancy"].where(planted.index < FIRST + pd.Timedelta(days=4))
    (fault,) = (fault for fault in find_faults(planted) if fault.kind == "few_days")
    assert (fault.severity, fault.details) == ("doubtful", {"occupied_days": 4})


def test_six_counts_over_the_day_train_better_than_twelve_in_one_hour():
    """The reason for counting hours with labels: train on one week, score on another."""
    office = oc.simulate_office(days=14, seed=1).iloc[::15]
    spread = error(office, taken(office.index, EVERY_OTHER_HOUR))
    assert spread < error(office, office.index.hour == 11)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda t: t.iloc[:1440],
            "People are counted on only 1 day: too few for a reliable estimator.",
        ),
        (
            lambda t: t.assign(occupancy=t["occupancy"].where(t.index < FIRST + pd.Timedelta(days=2), 0)),
            "People are counted on only 2 of 15 days with head counts in at least 6 hours: too few",
        ),
        (
            lambda t: t.assign(occupancy=0.0),
            "Nobody is counted on 15 days with head counts in at least 6 hours",
        ),
        (
            lambda t: t.assign(occupancy=t["occupancy"].where(t.index.hour * 60 + t.index.minute == 720)),
            "No day has head counts in at least 6 hours, so there is almost nothing to train on. Count "
            "people at least once an hour, all day, on 5 days with people or more (a working week), or start",
        ),
        (
            lambda t: t.assign(occupancy=t["occupancy"].where(t.index.hour == 11)),  # only one hour
            "No day has head counts in at least 6 hours",
        ),
    ],
)
def test_few_days_message(planted, the_fault, change, message):
    fault = the_fault(change(planted), "few_days")
    assert message in fault.message
    assert fault.message.endswith("or start from models of similar rooms: occupair fit --like.")


def test_messages_name_only_existing_options(planted):
    days = (planted.index - FIRST) / pd.Timedelta(days=1)
    for spoilt in (planted["co2"] - 120, planted["co2"] + 15 * days, planted["co2"] + 60 * (days // 1 % 2)):
        found = find_faults(planted.assign(co2=spoilt))
        assert {"low_baseline", "drift", "moving_baseline"} & {fault.kind for fault in found}
        assert not any("above its baseline" in fault.message for fault in found)


def test_times_in_utc_are_noted(planted):
    assert "utc_times" in kinds(planted.tz_localize("UTC"))
    assert "utc_times" not in kinds(planted.tz_localize("Europe/Copenhagen")) | kinds(planted)


def test_duplicate_column_is_rejected(planted):
    with pytest.raises(InputError, match="readings: has two columns 'co2': rename or delete one"):
        find_faults(pd.concat([planted, planted[["co2"]]], axis=1))
