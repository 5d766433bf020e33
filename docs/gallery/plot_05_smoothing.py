"""
The live smoother needs ten minutes
===================================

Smoothing the whole day, Eq. (19) of the paper, needs later readings. The local smoother, Eq. (25), uses
those up to now: its newest value lags, and the value of ten minutes ago agrees with the smoothed day.
"""

import matplotlib.pyplot as plt

import occupair as oc

plt.style.use("occupair.figures")
co2 = oc.simulate_office(days=1, seed=2)["co2"]
smoother, newest, delayed = oc.LocalSmoother(smoothing=50), [], []
for reading in co2:
    smoother.append(reading)
    newest.append(smoother.newest)
    delayed.append(smoother.since(-11)[0])

fig, ax = plt.subplots()
ax.plot(co2, ".", color="0.7", label="sensor")
ax.plot(co2.index, oc.smooth(co2, smoothing=50), color="0.2", label="whole day, Eq. (19)")
ax.plot(co2.index, newest, label="live, Eq. (25): newest value")
ax.plot(co2.index[:-10], delayed[10:], ls="--", label="live: value of 10 min ago")
ax.set(title="After ten minutes live values are close to the smoothed day")
ax.set(ylabel="CO2 [ppm]", ylim=(400, 520))
ax.set_xlim(co2.index[7 * 60 + 45], co2.index[9 * 60 + 15])
fig.legend(loc="outside lower center", ncols=2)
plt.show()
