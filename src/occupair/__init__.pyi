# The public names. lazy_loader reads this file at import, type checkers read it too: it is the only list.
from . import metrics as metrics
from .elm.regressors import ELMRegressor as ELMRegressor
from .elm.regressors import FSELMRegressor as FSELMRegressor
from .errors import InputError as InputError
from .estimator import OccupancyEstimator as OccupancyEstimator
from .live_room import Estimate as Estimate
from .live_room import LiveRoom as LiveRoom
from .paper.features import feature_layer as feature_layer
from .readings.files import read_readings as read_readings
from .readings.files import write_readings as write_readings
from .simulation import simulate_office as simulate_office
from .smoothing import LocalSmoother as LocalSmoother
from .smoothing import smooth as smooth
from .tuning import Tuning as Tuning
from .tuning import tune as tune

__version__: str
