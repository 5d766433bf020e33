"""Access to the published files of the data sets."""

import csv
import gzip

import numpy as np
import pytest


@pytest.fixture(scope="session")
def raw_rows(published):
    """Rows of a published file as lists of strings, read by the csv module, without the header."""

    def rows_of(name, file):
        path = published(name) / file
        wrapped = path.with_name(f"{file}.gz")
        content = path.read_bytes() if path.exists() else gzip.decompress(wrapped.read_bytes())
        return list(csv.reader(content.decode().splitlines()))[1:]

    return rows_of


@pytest.fixture(scope="session")
def explained():
    """R2 of a regression of the counts on CO2, its rise and their products with ventilation."""

    def r2(readings, *, span):
        days = readings.index.normalize()
        co2 = readings["co2"].groupby(days).transform(lambda day: day.rolling(span, center=True).mean())
        rise = co2.groupby(days).shift(-span) - co2.groupby(days).shift(span)
        air = readings["ventilation"]
        terms = np.column_stack([np.ones(len(co2)), co2, rise, co2 * air, air])
        usable = np.isfinite(terms).all(axis=1)
        terms, counts = terms[usable], readings["occupancy"].to_numpy()[usable]
        left = counts - terms @ np.linalg.lstsq(terms, counts, rcond=None)[0]
        return 1 - left.var() / counts.var()

    return r2
