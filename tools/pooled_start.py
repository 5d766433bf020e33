"""Write the read-outs over all public rooms that new rooms start from: run by ``make pooled``."""

from __future__ import annotations

import json
from pathlib import Path

from occupair.atomic_files import write_atomically
from occupair.datasets.benchmark_rooms import ROOMS, read_room
from occupair.progress import track
from occupair.room import pooled_start
from occupair.room.pooling import pool, sum_room


def main() -> None:
    """Pool all public rooms with head counts."""
    sums = {name: sum_room(read_room(name)) for name in track(list(ROOMS), "pooling rooms", show=None)}
    path = Path(pooled_start.__file__).with_name(pooled_start.FILE)
    text = json.dumps(pooled_start.start_to_json(pool(sums)), separators=(",", ":"))
    write_atomically(path, f"{text}\n".encode())
    print(f"{path.name}: {len(sums)} rooms, {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
