"""Commands and their options, from the help texts of the command line."""

import inspect
import re
from typing import Any

import typer.main

from occupair.cli import app
from tools.reference.markdown import code, escape, prose, table

INTRODUCTION = """# Command line

`occupair COMMAND --help` prints the same texts. Words in capital letters stand for values.

## Exit status

| Status | Meaning |
| --- | --- |
| 0 | success |
| 1 | negative result, for commands whose description mentions it |
| 2 | invalid option, file or setting: one line on standard error, and no partial output |
| 3, 4 | some rooms failed, all rooms failed (`occupair fleet`) |
| 130 | interrupted by Ctrl-C |

Progress is shown on standard error, on a terminal only.

## Commands

"""


def commands() -> dict[str, Any]:
    """Return all commands and groups that are not hidden, by their words after ``occupair``."""
    found = {}
    for name, command in typer.main.get_command(app).commands.items():
        if command.hidden:
            continue
        found[name] = command
        found |= {f"{name} {one}": command.commands[one] for one in getattr(command, "commands", {})}
    return found


def page() -> str:
    all_commands = commands()
    summary = table(
        ["Command", "Description"],
        (
            [f"[`occupair {name}`](#{anchor(name)})", prose(summary_of(command))]
            for name, command in all_commands.items()
        ),
    )
    return INTRODUCTION + summary + "".join(_section(name, one) for name, one in all_commands.items())


def anchor(name: str) -> str:
    return f"occupair-{name.replace(' ', '-')}"


def summary_of(command: Any) -> str:
    """Return the first sentence of the help text, without its full stop."""
    return inspect.cleandoc(command.help or "").split("\n\n")[0].rstrip(".")


def parameters(command: Any) -> list[tuple[Any, str, str, str]]:
    """Return each parameter with its name and value, its help text, and its default or range."""
    context = command.make_context("occupair", [], resilient_parsing=True)
    rows = []
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if record is None or parameter.name == "help":
            continue
        help_text, _, extra = record[1].replace("\\[", "[").partition("  [")
        if not help_text.strip() or record[1].startswith("["):
            help_text, extra = "", record[1].strip("[] ")
        rows.append((parameter, record[0], help_text, extra.removesuffix("]")))
    return rows


def _section(name: str, command: Any) -> str:
    level = "####" if " " in name else "###"
    description = _description(inspect.cleandoc(command.help or ""))
    rows = parameters(command)
    arguments = [row for row in rows if row[0].param_type_name == "argument"]
    options = [row for row in rows if row[0].param_type_name == "option"]
    usage = "" if hasattr(command, "commands") else f"```text\n{_usage(name, arguments, options)}\n```\n\n"
    return (
        f"\n({anchor(name)})=\n{level} occupair {name}\n\n{usage}{description}"
        + _parameter_table("Argument", arguments)
        + _parameter_table("Option", options)
    )


def _usage(name: str, arguments: list[Any], options: list[Any]) -> str:
    words = [_argument_name(parameter) for parameter, *_ in arguments]
    return " ".join(["occupair", name, *(["[OPTIONS]"] if options else []), *words])


def _argument_name(parameter: Any) -> str:
    name = (parameter.metavar or parameter.name.upper()).strip("[].")
    name += "..." if parameter.nargs == -1 else ""
    return name if parameter.required else f"[{name}]"


def _description(text: str) -> str:
    """Return a help text: paragraphs, and the commands of its examples as code."""
    parts = []
    for paragraph in text.split("\n\n"):
        example = re.fullmatch(r"Examples?: (occupair .*)", " ".join(paragraph.split()))
        parts.append(f"```sh\n{example[1]}\n```" if example else prose(paragraph))
    return "\n\n".join(parts).replace("\n```\n\n```sh\n", "\n") + "\n"


def _parameter_table(head: str, rows: list[Any]) -> str:
    cells = []
    for parameter, names, help_text, extra in rows:
        if head == "Argument":
            name, value = _argument_name(parameter), ""
        else:
            flags = [*parameter.opts, *parameter.secondary_opts]
            name = ", ".join(flags)
            value = "" if parameter.is_flag else _value(names)
        facts = [fact.strip() for fact in extra.split(";") if fact.strip()]
        default = next((fact.removeprefix("default: ") for fact in facts if fact.startswith("default: ")), "")
        ranges = [_range(fact) for fact in facts if "x" in fact and ("<" in fact or ">" in fact)]
        is_required = head == "Option" and "required" in facts
        default = "required" if is_required else code(default)
        cells.append(
            [code(name), escape(", ".join(filter(None, [value, *ranges]))), default, prose(help_text)]
        )
    return "\n" + table([head, "Value", "Default", "Description"], cells) if cells else ""


def _value(names: str) -> str:
    """Return the kind of value in the help record of an option: ``--out <path>``."""
    value = re.split(r"(?:^|\s|,\s)-{1,2}[\w-]+", names)[-1].strip()
    kinds = {
        "INTEGER": "int",
        "INTEGER RANGE": "int",
        "FLOAT": "float",
        "FLOAT RANGE": "float",
        "TEXT": "text",
    }
    value = kinds.get(value, value).strip("<>").lower() if not value.isupper() or value in kinds else value
    value = re.sub(r"list\[(\w+)\]", r"\1", value.removesuffix(" range"))
    return {"str": "text", "int": "integer", "float": "number"}.get(value, value)


def _range(fact: str) -> str:
    """Return a range of the help record, ``1<=x<=20``, in words."""
    low, high = re.search(r"(\S+)<=?x", fact), re.search(r"x<=?(\S+)", fact)
    at_least = re.search(r"x>=?(\S+)", fact)
    if low and high:
        return f"{low[1]} to {high[1]}"
    return f"from {at_least[1]}" if at_least else f"up to {high[1]}" if high else fact
