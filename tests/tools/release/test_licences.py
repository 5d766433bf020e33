"""Licences of dependencies: what is accepted, and libraries inside wheels."""

from email.message import Message
from pathlib import Path
from types import SimpleNamespace

import pytest

from tools.dockerfile import read_stages
from tools.home_assistant_app import DEFAULTS
from tools.release.bundled import GPL_EXTRAS, GPL_LIBRARIES, bundled_libraries
from tools.release.licence_page import MARKER, with_tables
from tools.release.licences import Licensed, is_accepted, is_permissive, licence_of, licence_problems

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/licences.md").read_text()


@pytest.mark.parametrize(
    ("licence", "accepted", "permissive"),
    [
        ("MIT", True, True),
        ("BSD-3-Clause AND 0BSD AND Zlib", True, True),
        ("EPL-2.0 OR BSD-3-Clause", True, True),
        ("LGPL-3.0-only", True, False),
        ("MPL-2.0 AND MIT", True, False),
        ("LGPL-3.0-or-later OR GPL-2.0-or-later", True, False),
        ("GPL-3.0-or-later WITH GCC-exception-3.1", True, True),
        ("GPL-2.0-or-later", False, False),
        ("MIT AND GPL-3.0-only", False, False),
        ("AGPL-3.0-or-later", False, False),
        ("Commercial", False, False),
        ("not stated", False, False),
    ],
)
def test_accepted_licences(licence, accepted, permissive):
    assert (is_accepted(licence), is_permissive(licence)) == (accepted, permissive)


@pytest.mark.parametrize(
    ("fields", "licence"),
    [
        ({"License-Expression": "MIT OR Apache-2.0"}, "MIT OR Apache-2.0"),
        ({"License": "Apache 2.0"}, "Apache-2.0"),
        ({"License": "", "Classifier": "License :: OSI Approved :: BSD License"}, "BSD-3-Clause"),
        ({"License": "see file", "Classifier": "License :: OSI Approved :: MIT License"}, "MIT"),
        ({"License": "GPLv3"}, "GPLv3"),
        ({}, "not stated"),
    ],
)
def test_licence_from_metadata(fields, licence):
    metadata = Message()
    metadata["Name"] = "package"
    for name, value in fields.items():
        metadata[name] = value
    assert licence_of(SimpleNamespace(metadata=metadata)) == licence


def test_gpl_fails_unless_it_is_a_documented_exception():
    found = [Licensed("one", "1", "GPL-3.0-only"), Licensed("av/libx264", "165", "GPL-2.0-or-later")]
    assert licence_problems(found, GPL_LIBRARIES) == [
        "one 1: licence GPL-3.0-only is not accepted (tools/release/licences.py)"
    ]
    assert len(licence_problems([Licensed("av/libx264", "165", "AGPL-3.0-only")], GPL_LIBRARIES)) == 1


def test_libraries_in_wheels(tmp_path):
    for name in (
        "av.libs/libx264-d6533a8d.so.165",
        "numpy.libs/libgfortran-040039e1-0352e75f.so.5.0.0",
        "opencv_python_headless.libs/libcrypto-a324fe28.so.1.1.1k",
        "opencv_python_headless.libs/libopenblasp-r0-59ffcd50.3.15.so",
        "psycopg_binary.libs/libcrypto-3a0647ea.so.3",
        "some.libs/libsecret-00000000.so",
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    assert bundled_libraries(tmp_path) == [
        Licensed("av/libx264", "165", "GPL-2.0-or-later"),
        Licensed("numpy/libgfortran", "5.0.0", "GPL-3.0-or-later WITH GCC-exception-3.1"),
        Licensed("opencv-python-headless/libcrypto", "1.1.1k", "OpenSSL"),
        Licensed("opencv-python-headless/libopenblasp-r0", "3.15", "BSD-3-Clause"),
        Licensed("psycopg-binary/libcrypto", "3", "Apache-2.0"),
        Licensed("some/libsecret", "", "unknown"),
    ]


def test_tables_replace_the_rest_of_the_page():
    packages = [Licensed("numpy", "2.4", "BSD-3-Clause"), Licensed("psycopg", "3.3", "LGPL-3.0-only")]
    libraries = [Licensed("av/libx264", version, "GPL-2.0-or-later") for version in ("164", "165")]
    page = with_tables(
        f"# Title\n{MARKER}old", packages, libraries, {"": {"numpy"}, "postgres": {"numpy", "psycopg"}}
    )
    assert page.startswith(
        f"# Title\n{MARKER}\n## Packages\n\n2 packages with all extras, 1 of them in a plain"
    )
    assert "| numpy | 2.4 | BSD-3-Clause | occupair |\n" in page
    assert "| psycopg | 3.3 | **LGPL-3.0-only** | `postgres` |\n" in page
    assert "\n1 shared libraries in these wheels.\n" in page
    assert page.count("| av | libx264 |") == 1
    assert page.endswith("| av | libx264 | **GPL-2.0-or-later**, see above |\n")


def test_page_documents_the_exceptions():
    for name in GPL_LIBRARIES:
        package, library = name.split("/")
        assert f"| {package} | {library} | **{GPL_LIBRARIES[name]}**, see above |" in PAGE
    assert all(f"extra `{extra}`" in PAGE for extra in GPL_EXTRAS)


def test_image_and_app_have_no_gpl_extra():
    stages = read_stages(ROOT / "deploy/Dockerfile", VARIANT="service").values()
    arguments = [rest for stage in stages for word, rest in stage.steps if word == "ARG"]
    (image,) = [rest.partition("=")[2] for rest in arguments if rest.startswith("EXTRAS=")]
    for extras in (image, DEFAULTS["EXTRAS"]):
        assert not GPL_EXTRAS & set(extras.split(","))
