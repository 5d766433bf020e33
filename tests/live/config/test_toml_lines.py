"""The line of every key of a TOML file, however it is written."""

import tomllib

from hypothesis import given, settings
from hypothesis import strategies as st

from occupair.live.config.toml_lines import find_lines


def test_lines_of_every_way_to_write_toml():
    text = '''# a comment with [a.table] = "x"
top = 1                      # 2
[a.b]                        # 3
c = "# no comment"           # 4
"d.e" = 'x"y'                # 5
f . "g" . h = [              # 6
    1, # ]                     7
    { i = """
    ] = }""", j = 2 },       # 8 and 9
    [ 3,                     # 10
      4 ],                   # 11
]
k = \'\'\'
[no.table]
\'\'\'                       # 13 to 15
[[l]]                        # 16
m = 1                        # 17
[l.n]                        # 18
o = 2020-01-01 10:00:00      # 19
[[l]]                        # 20
m = { p.q = {}, r = [] }     # 21
[[l.s]]                      # 22
[[l.s]]                      # 23
t = """"quotes""""           # 24
u = 1                        # 25
'''
    tomllib.loads(text)
    lines = find_lines(text)
    expected = {
        ("top",): 2,
        ("a",): 3,
        ("a", "b"): 3,
        ("a", "b", "c"): 4,
        ("a", "b", "d.e"): 5,
        ("a", "b", "f"): 6,
        ("a", "b", "f", "g"): 6,
        ("a", "b", "f", "g", "h"): 6,
        ("a", "b", "f", "g", "h", 0): 7,
        ("a", "b", "f", "g", "h", 1): 8,
        ("a", "b", "f", "g", "h", 1, "i"): 8,
        ("a", "b", "f", "g", "h", 1, "j"): 9,
        ("a", "b", "f", "g", "h", 2): 10,
        ("a", "b", "f", "g", "h", 2, 0): 10,
        ("a", "b", "f", "g", "h", 2, 1): 11,
        ("a", "b", "k"): 13,
        ("l",): 16,
        ("l", 0): 16,
        ("l", 0, "m"): 17,
        ("l", 0, "n"): 18,
        ("l", 0, "n", "o"): 19,
        ("l", 1): 20,
        ("l", 1, "m"): 21,
        ("l", 1, "m", "p"): 21,
        ("l", 1, "m", "p", "q"): 21,
        ("l", 1, "m", "r"): 21,
        ("l", 1, "s"): 22,
        ("l", 1, "s", 0): 22,
        ("l", 1, "s", 1): 23,
        ("l", 1, "s", 1, "t"): 24,
        ("l", 1, "s", 1, "u"): 25,
    }
    assert lines == expected


_texts = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=8)


def _quoted(text):
    """A text as TOML writes it, whatever is in it."""
    return '"' + "".join(f"\\U{ord(char):08x}" if not char.isalnum() else char for char in text) + '"'


_tricky = st.sampled_from(['"#"', "'\"'", '"""\n"# x = 1"\n"""', "'''\n[a]\n'''", '"\\"]}"', '"""a\\"""""'])
_plain = st.one_of(
    _texts.map(_quoted),
    _tricky,
    st.integers(-99, 99).map(str),
    st.sampled_from(["true", "1.5e3", "nan", "1979-05-27T07:32:00Z", "07:32:00"]),
)
_gaps = st.sampled_from(["", " ", "\n", " # ]} comment\n", "\n\n\t"])


@st.composite
def _value(draw, depth=2):
    """A value of TOML and the breaks of lines in it before each of its parts."""
    kind = draw(st.sampled_from(["plain", "array", "table"] if depth else ["plain"]))
    if kind == "plain":
        return draw(_plain), {}
    text, places = "[" if kind == "array" else "{", {}
    keys = draw(st.lists(_texts, max_size=3, unique=True))
    for item, key in enumerate(keys):
        gap = draw(_gaps) if kind == "array" else " "
        inner, inside = draw(_value(depth=depth - 1))
        if kind == "table" and "\n" in inner and not inner.startswith(('"""', "'''", "[")):
            inner, inside = "0", {}  # an inline table may not go over lines, other than inside its values
        text += gap
        name = item if kind == "array" else key
        places[(name,)] = text.count("\n")
        text += "" if kind == "array" else f"{_quoted(key)} = "
        places |= {(name, *path): text.count("\n") + line for path, line in inside.items()}
        text += inner + ("," if item < len(keys) - 1 else "")
    return text + ("]" if kind == "array" else "}"), places


@given(st.lists(st.tuples(_texts, _gaps, _value()), max_size=5, unique_by=lambda pair: pair[0]))
@settings(max_examples=150, deadline=None)
def test_lines_are_those_that_were_written(pairs):
    text, expected = "", {}
    for key, gap, (value, places) in pairs:
        text += gap.strip("\t ") if "\n" in gap else ""
        line = text.count("\n") + 1
        expected[(key,)] = line
        expected |= {(key, *path): line + offset for path, offset in places.items()}
        text += f"{_quoted(key)} = {value}\n"
    tomllib.loads(text)  # what was written is TOML
    assert find_lines(text) == expected
