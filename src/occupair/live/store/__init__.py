"""What is kept: readings, estimates, labels, models and zones, in SQLite or in PostgreSQL.

- `schema`: the tables, the same in both databases
- `migrations`: how a store of an older version becomes one of this version
- `engine`: how each database is talked to, so that what it took is on the disk
- `store`: what the service reads and writes
- `training`: what a room is trained on
- `backup`: a store in one file, and back
"""

from occupair.live.store.backup import backup, restore
from occupair.live.store.engine import StoreError
from occupair.live.store.store import DamagedModel, ModelVersion, Store

__all__ = ["DamagedModel", "ModelVersion", "Store", "StoreError", "backup", "restore"]
