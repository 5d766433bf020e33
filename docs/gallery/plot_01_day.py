"""
Estimates follow people through the day
=======================================

Five days with head counts train the estimator. On the sixth it sees CO2 and ventilation only, and each
estimate uses the readings up to that minute, as in the live service.
"""

import matplotlib.pyplot as plt

import occupair as oc

plt.style.use("occupair.figures")
office = oc.simulate_office(days=6, seed=1)
train, today = office.iloc[:-1440], office.iloc[-1440:]
people = oc.OccupancyEstimator(random_state=0).fit(train).estimate(today)

fig, (air, count) = plt.subplots(2, sharex=True, figsize=(8, 5.2))
air.plot(today["co2"], lw=1)
air.set(title="CO2 follows people ...", ylabel="CO2 [ppm]")
count.fill_between(today.index, today["occupancy"], color="0.85", label="head count")
count.plot(people, color="C1", label="live estimate")
count.set(title="... so people can be estimated from CO2", ylabel="occupancy [people]", ylim=0)
count.set_xlim(today.index[6 * 60], today.index[-1])
count.legend(loc="upper left")
plt.show()
