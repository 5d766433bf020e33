"""
Feedback drifts unless the past is revised
==========================================

The estimator of the paper uses its own past estimates. If they are never revised, Eq. (24), it lags and
drifts. The three-step estimator, Eq. (26), estimates the day again with the CO2 that is smoothed by now.
"""

import matplotlib.pyplot as plt

import occupair as oc

plt.style.use("occupair.figures")
office = oc.simulate_office(days=11, seed=0)
train, today = office.iloc[:-1440], office.iloc[-1440:]
estimator = oc.OccupancyEstimator.paper(n_draws=1, random_state=0).fit(train)

fig, ax = plt.subplots()
ax.fill_between(today.index, today["occupancy"], color="0.85", label="head count")
for mode, name in {"drifting": "not revised, Eq. (24)", "live": "three steps, Eq. (26)"}.items():
    people = estimator.estimate(today, mode=mode)
    ax.plot(people, label=f"{name}: RMSE {oc.metrics.rmse(today['occupancy'], people):.2f}")
ax.set(title="Revising past estimates halves the error", ylabel="occupancy [people]", ylim=0)
ax.set_xlim(today.index[6 * 60], today.index[-1])
fig.legend(loc="outside lower center", ncols=3)
plt.show()
