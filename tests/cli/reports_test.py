#!/usr/bin/env python3
"""The reports of `mindgate apply` as other readers read them: SARIF by the schema of OASIS, JUnit and HTML by parsers, GitHub's
commands by its escapes, for manifests, names and files that try to break them."""

from __future__ import annotations

import html.parser
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree
from typing import Any

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ["MINDGATE_BINARY"]
SCHEMA = json.loads((ROOT / "tests/fixtures/sarif/sarif-schema-2.1.0.json").read_text())
# RFC 3986: a relative reference without a colon in its first segment, or a URI.
URI = re.compile(r"(file://|https?://)?([A-Za-z0-9._~!$&'()*+,;=@/-]|%[0-9A-F]{2})+")

# Names of objects and keys of labels: YAML quotes them as JSON does.
HOSTILE = [
    "plain",
    "a\"b'c<d>&amp;</testcase></td><script>alert(1)</script><!--",
    "]]>\n</failure>",
    "a\n::error file=x::y\r\n::stop-commands::z",
    "%0A%3A%2C%25",
    "a,b:c::d",
    "{0} {{1}} [link](https://evil.example/)",
    "\u202eright to left\u2028\u2066",
    "\u007f\u0085\u009b31m",
    "\ufffe\uffff\ufeff",
    "推理-深度求索 🚀 é",
    "x" * 5000,
]
FILES = [b"plain.yaml", b"caf\xe9.yaml", b"a b,c:d%25.yaml", b"'\"<&>.yaml", b"a\n::error::b.yaml", "推理.yaml".encode()]
FORMATS = ["sarif", "junit", "github", "gitlab", "html"]


def pod(name: str) -> str:
    quoted = json.dumps(name)
    return (
        f"apiVersion: v1\nkind: Pod\nmetadata:\n  name: {quoted}\n  namespace: {quoted}\n"
        f"  labels: {{fault-scheduling: {quoted}, fault-retry-times: {quoted}, {quoted}: x}}\n"
        f"spec:\n  containers:\n  - name: {quoted}\n    resources: {{limits: {{huawei.com/Ascend910: 1}}}}\n"
    )


def apply(folder: str | os.PathLike[str], form: str, *paths: bytes | str) -> subprocess.CompletedProcess[bytes]:
    command: list[bytes | str] = [BINARY, "apply", "-o", form]
    for path in paths:
        command += ["-f", path]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False, stdin=subprocess.DEVNULL)


def sarif_faults(document: Any) -> list[str]:
    faults = [f"{list(error.absolute_path)}: {error.message}" for error in jsonschema.Draft4Validator(SCHEMA).iter_errors(document)]
    for run in document["runs"]:
        rules = run["tool"]["driver"]["rules"]
        for result in run["results"]:
            if rules[result["ruleIndex"]]["id"] != result["ruleId"]:
                faults.append(f"{result['ruleId']} is not the rule of its index")
            for location in result["locations"]:
                uri = location["physicalLocation"]["artifactLocation"]["uri"]
                if not URI.fullmatch(uri):
                    faults.append(f"{uri!r} is not a URI")
        prints = [result["partialFingerprints"]["mindgateFinding/v1"] for result in run["results"]]
        if len(prints) != len(set(prints)):
            faults.append("two results share a fingerprint")
    return faults


def unescaped(text: str) -> str:
    return re.sub("%(25|0D|0A|3A|2C)", lambda match: chr(int(match.group(1), 16)), text)


def annotations(text: str) -> list[tuple[str, dict[str, str], str]]:
    """Commands as GitHub's runner reads them; fails where a line is none."""
    found = []
    for line in text.removesuffix("\n").split("\n"):
        match = re.fullmatch(r"::(error|warning|notice) ([^:]*)::(.*)", line)
        if not match:
            raise AssertionError(f"not a command: {line!r}")
        properties = dict(one.split("=", 1) for one in match.group(2).split(","))
        found.append((match.group(1), {key: unescaped(value) for key, value in properties.items()}, unescaped(match.group(3))))
    return found


class Page(html.parser.HTMLParser):
    """Tags and text of a page; `faults` are tags that do not belong to a page of ours, or close another one."""

    KNOWN = {
        "html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h3", "p", "span", "nav", "ul", "li", "a", "section",
        "table", "tr", "th", "td", "details", "summary", "br", "b",
    }  # fmt: skip

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.faults: list[str] = []
        self.ids: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag not in self.KNOWN:
            self.faults.append(f"<{tag}>")
        if tag == "th" and ("scope", "col") not in attributes:
            self.faults.append("<th> without scope")
        self.ids += [value or "" for name, value in attributes if name == "id"]
        self.faults += [f"{name} in <{tag}>" for name, _ in attributes if name.startswith("on") or name == "src"]
        if tag not in {"meta", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}>")


class ReportsTest(unittest.TestCase):
    def check(self, form: str, output: bytes) -> int:
        """The findings that a reader of the format finds."""
        text = output.decode()  # all of them are UTF-8
        if form == "sarif":
            document = json.loads(text)
            self.assertEqual(sarif_faults(document), [])
            return len(document["runs"][0]["results"])
        if form == "junit":
            root = xml.etree.ElementTree.fromstring(text)
            self.assertEqual({element.tag for element in root}, {"testsuite"})
            for suite in root:
                self.assertEqual(len(suite), int(suite.get("tests", "-1")))
                self.assertEqual(len(suite.findall("*/error")) > 0, suite.get("errors") != "0")
                self.assertEqual(len(suite.findall("*/failure")), int(suite.get("failures", "-1")))
            texts = [element.text or "" for element in root.iter() if element.tag in {"error", "failure", "system-out"}]
            return sum(len(re.findall("(?:error|denied|warning|audit|note): (?:MG[0-9]{3} |invalid-input: |unhandled-kind: )", text)) for text in texts)
        if form == "github":
            return len(annotations(text)) if text else 0
        if form == "gitlab":
            entries = json.loads(text)
            for entry in entries:
                self.assertEqual(set(entry), {"description", "check_name", "fingerprint", "severity", "location"})
                self.assertGreaterEqual(entry["location"]["lines"]["begin"], 1)
                self.assertIn(entry["severity"], {"info", "minor", "major", "critical", "blocker"})
            self.assertEqual(len({entry["fingerprint"] for entry in entries}), len(entries))
            return len(entries)
        page = Page(text)
        self.assertEqual(page.faults, [])
        self.assertEqual(page.open, [])
        self.assertEqual(len(page.ids), len(set(page.ids)))
        return len(re.findall('<td data-title="effect">', text))

    def check_all(self, folder: str, *paths: bytes | str) -> int:
        """All formats have the same findings."""
        counts = {}
        for form in FORMATS:
            with self.subTest(form=form, paths=paths):
                done = apply(folder, form, *paths)
                self.assertIn(done.returncode, (0, 1, 2), done.stderr)
                counts[form] = self.check(form, done.stdout)
        self.assertEqual(len(set(counts.values())), 1, counts)
        return counts["sarif"]

    def test_hostile_names(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for name in HOSTILE:
                (pathlib.Path(folder) / "a.yaml").write_text(pod(name))
                self.assertGreater(self.check_all(folder, "a.yaml"), 0, name)

    def test_hostile_files(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for name in FILES:
                pathlib.Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_text(pod("a"))
            for name in [*FILES, b"gone-\xff\n::error::.yaml"]:
                self.assertGreater(self.check_all(folder, name.replace(b",", b"?")), 0, name)
            self.assertGreater(self.check_all(folder, "."), len(FILES))

    def test_what_cannot_be_read_is_in_every_format(self) -> None:
        texts = {
            "latin.yaml": b"x: caf\xe9\n",
            "utf16.yaml": "kind: Pod".encode("utf-16"),
            "zero.json": b"\0\1",
            "commands.yaml": b"::error::x: [\n",
            "scalar.yaml": b"text\n",
            "several.yaml": b"kind: [\n---\n" + pod("a").encode() + b"---\nkind: {\n",
        }
        with tempfile.TemporaryDirectory() as folder:
            for name, text in texts.items():
                (pathlib.Path(folder) / name).write_bytes(text)
                self.assertGreater(self.check_all(folder, name), 0, name)
                for form in FORMATS:
                    done = apply(folder, form, name)
                    self.assertEqual(done.returncode, 2)
                    self.assertIn(b"invalid-input", done.stdout, f"{name} {form}")

    def test_github_reads_back_what_was_written(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            name = "a,b:c%0A\n::error::d"
            (pathlib.Path(folder) / "a.yaml").write_text(pod(name))
            for level, properties, message in annotations(apply(folder, "github", "a.yaml").stdout.decode()):
                self.assertIn(level, ("error", "warning", "notice"))
                self.assertEqual(properties["file"], "a.yaml")
                self.assertTrue(message.startswith(f"Pod {name}/{name}: "), message)

    def test_all_manifests_of_users(self) -> None:
        for folder in ("tests/fixtures/real", "tests/fixtures/seeds", "examples/manifests"):
            self.assertGreater(self.check_all(str(ROOT), folder), 0)

    def test_the_schema_finds_faults(self) -> None:
        document = json.loads(apply(ROOT, "sarif", "examples/manifests").stdout)
        self.assertEqual(sarif_faults(document), [])
        result = document["runs"][0]["results"][0]
        for broken in ({"level": "deny"}, {"message": {}}, {"locations": [{"physicalLocation": {"region": {"startLine": 0}}}]}, {"other": 1}):
            changed = json.loads(json.dumps(document))
            changed["runs"][0]["results"][0] = {**result, **broken}
            self.assertNotEqual([*jsonschema.Draft4Validator(SCHEMA).iter_errors(changed)], [], broken)


if __name__ == "__main__":
    unittest.main()
