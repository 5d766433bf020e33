"""Print the results of the paper's experiment for several seeds as a Markdown table.

python tools/seeds.py 10        # seeds 0 to 9, one draw each: about 6 min on two cores
"""

import sys

import numpy as np
from rich.console import Console
from rich.progress import track

from occupair.report.paper_experiment import reproduce

EQUATIONS = (4, 21, 22, 24, 26)
LOOPS = (21, 22)


def main() -> None:
    seeds = range(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
    rows = []
    for seed in track(seeds, description="offices", console=Console(stderr=True)):
        result = reproduce(draws=1, seed=seed)
        rmse = [result.scores[equation].rmse for equation in EQUATIONS]
        rows.append([*rmse, result.scores[26].within_4, *(result.error_growth[loop] for loop in LOOPS)])
    print("| seed | (4) | (21) | (22) | (24) | (26) | (26) within ±4 | growth (21) | growth (22), (26) |")
    print("| --- " * 9 + "|")
    for seed, row in zip(seeds, rows, strict=True):
        print(markdown(str(seed), row))
    print(markdown("median", np.median(rows, axis=0)))


def markdown(name: str, row: list[float]) -> str:
    people = " | ".join(f"{value:.2f}" for value in row[:5])
    return f"| {name} | {people} | {row[5]:.1%} | {row[6]:.4f} | {row[7]:.4f} |"


if __name__ == "__main__":
    main()
