"""The pictures of the tutorial, taken with Chromium from the files and the live page of its run."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

import occupair as oc
from occupair.report.figure_style import BLUE, GREEN, VERMILLION, styled
from tools.chromium import launch

WIDTH = 900  # [px]
SCALE = 1.25  # device pixels per px
INK, BAND = "#202020", "rgba(213,94,0,0.18)"
NOON = "2021-09-21T04:00"  # in Singapore, as UTC
ROOM = "/#/room/office"


class Camera:
    """Takes the pictures with one browser.

    Parameters
    ----------
    folder : Path
        Where the commands of the tutorial ran.
    pictures : Path
        Where the pictures go.
    """

    def __init__(self, folder: Path, pictures: Path) -> None:
        from playwright.sync_api import sync_playwright

        self._folder, self._pictures = folder, pictures
        self._playwright = sync_playwright().start()
        self._browser = launch(self._playwright)
        self._page = self._browser.new_page(
            viewport={"width": WIDTH, "height": 640},
            device_scale_factor=SCALE,
            color_scheme="light",
            locale="en-GB",
            timezone_id="Asia/Singapore",
            reduced_motion="reduce",
        )
        self._page.set_default_timeout(600_000)

    def files(self) -> None:
        """Take the pictures of files: readings, check, estimates and report."""
        self._figure("data.png", readings_figure(self._folder))
        self._figure("estimates.png", estimates_figure(self._folder))
        self._open((self._folder / "check.html").as_uri(), height=560)
        self._save("check.png")
        self._open((self._folder / "report.html").as_uri(), height=600)
        self._save("report.png")

    def live(self, url: str, *, is_running: Callable[[], bool]) -> None:
        """Take the picture of the room during the replay, after noon."""
        while is_running() and (_time(url) or "") < NOON:
            time.sleep(0.05)
        self._open(f"{url}{ROOM}", height=420)
        self._page.wait_for_selector(".labels li")
        self._page.wait_for_selector(".plot[data-drawn]")
        self._save("live.png")

    def whole_day(self, url: str) -> None:
        """Take the picture of the room after the replay."""
        self._page.set_viewport_size({"width": WIDTH, "height": 1600})  # the sticky header covers nothing
        self._page.reload()
        self._page.wait_for_selector(".labels li")
        self._page.wait_for_selector(".plot[data-drawn]")
        self._page.locator(".chart-card").screenshot(path=self._pictures / "day.png")
        self._report("day.png")

    def close(self) -> None:
        """Close the browser."""
        self._browser.close()
        self._playwright.stop()

    def _figure(self, name: str, figure: go.Figure) -> None:
        page = self._folder / f"{name}.html"
        figure.write_html(page, config={"staticPlot": True})
        self._open(page.as_uri(), height=int(figure.layout.height) + 16)
        self._save(name)

    def _open(self, url: str, *, height: int) -> None:
        self._page.set_viewport_size({"width": WIDTH, "height": height})
        self._page.goto(url)
        self._page.wait_for_load_state("load")

    def _save(self, name: str) -> None:
        self._page.screenshot(path=self._pictures / name)
        self._report(name)

    def _report(self, name: str) -> None:
        path = self._pictures / name
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB", flush=True)


def readings_figure(folder: Path) -> go.Figure:
    """CO2 and head counts of the training days, drawn without the nights and days between them."""
    readings = oc.read_readings(folder / "office.csv")
    place = list(range(len(readings)))
    figure = make_subplots(rows=2, shared_xaxes=True, vertical_spacing=0.06)
    for row, (name, colour) in enumerate({"co2": BLUE, "occupancy": INK}.items(), start=1):
        line = {"color": colour, "width": 1.3, "shape": "hv" if name == "occupancy" else "linear"}
        figure.add_scatter(x=place, y=readings[name], line=line, row=row, col=1)
    starts = [
        k for k, when in enumerate(readings.index) if k == 0 or when.date() != readings.index[k - 1].date()
    ]
    for start in starts[1:]:
        figure.add_vline(x=start, line={"color": "#c0c0c0", "width": 1})
    middles = [(one + other) / 2 for one, other in zip(starts, [*starts[1:], len(readings)], strict=True)]
    days = [f"{readings.index[k]:%a %-d %b}" for k in starts]
    styled(figure, height=420).update_layout(showlegend=False, **_paper())
    figure.update_xaxes(showgrid=False)
    figure.update_xaxes(tickvals=middles, ticktext=days, row=2, col=1)
    figure.update_yaxes(title="CO2 [ppm]", row=1, col=1)
    figure.update_yaxes(title="people counted", row=2, col=1)
    return figure


def estimates_figure(folder: Path) -> go.Figure:
    """Head counts and estimates of the held-out Tuesday."""
    day = oc.read_readings(folder / "tuesday.csv")
    people = pd.read_csv(folder / "people.csv", index_col="time", parse_dates=True)
    first = oc.OccupancyEstimator.load(folder / "day-one.occupair").estimate(day)
    figure = go.Figure()
    band: dict[str, Any] = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    figure.add_scatter(x=people.index, y=people["high"], showlegend=False, **band)
    figure.add_scatter(
        x=people.index, y=people["low"], fill="tonexty", fillcolor=BAND, name="90 % interval", **band
    )
    lines = {
        "counted": (day["occupancy"], {"color": INK, "width": 2, "shape": "hv"}),
        "day one": (first, {"color": GREEN, "width": 1.6, "dash": "dot"}),
        "with head counts": (people["people"], {"color": VERMILLION, "width": 2}),
    }
    for name, (values, line) in lines.items():
        figure.add_scatter(x=values.index, y=values, name=name, line=line)
    styled(figure, height=400).update_layout(**_paper())
    figure.update_xaxes(tickformat="%H:%M", dtick=3 * 3_600_000)
    return figure.update_yaxes(title="people", rangemode="tozero")


def _paper() -> dict[str, Any]:
    """Return the layout of a figure on white paper instead of a page with a light and a dark mode."""
    return {"paper_bgcolor": "#fff", "plot_bgcolor": "#fff", "font": {"color": "#404040"}}


def _time(url: str) -> str | None:
    with urllib.request.urlopen(f"{url}/api/rooms/office", timeout=600) as response:
        time_: str | None = json.load(response)["state"]["time"]
    return time_
