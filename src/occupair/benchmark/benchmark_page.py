"""The benchmark as one HTML file that opens offline: the tables, and a figure for each room."""

from __future__ import annotations

from html import escape
from pathlib import Path

from occupair.atomic_files import write_atomically
from occupair.benchmark.result import BenchmarkResult
from occupair.benchmark.room_figures import compared, room_figure
from occupair.benchmark.score_tables import Table, about, average_table, full_table, lag_words, room_scores
from occupair.report.html_page import figure_block, prose, section, whole_page
from occupair.report.number_format import listed

TITLE = "occupair: the benchmark"


def write_page(result: BenchmarkResult, path: Path) -> None:
    """Write the page to ``path``, whole or not at all."""
    write_atomically(path, render_page(result))


def render_page(result: BenchmarkResult) -> str:
    """Render the benchmark as one HTML document that loads nothing from elsewhere."""
    words = "\n".join(f"<p>{prose(line)}</p>" for line in about(result).splitlines())
    header = f'<p class="kicker">{TITLE}</p>\n<h1>{prose(headline(result))}</h1>\n{words}'
    sections = [*_average_sections(result), *_room_sections(result)]
    return whole_page(TITLE, header=header, sections=sections)


def headline(result: BenchmarkResult) -> str:
    """Say in one sentence which method is closest, live."""
    best, lag = result.methods[0], result.lags[0]
    error = float(result.averages["nrmse"].loc[best, lag])
    count = len(result.truth)
    rooms = "one room" if count == 1 else f"{count} rooms"
    return (
        f"Of {len(result.methods)} methods in {rooms}, {best} is closest: its error is "
        f"{error:.2f} of the training mean's at {lag_words(lag)}."
    )


def _average_sections(result: BenchmarkResult) -> list[str]:
    return [
        section(
            f"lag-{number}",
            f"Mean over the rooms, {lag_words(lag)}",
            html_table(
                f"lag-{number}-table", "Sorted by nRMSE at the first lag.", average_table(result, lag)
            ),
        )
        for number, lag in enumerate(result.lags)
    ]


def _room_sections(result: BenchmarkResult) -> list[str]:
    return [_room_section(result, room, number) for number, room in enumerate(result.truth)]


def _room_section(result: BenchmarkResult, room: str, number: int) -> str:
    figure, plot = room_figure(result, room), f"room-{number}-plot"
    caption = (
        "Each day was estimated by methods trained on other days. Below, the fullest day, the middle one and "
        f"the emptiest of those with people: the true count, and {listed(compared(result))} at "
        f"{lag_words(result.lags[0])}."
    )
    scores = full_table(result, room_scores(result, room))
    return section(
        f"room-{number}",
        room,
        f"""{figure_block(plot, figure, label=room, caption=caption)}
{html_table(f"room-{number}-table", f"Every score in {room}.", scores)}""",
    )


def html_table(name: str, caption: str, table: Table) -> str:
    """Write a table as HTML, in a box of its own that scrolls on a narrow screen."""
    heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in table.heads)
    rows = "\n".join(_row(row) for row in table.rows)
    return f"""<div class="scroll" role="region" tabindex="0" aria-labelledby="{name}-caption">
<table id="{name}">
<caption><span id="{name}-caption">{escape(caption)}</span></caption>
<thead><tr>{heads}</tr></thead>
<tbody>
{rows}
</tbody>
</table>
</div>"""


def _row(row: list[str]) -> str:
    first, *others = (escape(cell) for cell in row)
    return f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in others)}</tr>'
