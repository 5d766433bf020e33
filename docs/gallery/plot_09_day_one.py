"""
Volume and seats are enough to start with
=========================================

A room without head counts starts from its volume [m3] and number of seats, on the :doc:`first day
<../day-one>`. Head counts of five days make the estimates more accurate.
"""

import matplotlib.pyplot as plt

import occupair as oc

plt.style.use("occupair.figures")
office = oc.simulate_office(days=6, seed=2).iloc[::5]
train, today = office.iloc[:-288], office.iloc[-288:]
physics = oc.OccupancyEstimator.physics(volume=502, capacity=35).fit(train.drop(columns="occupancy"))
trained = oc.OccupancyEstimator(random_state=0).fit(train)

fig, ax = plt.subplots()
ax.fill_between(today.index, today["occupancy"], color="0.85", label="head count")
for name, estimator in {"volume and seats": physics, "five days of head counts": trained}.items():
    people = estimator.estimate(today)
    ax.plot(people, label=f"{name}: RMSE {oc.metrics.rmse(today['occupancy'], people):.2f}")
ax.set(title="Volume and seats give the shape, head counts the scale", ylabel="occupancy [people]", ylim=0)
ax.set_xlim(today.index[6 * 12], today.index[-1])
fig.legend(loc="outside lower center", ncols=3)
plt.show()
