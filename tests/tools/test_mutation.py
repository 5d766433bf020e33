"""Mutation testing: the mutants of small files, and a run with a known survivor."""

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tools.mutation.forks import in_forks
from tools.mutation.mutants import Mutant, mutants_of
from tools.mutation.report import Tried, problems, table
from tools.mutation.results import KILLED, NOT_RUN, SURVIVED, TIMED_OUT, Results, hash_files
from tools.mutation.survivors import read_reasons
from tools.mutation.transplant import transplant

ROOT = Path(__file__).parents[2]


def changes(source):
    """Return what becomes of which line, in which function."""
    return {(mutant.function, mutant.before, mutant.after) for mutant in mutants_of("toy.py", source)}


def test_operators_and_numbers_are_mutated():
    source = "LIMIT = 2\n\n\ndef more(x, least=3):\n    return x > least + LIMIT\n"
    assert changes(source) == {
        ("", "LIMIT = 2", "LIMIT = None"),
        ("", "LIMIT = 2", "LIMIT = 3"),
        ("more", "def more(x, least=3):", "def more(x, least=4):"),
        ("more", "return x > least + LIMIT", "return x >= least + LIMIT"),
        ("more", "return x > least + LIMIT", "return x > least - LIMIT"),
    }


def test_properties_and_nested_functions_are_mutated():
    source = "class Day:\n    @property\n    def last(self):\n        return self.values[-1]\n"
    assert ("Day.last", "return self.values[-1]", "return self.values[+1]") in changes(source)


@pytest.mark.parametrize(
    "source",
    [
        '"""Doc 1."""\n',
        "import os\n",
        "Array = NDArray[float]\n",
        "def same(x: Literal[1]) -> 'int':\n    return x\n",
        "@cache(maxsize=1)\ndef same(x):\n    return x\n",
        "def same(x):\n    assert x > 1\n    return x\n",
    ],
)
def test_code_without_behaviour_is_not_mutated(source):
    assert changes(source) == set()


def test_strict_zip_is_not_mutated():
    found = changes("def pairs(a, b):\n    return zip(a, b, strict=True)\n")
    assert {after for *_, after in found} == {
        "return zip(b, strict=True)",
        "return zip(a, strict=True)",
    }


def test_mutant_knows_the_lines_a_test_must_run():
    source = "A = 1\n\n\ndef long(x,\n         y=2):\n    return min(x,\n               y)\n"
    lines = {(mutant.before, mutant.first, mutant.last) for mutant in mutants_of("toy.py", source)}
    assert ("A = 1", 0, 0) in lines
    assert ("y=2):", 6, 7) in lines  # a default value: any line of the function
    assert {first for before, first, _ in lines if before.startswith("return")} == {6}


TOY = """
LIMIT = 2

def more(x, least=3):
    return x > least + LIMIT

class Counter:
    step = 1

    def __init__(self):
        self.n = 0

    @property
    def twice(self):
        return 2 * self.n

    @classmethod
    def started(cls):
        counter = cls()
        counter.n = 5
        return counter
"""


def test_transplanted_code_takes_effect_in_existing_references(monkeypatch):
    toy, user = ModuleType("toy"), ModuleType("toy_user")
    toy.__file__ = "toy.py"
    exec(TOY, toy.__dict__)
    for module in (toy, user):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    user.LIMIT, user.more, counter = toy.LIMIT, toy.more, toy.Counter()
    counter.n = 4
    changed = (
        TOY.replace("LIMIT = 2", "LIMIT = 10").replace("least=3", "least=0").replace("2 * self", "3 * self")
    )
    changed = changed.replace("n = 5", "n = 6").replace("step = 1", "step = 7")
    transplant(toy, changed)
    assert (user.LIMIT, user.more(11), user.more(10)) == (10, True, False)
    assert (counter.twice, toy.Counter.started().n, counter.step) == (12, 6, 7)


@pytest.mark.parametrize("default", ["True", "None"])
def test_defaults_of_dataclasses_are_transplanted(monkeypatch, default):
    source = "from dataclasses import dataclass\n\n@dataclass\nclass Room:\n    lean: bool = False\n"
    toy = ModuleType("toy")
    toy.__file__ = "toy.py"
    monkeypatch.setitem(sys.modules, "toy", toy)
    exec(source, toy.__dict__)
    room = toy.Room
    transplant(toy, source.replace("False", default))
    assert str(room().lean) == default


def test_names_bound_to_nothing_or_to_imported_functions_are_transplanted(monkeypatch):
    """A name bound to None must not be mistaken for one that other modules do not have."""
    source = "from math import ceil, floor\n\nCOMPILER = None\nROUND = ceil\n"
    toy = ModuleType("toy")
    toy.__file__ = "toy.py"
    exec(source, toy.__dict__)
    monkeypatch.setitem(sys.modules, "toy", toy)
    transplant(toy, source)
    transplant(toy, source.replace("ROUND = ceil", "ROUND = floor").replace("= None", "= 3"))
    assert (toy.ROUND(2.5), toy.COMPILER) == (2, 3)
    assert not hasattr(sys, "COMPILER")


def test_forked_processes_report_and_end():
    def work(job, write):
        write(f"began {job}\n")
        if job == 2:
            raise SystemExit
        write("ended")

    found = {done.job: (done.text, done.signal) for done in in_forks([1, 2, 3], work, workers=2)}
    assert found == {1: ("began 1\nended", 0), 2: ("began 2\n", 0), 3: ("began 3\nended", 0)}


def mutant(after, file="toy.py"):
    return Mutant(file, "more", 5, 5, "return x > 1", after, f"source with {after}")


def test_results_are_kept_while_tests_are_the_same(tmp_path):
    tests = [tmp_path / "test_a.py", tmp_path / "test_b.py"]
    for file in tests:
        file.write_text("old")
    store = tmp_path / "results.jsonl"
    Results(store, tmp_path).add(mutant("a"), KILLED, "test_a.py::test_one", hash_files(tests))
    Results(store, tmp_path).add(mutant("b"), SURVIVED, "", hash_files(tests))
    again = Results(store, tmp_path)
    assert again.get(mutant("a"), hash_files(tests)).outcome == KILLED
    assert again.get(mutant("b"), hash_files(tests)).outcome == SURVIVED
    assert again.get(mutant("c"), hash_files(tests)) is None
    tests[1].write_text("new")
    assert again.get(mutant("a"), hash_files(tests)).outcome == KILLED
    assert again.get(mutant("b"), hash_files(tests)) is None
    tests[0].write_text("new")
    assert again.get(mutant("a"), hash_files(tests)) is None


def test_report_lists_survivors_without_reason_and_reasons_without_survivor():
    tried = [
        Tried("toy", mutant("killed"), KILLED),
        Tried("toy", mutant("endless"), TIMED_OUT),
        Tried("toy", mutant("explained"), SURVIVED),
        Tried("toy", mutant("new"), SURVIVED),
    ]
    reasons = {
        mutant("explained").key: "equal",
        mutant("gone").key: "equal",
        mutant("x", "other.py").key: "equal",
    }
    assert problems(tried, reasons) == [
        "survived: toy.py:5 more\n- return x > 1\n+ new",
        "reason without a survivor: toy.py more\n- return x > 1\n+ gone",
    ]
    assert table(tried, reasons).splitlines()[-1] == "| toy | 4 | 1 | 1 | 1 | 1 | 0 |"
    unfinished = [*tried, Tried("toy", mutant("later"), NOT_RUN)]
    assert not [line for line in problems(unfinished, reasons) if line.startswith("reason")]


def test_reasons_are_complete_and_unique(tmp_path):
    entry = (
        '[[survivor]]\nfile = "a.py"\nfunction = "f"\nbefore = "x"\nafter = ["y", "z"]\nreason = "equal"\n'
    )
    file = tmp_path / "survivors.toml"
    file.write_text(entry)
    assert read_reasons(file) == {("a.py", "f", "x", "y"): "equal", ("a.py", "f", "x", "z"): "equal"}
    file.write_text(entry + entry)
    with pytest.raises(ValueError, match=r"survivors\.toml: two reasons for \('a\.py', 'f', 'x', 'y'\)"):
        read_reasons(file)
    file.write_text(entry.replace('reason = "equal"\n', ""))
    with pytest.raises(ValueError, match="an entry needs after, before, file, function, reason"):
        read_reasons(file)


def test_reasons_name_existing_lines():
    for (file, _, before, _), reason in read_reasons().items():
        source = " ".join(line.strip() for line in (ROOT / file).read_text().splitlines())
        assert before in source, f"{file} has no line {before!r}"
        assert reason.endswith(".")


RUN = """
import json, math, sys
from pathlib import Path
from tools.mutation import runner
from tools.mutation.results import Results, hash_files
from tools.mutation.targets import Target

root = Path(sys.argv[1])
target = Target("toy", ("src/toy.py",), ("tests",), root=root)
mutants = runner.list_mutants(target)
progress = runner.Progress(begin=lambda name, total: None, step=lambda: None)
runner.run_target(target, mutants, root / "kept", workers=2, deadline=math.inf, progress=progress)
results = Results(root / "kept/toy.jsonl", root)
tests = hash_files(target.test_files())
found = {f"{one.before} -> {one.after}": results.get(one, tests).outcome for one in mutants}
(root / "found.json").write_text(json.dumps(found))
"""


def test_run_finds_killed_endless_and_surviving_mutants(tmp_path):
    """The tests do not count to 0, do not try 3 and 4, and do not call ``unused``."""
    (tmp_path / "src").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["src"]\n')
    (tmp_path / "src/toy.py").write_text(
        "def count_up(n):\n    k = 0\n    while k < n:\n        k = k + 1\n    return k\n\n\n"
        "def at_least(x):\n    return x >= 3\n\n\n"
        "def unused(x):\n    return x * 2\n"
    )
    (tmp_path / "tests/test_toy.py").write_text(
        "import toy\n\n\ndef test_count_up():\n    assert toy.count_up(3) == 3\n\n\n"
        "def test_at_least():\n    assert toy.at_least(5)\n    assert not toy.at_least(1)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((tmp_path / "found.json").read_text()) == {
        "k = 0 -> k = None": KILLED,
        "k = 0 -> k = 1": SURVIVED,
        "while k < n: -> while k <= n:": KILLED,
        "k = k + 1 -> k = None": KILLED,
        "k = k + 1 -> k = k - 1": TIMED_OUT,
        "k = k + 1 -> k = k + 2": KILLED,
        "return x >= 3 -> return x > 3": SURVIVED,
        "return x >= 3 -> return x >= 4": SURVIVED,
        "return x * 2 -> return x / 2": SURVIVED,
        "return x * 2 -> return x * 3": SURVIVED,
    }


def test_run_rejects_tests_that_fail_without_a_mutant(tmp_path):
    """The test compares objects of the loaded file with those of the file that was put in its place."""
    (tmp_path / "src").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["src"]\n')
    (tmp_path / "src/toy.py").write_text("MARK = object()\n\n\ndef mark():\n    return MARK\n")
    (tmp_path / "tests/test_toy.py").write_text(
        "import toy\n\nKEPT = [toy.MARK]\n\n\ndef test_mark():\n    assert toy.mark() is KEPT[0]\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "these tests fail without a mutant: tests/test_toy.py::test_mark" in done.stdout + done.stderr
