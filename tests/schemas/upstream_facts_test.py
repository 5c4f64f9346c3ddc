"""scripts/upstream-facts: what it finds in a small tree of Go code."""

from __future__ import annotations

import json
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
KNOWN = ["fault-scheduling", "huawei.com/schedule_policy", "infer.huawei.com/gang-schedule"]
# All that is known, in the ways in which Go code writes it.
CONSTANTS = """package api
const (
	FaultScheduling = "fault-scheduling"
	SchedulePolicy  = "huawei.com/schedule_policy" // "huawei.com/schedule of a sentence"
	LabelKeyPrefix  = "infer.huawei.com/"
	Gang            = LabelKeyPrefix + "gang-schedule"
)
"""
# Files below component/, what is printed, exit code.
CASES: list[tuple[str, dict[str, str], list[str], int]] = [
    ("all is there", {"common/api/consts.go": CONSTANTS}, ["3 keys known, 0 gone, 0 new"], 0),
    (
        "gone, also where only tests have it",
        {
            "common/api/consts.go": CONSTANTS.replace('"fault-scheduling"', '""'),
            "common/api/consts_test.go": 'var a = "fault-scheduling"',
        },
        ["gone: fault-scheduling", "3 keys known, 1 gone, 0 new"],
        1,
    ),
    (
        "new, as it is and put together",
        {
            "common/api/consts.go": CONSTANTS,
            "plugin/a.go": 'const a, b = "huawei.com/recover_when", LabelKeyPrefix + "snapshot-of"',
        },
        ["new: huawei.com/recover_when", "new: infer.huawei.com/snapshot-of", "3 keys known, 0 gone, 2 new"],
        1,
    ),
    (
        "not for users, of other domains, of tests, of other languages, and no keys",
        {
            "common/api/consts.go": CONSTANTS,
            "plugin/a.go": 'const a, b = "infer.huawei.com/role-name", "huawei.com/Ascend910"',
            "plugin/b.go": 'const c, d = "huawei.com/schedule %s", "example.com/schedule_policy"',
            "plugin/a_test.go": 'const a = "huawei.com/schedule_of_a_test"',
            "plugin/a.py": 'a = "huawei.com/schedule_of_python"',
        },
        ["3 keys known, 0 gone, 0 new"],
        0,
    ),
]


class UpstreamFactsTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.program = self.folder / "mindgate"
        self.write_program(f"echo '{json.dumps({'keys': [{'key': key} for key in KNOWN]})}'")

    def write_program(self, command: str) -> None:
        """One that answers only `explain -o json`."""
        self.program.write_text(f'#!/bin/sh\n[ "$*" = "explain -o json" ] || exit 3\n{command}\n')
        self.program.chmod(0o755)

    def run_script(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [ROOT / "scripts/upstream-facts", *map(str, arguments)], capture_output=True, text=True, check=False
        )

    def test_it_reports_what_is_gone_and_what_is_new(self) -> None:
        for number, (name, files, want, code) in enumerate(CASES):
            with self.subTest(name):
                checkout = self.folder / str(number)
                for path, text in files.items():
                    file = checkout / "component" / path
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(text)
                result = self.run_script(checkout, self.program)
                self.assertEqual((result.stdout.splitlines(), result.stderr, result.returncode), (want, "", code))

    def test_what_it_cannot_read(self) -> None:
        empty = self.folder / "empty"
        (empty / "component").mkdir(parents=True)
        nothing = self.run_script(self.folder / "nothing", self.program)
        self.assertEqual(nothing.returncode, 2)
        self.assertIn("DIR must be a checkout of mind-cluster", nothing.stderr)
        for program in (self.folder / "absent", self.program):
            self.write_program("exit 1")
            result = self.run_script(empty, program)
            self.assertEqual((result.stdout, result.returncode), ("", 2))
            self.assertIn(f"{program} explain -o json: ", result.stderr)

    def test_how_it_is_called(self) -> None:
        self.assertEqual(self.run_script("--help").returncode, 0)
        for arguments in ((), ("--all",), ("a", "b", "c")):
            result = self.run_script(*arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertIn("scripts/upstream-facts DIR [MINDGATE]", result.stderr)


if __name__ == "__main__":
    unittest.main()
