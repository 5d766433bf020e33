"""How often there are more people than outdoor air is planned for, on held-out days of the public rooms.

``make planned`` prints the table of docs/ventilation.md. Folds and models are those of ``occupair validate``.
Name rooms to measure only some: ``python tools/planned_people.py robod-3``.
"""

import sys

import numpy as np
import pandas as pd

from occupair.benchmark.coverage import make_ours
from occupair.control import interval_confidence
from occupair.datasets import read_rooms
from occupair.folds import split_days
from occupair.progress import quietly, track

CONFIDENCES = (0.8, 0.9, 0.95, 0.99)


def measure(rooms: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return one row for each room and confidence.

    Columns: readings with more people than the upper end of the interval, as a share of all held-out readings
    and of those with people; people above it, as a share of all people; and the sum of the upper ends while
    there are people, relative to the sum of the people.
    """
    tasks = [(name, fold) for name, readings in rooms.items() for fold in split_days(readings)]
    found: dict[tuple[str, float], list[np.ndarray]] = {}
    for name, (train, test) in track(tasks, "planned people", show=None):
        with quietly():
            model = make_ours(name).fit(train)
            for confidence in CONFIDENCES:
                interval = interval_confidence(confidence)
                high = model.estimate(test.drop(columns="occupancy"), interval=interval)["high"]
                found.setdefault((name, confidence), []).append(
                    np.stack([test["occupancy"].to_numpy(float), high.to_numpy()])
                )
    rows = {}
    for key, folds in found.items():
        true, high = np.hstack(folds)
        occupied = true > 0
        rows[key] = {
            "exceeded [%]": 100 * np.mean(true > high),
            "exceeded, occupied [%]": 100 * np.mean((true > high)[occupied]),
            "people above [%]": 100 * np.maximum(true - high, 0).sum() / true.sum(),
            "planned / true": high[occupied].sum() / true.sum(),
        }
    return pd.DataFrame(rows).T.rename_axis(["room", "confidence"])


def main() -> None:
    table = measure(read_rooms(sys.argv[1:]))
    means = table.groupby(level="confidence").mean()
    print(table.round(2).to_string(), "\n\nmean over rooms\n", means.round(2).to_string(), sep="")


if __name__ == "__main__":
    main()
