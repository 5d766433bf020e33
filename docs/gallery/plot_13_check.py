"""
Faulty readings are found before training
=========================================

Two faults are planted: a sensor that is stuck for three hours, and failed reads of 65535 ppm. ``occupair
check`` finds both and says what to do.
"""

import matplotlib.pyplot as plt

import occupair as oc
from occupair.checks import find_faults

plt.style.use("occupair.figures")
office = oc.simulate_office(days=5, seed=1)
office.loc["2015-08-04 10:00":"2015-08-04 13:00", "co2"] = 853
office.loc["2015-08-06 15:00":"2015-08-06 16:00", "co2"] = 65535

fig, ax = plt.subplots()
ax.plot(office["co2"], lw=1)
for i, fault in enumerate(find_faults(office)):
    for start, end in fault.details["spans"]:
        ax.axvspan(start, end, color=f"C{i + 1}", alpha=0.4, lw=0, label=fault.finding.split(" (")[0])
ax.set(title="Both planted faults are found", ylabel="CO2 [ppm]", ylim=(350, 1300))
ax.margins(x=0)
fig.legend(loc="outside lower center", ncols=2)
plt.show()
