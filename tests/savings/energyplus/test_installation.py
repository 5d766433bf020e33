"""Messages without EnergyPlus and for unknown climates."""

import sys

import pytest

from occupair.errors import InputError
from occupair.savings.energyplus import installation


def test_missing_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyenergyplus", None)
    monkeypatch.delitem(sys.modules, "pyenergyplus.dataset", raising=False)
    with pytest.raises(
        InputError, match=r'^EnergyPlus is not installed: pip install "occupair\[energyplus\]"$'
    ):
        installation.weather_file("chicago")


def test_unknown_climate_lists_the_climates():
    with pytest.raises(InputError, match=r"climate must be one of chicago, denver, .*, got 'atlantis'"):
        installation.weather_file("atlantis")


def test_every_climate_has_a_typical_year():
    pytest.importorskip("pyenergyplus", reason="EnergyPlus is not installed: no wheel for Linux on ARM")
    for climate in installation.CLIMATES:
        lines = installation.weather_file(climate).read_text(errors="replace").splitlines()
        assert lines[0].startswith("LOCATION,")
        assert len(lines) == 8 + 8760
