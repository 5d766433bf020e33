"""
Every estimate has a prediction interval
========================================

The 90 % interval is wide while people come and go, and narrow at night. Its width comes from the errors on
held-out training days.
"""

import matplotlib.pyplot as plt

import occupair as oc

plt.style.use("occupair.figures")
office = oc.simulate_office(days=6, seed=5).iloc[::5]
train, today = office.iloc[:-288], office.iloc[-288:]
band = oc.OccupancyEstimator(random_state=0).fit(train).estimate(today, interval=0.9)
covered = today["occupancy"].between(band["low"], band["high"]).mean()

fig, ax = plt.subplots()
ax.fill_between(band.index, band["low"], band["high"], color="C1", alpha=0.25, lw=0, label="90 % interval")
ax.plot(band["people"], color="C1", label="live estimate")
ax.plot(today["occupancy"], color="0.2", lw=1.2, drawstyle="steps-post", label="head count")
ax.set(title=f"The interval covers {100 * covered:.0f} % of the readings of this day")
ax.set(ylabel="occupancy [people]", ylim=0)
ax.set_xlim(today.index[6 * 12], today.index[-1])
ax.legend(loc="upper left")
plt.show()
