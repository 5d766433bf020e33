"""How many people are in the room? Ask the CO2 sensor it already has."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from occupair import metrics
    from occupair.elm import ELMRegressor, FSELMRegressor
    from occupair.errors import InputError
    from occupair.estimator import OccupancyEstimator
    from occupair.features import feature_layer
    from occupair.live_room import Estimate, LiveRoom
    from occupair.reading_files import read_readings, write_readings
    from occupair.simulation import simulate_office
    from occupair.smoothing import LocalSmoother, smooth
    from occupair.tuning import Tuning, tune

_HOMES = {
    "ELMRegressor": "elm",
    "Estimate": "live_room",
    "FSELMRegressor": "elm",
    "InputError": "errors",
    "LiveRoom": "live_room",
    "LocalSmoother": "smoothing",
    "OccupancyEstimator": "estimator",
    "Tuning": "tuning",
    "feature_layer": "features",
    "read_readings": "reading_files",
    "simulate_office": "simulation",
    "smooth": "smoothing",
    "tune": "tuning",
    "write_readings": "reading_files",
}

__all__ = [
    "ELMRegressor",
    "Estimate",
    "FSELMRegressor",
    "InputError",
    "LiveRoom",
    "LocalSmoother",
    "OccupancyEstimator",
    "Tuning",
    "feature_layer",
    "metrics",
    "read_readings",
    "simulate_office",
    "smooth",
    "tune",
    "write_readings",
]


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: nobody waits for what they do not use."""
    if name in _HOMES:
        value = getattr(import_module(f"occupair.{_HOMES[name]}"), name)
    elif not name.startswith("_"):
        try:
            value = import_module(f"occupair.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"occupair.{name}":
                raise
            raise AttributeError(f"module 'occupair' has no attribute {name!r}") from None
    else:
        raise AttributeError(f"module 'occupair' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
