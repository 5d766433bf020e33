"""The benchmark report: one self-contained HTML file with tables and a figure for each room."""

from __future__ import annotations

from pathlib import Path

from occupair.atomic_files import write_atomically
from occupair.benchmark.result import BenchmarkResult
from occupair.benchmark.room_figures import compared, room_figure
from occupair.benchmark.score_tables import about, average_table, full_table, lag_words, room_scores
from occupair.report.html_page import figure_block, prose, section
from occupair.report.html_page import render_page as render_html
from occupair.report.text_table import html_table
from occupair.wording import listed

TITLE = "occupair benchmark"


def write_page(result: BenchmarkResult, path: Path) -> None:
    """Write the report to ``path`` atomically."""
    write_atomically(path, render_page(result))


def render_page(result: BenchmarkResult) -> str:
    """Render the report as one self-contained HTML document."""
    words = "\n".join(f"<p>{prose(line)}</p>" for line in about(result).splitlines())
    header = f'<p class="kicker">{TITLE}</p>\n<h1>{prose(headline(result))}</h1>\n{words}'
    sections = [*_average_sections(result), *_room_sections(result)]
    return render_html(TITLE, header=header, sections=sections)


def headline(result: BenchmarkResult) -> str:
    """Summarise in one sentence which method has the lowest error at the first lag."""
    best, lag = result.methods[0], result.lags[0]
    error = float(result.averages["nrmse"].loc[best, lag])
    count = len(result.truth)
    rooms = "one room" if count == 1 else f"{count} rooms"
    return (
        f"Of {len(result.methods)} methods in {rooms}, {best} has the lowest error: nRMSE "
        f"{error:.2f} at {lag_words(lag)}."
    )


def _average_sections(result: BenchmarkResult) -> list[str]:
    return [
        section(
            f"lag-{number}",
            f"Mean over rooms, {lag_words(lag)}",
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
        "Every day was held out from training. Example days by mean occupancy: the busiest, the median and "
        f"the least busy one with people. Lines: the true count, and {listed(compared(result))} at "
        f"{lag_words(result.lags[0])}."
    )
    scores = full_table(result, room_scores(result, room))
    return section(
        f"room-{number}",
        room,
        f"""{figure_block(plot, figure, label=room, caption=caption)}
{html_table(f"room-{number}-table", f"All scores in {room}.", scores)}""",
    )
