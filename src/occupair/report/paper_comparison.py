"""The paper's tables beside ours, as HTML."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from occupair.report.number_format import estimator_name, four_decimals, percent, two_digits
from occupair.report.paper_experiment import Reproduction
from occupair.report.published_results import ESTIMATOR_NAMES, PAPER_BEST_WITHIN, PAPER_SCALES, PAPER_SCORES

PRINTED = ("rmse", "fdr", "fpr", "fnr")  # the columns of the paper's Table II
SCALED = {16: "(16) raw CO2", 20: "(20) smoothed CO2"}


def score_table(reproduction: Reproduction) -> str:
    """Table II: the paper's scores and ours, and how often ours are within three and four people."""
    ours_only = "".join(f'<th scope="col" class="ours">Within {x}</th>' for x in PAPER_BEST_WITHIN)
    heads = _pair_heads(name.upper() for name in PRINTED) + ours_only
    subheads = _pair_subheads(len(PRINTED)) + '<th scope="col" class="ours">ours</th>' * len(
        PAPER_BEST_WITHIN
    )
    rows = [_score_row(reproduction, equation) for equation in ESTIMATOR_NAMES]
    caption = (
        f"Scores on the {_test_days(reproduction)} test days, the paper's (Table II) beside ours. "
        "Smaller is better, except for the last two columns."
    )
    return _table("scores", caption, heads=(heads, subheads), rows=[*rows, _best_row()])


def scale_table(reproduction: Reproduction) -> str:
    """Table I: the scale alpha of each group of features, the paper's and ours."""
    groups = list(PAPER_SCALES[16])
    heads = _pair_heads(f"α {group}" for group in groups), _pair_subheads(len(groups))
    caption = "The scale α of each group of features, the paper's (Table I) beside ours."
    rows = [_scale_row(reproduction, equation) for equation in PAPER_SCALES]
    return _table("scales", caption, heads=heads, rows=rows)


def settings_list(reproduction: Reproduction) -> str:
    """List how the experiment was run."""
    settings = {
        "days simulated": reproduction.days,
        "days to train on": reproduction.train_days,
        "days to test on": _test_days(reproduction),
        "random draws": reproduction.draws,
        "random seed": reproduction.seed,
        "most people in training": reproduction.most_people,
        "seconds it took": f"{reproduction.seconds:.0f}",
    }
    items = [
        f"<div><dt>{escape(name)}</dt><dd>{escape(str(value))}</dd></div>" for name, value in settings.items()
    ]
    return f'<dl class="settings">{"".join(items)}</dl>'


def _test_days(reproduction: Reproduction) -> int:
    return reproduction.days - reproduction.train_days


def _score_row(reproduction: Reproduction, equation: int) -> str:
    ours, paper = reproduction.scores[equation], PAPER_SCORES.get(equation)
    pairs = [(getattr(paper, name, None), getattr(ours, name)) for name in PRINTED]
    cells = "".join(_cell(four_decimals(a), "paper") + _cell(four_decimals(b), "ours") for a, b in pairs)
    within = _cell(percent(ours.within_3), "ours") + _cell(percent(ours.within_4), "ours")
    live = ' class="live"' if equation == 26 else ""
    return f'<tr{live}><th scope="row">{escape(estimator_name(equation))}</th>{cells}{within}</tr>'


def _best_row() -> str:
    """Give what the paper says of tolerances: "up to", without saying of which estimator."""
    shares = [f"up to {percent(share, decimals=0)}" for share in PAPER_BEST_WITHIN.values()]
    cells = "".join(_cell(share, "paper") for share in shares)
    return (
        '<tr><th scope="row" class="paper">the paper\'s best</th>'
        f'<td colspan="{2 * len(PRINTED)}"></td>{cells}</tr>'
    )


def _scale_row(reproduction: Reproduction, equation: int) -> str:
    ours = reproduction.scales.get(equation, {})
    cells = "".join(
        _cell(two_digits(alpha), "paper") + _cell(two_digits(ours.get(group)), "ours")
        for group, alpha in PAPER_SCALES[equation].items()
    )
    return f'<tr><th scope="row">{escape(SCALED[equation])}</th>{cells}</tr>'


def _pair_heads(names: Iterable[str]) -> str:
    return "".join(f'<th scope="colgroup" colspan="2">{escape(name)}</th>' for name in names)


def _pair_subheads(count: int) -> str:
    return '<th scope="col" class="paper">paper</th><th scope="col" class="ours">ours</th>' * count


def _cell(text: str, kind: str) -> str:
    return f'<td class="{kind}">{escape(text)}</td>'


def _table(name: str, caption: str, *, heads: tuple[str, str], rows: list[str]) -> str:
    """Put rows under a two-line head, in a box of its own that scrolls on a narrow screen."""
    body = "\n".join(rows)
    return f"""<div class="scroll" role="region" tabindex="0" aria-labelledby="{name}-caption">
<table id="{name}">
<caption><span id="{name}-caption">{escape(caption)}</span></caption>
<thead>
<tr><th scope="col" rowspan="2">Estimator</th>{heads[0]}</tr>
<tr>{heads[1]}</tr>
</thead>
<tbody>
{body}
</tbody>
</table>
</div>"""
