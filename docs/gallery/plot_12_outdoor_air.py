"""
Outdoor air can follow people
=============================

Outdoor air of an office of 186 m2 by ASHRAE 62.1: a flow per person and one per floor area. Planning for the
upper bound of the 80 % interval rarely supplies less than the head count requires; the fixed flow is for all
35 seats.
"""

import matplotlib.pyplot as plt

import occupair as oc
from occupair.control import AirDemand

plt.style.use("occupair.figures")
office = oc.simulate_office(days=6, seed=1).iloc[::5]
train, day = office.iloc[:-288], office.iloc[-288:]
today = day.between_time("07:30", "21:59")
band = oc.OccupancyEstimator(random_state=0).fit(train).estimate(day, interval=0.8)
air = AirDemand("ASHRAE 62.1", area=186, space="office")
fixed, planned = air.flow(35), air.flow(band["high"].loc[today.index])

fig, ax = plt.subplots()
ax.fill_between(today.index, air.flow(today["occupancy"]), color="0.85", label="required by the head count")
ax.plot(planned, color="C1", label="planned by the upper bound")
ax.axhline(fixed, color="C0", label="fixed, for 35 people")
saved = 100 * (1 - planned.mean() / fixed)
ax.set(title=f"Following people saves {saved:.0f} % of the outdoor air of this day")
ax.set(ylabel="outdoor air [L/s]", ylim=0)
ax.margins(x=0)
fig.legend(loc="outside lower center", ncols=3)
plt.show()
