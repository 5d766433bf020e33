"""Progress reports and bars."""

import io
import sys

import pytest

from occupair import progress
from occupair.progress import progress_to, stage, track


def test_no_output_by_default(capsys):
    assert list(track([1, 2], "work")) == [1, 2]
    assert capsys.readouterr() == ("", "")


def test_stage_without_listener_has_no_effect():
    with stage("half", 0.0, 0.5):
        assert list(track([1, 2], "work")) == [1, 2]


def test_listener_is_called_only_inside_its_block():
    reports = []
    with progress_to(lambda *report: reports.append(report)):
        list(track("ab", "inside"))
    list(track("cd", "outside"))
    assert reports == [("inside", 0, 2), ("inside", 1, 2), ("inside", 2, 2)]


def test_bar_is_drawn_on_standard_error(capsys):
    assert list(track([1, 2], "work", show=True)) == [1, 2]
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "work" in shown.err


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("delay", "shown"), [(0.0, True), (60.0, False)])
def test_bar_on_a_terminal_appears_only_for_long_work(monkeypatch, delay, shown):
    monkeypatch.setattr(progress, "BAR_DELAY", delay)
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert list(track([1, 2], "work", show=None)) == [1, 2]
    assert ("work" in sys.stderr.getvalue()) is shown


def test_no_bar_without_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(progress, "BAR_DELAY", 0.0)
    assert list(track([1, 2], "work", show=None)) == [1, 2]
    assert capsys.readouterr() == ("", "")
