"""Settings of the short study that the tests share, and made-up totals."""

from occupair.savings.outcome import RunTotals
from occupair.savings.policy_list import CURVES, POLICY_NAMES
from occupair.savings.study_settings import StudySettings

SHORT = StudySettings(train_weeks=1, tuning_weeks=1, days=2, vacations=False)
SEED = 3


def run_totals(*, air, below):
    """Return totals with 100 person-hours."""
    zeros = dict.fromkeys(RunTotals.__dataclass_fields__, 0.0)
    return RunTotals(**zeros | {"outdoor_air": air, "below_flow": below, "person_hours": 100.0})


def made_up_totals():
    """Return totals of all policies, for tests of tables and files."""
    keys = {name.key for name in POLICY_NAMES} | {key for keys in CURVES.values() for key in keys}
    return {(key, SEED): run_totals(air=100.0, below=1.0) for key in keys}
