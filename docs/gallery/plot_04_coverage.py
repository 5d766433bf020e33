"""
Intervals of this office are on the safe side
=============================================

Of the readings of five held-out days, a 90 % interval should cover 90 %. Readings at which people are in the
room are harder than those of empty nights and are shown separately. The :doc:`validation <../validation>`
has the coverage in public rooms.
"""

import matplotlib.pyplot as plt

import occupair as oc

plt.style.use("occupair.figures")
office = oc.simulate_office(days=10, seed=4).iloc[::5]
train, test = office.iloc[: 5 * 288], office.iloc[5 * 288 :]
estimator = oc.OccupancyEstimator(random_state=0).fit(train)
counts, levels = test["occupancy"], [50, 60, 70, 80, 90, 95]
bands = [estimator.estimate(test, interval=level / 100) for level in levels]
covered = [100 * counts.between(band["low"], band["high"]) for band in bands]

fig, ax = plt.subplots()
ax.plot([50, 100], [50, 100], color="0.6", ls="--", label="ideal")
ax.plot(levels, [inside.mean() for inside in covered], "o-", label="all readings")
ax.plot(levels, [inside[counts > 0].mean() for inside in covered], "s-", label="with people")
ax.set(title="Measured coverage is above nominal in this office")
ax.set(xlabel="nominal coverage [%]", ylabel="measured coverage [%]")
ax.legend(loc="upper left")
plt.show()
