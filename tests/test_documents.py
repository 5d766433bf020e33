"""The documentation agrees with the code and with the output it quotes."""

import importlib
import re

import pytest
from markdown_pages import PAGES, ROOT, anchors_of, links_of

import occupair as oc
from occupair.checks import PROBLEM_ADVICE
from occupair.readings.labelled_days import ENOUGH_DAYS, FEWEST_DAYS, LABELLED_HOURS

EQUATIONS = (ROOT / "docs/equations.md").read_text()
README = (ROOT / "README.md").read_text()
README_PROSE = re.sub(r"\s+", " ", README)
ROWS = re.findall(r"^\| \((\d+)\) \| .* \| `([\w.]+)` \| `([\w/.]+)::(\w+)` \|$", EQUATIONS, re.MULTILINE)


def resolve(dotted):
    """Return the object with a dotted name."""
    parts = dotted.split(".")
    for split in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:split]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[split:]:
            found = getattr(found, attribute)
        return found
    raise ModuleNotFoundError(dotted)


def test_every_equation_has_one_row():
    assert [int(number) for number, *_ in ROWS] == list(range(1, 32))


@pytest.mark.parametrize(("number", "name", "file", "test"), ROWS)
def test_equation_has_a_function_and_a_test(number, name, file, test):
    assert resolve(name) is not None
    assert re.search(rf"^def {test}\(", (ROOT / file).read_text(), re.MULTILINE)


def test_estimator_settings_are_in_the_nomenclature():
    nomenclature = (ROOT / "docs/nomenclature.md").read_text()
    settings = set(oc.OccupancyEstimator().get_params()) - {"random_state", "verbose"}
    assert all(f"`{name}`" in nomenclature for name in settings)


def test_readme_starts_with_make_demo_and_make_test():
    assert re.findall(r"^    (make \w+)", README, re.MULTILINE)[:2] == ["make demo", "make test"]


def tables_of(text):
    """Parse every Markdown table of a text into a list of rows, each a dict by column heading."""
    blocks = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    tables = [[_cells(line) for line in block.splitlines()] for block in blocks]
    return [[dict(zip(heads, row, strict=True)) for row in body] for heads, _, *body in tables]


def _cells(line):
    return [cell.strip(" *") for cell in line.strip("|").split("|")]


def mean_nrmse():
    """nRMSE by method at each lag, from the tables of means in docs/benchmark.md."""
    text = (ROOT / "docs/benchmark.md").read_text()
    by_lag = re.findall(r"^## Mean over rooms, lag (\d+) min\n\n((?:\|.*\n)+)", text, re.MULTILINE)
    return {lag: {row["method"]: row["nRMSE"] for row in tables_of(table)[0]} for lag, table in by_lag}


METHODS = {
    "occupair": "occupair",
    "gradient boosting": "gradient-boosting",
    "grey-box Kalman filter": "kalman",
    "random forest": "random-forest",
    "the paper's live estimator, Eq. (26)": "paper",
    "time-of-day profile, no CO2": "profile",
}


def test_readme_table_agrees_with_the_benchmark():
    (table,) = [table for table in tables_of(README) if "live" in table[0]]
    nrmse = mean_nrmse()
    columns = {"live": "0", "refined after 10 min": "10", "refined after 20 min": "20"}
    assert [row["nRMSE, mean of seven rooms"] for row in table] == list(METHODS)
    for row in table:
        method = METHODS[row.pop("nRMSE, mean of seven rooms")]
        assert row == {head: nrmse[lag][method] for head, lag in columns.items()}


COVERAGE = r"covers (\d+\.\d) % of the readings and (\d+\.\d) % of those with people"
DAY_ONE = r"the live nRMSE in these rooms is (\S+), and (\S+) after 20 minutes"
LABELLED_DAYS = (
    r"three give an nRMSE of (\S+), or (\S+) when starting from models of other rooms, and ten give "
    r"(\d\.\d+)"
)
EXPERIMENT = (
    r"RMSE of (\S+) people \(paper: (\S+)\), and the fraction of estimates within ±4 people is (\S+) "
    r"\(paper: (\d\.\d+)"
)


HINDSIGHT = r"Its nRMSE is (\S+) in these rooms"
LEFT_OUT = r"the live nRMSE is (\S+), and (\S+) after 20 minutes"


def test_readme_left_out_scores_agree_with_the_benchmark():
    (table,) = [
        table
        for table in tables_of((ROOT / "docs/benchmark.md").read_text())
        if "left out, lag 0" in table[0]
    ]
    mean = {row["room"]: row for row in table}["mean of the benchmark rooms"]
    (stated,) = re.findall(LEFT_OUT, README_PROSE)
    assert stated == (mean["left out, lag 0"], mean["left out, lag 20"])


def test_hindsight_scores_agree_with_the_benchmark():
    (table,) = [
        table for table in tables_of((ROOT / "docs/benchmark.md").read_text()) if "hindsight" in table[0]
    ]
    mean = {row["room"]: row for row in table}["mean of 7 benchmark rooms"]
    assert re.findall(HINDSIGHT, README_PROSE) == [mean["hindsight"]]
    validation = " ".join((ROOT / "docs/validation.md").read_text().split())
    (stated,) = re.findall(
        r"covers (\S+) % of all readings and (\S+) % of occupied ones, mean of the same", validation
    )
    assert stated == (mean["covered, hindsight"], mean["occupied, hindsight"])


def test_readme_coverage_agrees_with_the_validation():
    mean, *_ = tables_of((ROOT / "docs/validation.md").read_text())
    (stated,) = re.findall(COVERAGE, README_PROSE)
    assert mean[0]["lag [min]"] == "0"
    assert stated == (mean[0]["coverage 90 %"], mean[0]["occupied 90 %"])


def test_readme_labelled_days_agree_with_the_validation():
    *_, mean, _ = tables_of((ROOT / "docs/validation.md").read_text())
    three, ten = ({row["days"]: row for row in mean}[days] for days in ("3", "10"))
    (stated,) = re.findall(LABELLED_DAYS, README_PROSE)
    assert stated == (three["default, lag 0"], three["transfer, lag 0"], ten["default, lag 0"])


def test_readme_experiment_agrees_with_its_page():
    experiment = (ROOT / "docs/experiment.md").read_text()
    ((paper, ours),) = re.findall(r"^\(26\) .* paper +(.*)\n +ours +(.*)$", experiment, re.MULTILINE)
    (best,) = re.findall(r"^best reported +paper +(.*)$", experiment, re.MULTILINE)
    (stated,) = re.findall(EXPERIMENT, README_PROSE)
    assert stated == (ours.split()[0], paper.split()[0], ours.split()[-1], best.split()[-1])


def test_readme_accuracy_without_head_counts_agrees_with_its_page():
    curve, *_ = tables_of((ROOT / "docs/day-one.md").read_text())
    (stated,) = re.findall(DAY_ONE, README_PROSE)
    assert curve[0]["head counts"] == "none"
    assert " / ".join(stated) == curve[0]["size and seats known"]


def test_readme_has_no_other_scores():
    """Every score in the README is in its table or in one of the sentences compared above."""
    rest = re.sub(r"\s+", " ", re.sub(r"^\|.*$", "", README, flags=re.MULTILINE))
    rest = re.sub("|".join((COVERAGE, LABELLED_DAYS, EXPERIMENT, LEFT_OUT, HINDSIGHT, DAY_ONE)), "", rest)
    assert re.findall(r"\b\d+\.\d{3,4}\b|\d\d\.\d(?= %)", rest) == []


LINKED = [*PAGES, ROOT / "CHANGELOG.md"]


@pytest.mark.parametrize("path", LINKED, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_are_valid(path):
    for link in links_of(path):
        target, _, anchor = link.partition("#")
        if re.match(r"\w+:", target):
            assert re.fullmatch(EXTERNAL, link), link
            continue
        found = path if not target else path.parent / target
        assert found.exists(), link
        assert not anchor or anchor in anchors_of(found), link


EXTERNAL = r"https://[a-z0-9-]+(\.[a-z0-9-]+)+(/[^\s<>()]*[^\s<>().,;])?/?(#\S+)?"
"""Form of a link to another site; ``make linkcheck`` requests them."""


@pytest.mark.parametrize(
    ("link", "is_valid"),
    [
        ("https://brickschema.org", True),
        ("https://www.nrel.gov/docs/fy11osti/46861.pdf", True),
        ("http://brickschema.org", False),
        ("https://localhost/rooms", False),
        ("https://brickschema.org/ontology.", False),
    ],
)
def test_form_of_external_links(link, is_valid):
    assert bool(re.fullmatch(EXTERNAL, link)) == is_valid


def test_number_of_days_in_the_guide_is_that_of_check_and_plan():
    guide = re.sub(r"\s+", " ", (ROOT / "docs/groundtruth.md").read_text())
    assert (FEWEST_DAYS, ENOUGH_DAYS, LABELLED_HOURS) == (3, 5, 6)
    assert "Training needs a working week, five days with people" in guide
    assert (
        "`check` warns unless there are five days with people and counts in at least six different hours"
        in guide
    )
    assert "Label five days with people to start with" in guide
    few = "0.601 with three labelled days, 0.568 with five, 0.509 with ten and 0.485 with all"
    assert few in guide
    validation = (ROOT / "docs/validation.md").read_text()
    rows = dict(re.findall(r"^\| (\w+) +\| +7 \| +[\d.]+ \| +([\d.]+) \|", validation, re.MULTILINE))
    assert [rows[days] for days in ("3", "5", "10", "all")] == re.findall(r"0\.\d{3}", few)


def test_every_check_code_is_documented():
    sources = "".join(path.read_text() for path in (ROOT / "src/occupair/checks").glob("*.py"))
    codes = set(re.findall(r'Fault\(\s*"(\w+)"', sources)) | set(PROBLEM_ADVICE)
    rows = re.findall(r"^\| (`.*?`) \|", (ROOT / "docs/data-quality.md").read_text(), re.MULTILINE)
    assert codes <= set(re.findall(r"`(\w+)`", " ".join(rows)))


def test_make_targets_in_documents_exist():
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))
    documents = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
    documents += sorted((ROOT / "docs").rglob("*.md"))
    for path in documents:
        named = re.findall(r"(?:`|^ {4,})make ([a-z][a-z-]*)", path.read_text(), re.MULTILINE)
        assert set(named) <= targets, path.name
