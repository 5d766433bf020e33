"""Units of optional sensors in files."""

import pytest

from occupair.readings.files import read_readings


@pytest.mark.parametrize("unit", ["[%]", "(percent)", "pct"])
def test_motion_in_percent_is_converted(tmp_path, unit):
    path = tmp_path / "room.csv"
    rows = "".join(f"2024-01-08 08:0{minute},400,{25 * minute}\n" for minute in range(5))
    path.write_text(f"time,co2,motion {unit}\n{rows}")
    assert read_readings(path)["motion"].tolist() == [0, 0.25, 0.5, 0.75, 1]
