"""The extras of the package and what each adds, as in README.md and docs/installation.md."""

from __future__ import annotations

EXTRAS = {
    "parquet": "Parquet files, in addition to CSV",
    "fleet": "thousands of rooms: Dask cluster, object stores, Parquet",
    "live": "live service: MQTT, HTTP, web page, SQLite",
    "postgres": "PostgreSQL instead of SQLite for the live service",
    "bacnet": "BACnet/IP: CO2 and ventilation from a BMS, counts as BACnet objects",
    "semantic": "Brick models: export of the rooms, settings from the model of a building",
    "calendar": "meetings from calendar files (.ics) in the utilisation report",
    "video": "head counts from door videos",
    "energyplus": "ventilation policies in an EnergyPlus building",
}
"""What users can install in addition. The extras of contributors are not listed."""


def install_line(name: str) -> str:
    """Return the command that installs an extra.

    Examples
    --------
    >>> install_line("live")
    'pip install "occupair[live]"'
    """
    return f'pip install "occupair[{name}]"'
