"""Plans, crashes and the summary of a campaign."""

import os
import signal
import time
from collections import Counter

import pytest

from tools.fuzz.campaign import Plan, Worker, plan_inputs, plan_time, run_campaign
from tools.fuzz.findings import FindingFiles
from tools.fuzz.summary import Totals, table
from tools.fuzz.targets import SHARES
from tools.fuzz.worker import Batch, Finding, Order


def test_inputs_are_split_by_share():
    plan = plan_inputs(list(SHARES), 1_000_000, 0)
    assert 1_000_000 <= sum(plan.inputs.values()) <= 1_000_000 + len(SHARES)
    assert plan.inputs["mqtt"] / plan.inputs["csv"] == pytest.approx(SHARES["mqtt"] / SHARES["csv"], rel=0.01)
    assert min(plan.inputs.values()) >= 1_000


def test_time_is_split_evenly():
    plan = plan_time(["mqtt", "times"], 10, 2, 0)
    assert plan.seconds == {"mqtt": 600.0, "times": 600.0}


def test_campaign_runs_all_inputs(tmp_path):
    files = FindingFiles(tmp_path, 0)
    totals = run_campaign(plan_inputs(["times"], 500, 0), seed=0, processes=1, files=files)
    assert (totals["times"].inputs, totals["times"].broken, files.causes) == (500, 0, [])
    assert totals["times"].accepted + totals["times"].rejected == 500


def test_process_that_ends_is_noticed():
    worker = Worker()
    worker.send(Order("times", 0, 0, 10**9, 10**9))
    os.kill(worker.process.pid, signal.SIGSEGV)
    assert worker.receive() is None
    assert worker.process.exitcode == -signal.SIGSEGV


def test_campaign_continues_after_a_crash(tmp_path, monkeypatch):
    receive, crashes = Worker.receive, iter([True])

    def crash_once(worker):
        if next(crashes, False):
            worker.pipe.poll(None)
            worker.process.kill()
            worker.process.join()
            return None
        return receive(worker)

    monkeypatch.setattr(Worker, "receive", crash_once)
    monkeypatch.setattr("tools.fuzz.campaign.BATCH_INPUTS", 100)
    files, plan = FindingFiles(tmp_path, 0), Plan({"times": 500}, {"times": 1e9}, Counter())
    began = time.monotonic()
    totals = run_campaign(plan, seed=0, processes=1, files=files)
    assert (totals["times"].inputs, totals["times"].broken) == (500, 1)
    assert totals["times"].accepted + totals["times"].rejected == 400
    assert files.causes == [("times", "crash of the process, SIGKILL")]
    assert 1e9 - plan.seconds["times"] <= time.monotonic() - began  # the time of the batches


def test_finding_is_saved_with_its_command(tmp_path):
    files = FindingFiles(tmp_path, 7)
    for number in range(9):
        files.add(Finding("times", number, "KeyError, a.py:3", "Traceback"))
    saved = sorted(path.name for path in (tmp_path / "times").iterdir())
    assert saved == [f"KeyError-a-py-3-{k}{end}" for k in range(3) for end in ("", ".txt")]
    assert (
        "python -m tools.fuzz repeat times:0 --seed 7\n"
        in (tmp_path / "times/KeyError-a-py-3-0.txt").read_text()
    )
    assert files.causes == [("times", "KeyError, a.py:3")]


def test_summary():
    one, other = Totals(), Totals()
    one.add(Batch("mqtt", 3_000, 1_000, 1_999, 1, cpu=0.5, slowest=0.04, memory=2e8))
    other.add(Batch("csv", 10, 4, 6, 0, cpu=0.5, slowest=0.1, memory=1e8))
    lines = table({"mqtt": one, "csv": other, "video": Totals()}).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells[2:] == [
        ["mqtt", "3,000", "1,000", "1,999", "1", "6,000", "40", "200"],
        ["csv", "10", "4", "6", "0", "20", "100", "100"],
        ["all", "3,010", "1,004", "2,005", "1", "3,010", "100", "200"],
    ]
    assert len({len(line) for line in lines}) == 1
