"""
Estimates that wait are more accurate
=====================================

CO2 follows people with a delay. An estimate that waits 20 minutes for further readings is closer to the head
count than the live one; in hindsight, all readings of the day are used.
"""

import matplotlib.pyplot as plt

import occupair as oc

plt.style.use("occupair.figures")
office = oc.simulate_office(days=6, seed=3).iloc[::5]
train, today = office.iloc[:-288], office.iloc[-288:]
estimator = oc.OccupancyEstimator(random_state=0).fit(train)
options = {"live": {}, "refined after 20 min": {"lag": 20}, "hindsight": {"mode": "hindsight"}}

fig, ax = plt.subplots()
ax.fill_between(today.index, today["occupancy"], color="0.85", label="head count")
for name, option in options.items():
    people = estimator.estimate(today, **option)
    ax.plot(people, label=f"{name}: RMSE {oc.metrics.rmse(today['occupancy'], people):.2f}")
ax.set(title="Waiting 20 minutes reduces the error", ylabel="occupancy [people]", ylim=0)
ax.set_xlim(today.index[7 * 12], today.index[13 * 12])
fig.legend(loc="outside lower center", ncols=2)
plt.show()
