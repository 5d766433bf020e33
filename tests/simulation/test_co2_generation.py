import pytest

from occupair.simulation.co2_generation import basal_metabolic_rate, co2_generation


# Persily and de Jonge 2017, Table 4, ages 21 to 30, at 273 K and 101 kPa: men of 84.9 kg give 0.0039 L/s
# at 1.0 met and 0.0056 at 1.4; women of 71.9 kg give 0.0031 and 0.0044. Here the air is at 297 K.
@pytest.mark.parametrize(
    ("mass", "male", "met", "published"),
    [
        (84.9, True, 1.0, 0.0039),
        (84.9, True, 1.4, 0.0056),
        (71.9, False, 1.0, 0.0031),
        (71.9, False, 1.4, 0.0044),
    ],
)
def test_generation_agrees_with_published_rates(mass, male, met, published):
    warm = co2_generation(basal_metabolic_rate(mass, male=male), met)
    at_zero_celsius = float(warm) * (273 / 297) * (101.3 / 101)
    assert at_zero_celsius == pytest.approx(published, abs=0.0001)


def test_generation_by_hand():
    # 0.85 * 8 MJ/day * 1.5 met * 297 K / 101.3 kPa * 0.000211 = 0.0063100 L/s
    assert float(co2_generation(8.0, 1.5)) == pytest.approx(0.006310, abs=1e-6)


def test_generation_broadcasts_over_people_and_minutes():
    rates = co2_generation([6.0, 8.0], [[0.0, 1.5], [1.5, 0.0]])
    assert rates.shape == (2, 2)
    assert rates[0, 0] == rates[1, 1] == 0
    assert rates[1, 0] / rates[0, 1] == pytest.approx(6 / 8)
