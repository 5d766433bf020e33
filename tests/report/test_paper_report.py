from __future__ import annotations

import json
import re
import subprocess
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from plotly.offline import get_plotlyjs

from occupair.report.paper_comparison import scale_table, score_table, settings_list
from occupair.report.paper_report import render_report, write_report

FIGURES = ["co2-day", "five-days", "rmse", "saturation", "tolerance"]
VOID = {"meta", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """All elements in order; asserts that each is closed properly."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.elements and "id" in self.elements[-1][1] and self.open[-1:] == ["script"]:
            name = str(self.elements[-1][1]["id"])
            self.texts[name] = self.texts.get(name, "") + data


@pytest.fixture(scope="module")
def html(reproduction) -> str:
    return render_report(reproduction)


@pytest.fixture(scope="module")
def page(html) -> Page:
    return Page(html)


@pytest.fixture(scope="module")
def own_part(html) -> str:
    """The report without the plotly script, which contains unused host names."""
    return html.replace(get_plotlyjs(), "")


def cells(table: str) -> list[list[str]]:
    rows = re.findall(r"<tr.*?</tr>", table.split("<tbody>")[1], flags=re.DOTALL)
    return [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row) for row in rows]


def test_all_elements_are_closed(page):
    assert page.open == []


def test_report_has_title_heading_and_language(page):
    tags = [tag for tag, _ in page.elements]
    assert (tags.count("title"), tags.count("h1"), tags.count("main")) == (1, 1, 1)
    assert dict(page.elements)["html"]["lang"] == "en"


def test_ids_are_unique(page):
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_figures_have_legend_caption_and_data(page):
    plots = [attributes["id"] for _, attributes in page.elements if attributes.get("class") == "plot"]
    assert sorted(plots) == [f"{name}-plot" for name in FIGURES]
    for plot in plots:
        figure = json.loads(page.texts[f"{plot}-data"], parse_constant=pytest.fail)
        assert figure["data"]
    tags = [tag for tag, _ in page.elements]
    assert tags.count("figcaption") == tags.count("figure") == len(FIGURES)


def test_legend_entries_belong_to_traces(page):
    groups = {
        trace.get("legendgroup")
        for name in FIGURES
        for trace in json.loads(page.texts[f"{name}-plot-data"])["data"]
    }
    buttons = [attributes for tag, attributes in page.elements if tag == "button"]
    assert buttons
    assert {button["data-group"] for button in buttons} <= groups
    assert {button["aria-pressed"] for button in buttons} == {"true"}


def test_plotly_is_included_once(html):
    assert html.count(get_plotlyjs()) == 1


def test_report_is_self_contained(own_part, page):
    assert not re.search(
        r"""(src|href|action|srcset|poster)\s*=\s*["']?\s*(https?:|//)""", own_part, re.IGNORECASE
    )
    assert "@import" not in own_part
    assert not re.search(r"url\(", own_part)
    assert not re.search(r"https?://", own_part)
    policy = next(attributes["content"] for _, attributes in page.elements if "http-equiv" in attributes)
    assert str(policy).startswith("default-src 'none'")


def test_report_states_simulation_and_rounding(own_part):
    assert "The data are simulated." in own_part
    assert "RMSE uses unrounded estimates" in own_part


def test_tables_are_accessible(page):
    tags = [tag for tag, _ in page.elements]
    assert tags.count("table") == tags.count("caption") == 2
    assert all("scope" in attributes for tag, attributes in page.elements if tag == "th")


def test_score_table_has_the_scores_of_the_paper(reproduction):
    rows = cells(score_table(reproduction))
    printed = [
        ["5.9575", "0.0695", "0.1713", "0.0034"],
        ["3.2307", "0.0569", "0.1438", "0.0005"],
        ["1.7726", "0.0182", "0.0268", "0.0126"],
        ["–"] * 4,
        ["2.1345", "0.0278", "0.0441", "0.0172"],
    ]
    assert [row[1:9:2] for row in rows[:5]] == printed
    assert rows[5][-2:] == ["up to 89 %", "up to 94 %"]


def test_score_table_format(reproduction):
    given = replace(
        reproduction.scores[26], rmse=2.00004, fdr=0.1, fpr=float("nan"), fnr=0.0, within_3=0.8765
    )
    row = cells(score_table(replace(reproduction, scores={**reproduction.scores, 26: given})))[4]
    assert row[0] == "(26) FS-ELM live, three steps"
    assert row[2:9:2] == ["2.0000", "0.1000", "–", "0.0000"]
    assert row[9] == "87.6 %"  # 87.65 lies just under its own decimal in binary


def test_scale_table(reproduction):
    raw, smoothed = cells(scale_table(reproduction))
    assert raw[1::2] == ["0.0001", "0.0012", "0.005", "0.004", "0.008"]
    assert smoothed[1::2] == ["0.0001", "0.0025", "0.02", "0.004", "0.008"]
    assert raw[2::2] == ["0.0001", "0.0013", "0.0049", "0.0041", "0.0079"]
    assert smoothed[2::2] == ["0.00011", "0.0026", "0.021", "0.0042", "0.0083"]


def test_settings_list(reproduction):
    values = re.findall(r"<dd>(.*?)</dd>", settings_list(reproduction))
    assert values == ["30", "25", "5", "2", "0", "28", "42"]


HOSTILE = """</script><script>alert("x")</script><img src=x onerror='alert(1)'> $title ${css} & %"""


def test_hostile_string_is_escaped(reproduction, html):
    marked = replace(reproduction, draws=HOSTILE, most_people=28)
    hostile = render_report(marked)
    assert HOSTILE not in hostile
    assert [tag for tag, _ in Page(hostile).elements] == [tag for tag, _ in Page(html).elements]


def test_hostile_string_in_a_figure_is_escaped(reproduction, monkeypatch):
    monkeypatch.setitem(
        __import__("occupair.report.number_format", fromlist=["x"]).ESTIMATOR_NAMES, 4, HOSTILE
    )
    page = Page(render_report(reproduction))
    assert page.open == []
    assert "img" not in {tag for tag, _ in page.elements}
    names = [trace["name"] for trace in json.loads(page.texts["tolerance-plot-data"])["data"]]
    assert f"(4) {HOSTILE}" in names


def test_report_is_written_to_a_file(reproduction, html, tmp_path):
    path = tmp_path / "report.html"
    write_report(reproduction, path)
    assert path.read_text(encoding="utf-8") == html
    assert list(tmp_path.iterdir()) == [path]


def test_failed_report_leaves_the_old_file(reproduction, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("the old one")
    with pytest.raises(KeyError):
        write_report(replace(reproduction, scores={}), path)
    assert path.read_text() == "the old one"
    assert list(tmp_path.iterdir()) == [path]


def test_report_is_deterministic(reproduction, html):
    assert render_report(reproduction) == html


def test_figures_are_drawn_in_a_browser(chromium, html, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(html, encoding="utf-8")
    flags = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync --dump-dom"
    flags += " --disable-background-networking --disable-component-update --virtual-time-budget=10000"
    command = [chromium, *flags.split(), "--host-resolver-rules=MAP * ~NOTFOUND"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", path.as_uri()]
    dom = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    drawn = dom.replace(get_plotlyjs(), "")
    assert drawn.count('class="main-svg"') >= len(FIGURES)
    assert drawn.count('class="trace scatter') >= 8 + 30 + 6 + 2 + 3
