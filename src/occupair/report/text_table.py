"""Tables of text, as Markdown and as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Table:
    """A table of text; the first column holds names, the others numbers."""

    heads: list[str]
    rows: list[list[str]]


def markdown(table: Table) -> str:
    """Format a table as Markdown with aligned columns.

    Examples
    --------
    >>> print(markdown(Table(["method", "nRMSE"], [["mean", "1.000"], ["profile", "0.770"]])))
    | method  | nRMSE |
    | ------- | ----: |
    | mean    | 1.000 |
    | profile | 0.770 |
    """
    widths = [max(len(row[i]) for row in [table.heads, *table.rows]) for i in range(len(table.heads))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join(_line(row, widths) for row in [table.heads, rule, *table.rows])


def html_table(name: str, caption: str, table: Table) -> str:
    """Render a table as HTML, horizontally scrollable on narrow screens."""
    heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in table.heads)
    rows = "\n".join(_row(row) for row in table.rows)
    return f"""<div class="scroll" role="region" tabindex="0" aria-labelledby="{name}-caption">
<table id="{name}">
<caption><span id="{name}-caption">{escape(caption)}</span></caption>
<thead><tr>{heads}</tr></thead>
<tbody>
{rows}
</tbody>
</table>
</div>"""


def _row(row: list[str]) -> str:
    first, *others = (escape(cell) for cell in row)
    return f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in others)}</tr>'


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = row
    cells = [first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(others, widths[1:], strict=True))]
    return f"| {' | '.join(cells)} |"
