"""Optional sensors on the command line: fit names their gain, and other files may lack them."""

import numpy as np
import pytest
from command import occupair

import occupair as oc


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A week and a day of an office with Wi-Fi clients that follow the people, and light that does not."""
    folder = tmp_path_factory.mktemp("desk")
    office = oc.simulate_office(days=8, seed=3).iloc[::5]
    rng = np.random.default_rng(0)
    wifi = np.maximum(np.rint(0.8 * office["occupancy"] + rng.normal(0, 0.5, len(office))), 0)
    office = office.assign(**{"WLAN clients": wifi, "Illuminance [lx]": rng.uniform(0, 500, len(office))})
    oc.write_readings(office.iloc[: 7 * 288], folder / "train.csv")
    oc.write_readings(office.iloc[7 * 288 :], folder / "test.csv")
    oc.write_readings(office.iloc[7 * 288 :].drop(columns="WLAN clients"), folder / "without.csv")
    return folder


def test_fit_names_each_sensor_and_estimate_notes_missing_ones(desk):
    done = occupair("fit", desk / "train.csv", "--out", desk / "room.occupair", "--hidden", "20")
    lines = done.stdout.splitlines()
    (wifi,) = [line for line in lines if line.startswith("wifi: -")]
    assert wifi.endswith(" %, kept")
    assert any(line.startswith("light: ") and line.endswith("not used") for line in lines)
    assert "wifi: column 'WLAN clients', clients" in lines
    for name, missing in (("test.csv", False), ("without.csv", True)):
        done = occupair("estimate", desk / "room.occupair", desk / name)
        assert len(done.stdout.splitlines()) == 289
        assert ("has no wifi, which the model uses: estimated without" in done.stderr) == missing
    errors = [
        float(
            occupair("evaluate", desk / "room.occupair", desk / name, "--json")
            .stdout.split('"rmse":')[1]
            .split(",")[0]
        )
        for name in ("test.csv", "without.csv")
    ]
    assert errors[0] < errors[1]
