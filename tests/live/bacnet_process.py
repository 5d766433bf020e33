"""`occupair serve` with other constants of `occupair.live.bacnet`, run by `live.bacnet_service`.

With ``clock`` the time of a reading is that of a recorded day, which the simulated BMS replays.
"""

import datetime as dt
import importlib
import json
import struct
import sys
from pathlib import Path


def main(path: str, settings: dict) -> None:
    from occupair.live.bacnet import link
    from occupair.live.config import read_config
    from occupair.live.pipeline import Pipeline
    from occupair.live.service import serve

    for name, value in settings["constants"].items():
        module, _, constant = name.partition(".")
        setattr(importlib.import_module(f"occupair.live.bacnet.{module}"), constant, value)
    Pipeline.interval = lambda self, room: settings["interval"] / 60
    if settings["clock"]:
        start = dt.datetime.fromisoformat(settings["start"])

        def replayed() -> dt.datetime:
            (row,) = struct.unpack("<q", Path(settings["clock"]).read_bytes())
            return start + row * dt.timedelta(seconds=settings["step"])

        link.utc_now = replayed
    serve(read_config(path))


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
