"""Prior from other rooms: its limits, and that it does not hurt."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import occupair as oc
from occupair.metrics import rmse
from occupair.room import transfer
from occupair.room.mass_balance import Balance, BalanceVariant, BaseLevel
from occupair.room.transfer import BalancePrior

LEVEL = BaseLevel(lowest=380.0, highest=420.0, median=400.0)


def office(seed, days):
    return oc.simulate_office(days=days, seed=seed).iloc[::15]


def small(**changes):
    return oc.OccupancyEstimator(**({"n_hidden": 8, "random_state": 0} | changes))


@pytest.fixture(scope="module")
def others():
    return [small().fit(office(seed, 5)) for seed in (101, 102, 103)]


def rooms_with(*coefs):
    """A prior with these coefficients for all low shares and delays."""
    balances = tuple(
        Balance(LEVEL, (BalanceVariant(0.5, 0.0, 0, np.array(coef, dtype=float), 1.0),)) for coef in coefs
    )
    return BalancePrior(dict.fromkeys((0.0, 10.0, 20.0), balances), uses_ventilation=True)


THREE = ([1, 0.5, 1, 2, -1, 0], [2, 0.4, 1.5, 1, -0.5, 1], [4, 0.1, 3, 2.5, 0, 0.5])


def a_room(seed=0, n=300):
    rng = np.random.default_rng(seed)
    terms = np.column_stack([rng.normal(0, 1, (n, 5)), np.ones(n)])
    return terms, terms @ [3, 1, 2, 0.5, -2, 4] + rng.normal(0, 0.5, n)


def fit_with(rooms, terms, people, *, n_days=3):
    """Coefficients fitted with the penalty."""
    matrix, start = rooms.penalty(10.0, n_days)(0.5, 0.0, terms, people)
    return start + np.linalg.solve(terms.T @ terms + matrix, terms.T @ (people - terms @ start))


def test_prior_without_strength_is_least_squares(monkeypatch):
    monkeypatch.setattr(transfer, "PRIOR_SAMPLES", 1e-9)
    terms, people = a_room()
    np.testing.assert_allclose(
        fit_with(rooms_with(*THREE), terms, people),
        np.linalg.lstsq(terms, people, rcond=None)[0],
        atol=1e-8,
    )


def test_strong_prior_determines_coefficients(monkeypatch):
    monkeypatch.setattr(transfer, "PRIOR_SAMPLES", 1e12)
    coef = fit_with(rooms_with(*THREE), *a_room())
    np.testing.assert_allclose(coef, [2, 0.4, 1.5, 2, -0.5, 0.5], atol=1e-6)  # the medians


def test_prior_weakens_with_days():
    rooms, (terms, people) = rooms_with(*THREE), a_room()
    own = np.linalg.lstsq(terms, people, rcond=None)[0]
    away = [np.abs(fit_with(rooms, terms, people, n_days=n) - own).sum() for n in (1, 3, 30, 3000)]
    assert away == sorted(away, reverse=True)
    assert away[0] > 2 * away[3]


def test_prior_from_one_room():
    coef = fit_with(rooms_with([2, 0.4, 1.5, 1, -0.5, 1]), *a_room())
    assert np.isfinite(coef).all()
    model = oc.OccupancyEstimator.transfer([small().fit(office(7, 3))], n_hidden=5, random_state=0)
    assert model.start.n_rooms == 1
    assert model.fit(office(8, 2)).estimate(office(8, 1)).max() > 5


@pytest.mark.slow
def test_prior_improves_one_day_and_does_not_hurt_few_days(others):
    errors = {1: [], 3: []}
    for seed in range(6):
        readings = office(seed, 6)
        test = readings.iloc[3 * 96 :]
        for days, found in errors.items():
            alone, helped = small(), oc.OccupancyEstimator.transfer(others, n_hidden=8, random_state=0)
            train = readings.iloc[: days * 96]
            found.append(
                [rmse(test["occupancy"], model.fit(train).estimate(test)) for model in (alone, helped)]
            )
    alone, helped = np.mean(errors[3], axis=0)
    assert helped < 1.01 * alone
    alone, helped = np.mean(errors[1], axis=0)
    assert helped < alone


@pytest.mark.filterwarnings("ignore:CO2 adds almost nothing")
@pytest.mark.parametrize("minutes", [1, 5, 60])
def test_prior_from_rooms_with_another_interval(others, minutes):
    readings = oc.simulate_office(days=3, seed=9).iloc[::minutes]
    model = oc.OccupancyEstimator.transfer(others, n_hidden=5, random_state=0).fit(readings)
    assert model.interval_ == minutes
    assert model.estimate(readings).max() > 5


def test_prior_from_model_files(others, tmp_path):
    others[0].save(tmp_path / "a.occupair")
    others[1].save(tmp_path / "b.occupair")
    paths = [tmp_path / "a.occupair", str(tmp_path / "b.occupair")]
    readings = office(4, 3)
    from_files = oc.OccupancyEstimator.transfer(paths, n_hidden=5, random_state=0).fit(readings)
    from_models = oc.OccupancyEstimator.transfer(others[:2], n_hidden=5, random_state=0).fit(readings)
    pd.testing.assert_series_equal(
        from_files.estimate(readings), from_models.estimate(readings), check_exact=True
    )


def test_clone_keeps_prior(others):
    readings = office(4, 2)
    model = oc.OccupancyEstimator.transfer(others, n_hidden=5, random_state=0)
    twin = clone(model)
    assert twin.start is not model.start
    assert sorted(twin.get_params()) == sorted(model.get_params())
    pd.testing.assert_series_equal(
        twin.fit(readings).estimate(readings), model.fit(readings).estimate(readings), check_exact=True
    )
    assert clone(model).set_params(start=None).start is None


@pytest.mark.filterwarnings("ignore:the room is empty at every head count")
def test_prior_from_empty_rooms():
    empty = office(1, 2).assign(occupancy=0).drop(columns="ventilation")
    model = oc.OccupancyEstimator.transfer([small().fit(empty)], n_hidden=5, random_state=0).fit(empty)
    assert (model.estimate(empty) == 0).all()


def test_no_rooms_raise():
    with pytest.raises(oc.InputError, match=r"^rooms must contain at least one trained model, got none$"):
        oc.OccupancyEstimator.transfer([])


def test_rooms_of_paper_layers_raise(estimator, others):
    for wrong in (estimator, small()):
        with pytest.raises(
            oc.InputError, match=r"^rooms must all be trained with layer 'room', the default$"
        ):
            oc.OccupancyEstimator.transfer([others[0], wrong])


@pytest.mark.filterwarnings("ignore:CO2 adds almost nothing")
def test_rooms_must_agree_on_ventilation(others):
    blind = small().fit(office(5, 2).drop(columns="ventilation"))
    with pytest.raises(
        oc.InputError, match=r"^rooms must either all be trained with ventilation or all without$"
    ):
        oc.OccupancyEstimator.transfer([others[0], blind])
    readings = office(6, 2)
    with pytest.raises(
        oc.InputError, match=r"which were trained with ventilation: these are without ventilation$"
    ):
        oc.OccupancyEstimator.transfer(others).fit(readings.drop(columns="ventilation"))
    with pytest.raises(
        oc.InputError, match=r"which were trained without ventilation: these are with ventilation$"
    ):
        oc.OccupancyEstimator.transfer([blind]).fit(readings)


def test_weights_equal_repeated_rows():
    terms, people = a_room(n=60)
    often = np.random.default_rng(2).integers(0, 3, 60)
    draw = rooms_with(*THREE).penalty(10.0, 3)
    ours = draw(0.5, 0.0, terms, people, often.astype(float))
    theirs = draw(0.5, 0.0, np.repeat(terms, often, axis=0), np.repeat(people, often))
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)
