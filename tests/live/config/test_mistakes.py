"""Lines of keys in TOML files, in every notation of TOML."""

import tomllib

from hypothesis import given, settings
from hypothesis import strategies as st

from occupair.live.config.mistakes import find_lines


def test_lines_in_every_notation():
    text = '''# a comment with [a.table] = "x"
top = 1                      # 2
[a.b]                        # 3
c = "# no comment"           # 4
"d.e" = 'x"y'                # 5
f . "g" . h = [              # 6
    1, # ]
    { i = """
    ] = }""", j = 2 },
    [ 3,
      4 ],
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

  [ w . "x y" ]              # 23
t = """"quotes""""           # 24
u.v = 1                      # 25
'''
    tomllib.loads(text)
    assert find_lines(text) == {
        ("top",): 2,
        ("a",): 3,
        ("a", "b"): 3,
        ("a", "b", "c"): 4,
        ("a", "b", "d.e"): 5,
        ("a", "b", "f"): 6,
        ("a", "b", "f", "g"): 6,
        ("a", "b", "f", "g", "h"): 6,
        ("a", "b", "k"): 13,
        ("l",): 16,
        ("l", "m"): 17,
        ("l", "n"): 18,
        ("l", "n", "o"): 19,
        ("l", "m", "p"): 21,
        ("l", "m", "p", "q"): 21,
        ("l", "m", "r"): 21,
        ("w",): 23,
        ("w", "x y"): 23,
        ("w", "x y", "t"): 24,
        ("w", "x y", "u"): 25,
        ("w", "x y", "u", "v"): 25,
    }


_texts = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=8)


def _quote(text):
    """Return a TOML string with any characters in it."""
    return '"' + "".join(f"\\U{ord(char):08x}" if not char.isalnum() else char for char in text) + '"'


_tricky = st.sampled_from(['"#"', "'\"'", '"""\n"# x = 1"\n"""', "'''\n[a]\n'''", '"\\"]}"', '"""a\\"""""'])
_scalars = st.one_of(
    _texts.map(_quote),
    _tricky,
    st.integers(-99, 99).map(str),
    st.sampled_from(["true", "1.5e3", "nan", "1979-05-27T07:32:00Z", "07:32:00"]),
)
_gaps = st.sampled_from(["", " ", "\n", " # ]} comment\n", "\n\n\t"])


@st.composite
def _values(draw, depth=2):
    """Draw a TOML value, and the keys of the inline tables in it."""
    kind = draw(st.sampled_from(["scalar", "array", "table"] if depth else ["scalar"]))
    if kind == "scalar":
        return draw(_scalars), set()
    items, found = [], set()
    for key in draw(st.lists(_texts, max_size=3, unique=True)):
        gap = draw(_gaps) if kind == "array" else " "
        inner, keys = draw(_values(depth=depth - 1))
        if kind == "array":
            items.append(f"{gap}{inner}")
        else:
            items.append(f"{gap}{_quote(key)} = {inner}")
            found |= {(key,)} | {(key, *path) for path in keys}
    text = ",".join(items)
    return (f"[{text}]" if kind == "array" else f"{{{text}}}"), found


@given(st.lists(st.tuples(_texts, _gaps, _values()), max_size=5, unique_by=lambda pair: pair[0]))
@settings(max_examples=150, deadline=None)
def test_keys_have_the_line_of_their_statement(pairs):
    text, expected = "", {}
    for key, gap, (value, keys) in pairs:
        text += gap.strip("\t ") if "\n" in gap else ""
        line = text.count("\n") + 1
        expected[(key,)] = line
        expected |= {(key, *path): line for path in keys}
        text += f"{_quote(key)} = {value}\n"
    tomllib.loads(text)  # the text is valid TOML
    assert find_lines(text) == expected
