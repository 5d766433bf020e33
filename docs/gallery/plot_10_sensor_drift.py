"""
A drifting sensor does not spoil the count
==========================================

The baseline of the sensor drifts by 3 ppm per day after training. The default estimator corrects it by the
CO2 of nights and other quiet hours; the estimator of the paper mistakes the drift for people.
"""

import matplotlib.pyplot as plt

import occupair as oc

plt.style.use("occupair.figures")
office = oc.simulate_office(days=25, seed=6).iloc[::5]
train, test = office.iloc[: 5 * 288], office.iloc[5 * 288 :]
age = (test.index - test.index[0]).days
estimators = {"paper": oc.OccupancyEstimator.paper(n_draws=1, random_state=0)}
estimators["default"] = oc.OccupancyEstimator(random_state=0)

fig, ax = plt.subplots()
for i, (name, estimator) in enumerate(estimators.items()):
    estimator.fit(train)
    for drift, line in {0: "o-", 3: "o--"}.items():
        people = estimator.estimate(test.assign(co2=test["co2"] + drift * age))
        rmse = ((people - test["occupancy"]) ** 2).groupby(age // 7 + 1).mean() ** 0.5
        ax.plot(rmse, line, color=f"C{i}", label=f"{name}, drift of {drift} ppm per day")
ax.set(title="The default estimator corrects for drift", xlabel="weeks after training")
ax.set(ylabel="RMSE [people]", ylim=0, xticks=rmse.index)
fig.legend(loc="outside lower center", ncols=2)
plt.show()
