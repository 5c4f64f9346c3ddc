"""Man pages, one for every command, written from the help that the program prints."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator

from common import Fault

# `  -f, --filename PATH`, then two spaces and its meaning, or the meaning on the following lines; its variable ends the meaning.
ENTRY = re.compile(r"^  (\S.*?)(?:\s{2,}(\S.*))?$")
VARIABLE = re.compile(r"\s*\[\$(\w+)\]$")
HEADING = re.compile(r"^([A-Z][\w ]*):$")  # of arguments, flags and groups of commands
INDENT = " " * 20  # what continues an entry stands further right
AT_HEADING = {"Exit codes": "EXIT STATUS", "Example": "EXAMPLES", "Examples": "EXAMPLES"}
NOT_COMMANDS = {"ARGUMENTS", "FLAGS"}

Help = Callable[..., str]


@dataclasses.dataclass
class Page:
    """The help of one command, in its parts."""

    words: tuple[str, ...]  # mindgate, what-if
    summary: str
    usage: str
    entries: dict[str, list[tuple[str, str]]]  # by section: what is written, and what it means
    rest: list[str]  # what it says of itself, and examples

    @property
    def name(self) -> str:
        return "-".join(self.words)

    @property
    def subcommands(self) -> list[str]:
        listed = [entry for section, entries in self.entries.items() if section not in NOT_COMMANDS for entry in entries]
        return [words.split()[0] for words, _ in listed]


def parse(words: tuple[str, ...], text: str) -> Page:
    lines = text.rstrip().splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith("Usage: ")), None)
    if start is None:
        raise Fault(f"the help of `{' '.join(words)}` has no line `Usage: ...`: scripts/release/manual.py reads it")
    page = Page(words, " ".join(lines[:start]).strip().rstrip("."), lines[start].removeprefix("Usage: "), {}, [])
    has_commands = " COMMAND" in page.usage
    section = None
    for line in lines[start + 1 :]:
        heading = HEADING.match(line)
        if heading and (heading.group(1).upper() in NOT_COMMANDS or (has_commands and heading.group(1) not in AT_HEADING)):
            section = heading.group(1).upper()
            page.entries[section] = []
        elif section and line.startswith(INDENT) and page.entries[section]:
            what, meaning = page.entries[section][-1]
            page.entries[section][-1] = (what, f"{meaning} {line.strip()}".strip())
        elif section and (entry := ENTRY.match(line)):
            page.entries[section].append((entry.group(1), entry.group(2) or ""))
        elif section is None or line.strip():
            page.rest.append(line)
    return page


def pages(help_of: Help) -> Iterator[Page]:
    """The page of mindgate and those of all its commands; `help_of` prints the help of the command that it is given."""
    waiting: list[tuple[str, ...]] = [("mindgate",)]
    while waiting:
        words = waiting.pop(0)
        page = parse(words, help_of(*words[1:], "--help"))
        yield page
        waiting += [(*words, name) for name in page.subcommands if name != "help"]


def escape(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def _entries(page: Page) -> Iterator[str]:
    for section, entries in page.entries.items():
        yield f".SH {section}"
        for what, meaning in entries:
            variable = VARIABLE.search(meaning)
            meaning = VARIABLE.sub("", meaning)
            yield f".TP\n.B {escape(what)}"
            yield escape(meaning) if meaning else "\\&"
            if variable:
                yield f".br\nEnvironment variable: {escape(variable.group(1))}."


def _rest(lines: list[str]) -> Iterator[str]:
    """Paragraphs are filled; indented lines, which are commands or tables, are printed as they are."""
    yield from (".SH DESCRIPTION",) if lines and lines[0].partition(":")[0] not in AT_HEADING else ()
    verbatim = False
    gap = False
    for line in lines:
        name, colon, after = line.partition(":")
        heading = bool(colon) and name in AT_HEADING
        if not line.strip():
            gap = True
            continue
        indented = line.startswith("  ")
        if verbatim and not indented:
            yield ".EE"
        if heading:
            yield f".SH {AT_HEADING[name]}"
        elif gap:
            yield ".sp" if verbatim and indented else ".PP"
        if indented and not verbatim:
            yield ".EX"
        verbatim, gap = indented, False
        if not heading or after.strip():
            yield escape(after.strip() if heading else line)
    if verbatim:
        yield ".EE"


def render(page: Page, version: str, date: str, names: list[str]) -> str:
    near = [name for name in names if name.startswith(page.name + "-") or page.name.startswith(name + "-")]
    parts = [
        f'.TH {page.name.upper()} 1 "{date}" "mindgate {version}" "mindgate"',
        f".SH NAME\n{page.name} \\- {escape(page.summary)}",
        f".SH SYNOPSIS\n.B {escape(page.usage)}",
        *_rest(page.rest),
        *_entries(page),
    ]
    if near:
        parts.append(".SH SEE ALSO\n" + ",\n".join(f"\\fB{escape(name)}\\fR(1)" for name in near))
    return "\n".join(part for part in parts if part) + "\n"


def manual(help_of: Help, version: str, date: str) -> dict[str, str]:
    """File name and text of every page."""
    found = list(pages(help_of))
    names = [page.name for page in found]
    return {f"{page.name}.1": render(page, version, date, names) for page in found}
