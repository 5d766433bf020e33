"""Altered rooms: what is altered, and of which room they are made."""

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from occupair.benchmark import room_variants
from occupair.benchmark.room_variants import (
    NOISE,
    NOISE_TIME,
    OFFICES,
    mixed,
    origins,
    study_rooms,
    with_noise,
    without_ventilation,
)
from occupair.datasets.benchmark_rooms import ROOMS


@pytest.fixture(scope="module")
def office():
    return oc.simulate_office(days=4, seed=1).iloc[::5]


@pytest.fixture
def fakes(monkeypatch, office):
    """Offices in place of the public rooms."""
    monkeypatch.setattr(room_variants, "read_room", lambda name: office.assign(light=1.0))
    monkeypatch.setattr(room_variants, "read_uci357", lambda folder: office.drop(columns="ventilation"))
    monkeypatch.setattr(room_variants, "folder_of", lambda room, dataset: None)
    monkeypatch.setattr(room_variants, "OFFICE_DAYS", 2)


def test_every_altered_room_is_made_of_public_rooms(fakes, office):
    rooms = study_rooms()
    altered = [name for name in rooms if ", " in name]
    assert len(altered) >= 5
    assert set(ROOMS) | set(OFFICES) | {"uci357"} | set(altered) == set(rooms)
    for name in altered:
        assert origins(name) <= set(ROOMS)
        assert name.split(", ")[0] in origins(name)
        assert len(origins(name)) == (2 if "mixed" in name else 1)
        assert len(rooms[name]) == len(office)
    for name in rooms:
        if ", " not in name:
            assert origins(name) == {"office" if name in OFFICES else name}
    assert {tuple(table.columns) for table in rooms.values()} == {
        ("co2", "ventilation", "occupancy"),
        ("co2", "occupancy"),
    }  # no optional sensors


def test_without_ventilation(office):
    pd.testing.assert_frame_equal(without_ventilation(office), office[["co2", "occupancy"]])


def test_noise_has_its_spread_and_correlation():
    readings = oc.simulate_office(days=40, seed=1).iloc[::5]
    noisy = with_noise(readings, seed=1)
    noise = (noisy["co2"] - readings["co2"]).to_numpy()[noisy["co2"] > 200]
    assert noise.std() == pytest.approx(NOISE * readings["co2"].std(), rel=0.15)
    correlation = np.corrcoef(noise[:-12], noise[12:])[0, 1]  # an hour apart
    assert correlation == pytest.approx(np.exp(-60 / NOISE_TIME), abs=0.1)
    assert noisy["co2"].min() >= 200
    pd.testing.assert_frame_equal(noisy.drop(columns="co2"), readings.drop(columns="co2"))
    pd.testing.assert_frame_equal(with_noise(readings, seed=1), noisy)
    assert (with_noise(readings, seed=2)["co2"] != noisy["co2"]).mean() > 0.5


def test_mixed_is_the_mean_of_both_rooms(office):
    neighbour = oc.simulate_office(days=3, seed=2).iloc[::5]
    found = mixed(office, neighbour)
    assert len(found) == len(neighbour)
    np.testing.assert_allclose(
        found["co2"], (office["co2"].to_numpy()[: len(found)] + neighbour["co2"].to_numpy()) / 2
    )
    pd.testing.assert_frame_equal(found.drop(columns="co2"), office.iloc[: len(found)].drop(columns="co2"))
