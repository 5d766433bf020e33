"""How many people are in the room? Ask the CO2 sensor it already has."""

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
