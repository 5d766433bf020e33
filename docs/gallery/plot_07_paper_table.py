"""
The ranking of the paper is reproduced
======================================

RMSE of the paper's estimators, Table II, and on a simulation of its office with one random layer each; the
recordings of the paper are not public. ``occupair reproduce`` prints all scores, see :doc:`the experiment
<../experiment>`.
"""

import matplotlib.pyplot as plt

import occupair as oc
from occupair.report.published_results import ESTIMATOR_NAMES, PAPER_SCORES

plt.style.use("occupair.figures")
office = oc.simulate_office(days=13, seed=5)
train, test = office.iloc[: 10 * 1440], office.iloc[10 * 1440 :]
runs = {4: {"layer": "elm", "smoothing": 0}, 21: {"smoothing": 0}, 26: {}, 22: {}}

fig, ax = plt.subplots()
for y, (equation, changes) in enumerate(runs.items()):
    estimator = oc.OccupancyEstimator.paper(n_draws=1, random_state=0, **changes).fit(train)
    people = estimator.estimate(test, mode="live" if equation == 26 else "hindsight")
    rmse = [PAPER_SCORES[equation].rmse, oc.metrics.rmse(test["occupancy"], people)]
    bars = ax.barh([y - 0.2, y + 0.2], rmse, 0.36, color=["0.7", "C0"])
    ax.bar_label(bars, ["paper", "simulated office"], padding=4)
ax.set_yticks(range(len(runs)), [f"({equation}) {ESTIMATOR_NAMES[equation]}" for equation in runs])
ax.set(title="Feature scaling and smoothing reduce the error", xlabel="RMSE [people]", xlim=(0, 20))
ax.invert_yaxis()
plt.show()
