"""Settings of the short study that the tests share."""

from occupair.savings.study_settings import StudySettings

SHORT = StudySettings(train_weeks=1, tuning_weeks=1, days=2, vacations=False)
SEED = 3
