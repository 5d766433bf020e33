"""The figures on the page of limits are those of the pages it links to."""

import contextlib
import io
import re
from pathlib import Path

import pytest
from test_documents import mean_nrmse, tables_of

DOCS = Path(__file__).parent.parent / "docs"
LIMITS = (DOCS / "limits.md").read_text()
ANSWERS = {
    row["Question"]: row["Answer in the public rooms"]
    for table in tables_of(LIMITS)
    for row in table
    if "Question" in row
}


def numbers(text):
    return re.findall(r"\d+\.\d+", text)


def first_table(name):
    return tables_of((DOCS / name).read_text())[0]


@pytest.mark.parametrize(
    ("question", "lag", "column"),
    [
        ("How good is the live count?", "0", "nRMSE"),
        ("How often is it within ±2 people?", "0", "within ±2 [%]"),
        ("How often are empty and occupied confused?", "0", "FDR [%]"),
        ("Does waiting help?", "20", "nRMSE"),
    ],
)
def test_figures_of_the_benchmark(question, lag, column):
    text = (DOCS / "benchmark.md").read_text()
    (table,) = re.findall(rf"^## Mean over rooms, lag {lag} min\n\n((?:\|.*\n)+)", text, re.MULTILINE)
    rows = {row["method"]: row for row in tables_of(table)[0]}
    assert numbers(ANSWERS[question]) == [rows["occupair"][column]]
    assert rows["occupair"]["nRMSE"] == mean_nrmse()[lag]["occupair"]


def test_figures_without_head_counts():
    tables = tables_of((DOCS / "day-one.md").read_text())
    (wrong,) = ({row["input"]: row for row in table} for table in tables if "input" in table[0])
    assert numbers(ANSWERS["Without head counts?"]) == [
        wrong[one]["nRMSE"].split(" / ")[0] for one in ("all correct", "no ventilation signal")
    ]
    (rooms,) = (
        {row["rooms"]: row["nRMSE"] for row in table}
        for table in tables
        if table[0].get("rooms") == "as simulated"
    )
    stated = re.search(r"the error of simulated rooms rises from (\S+) to (\S+) ", LIMITS).groups()
    assert list(stated) == [rooms["as simulated"], rooms["window open for a week of calibration"]]


def test_figures_of_the_intervals():
    mean = first_table("validation.md")[0]
    assert (mean["lag [min]"], numbers(ANSWERS["How good are the intervals?"])) == (
        "0",
        [mean["coverage 90 %"], mean["occupied 90 %"]],
    )


def test_peaks_are_too_low_in_all_rooms():
    (rooms,) = (
        table for table in tables_of((DOCS / "utilisation.md").read_text()) if "highest peak" in table[0]
    )
    text = (DOCS / "utilisation.md").read_text()
    assert len(rooms) == 7
    assert "The highest peak is too low in all seven rooms" in text
    assert "too low in all seven rooms" in ANSWERS["How good are peaks?"]


def test_signal_of_one_person_is_printed_by_the_code():
    ((code, printed),) = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", LIMITS, re.DOTALL)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(code, {})
    assert output.getvalue() == printed
    assert "0.0187 for seated adults" in (DOCS / "day-one.md").read_text()
