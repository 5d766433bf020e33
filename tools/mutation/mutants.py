"""Mutants of a source file, by the operators of mutmut.

Not mutated, because no test of behaviour or every test would notice: annotations, decorators, docstrings,
imports, ``assert``, the ``strict`` of ``zip``, and calls of ``cast``, ``isinstance`` and ``len``. Two
operators are narrowed: strings are changed once, not also in upper and lower case, and arguments are left
out, not also replaced by ``None``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import mutation_operators, operator_arg_removal, operator_string

SKIPPED_NODES = (cst.Annotation, cst.Decorator, cst.Import, cst.ImportFrom, cst.Assert)
SKIPPED_CALLS = ("cast", "isinstance", "len")
TYPES = ("NDArray", "dict", "tuple", "list", "Callable", "Literal", "TypeVar")


@dataclass(frozen=True)
class Mutant:
    """One change of one file.

    ``first`` to ``last`` are the lines that a test must run to notice it; both 0 if the line runs at import.
    """

    file: str
    function: str
    first: int
    last: int
    before: str
    after: str
    source: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Return what identifies the mutant after lines have moved."""
        return self.file, self.function, self.before, self.after


@dataclass(frozen=True)
class _Change:
    node: cst.CSTNode
    becomes: cst.CSTNode
    statement: cst.CSTNode  # at the top level
    function: str
    lines: tuple[int, int]


def mutants_of(file: str, source: str) -> list[Mutant]:
    """Return all mutants of a file, each once, without those equal to the original when compiled."""
    wrapper = MetadataWrapper(cst.parse_module(source))
    collector = _Collector()
    wrapper.visit(collector)
    module = wrapper.module
    codes = [module.code_for_node(statement) for statement in module.body]
    places = {id(statement): n for n, statement in enumerate(module.body)}
    header, footer = (
        "".join(module.code_for_node(line) for line in lines) for lines in (module.header, module.footer)
    )
    seen = set(enumerate(map(_meaning, codes)))
    found = []
    for change in collector.changes:
        n = places[id(change.statement)]
        code = module.code_for_node(change.statement.deep_replace(change.node, change.becomes))
        meaning = _meaning(code)
        if not meaning or (n, meaning) in seen:
            continue
        seen.add((n, meaning))
        mutated = "".join([header, *codes[:n], code, *codes[n + 1 :], footer])
        found.append(Mutant(file, change.function, *change.lines, *_changed_lines(codes[n], code), mutated))
    return found


def _meaning(code: str) -> str:
    """Return the syntax tree as text, empty if the code cannot be parsed."""
    try:
        return ast.dump(ast.parse(code))
    except SyntaxError:
        return ""


def _changed_lines(source: str, mutated: str) -> tuple[str, str]:
    before, after = source.splitlines(), mutated.splitlines()
    while before and after and before[0] == after[0]:
        del before[0], after[0]
    while before and after and before[-1] == after[-1]:
        del before[-1], after[-1]
    return " ".join(line.strip() for line in before), " ".join(line.strip() for line in after)


class _Collector(cst.CSTVisitor):
    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self) -> None:
        self.changes: list[_Change] = []
        self._names: list[str] = []  # of the classes and functions around the node
        self._functions: list[CodeRange] = []  # the function bodies around the node
        self._statements: list[cst.CSTNode] = []  # the statements around the node

    def on_visit(self, node: cst.CSTNode) -> bool:
        if _skipped(node):
            return False
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            self._names.append(node.name.value)
        if isinstance(node, cst.FunctionDef):
            self._functions.append(self._range(node.body))
        if isinstance(node, cst.SimpleStatementLine | cst.BaseCompoundStatement):
            self._statements.append(node)
        if self._statements:
            self._add_changes(node)
        return True

    def on_leave(self, node: cst.CSTNode) -> None:
        if _skipped(node):
            return
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            self._names.pop()
        if isinstance(node, cst.FunctionDef):
            self._functions.pop()
        if isinstance(node, cst.SimpleStatementLine | cst.BaseCompoundStatement):
            self._statements.pop()

    def _add_changes(self, node: cst.CSTNode) -> None:
        for becomes in _mutations(node):
            function = ".".join(self._names)
            self.changes.append(_Change(node, becomes, self._statements[0], function, self._lines(node)))

    def _lines(self, node: cst.CSTNode) -> tuple[int, int]:
        if not self._functions:
            return 0, 0
        statement = self._statements[-1]
        if isinstance(statement, cst.FunctionDef):  # a default value
            body = self._functions[-1]
            return body.start.line, body.end.line
        lines = self._range(statement if isinstance(statement, cst.SimpleStatementLine) else node)
        return lines.start.line, lines.end.line

    def _range(self, node: cst.CSTNode) -> CodeRange:
        return self.get_metadata(PositionProvider, node)


def _skipped(node: cst.CSTNode) -> bool:
    if isinstance(node, SKIPPED_NODES):
        return True
    if isinstance(node, cst.Expr) and isinstance(node.value, cst.BaseString):  # a docstring
        return True
    if isinstance(node, cst.Assign) and isinstance(node.value, cst.Subscript | cst.Call):  # of a type alias?
        made_of = node.value.value if isinstance(node.value, cst.Subscript) else node.value.func
        return isinstance(made_of, cst.Name) and made_of.value in TYPES
    if isinstance(node, cst.Arg) and node.keyword is not None and node.keyword.value == "strict":
        return True
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value in SKIPPED_CALLS


def _mutations(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    for kind, operator in mutation_operators:
        if not isinstance(node, kind):
            continue
        for n, mutated in enumerate(operator(node)):
            if operator is operator_arg_removal and not _drops_an_argument(node, mutated):
                continue
            if operator is operator_string and n > 0:
                break
            yield mutated


def _drops_an_argument(node: cst.CSTNode, mutated: cst.CSTNode) -> bool:
    assert isinstance(node, cst.Call)
    assert isinstance(mutated, cst.Call)
    if len(mutated.args) == len(node.args):
        return False
    kept = {id(arg) for arg in mutated.args}
    dropped = [arg for arg in node.args if id(arg) not in kept]
    return not any(arg.keyword is not None and arg.keyword.value == "strict" for arg in dropped)
