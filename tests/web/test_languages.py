"""Language files of the pages: same keys and placeholders in all languages, and no unknown keys in use."""

import json
import re
from pathlib import Path

import pytest

from occupair.groundtruth.counting.server import STATIC as COUNTING
from occupair.live.page import STATIC as LIVE
from occupair.live.reasons import TEXTS, Reason
from occupair.web.assets import SHARED

LANGUAGES = ["en", "de"]
PAGES = {"live": LIVE, "counting": COUNTING}


def load(folder, name):
    return json.loads((folder / "languages" / name).read_text(encoding="utf-8"))


def texts_of(page, language):
    """All texts of a page in a language, as i18n.js merges them."""
    return load(SHARED, f"common.{language}.json") | load(PAGES[page], f"{language}.json")


def placeholders(text):
    """Placeholders of a text; plural forms must agree."""
    forms = [text] if isinstance(text, str) else list(text.values())
    (found,) = {frozenset(re.findall(r"\{(\w+)\}", form)) for form in forms if "{" in form} or {frozenset()}
    return found


def used_keys(folder: Path):
    """Keys in the scripts and the HTML of a folder."""
    for path in folder.iterdir():
        if path.suffix == ".js":
            yield from re.findall(r"\bt\(\s*\"([\w.]+)\"", path.read_text())
        elif path.suffix == ".html":
            yield from re.findall(r"data-t(?:-\w+)?=\"([\w.]+)\"", path.read_text())


@pytest.mark.parametrize("language", LANGUAGES[1:])
@pytest.mark.parametrize("page", PAGES)
def test_languages_have_the_same_keys_placeholders_and_plurals(page, language):
    english, other = texts_of(page, "en"), texts_of(page, language)
    assert list(other) == list(english)
    assert {key: placeholders(text) for key, text in other.items()} == {
        key: placeholders(text) for key, text in english.items()
    }
    assert {key for key, text in other.items() if isinstance(text, dict)} == {
        key for key, text in english.items() if isinstance(text, dict)
    }


@pytest.mark.parametrize("page", PAGES)
def test_every_key_in_use_has_a_text_and_every_text_is_used(page):
    used = {*used_keys(PAGES[page]), *used_keys(SHARED)}
    assert used == set(texts_of(page, "en"))


@pytest.mark.parametrize("page", PAGES)
def test_scripts_and_html_contain_no_visible_text(page):
    for path in [*PAGES[page].iterdir(), *SHARED.iterdir()]:
        if path.suffix == ".html":
            body = path.read_text().split("<body>")[1].split("<noscript>")[0]
            text = re.sub(r"<kbd[^>]*>.*?</kbd>|<[^>]+>", " ", body)
            assert set(re.findall(r"[A-Za-z]{2,}", text)) <= {"occupair"}, path
            attributes = r"\s(?:title|aria-label|placeholder|alt)=\"[^\"]*[A-Za-z]{2,}"
            assert not re.search(attributes, body.replace('placeholder="08:47"', "")), path
        elif path.suffix == ".js":
            code = re.sub(r"(^|\s)//.*$|/\*.*?\*/", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
            code = re.sub(r"new Error\(`no text for [^`]*`\)", "", code)
            strings = re.findall(r"[\"`]([A-Z][a-z]+ [a-z]+[^\"`]*)[\"`]", code)
            assert strings == [], path


@pytest.mark.parametrize("language", TEXTS)
def test_every_reason_has_a_text_with_the_same_placeholders(language):
    fields = re.compile(r"\{(\w+)")
    assert set(TEXTS[language]) == set(Reason)
    for reason, text in TEXTS[language].items():
        assert set(fields.findall(text)) == set(fields.findall(TEXTS["en"][reason])), reason


def test_reasons_and_pages_have_the_same_languages():
    assert list(TEXTS) == LANGUAGES
    scripts = (SHARED / "i18n.js").read_text()
    assert re.findall(r"(\w+): \"\w\w-\w\w\"", scripts) == LANGUAGES
