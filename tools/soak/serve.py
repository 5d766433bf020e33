"""`occupair serve` with a simulated system clock: python -m tools.soak.serve CLOCK rooms.toml

Timeouts and pauses between attempts stay in real time.
"""

from __future__ import annotations

import sys
from pathlib import Path

from occupair.live import wall_clock
from tools.soak.clock import SimulatedClock

if __name__ == "__main__":
    clock = SimulatedClock(Path(sys.argv.pop(1)))
    wall_clock.utc_now, wall_clock.elapsed = clock.service_time, clock.elapsed
    sys.argv.insert(1, "serve")
    from occupair.__main__ import main  # uses the clock above from here on

    main()
