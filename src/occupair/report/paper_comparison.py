"""Tables I and II of the paper next to our results, as HTML."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from occupair.report.number_format import estimator_name, four_decimals, percent, two_digits
from occupair.report.paper_experiment import Reproduction
from occupair.report.published_results import ESTIMATOR_NAMES, PAPER_BEST_WITHIN, PAPER_SCALES, PAPER_SCORES

PRINTED = ("rmse", "fdr", "fpr", "fnr")  # columns of the paper's Table II
SCALED = {16: "(16) raw CO2", 20: "(20) smoothed CO2"}


def score_table(reproduction: Reproduction) -> str:
    """Render Table II: scores of the paper and ours, with our accuracy within ±3 and ±4 people."""
    ours_only = "".join(f'<th scope="col" class="ours">within ±{x}</th>' for x in PAPER_BEST_WITHIN)
    heads = _pair_heads(name.upper() for name in PRINTED) + ours_only
    subheads = _pair_subheads(len(PRINTED)) + '<th scope="col" class="ours">ours</th>' * len(
        PAPER_BEST_WITHIN
    )
    rows = [_score_row(reproduction, equation) for equation in ESTIMATOR_NAMES]
    caption = (
        f"Scores on the {_test_days(reproduction)} test days, next to Table II of the paper. RMSE in people. "
        "Lower is better, except in the last two columns."
    )
    return _table("scores", caption, heads=(heads, subheads), rows=[*rows, _best_row()])


def scale_table(reproduction: Reproduction) -> str:
    """Render Table I: scale factor alpha of each feature group, of the paper and ours."""
    groups = list(PAPER_SCALES[16])
    heads = _pair_heads(f"α {group}" for group in groups), _pair_subheads(len(groups))
    caption = "Scale factor α of each feature group, next to Table I of the paper."
    rows = [_scale_row(reproduction, equation) for equation in PAPER_SCALES]
    return _table("scales", caption, heads=heads, rows=rows)


def settings_list(reproduction: Reproduction) -> str:
    """Render the settings of the experiment as a list."""
    settings = {
        "simulated days": reproduction.days,
        "training days": reproduction.train_days,
        "test days": _test_days(reproduction),
        "random draws": reproduction.draws,
        "random seed": reproduction.seed,
        "maximum occupancy in training": reproduction.most_people,
        "run time [s]": f"{reproduction.seconds:.0f}",
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
    """Render the tolerance accuracy of the paper, given as "up to" without naming the estimator."""
    shares = [f"up to {percent(share, decimals=0)}" for share in PAPER_BEST_WITHIN.values()]
    cells = "".join(_cell(share, "paper") for share in shares)
    return (
        '<tr><th scope="row" class="paper">best in the paper</th>'
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
    """Render a table with a two-line head, horizontally scrollable on narrow screens."""
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
