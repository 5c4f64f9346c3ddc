"""What the chart renders, whole: the defaults, and how each other set of values differs from them.

MINDGATE_REWRITE=1 writes the files anew; the difference is then read like code.
"""

from __future__ import annotations

import difflib
import os
import unittest

from rendering import CHART, HERE, ROOT, GOLDEN_SETS, helm, run, text_of


def golden(value_set: str) -> str:
    if value_set == "defaults":
        return text_of(value_set)
    lines = difflib.unified_diff(
        text_of("defaults").splitlines(keepends=True),
        text_of(value_set).splitlines(keepends=True),
        "defaults",
        value_set,
        n=1,
    )
    return "".join(lines)


class GoldenTest(unittest.TestCase):
    maxDiff = None

    def test_each_set_of_values_renders_as_it_did(self) -> None:
        for value_set in GOLDEN_SETS:
            with self.subTest(value_set):
                path = HERE / "golden" / f"{value_set}.want"
                got = golden(value_set)
                if os.environ.get("MINDGATE_REWRITE"):
                    path.write_text(got)
                self.assertEqual(path.read_text(), got, "MINDGATE_REWRITE=1 writes it anew")

    def test_every_file_of_values_is_rendered(self) -> None:
        self.assertEqual(
            sorted(path.stem for path in (HERE / "values").iterdir()), sorted(GOLDEN_SETS)
        )

    def test_helm_lint_reports_nothing(self) -> None:
        for value_set in GOLDEN_SETS:
            with self.subTest(value_set):
                values = HERE / "values" / f"{value_set}.yaml"
                linted = helm("lint", "--strict", "--quiet", CHART, "--values", values)
                self.assertEqual((linted.returncode, linted.stdout.strip()), (0, ""), linted.stderr)

    def test_the_readme_has_the_comments_of_the_values(self) -> None:
        checked = run(ROOT / "scripts/chart-readme", "--check")
        self.assertEqual((checked.returncode, checked.stdout), (0, ""))


if __name__ == "__main__":
    unittest.main()
