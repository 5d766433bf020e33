"""
Estimates show how a room is used
=================================

Mean number of people by weekday and hour over four weeks, from head counts and from estimates in hindsight.
The estimator was trained on the week before.
"""

import matplotlib.pyplot as plt

import occupair as oc

plt.style.use("occupair.figures")
office = oc.simulate_office(days=25, seed=8).iloc[::5]
train, month = office.iloc[: 5 * 288], office.iloc[5 * 288 :]
people = oc.OccupancyEstimator(random_state=0).fit(train).estimate(month, mode="hindsight")

fig, axes = plt.subplots(2, sharex=True, figsize=(8, 4.6))
shown = {"Head counts ...": month["occupancy"], "... and estimates show the same week": people}
for ax, (name, counts) in zip(axes, shown.items(), strict=True):
    week = counts.groupby([counts.index.day_of_week, counts.index.hour + 0.5]).mean().unstack()
    image = ax.pcolormesh(week.columns, ["Mon", "Tue", "Wed", "Thu", "Fri"], week, vmin=0, vmax=20)
    ax.set(title=name)
    ax.invert_yaxis()
    ax.grid(False)
ax.set(xlabel="hour of the day", xlim=(6, 24))
fig.colorbar(image, ax=axes, label="mean occupancy [people]")
plt.show()
