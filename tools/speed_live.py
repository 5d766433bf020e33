"""How fast and how exact a live day of the paper's estimator is: ``python tools/speed_live.py``.

One day of one simulated office at one reading a minute, 1000 neurons, the settings of the paper. Written out,
Eq. (26) runs the day again from midnight after every reading; of that only one reading in 40 is timed.
Of several runs each reading counts with its fastest. Set OMP_NUM_THREADS=1 for figures that can be compared.
"""

import sys
import time

import numpy as np

import occupair as oc
from occupair.live_room import LiveDay

DAY, EVERY, TIMES = 1440, 40, 5


def written_out(model, network, co2, ventilation):
    """Seconds of one reading in 40, the better of two, times 40: one product z of Eq. (9) for each minute."""
    weights, bias, coef = model.regressor_.input_weights_, model.regressor_.bias_, model.regressor_.coef_
    horizon, stride = network.layer.horizon, network.layer.stride

    def run_again(n):
        started = time.perf_counter()
        c, people = oc.smooth(co2[: n + 1], smoothing=network.smoothing), np.zeros(n + 1)
        for k in range(horizon, n + 1):
            p, o, v = c[k - horizon : k + 1], people[k - horizon : k], ventilation[k - horizon : k + 1]
            y = np.concatenate([p, p[stride:] - p[:-stride], p[1:] - p[:-1], o, v])
            h = 1 / (1 + np.exp(-(weights @ y + bias)))
            people[k] = min(max(h @ coef, 0), network.most_people)
        return time.perf_counter() - started

    return EVERY * sum(min(run_again(n), run_again(n)) for n in range(EVERY // 2, DAY, EVERY))


def live(network, co2, ventilation, tolerance):
    """Estimates of the day as they were given live, and the seconds that each reading took."""
    day, said, seconds = LiveDay(network, tolerance=tolerance), np.zeros(DAY), np.zeros(DAY)
    for k in range(DAY):
        started = time.perf_counter()
        day.append(co2[k], ventilation[k])
        said[k] = day.people[-1]
        seconds[k] = time.perf_counter() - started
    return said, seconds


def exact(network, co2, ventilation):
    """Eq. (26), every reading: ``Network.run`` over all that it changes at all."""
    said, people = np.zeros(DAY), np.zeros(DAY)
    smoother, horizon = oc.LocalSmoother(network.smoothing), network.layer.horizon
    for k in range(DAY):
        first = max(smoother.append(co2[k]) - horizon, 0)
        if k >= horizon:
            now = slice(first, k + 1)
            network.run(smoother.since(first), ventilation[now], people[now], start=horizon)
        said[k] = people[k]
    return said


def main():
    office = oc.simulate_office(days=8, seed=1)
    model = oc.OccupancyEstimator.paper(n_draws=1, random_state=0).fit(office.iloc[:-DAY])
    network = model.network()
    co2, ventilation = office["co2"].to_numpy()[-DAY:], office["ventilation"].to_numpy()[-DAY:]
    LiveDay(network)  # compiles or loads
    slow = written_out(model, network, co2, ventilation)
    print(f"written out: {slow:.1f} s a day (from one reading in {EVERY})")
    started = time.perf_counter()
    expected = exact(network, co2, ventilation)
    print(f"only what changes, in numpy: {time.perf_counter() - started:.2f} s")
    for tolerance in map(float, sys.argv[1:] or ("1e-6", "1e-3")):
        runs = [live(network, co2, ventilation, tolerance) for _ in range(TIMES)]
        each = np.min([seconds for _, seconds in runs], axis=0) * 1e6
        fastest = each.sum() / 1e6
        print(
            f"tolerance {tolerance:g}: {fastest:.3f} s, {slow / fastest:.0f} times faster, "
            f"largest error {np.abs(runs[0][0] - expected).max():.1e} people; "
            f"{np.median(each[270:330]):.0f} us a reading around 05:00, "
            f"{np.median(each[690:750]):.0f} at noon, {np.median(each[1350:1410]):.0f} around 23:00"
        )


if __name__ == "__main__":
    main()
