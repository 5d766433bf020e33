"""Run the benchmark and write docs/speed.md: python -m tools.speed [--quick] [--huge] [--out PAGE.md]."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from tools.speed import default_estimator, draws, live_day, long_records, rooms, start_up, training
from tools.speed.figure import draw
from tools.speed.formatting import Headline, Section, Table
from tools.speed.measuring import in_own_process
from tools.speed.sizes import FULL, HUGE_RECORD, QUICK, Sizes
from tools.speed.system import system_table

PAGE = Path(__file__).parents[2] / "docs/speed.md"


def main() -> None:
    """Run all sections, print them and write the page."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.speed", description="Measure the speed of occupair."
    )
    parser.add_argument("--quick", action="store_true", help="small problem sizes, to test the script")
    parser.add_argument("--huge", action="store_true", help="also measure a record of ten million rows")
    parser.add_argument(
        "--long-records", action="store_true", help="only measure long records, and do not write the page"
    )
    parser.add_argument(
        "--out", type=Path, default=PAGE, help="output file; the figure is written next to it"
    )
    arguments = parser.parse_args()
    out: Path = arguments.out.resolve()
    sizes = QUICK if arguments.quick else FULL
    if arguments.huge:
        sizes = replace(sizes, long_records=(*sizes.long_records, HUGE_RECORD))
    if arguments.long_records:
        print(long_records.long_section(long_records.measure(sizes)))
        return
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
    """Yield each section, measured in separate processes, with its key figures."""
    load = os.getloadavg()[0]
    with training.saved_rows(sizes.days) as file:
        one = training.one_layer(file, sizes)
        yield training.one_layer_section(one, sizes), training.one_layer_headlines(one)
        many = in_own_process(draws.measure, file, sizes)
        yield draws.draws_section(many), draws.draws_headlines(many)
        trained = training.training_growth(file, sizes)
    day = in_own_process(
        live_day.measure, sizes.n_hidden, 30, sizes.days, sizes.samples, min(sizes.rounds, 3)
    )
    yield live_day.live_section(day), live_day.live_headlines(day)
    if problem := draw(one, day, picture):
        print(f"no figure: {problem}", file=sys.stderr)
    room = in_own_process(default_estimator.measure, sizes)
    yield default_estimator.default_section(room), default_estimator.default_headlines(room)
    records = long_records.measure(sizes)
    yield long_records.long_section(records), long_records.long_headlines(records)
    stepped = rooms.measure(sizes)
    yield rooms.rooms_section(stepped, sizes), rooms.rooms_headlines(stepped)
    grown = in_own_process(live_day.live_growth, sizes)
    tables = [*training.training_growth_tables(trained), *live_day.live_growth_tables(grown)]
    yield Section("Scaling", GROWTH, tables), []
    started = in_own_process(start_up.measure, sizes)
    yield start_up.start_up_section(started), start_up.start_up_headlines(started)
    yield Section("System", [], [system_table(load)]), []


GROWTH = [
    "The measurements of the sections above at other problem sizes, with fewer runs. "
    "The number of rooms is in the section Many rooms.",
]


def introduction(picture: Path) -> str:
    """Return the introduction of the page."""
    return f"""# Speed

Output of `make bench` on one machine, in one run; all methods solve the same problem.
Times depend on the machine and its load, so compare the ratios rather than the times.

![Time to train one network and to run one live day, on logarithmic axes]({picture.name})"""


def headline_table(headlines: list[Headline]) -> Table:
    """Return the key figures as a table."""
    heads = ["measurement", "ratio", "occupair", "compared with"]
    return Table(heads, [[line.measurement, line.ratio, line.ours, line.against] for line in headlines])


if __name__ == "__main__":
    main()
