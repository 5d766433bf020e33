"""Findings as JSON types."""

import json

import numpy as np
import pandas as pd

from occupair.checks.fault import Fault
from occupair.checks.faults_json import faults_document


def test_numpy_values_lists_and_tuples_become_json():
    times = pd.date_range("2024-01-08", periods=3, freq="5min")
    details = {"hours": (np.int64(7), np.float64(19.5)), "by day": [{"low": np.float32(1.5)}], "spans": []}
    fault = Fault("stuck", "wrong", "The sensor is stuck.", details=details)
    document = faults_document(pd.DataFrame({"co2": [400.0, 410.0, 420.0]}, index=times), [fault])
    [finding] = json.loads(json.dumps(document))["findings"]
    assert finding["values"] == {"hours": [7, 19.5], "by day": [{"low": 1.5}]}
    assert document["fit_to_train"] is False
