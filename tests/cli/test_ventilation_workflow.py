"""Door counters and an export of the building system on the command line: labels, fit, estimate, check."""

import json

import numpy as np
import pandas as pd
import pytest
from command import occupair
from groundtruth.counter_study import write_counters
from groundtruth.simulated_doors import office

import occupair as oc

DAYS, STEP = 3, 15  # minutes between readings


@pytest.fixture(scope="module")
def doors(tmp_path_factory):
    """Door counters and air of a simulated office."""
    folder = tmp_path_factory.mktemp("doors")
    single, _ = office(DAYS, seed=3)
    write_counters(single, folder)
    return folder, oc.simulate_office(DAYS, seed=3).drop(columns="occupancy").iloc[::STEP]


EXPORTS = {
    "Supply air [m3/h]": (lambda v: 4800 * v, "m3/h, fully on = 4800 m3/h"),
    "Supply air [L/s]": (lambda v: np.round(1333.3 * v, 1), "l/s, fully on = 1333.3 l/s"),
    "Supply air": (lambda v: 4800 * v, "unit unknown, fully on = 4800"),
    "damper [%]": (lambda v: 100 * v, "%, fully on = 100 %"),
    "fan [Hz]": (lambda v: 50 * v, "Hz, fully on = 50 Hz"),
    "fan": (lambda v: np.where(v > 0, "on", "off"), "on/off"),
    "fan stage": (lambda v: np.rint(3 * v).astype(int), "steps, fully on = 3 steps"),
    "damper": (lambda v: v, "0..1"),
}


@pytest.mark.parametrize(
    ("header", "suffix"), [*((header, "csv") for header in EXPORTS), ("Supply air [m3/h]", "parquet")]
)
def test_labelled_export_trains_a_model_for_the_export(doors, tmp_path, header, suffix):
    folder, air = doors
    convert, unit = EXPORTS[header]
    export = air.assign(ventilation=convert(air["ventilation"].to_numpy()))
    export.rename_axis("Zeit").rename(columns={"ventilation": header}).to_csv(tmp_path / "bms.csv", sep=";")
    counters = [folder / "north.csv", folder / "south.csv"]
    labelled = f"labelled.{suffix}"
    for command in (
        ["groundtruth", "occupancy", *counters, "--readings", "bms.csv", "--out", labelled, "--apply"],
        ["fit", labelled, "--out", "room.occupair", "--hidden", 8],
        ["estimate", "room.occupair", "bms.csv", "--out", "people.csv"],
    ):
        done = occupair(*command, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, ""), command
        if command[0] == "fit":
            assert f", {unit}\n" in done.stdout
    model = oc.OccupancyEstimator.load(tmp_path / "room.occupair")
    expected = model.estimate(oc.read_readings(tmp_path / "bms.csv"))
    people = pd.read_csv(tmp_path / "people.csv")["people"]
    np.testing.assert_allclose(people, expected.round(4), rtol=0, atol=1e-9)


def test_time_zone_of_the_labels_reaches_the_model(doors, tmp_path):
    folder, air = doors
    air.rename_axis("time").to_csv(tmp_path / "bms.csv")
    counters = [folder / "north.csv", folder / "south.csv"]
    zone = ["--timezone", "Europe/Copenhagen"]
    options = ["--readings", "bms.csv", "--out", "labelled.csv", "--apply", *zone]
    assert occupair("groundtruth", "occupancy", *counters, *options, cwd=tmp_path).returncode == 0
    done = occupair("fit", "labelled.csv", "--hidden", 8, cwd=tmp_path)
    assert "time: column 'time [Europe/Copenhagen]', Europe/Copenhagen\n" in done.stdout
    assert oc.OccupancyEstimator.load(tmp_path / "room.occupair").timezone_ == "Europe/Copenhagen"
    assert occupair("estimate", "room.occupair", "bms.csv", *zone, cwd=tmp_path).stderr == ""


@pytest.mark.parametrize("value", [65535, -1, 6553.5])
def test_check_and_fit_report_failed_reads_and_scale(tmp_path, value):
    readings = oc.simulate_office(8, seed=2).iloc[::5].rename_axis("time")
    air = readings["ventilation"].to_numpy() * 4800
    at = 2 * 288 + 150
    assert air[at] > 0
    air[at] = value
    table = readings.assign(ventilation=air).rename(columns={"ventilation": "Supply air [m3/h]"})
    table.to_csv(tmp_path / "bms.csv")
    scale = "ventilation: column 'Supply air [m3/h]', m3/h, fully on = 4800 m3/h (maximum)"
    done = occupair("check", "bms.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "ventilation_failed_reads: Ventilation has 1 failed read" in done.stdout
    assert f"{scale}, 1 failed read ({value}, first in row {at + 2}) left out\n" in done.stdout
    assert "\nco2: column 'co2', ppm\n" in done.stdout
    done = occupair("fit", "bms.csv", "--hidden", 8, cwd=tmp_path)
    assert f"{scale}, 1 failed read ({value}, first in row {at + 2}) left out\n" in done.stdout
    assert oc.OccupancyEstimator.load(tmp_path / "room.occupair").ventilation_full_ == 4800


def test_noisy_fraction_is_estimated_alike_in_every_file(tmp_path):
    """Noise above 1 does not make the training file a percentage, and later files 100 times smaller."""
    readings = oc.simulate_office(6, seed=4).iloc[::5].rename_axis("time")
    noise = np.random.default_rng(4).normal(0, 0.0008, len(readings))
    noisy = readings.assign(ventilation=readings["ventilation"] + noise)
    days = 4 * 288
    assert noisy["ventilation"].iloc[:days].max() > 1
    noisy.iloc[:days].to_csv(tmp_path / "train.csv")
    noisy.iloc[days:].to_csv(tmp_path / "noisy.csv")
    readings.iloc[days:].to_csv(tmp_path / "clean.csv")
    assert occupair("fit", "train.csv", "--hidden", 50, cwd=tmp_path).returncode == 0
    errors = [
        json.loads(occupair("evaluate", "room.occupair", name, "--json", cwd=tmp_path).stdout)["rmse"]
        for name in ("noisy.csv", "clean.csv")
    ]
    assert errors[1] == pytest.approx(errors[0], rel=0.02)
