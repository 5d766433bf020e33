"""Settings of the live service, read from ``rooms.toml`` and the environment.

`reading` reads them by the classes of `models`, whose value types are in `values`. `mistakes` finds the
line of each mistake. `check` is ``occupair serve --check``: model files, passwords, unused settings.
"""

from occupair.live.config.check import CheckReport, check_config, check_files
from occupair.live.config.models import (
    Limits,
    MqttConfig,
    Origin,
    RoomConfig,
    ServiceConfig,
    TokenConfig,
    Topic,
    VentilationTopic,
)
from occupair.live.config.reading import VARIABLES, read_config, reread_config
from occupair.live.config.values import check_store_url

__all__ = [
    "VARIABLES",
    "CheckReport",
    "Limits",
    "MqttConfig",
    "Origin",
    "RoomConfig",
    "ServiceConfig",
    "TokenConfig",
    "Topic",
    "VentilationTopic",
    "check_config",
    "check_files",
    "check_store_url",
    "read_config",
    "reread_config",
]
