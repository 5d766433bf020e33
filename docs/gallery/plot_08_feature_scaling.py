"""
Feature scaling keeps hidden neurons sensitive
==============================================

CO2 in ppm saturates the neurons of a standard extreme learning machine (ELM), so that adding neurons hardly
helps. The feature-scaled machine (FS-ELM) scales each group of features, here level, change and slope of CO2
and ventilation.
"""

import matplotlib.pyplot as plt
import numpy as np

import occupair as oc

plt.style.use("occupair.figures")
office = oc.simulate_office(days=6, seed=1)
layer = oc.feature_layer(oc.smooth(office["co2"]), office["occupancy"], office["ventilation"])
groups = [layer[name] for name in "PIDv"]
features, people = np.hstack(groups), office["occupancy"].to_numpy()[-len(groups[0]) :]
scaled = oc.FSELMRegressor(groups=[group.shape[1] for group in groups], random_state=0)

fig, ax = plt.subplots()
for name, machine in {"ELM": oc.ELMRegressor(random_state=0), "FS-ELM": scaled}.items():
    rmse = {}
    for neurons in (10, 30, 100, 300, 1000):
        machine.set_params(n_hidden=neurons).fit(features[:-1440], people[:-1440])
        rmse[neurons] = oc.metrics.rmse(people[-1440:], machine.predict(features[-1440:]))
    ax.plot(rmse.keys(), rmse.values(), "o-", label=name)
ax.set(title="Without scaling, more neurons hardly help", xlabel="hidden neurons", xscale="log")
ax.set(ylabel="RMSE [people]", ylim=0, xticks=list(rmse), xticklabels=rmse)
ax.legend(loc="center right")
plt.show()
