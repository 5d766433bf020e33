"""Settings of the live service, read from ``rooms.toml`` and the environment."""

from occupair.live.config.check import Outlook, check_files, look_at
from occupair.live.config.keys import BY_VARIABLE
from occupair.live.config.settings import (
    Limits,
    MqttConfig,
    Origin,
    RoomConfig,
    ServiceConfig,
    TokenConfig,
    Topic,
    read_config,
    reread,
)

__all__ = [
    "BY_VARIABLE",
    "Limits",
    "MqttConfig",
    "Origin",
    "Outlook",
    "RoomConfig",
    "ServiceConfig",
    "TokenConfig",
    "Topic",
    "check_files",
    "look_at",
    "read_config",
    "reread",
]
