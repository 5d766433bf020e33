"""Every code block of the documents is run or checked, unless it is marked as a fragment.

A line ``<!-- fragment -->`` or ``<!-- fragment: reason -->`` directly before a block marks it. Otherwise
Python runs, top to bottom of a page in one namespace; in shell code, commands of occupair are checked against
its command line and ``make`` against the Makefile; settings are validated, and other JSON, YAML and TOML is
parsed.
"""

from __future__ import annotations

import doctest
import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import typer.main
import yaml
from markdown_pages import PAGES, ROOT, Block, blocks_of, inline_code_of

from occupair.cli import app
from occupair.live.config import read_config

SHELL = ("sh", "console", "bash")
OUTPUT = ("", "text", "csv")
"""Output, examples of files and indented blocks, of which only shell commands are checked."""
DATA = ("toml", "json", "yaml")
BLOCKS = [block for path in PAGES for block in blocks_of(path)]
CHECKED = [block for block in BLOCKS if not block.is_fragment]
TARGETS = set(re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
COMMANDS = typer.main.get_command(app)


def page_name(path):
    return str(path.relative_to(ROOT))


def of_language(*languages):
    return [pytest.param(block, id=str(block)) for block in CHECKED if block.language in languages]


def shell_commands(code):
    """Return the simple commands of shell code as lists of words, without comments, prompts and variables."""
    code = re.sub(r"<<-? ?'?(\w+)'?\n.*?^\1$", "", code.replace("\\\n", " "), flags=re.DOTALL | re.MULTILINE)
    found = []
    for line in code.splitlines():
        line = re.sub(r"^(?:\$|#) ", "", line.strip())
        if not re.match(
            r"(?:[\w./-]*/)?(?:occupair|make) |\w+=\S+ (?:occupair|make) |.*(?:&&|\||;) *occupair ", line
        ):
            continue
        lexer = shlex.shlex(re.sub(r"(^|\s)#.*$", "", line), posix=True, punctuation_chars="|&;()<>")
        lexer.whitespace_split = True
        words: list[str] = []
        for token in [*lexer, ";"]:
            if token.strip("|&;()<>"):
                words.append(token)
                continue
            if words:
                found.append(words)
            words = ["to-file"] if "<" in token or ">" in token else []
    return [without_variables(words) for words in found]


def without_variables(words):
    while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
        words = words[1:]
    return words


def problem_with(words):
    """Return what is wrong with a command of occupair or make; None for none, and for other commands."""
    if not words or Path(words[0]).name not in ("occupair", "make"):
        return None
    if words[0] == "make":
        unknown = [
            word for word in words[1:] if not word.startswith("-") and "=" not in word and word not in TARGETS
        ]
        return f"make has no target {', '.join(unknown)}" if unknown else None
    command, rest, path = COMMANDS, words[1:], []
    while rest and rest[0] in getattr(command, "commands", {}):
        command, path, rest = command.commands[rest[0]], [*path, rest[0]], rest[1:]
    if getattr(command, "commands", None) and rest and not rest[0].startswith("-"):
        return f"occupair {' '.join(path)} has no command {rest[0]}"
    if "--help" in rest:
        return None
    try:
        command.make_context(" ".join(["occupair", *path]), list(rest))
    except Exception as error:  # noqa: BLE001 - typer has several classes of them, by version
        return None if type(error).__name__ in ("Exit", "NoArgsIsHelpError") else error.format_message()
    return None


@pytest.mark.parametrize("block", [pytest.param(one, id=str(one)) for one in CHECKED])
def test_language_has_a_check(block):
    known = ("python", *SHELL, *OUTPUT, *DATA)
    assert block.language in known, "mark the block as a fragment: <!-- fragment -->"


@pytest.mark.parametrize("path", PAGES, ids=page_name)
def test_fragment_marks_belong_to_a_block(path):
    marks = len(re.findall(r"^ *<!-- fragment", path.read_text(), re.MULTILINE))
    assert marks == sum(block.is_fragment for block in blocks_of(path))


@pytest.mark.parametrize("block", of_language(*SHELL, *OUTPUT))
def test_commands_exist(block):
    problems = [problem_with(words) for words in shell_commands(block.code)]
    assert [problem for problem in problems if problem] == []


@pytest.mark.parametrize("path", PAGES, ids=page_name)
def test_commands_in_text_exist(path):
    problems = []
    for code in inline_code_of(path):
        if not re.match(r"(make|occupair) [a-z]", code):
            continue
        words = code.split()
        if words[0] == "make":
            problems.append(problem_with(words))
        else:
            problems += problems_with_names(words[1:])
    assert [problem for problem in problems if problem] == []


def problems_with_names(words):
    """Return which of the commands and options of an abbreviated command line do not exist."""
    command = COMMANDS
    while words and words[0] in getattr(command, "commands", {}):
        command, words = command.commands[words[0]], words[1:]
    if command is COMMANDS:
        return [f"there is no command {words[0]}"]
    flags = {flag for one in command.params for flag in (*one.opts, *one.secondary_opts)} | {"--help"}
    return [
        f"there is no option {word}" for word in words if re.match(r"--[a-z]", word) and word not in flags
    ]


PYTHON_PAGES = sorted({block.path for block in CHECKED if block.language == "python"})


@pytest.mark.parametrize("path", PYTHON_PAGES, ids=page_name)
def test_python_runs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks_of(path):
        if block.language == "python" and not block.is_fragment:
            run(block, names)


def run(block: Block, names):
    if ">>>" not in block.code:
        exec(compile("\n" * block.line + block.code, str(block.path), "exec"), names)
        return
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    runner = doctest.DocTestRunner(optionflags=flags)
    test = doctest.DocTestParser().get_doctest(block.code, names, str(block), str(block.path), block.line)
    output: list[str] = []
    runner.run(test, out=output.append, clear_globs=False)
    names |= test.globs
    assert runner.failures == 0, "".join(output)


@pytest.mark.parametrize("block", of_language("toml"))
def test_settings_are_valid(block, tmp_path):
    content = tomllib.loads(block.code)
    if "rooms" in content:
        path = tmp_path / "rooms.toml"
        path.write_text(block.code)
        assert read_config(path, {}).rooms


@pytest.mark.parametrize("block", of_language("json"))
def test_json_is_valid(block):
    assert json.loads(block.code)


class Loader(yaml.SafeLoader):
    """Loader that ignores the tags of other programs, such as ``!secret``."""


Loader.add_multi_constructor("!", lambda loader, suffix, node: suffix)


@pytest.mark.parametrize("block", of_language("yaml"))
def test_yaml_is_valid(block):
    assert list(yaml.load_all(block.code, Loader))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("occupair fit room.csv --out room.occupair  # train", None),
        ("TZ=UTC occupair serve rooms.toml --workers 4 &", None),
        ("$ occupair check room.csv | head", None),
        ("occupair --version", None),
        ("occupair fit --help", None),
        ("occupair fit room.csv --colour red", "--colour"),
        ("occupair simulate", "--out"),
        ("occupair check", "READINGS"),
        ("occupair fit room.csv --hidden many", "--hidden"),
        ("occupair train room.csv", "train"),
        ("occupair fleet train rooms", "train"),
        ("curl http://127.0.0.1:8099/api/rooms && occupair token --rolle read", "--rolle"),
        ("make demo", None),
        ("make coffee", "coffee"),
    ],
)
def test_check_of_commands(line, problem):
    (found,) = [problem_with(words) for words in shell_commands(line)[-1:]]
    assert (found is None) if problem is None else problem in found


def test_blocks_of_a_page():
    text = (
        "<!-- fragment: needs a broker -->\n```python\nrun()\n```\n\n```toml\na = 1\n```\n\n    make test\n"
    )
    found = blocks_of(Path("page.md"), text)
    assert [(one.line, one.language, one.is_fragment) for one in found] == [
        (2, "python", True),
        (6, "toml", False),
        (10, "", False),
    ]
