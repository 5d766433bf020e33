"""Settings of the live service, read from ``rooms.toml`` and the environment.

- `settings`, `room_settings`: the settings of the service and of a room, with their types, ranges, defaults
  and descriptions; `values` has the types of single settings.
- `room_ids`: ids of rooms from their names.
- `conflicts`: settings that do not go together.
- `mistakes`: messages with the file, line, key, rule and value of each mistake.
- `load`: reads the file and the environment, and reports all mistakes at once.
"""

from occupair.live.config.conflicts import is_unprotected
from occupair.live.config.load import VARIABLES, config_from_values, read_config, reread_config
from occupair.live.config.room_settings import (
    BacnetPoint,
    OutdoorAirTable,
    RoomConfig,
    Topic,
    VentilationPoint,
    VentilationTopic,
)
from occupair.live.config.settings import (
    BacnetConfig,
    Limits,
    MqttConfig,
    Origin,
    ServiceConfig,
    TokenConfig,
)
from occupair.live.config.values import check_store_url

__all__ = [
    "VARIABLES",
    "BacnetConfig",
    "BacnetPoint",
    "Limits",
    "MqttConfig",
    "Origin",
    "OutdoorAirTable",
    "RoomConfig",
    "ServiceConfig",
    "TokenConfig",
    "Topic",
    "VentilationPoint",
    "VentilationTopic",
    "check_store_url",
    "config_from_values",
    "is_unprotected",
    "read_config",
    "reread_config",
]
