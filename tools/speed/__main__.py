"""Measure, print, and write docs/speed.md: python -m tools.speed [--quick] [--out PAGE.md]."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.speed import default, draws, live, rooms, start_up, training
from tools.speed.figure import draw
from tools.speed.machine import machine_table
from tools.speed.measuring import in_own_process
from tools.speed.sizes import FULL, QUICK, Sizes
from tools.speed.words import Headline, Section, Table

PAGE = Path(__file__).parents[2] / "docs/speed.md"


def main() -> None:
    """Measure everything, one section after the other."""
    parser = argparse.ArgumentParser(prog="python -m tools.speed", description="How fast occupair is.")
    parser.add_argument("--quick", action="store_true", help="small sizes: to try the script, not to quote")
    parser.add_argument("--out", type=Path, default=PAGE, help="where to write; the picture goes beside it")
    arguments = parser.parse_args()
    out: Path = arguments.out.resolve()
    sizes = QUICK if arguments.quick else FULL
    out.parent.mkdir(parents=True, exist_ok=True)
    picture = out.with_suffix(".png")
    parts, headlines = [], []
    for section, lines in sections(sizes, picture):
        print(f"{section}\n", flush=True)
        parts.append(str(section))
        headlines += lines
    glance = str(headline_table(headlines))
    print(glance)
    out.write_text("\n\n".join([introduction(picture), glance, *parts]) + "\n", encoding="utf-8")


def sections(sizes: Sizes, picture: Path) -> Iterator[tuple[Section, list[Headline]]]:
    """Measure, each in processes of its own, and give section by section with its most important figures."""
    busy = os.getloadavg()[0]
    with training.saved_rows(sizes.days) as file:
        one = training.one_layer(file, sizes)
        yield training.one_layer_section(one, sizes), training.one_layer_headlines(one)
        many = in_own_process(draws.measure, file, sizes)
        yield draws.draws_section(many), draws.draws_headlines(many)
        trained = training.training_growth(file, sizes)
    day = in_own_process(live.measure, sizes.n_hidden, 30, sizes.days, sizes.samples, min(sizes.rounds, 3))
    yield live.live_section(day), live.live_headlines(day)
    if wrong := draw(one, day, picture):
        print(f"no picture: {wrong}", file=sys.stderr)
    room = in_own_process(default.measure, sizes)
    yield default.default_section(room), default.default_headlines(room)
    stepped = rooms.measure(sizes)
    yield rooms.rooms_section(stepped), rooms.rooms_headlines(stepped)
    grown = in_own_process(live.live_growth, sizes)
    tables = [*training.training_growth_tables(trained), *live.live_growth_tables(grown)]
    yield Section("How the cost grows", GROWTH, tables), []
    started = in_own_process(start_up.measure, sizes)
    yield start_up.start_up_section(started), start_up.start_up_headlines(started)
    yield Section("The machine", [], [machine_table(busy)]), []


GROWTH = [
    "What the sections above measure, at other sizes, with fewer runs. How it grows with rooms stands there.",
]


def introduction(picture: Path) -> str:
    """Say what the page is."""
    return f"""# Speed

Written by `make bench`: one run, one machine, everything on the same work.
Machines differ and are busy at times, so look at the ratios, which stand first.

![Time to train one network, and of one live day, on logarithmic axes]({picture.name})"""


def headline_table(headlines: list[Headline]) -> Table:
    """Put the figures that matter most into one table."""
    heads = ["what", "ratio", "occupair", "against"]
    return Table(heads, [[line.what, line.ratio, line.ours, line.against] for line in headlines])


if __name__ == "__main__":
    main()
