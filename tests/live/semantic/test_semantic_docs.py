"""The guide of building models matches what the commands write."""

import re
from pathlib import Path

from live.semantic.models import imported_office, read_settings
from rdflib import BNode, Graph

from occupair.live.semantic.brick_export import export_brick
from occupair.live.semantic.haystack_export import export_haystack
from occupair.live.semantic.points import ESTIMATES, EXTENSION_CLASSES, READINGS

GUIDE = (Path(__file__).parents[3] / "docs/semantic.md").read_text()
EXPORTED, IMPORTED = re.findall(r"^```toml\n(.*?)^```$", GUIDE, re.DOTALL | re.MULTILINE)


def test_documented_turtle_is_exported(tmp_path):
    text = export_brick(read_settings(tmp_path, EXPORTED))
    prefixes = "\n".join(re.findall(r"^@prefix.*$", text, re.MULTILINE))
    (excerpt,) = re.findall(r"^```turtle\n(.*?)^```$", GUIDE, re.DOTALL | re.MULTILINE)

    def statements(turtle):
        """Return triples with blank nodes replaced by what is said of them."""
        graph = Graph().parse(data=turtle, format="turtle")

        def term(one):
            if not isinstance(one, BNode):
                return one
            return frozenset((p, term(o)) for p, o in graph.predicate_objects(one))

        return {(s, p, term(o)) for s, p, o in graph if not isinstance(s, BNode)}

    documented = statements(prefixes + excerpt)
    assert len(documented) == 13
    assert documented <= statements(text)


def test_documented_comments_are_written(tmp_path):
    _, text = imported_office(tmp_path)
    for block in IMPORTED.strip().split("\n\n"):
        assert block in text


def test_table_of_points_is_complete():
    for key, kind in (READINGS | ESTIMATES).items():
        name = f"{key}, published" if key in ESTIMATES else f"`{key}`"
        prefix = "occupair" if kind.brick in EXTENSION_CLASSES else "brick"
        unit = f"`unit:{kind.qudt}` " if kind.qudt else ""
        assert f"\n| {name} | `{prefix}:{kind.brick}` | {unit}| `{kind.tags}` |\n" in GUIDE


def test_own_haystack_tags_are_documented(tmp_path):
    text = export_haystack(read_settings(tmp_path))
    used = set(re.findall(r'"(mqtt\w+|ventilationFull|airVolume|seats|bacnet\w+)"', text))
    assert all(f"`{tag}`" in GUIDE for tag in used)
