"""The study of estimates in hindsight: scores of made-up folds."""

import numpy as np

from tools.hindsight import HINDSIGHT, LIVE, PAPER, REFINED, SETS, Cell, Found, report


def fold(squares, *, covered=(100, 90, 40, 30)):
    """A fold whose reference is 100, with the squares of hindsight for every set but none."""
    sets = dict.fromkeys(SETS, squares[HINDSIGHT]) | {"none": squares[REFINED]}
    counts = {name: np.array(covered, dtype=float) for name in (LIVE, REFINED, HINDSIGHT)}
    seconds = {"training": 11.0, REFINED: 2.0, HINDSIGHT: 3.0}
    return Found(squares | sets, 100.0, counts, seconds | {f"training, {name}": 1.0 for name in SETS})


def test_scores_are_of_all_folds_of_a_room(capsys):
    better = {LIVE: 64.0, REFINED: 36.0, HINDSIGHT: 25.0, PAPER: 100.0}
    worse = {LIVE: 64.0, REFINED: 25.0, HINDSIGHT: 36.0}
    cells = [Cell("sdu2018-1", 0), Cell("sdu2018-1", 1), Cell("simulated-7", 7)]
    report(cells, [fold(better), fold(better), fold(worse, covered=(100, 80, 50, 50))])
    lines = [line.replace(" ", "") for line in capsys.readouterr().out.splitlines()]
    assert "|sdu2018-1|0.800|0.600|0.500|1.000|90.0|75.0|90.0|75.0|" in lines
    assert "|simulated-7|0.800|0.500|0.600|–|80.0|100.0|80.0|100.0|" in lines
    assert "|meanof1benchmarkrooms|0.800|0.600|0.500|1.000|90.0|75.0|90.0|75.0|" in lines
    assert "|all,moved|0.833|1.200|" in lines
    text = " ".join(lines)
    assert "sdu2018-1:none;meannRMSEoftheserooms0.600" in text  # the best in the other room
    assert "betterthan20minin1of2rooms;largestratio:1.200" in text
    assert "relativeto20min:1.50.Trainingtakes10%longer" in text
