"""The commands that documents ask a reader to type, taken from their Markdown."""

from __future__ import annotations

import dataclasses
import pathlib
import re

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Typed:
    """One command; `output` is what the document shows below it, None where it shows nothing."""

    command: str
    output: str | None = None


def section(document: pathlib.Path, heading: str) -> str:
    """The text under "## heading", up to the next heading of that level."""
    text = document.read_text()
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"{document.name} has no section {heading!r}"
    return found.group(1)


def typed(text: str) -> list[Typed]:
    """The commands of the blocks `sh` and `console`, in order."""
    commands: list[Typed] = []
    for language, block in FENCE.findall(text):
        if language == "sh":
            commands += [Typed(command) for command in shell_commands(block)]
        elif language == "console":
            commands += console_commands(block)
    return commands


def shell_commands(block: str) -> list[str]:
    """Commands of a shell script, one each: here-documents and lines that end in a backslash stay whole."""
    commands: list[str] = []
    lines = iter(block.splitlines())
    for line in lines:
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        command = re.sub(r"\s+# .*$", "", line)
        while command.endswith("\\"):
            command += "\n" + next(lines)
        if here := re.search(r"<<-? *'?(\w+)'?", command):
            for more in lines:
                command += "\n" + more
                if more.strip() == here.group(1):
                    break
        commands.append(command)
    return commands


def console_commands(block: str) -> list[Typed]:
    """`$ command` lines, each with the output up to the next one."""
    commands: list[Typed] = []
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        commands.append(Typed(command, output))
    return commands


def noted(text: str) -> list[str]:
    """The commands of a plain text such as a chart's notes: lines that two spaces indent, and here-documents, whose end
    must stand at the margin."""
    commands: list[str] = []
    lines = iter(text.splitlines())
    for line in lines:
        if re.match(r"\w+ .*<<'END'", line):
            commands += shell_commands("\n".join([line, *iter(lines.__next__, "END"), "END"]))
        elif line.startswith("  "):
            commands.append(line.strip())
    return commands
