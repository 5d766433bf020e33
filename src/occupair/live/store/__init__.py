"""The store: readings, estimates, labels, models, floor plans, time zones and BACnet numbers.

It is in SQLite or PostgreSQL.

- `schema`: the tables, the same in both databases
- `migrations`: upgrades of stores made by earlier versions
- `database`: connections, transactions and errors of both databases; `postgres`: time limits
- `store`: reading and writing, with `model_store`, `plan_store`, `quarter_hours`, `room_numbers`,
  `labelled_intervals` and `pruning`
- `store_lock`: allows one service per store, or one per shard
- `shard_store`, `state_rows`, `state_news`: heartbeats and room states that shards exchange
- `room_readings`: readings of a room on a grid; `training_data`: with labels, for training
- `backup`: backup to a file, and restore
- `access_check`: whether the service can use a store
"""

from occupair.live.store.backup import backup, restore
from occupair.live.store.database import StoreError
from occupair.live.store.model_store import CALIBRATED, DamagedModel, ModelVersion
from occupair.live.store.plan_store import Place, Plan
from occupair.live.store.store import Store
from occupair.live.store.store_lock import service_lock

__all__ = [
    "CALIBRATED",
    "DamagedModel",
    "ModelVersion",
    "Place",
    "Plan",
    "Store",
    "StoreError",
    "backup",
    "restore",
    "service_lock",
]
