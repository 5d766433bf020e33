"""Every script of the gallery runs as it is and draws one figure that can be read without its page."""

import ast
import re
import runpy
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest

pytestmark = pytest.mark.slow

GALLERY = Path(__file__).parent.parent / "docs/gallery"
SCRIPTS = sorted(GALLERY.glob("*.py"))
LINES = 20


def code_lines(source):
    """Return the lines of a script without its docstring, comments and blank lines."""
    docstring = ast.parse(source).body[0]
    lines = source.splitlines()[docstring.end_lineno :]
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


@pytest.fixture
def figure(request, monkeypatch, tmp_path):
    """Return the figure of a script that is run in an empty folder, without a display."""
    monkeypatch.setattr(plt, "show", lambda: None)
    monkeypatch.chdir(tmp_path)
    with matplotlib.rc_context({"backend": "agg"}):
        runpy.run_path(str(request.param), run_name="__main__")
        (number,) = plt.get_fignums()
        figure = plt.figure(number)
        figure.canvas.draw()
        yield figure
        plt.close("all")


def test_there_are_a_dozen_figures():
    assert len(SCRIPTS) >= 12
    assert all(path.name.startswith("plot_") for path in SCRIPTS)  # sphinx-gallery runs no others


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_script_is_short_enough_to_copy(path):
    source = path.read_text()
    assert len(code_lines(source)) <= LINES
    packages = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else [n.name for n in node.names])
    }
    assert {"matplotlib", "occupair"} <= packages <= {"matplotlib", "numpy", "occupair"}


@pytest.mark.parametrize("figure", SCRIPTS, ids=lambda path: path.stem, indirect=True)
def test_figure_is_labelled_and_complete(figure):
    panels = [ax for ax in figure.axes if ax.get_title(loc="left")]
    colour_bars = [ax for ax in figure.axes if ax not in panels]
    assert panels
    assert all(len(ax.get_title(loc="left").split()) >= 3 for ax in panels[-1:])
    for ax in panels:
        assert ax.has_data()
        words = re.search("[A-Za-z]{3}", ax.get_yticklabels()[0].get_text())  # names in place of a scale
        assert words or "[" in ax.get_ylabel()
        times = type(ax.xaxis.get_major_formatter()).__name__ == "ConciseDateFormatter"
        assert times or panels[-1].get_xlabel()
    assert all("[" in ax.get_ylabel() for ax in colour_bars)
    drawn = figure.get_tightbbox()  # [inches]
    width, height = figure.get_size_inches()
    assert drawn.x0 >= 0
    assert drawn.y0 >= 0
    assert drawn.x1 <= width
    assert drawn.y1 <= height
