"""Passages at two doors of a simulated lecture room, whose people come and go in groups."""

import numpy as np
import pandas as pd

SLOTS = (8, 10, 12, 14, 16)  # start of the lectures [h]
START = pd.Timestamp("2024-01-08")


def lectures(days=5, seed=0, *, share=0.6):
    """Single passages and the true occupancy by minute, from a Monday on.

    Each slot has a lecture with probability 0.6. Its people arrive within a quarter of an hour, in groups
    that take the same door, and leave within five minutes. Nobody comes on Sundays, few on Saturdays.
    """
    rng = np.random.default_rng([seed, 7])
    rows = []
    for day in range(days):
        date = START + pd.Timedelta(days=day)
        chance = (0.6, 0.6, 0.6, 0.6, 0.6, 0.2, 0.0)[date.day_of_week]
        for slot in SLOTS:
            if rng.random() > chance:
                continue
            left = int(rng.integers(8, 60))
            while left > 0:
                group = min(left, int(rng.geometric(0.3)))
                comes = date + pd.Timedelta(minutes=60 * slot + float(rng.normal(0, 5)))
                goes = date + pd.Timedelta(minutes=60 * slot + 92 + float(rng.exponential(2)))
                for time, way in ((comes, "entered"), (goes, "left")):
                    door = "north" if rng.random() < share else "south"
                    for k in range(group):
                        rows.append((time + pd.Timedelta(seconds=1.5 * k), door, way))
                left -= group
    table = pd.DataFrame(rows, columns=["time", "door", "way"]).sort_values("time").set_index("time")
    single = pd.DataFrame(
        {
            "door": table["door"],
            "entered": (table["way"] == "entered").astype(int),
            "left": (table["way"] == "left").astype(int),
            "weight": 1.0,
        }
    )
    minutes = pd.date_range(START, periods=1440 * days, freq="min")
    net = (single["entered"] - single["left"]).groupby(single.index.floor("min")).sum()
    return single, net.reindex(minutes, fill_value=0).cumsum()
