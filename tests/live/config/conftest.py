"""Shared fixtures: mistakes in settings."""

import os

import pytest

from occupair.errors import InputError


@pytest.fixture
def mistakes_in(read, tmp_path):
    """Return the mistakes in a settings text, without the folder."""

    def mistakes_in(text, environ=None, **options):
        with pytest.raises(InputError) as caught:
            read(text, environ, **options)
        return str(caught.value).replace(f"{tmp_path}{os.sep}", "").splitlines()

    return mistakes_in
