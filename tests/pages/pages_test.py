#!/usr/bin/env python3
"""The HTML pages of mindgate in a browser: on a phone, a laptop and a large screen, in the light, in the dark and on paper, with
names that are long or Chinese. Screenshots and PDFs go to build/e2e/pages. MINDGATE is the program (default build/release/mindgate)."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import tempfile
import unittest
from typing import Any

import browser

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("MINDGATE", str(ROOT / "build/release/mindgate"))
KEPT = ROOT / "build/e2e/pages"
WIDTHS = (390, 1280, 1920)
LONG = "deepseek-v3-671b-prefill-decode-disaggregated-service-of-the-search-team-in-zone-b"
CHINESE = "推理服务-深度求索"


def snapshot(nodes: int) -> dict[str, Any]:
    """The example, with more nodes, and with names of pods that people have."""
    text = (ROOT / "examples/snapshots/serving.json").read_text()
    reported = json.loads(text.replace("infer", CHINESE).replace("embed", LONG))
    for number in range(5, nodes):
        node = json.loads(json.dumps(reported["nodes"][0]).replace("npu-0", f"npu-{number}"))
        reported["nodes"].append(node)
    return dict(reported)


def manifests(folder: pathlib.Path) -> pathlib.Path:
    """Objects with every kind of finding, also with names that are long or Chinese, and one that cannot be read."""
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "serving", "labels": {"fault-scheduling": value, LONG: CHINESE * 9}},
            "spec": {"containers": [{"name": "main", "resources": {"limits": {"huawei.com/Ascend910": 1}}}]},
        }
        for name in ("chat", LONG, CHINESE)
        for value in ("Force", "force")
    ]
    file = folder / f"{LONG}.json"
    file.write_text("\n".join(json.dumps(pod) for pod in pods))
    return file


def printed(*arguments: str | os.PathLike[str]) -> str:
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode not in ((2,) if arguments[0] == "apply" else (0, 1)):
        raise AssertionError(f"{arguments}: {done.stderr}")
    return done.stdout


@unittest.skipIf(browser.missing() and not os.environ.get("CI"), "no chromium: scripts/bootstrap --e2e installs it")
class PagesTest(unittest.TestCase):
    def pages(self, folder: pathlib.Path) -> dict[str, pathlib.Path]:
        small, large = folder / "small.json", folder / "large.json"
        small.write_text(json.dumps(snapshot(5)))
        large.write_text(json.dumps(snapshot(1000)))
        broken = folder / "broken.yaml"
        broken.write_text("kind: [\n")
        what_if = ("what-if", "-o", "html", "--snapshot")
        apply = ("apply", "-o", "html", "-f")
        texts = {
            "apply": printed(*apply, manifests(folder), "-f", broken, "-f", "examples/manifests"),
            "what-if": printed(*what_if, small, "--node", "npu-4", "--card", "npu-0/0", "--drain", "npu-1"),
            "each-node": printed(*what_if, small, "--each-node"),
            "each-node-of-1000": printed(*what_if, large, "--each-node"),
            "simulate": printed("simulate", "-o", "html", "-f", "examples/scenarios/card-faults.yaml"),
        }
        for name, text in texts.items():
            (folder / f"{name}.html").write_text(text)
        return {name: folder / f"{name}.html" for name in texts}

    def test_every_page_is_readable_everywhere(self) -> None:
        KEPT.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder, browser.Browser() as chromium:
            for name, page in self.pages(pathlib.Path(folder)).items():
                for width in WIDTHS:
                    for dark in (False, True):
                        with self.subTest(page=name, width=width, dark=dark):
                            chromium.open(page, width, dark)
                            self.assertEqual(chromium.evaluate("document.documentElement.lang"), "en")
                            self.assertEqual(chromium.evaluate(browser.LOW_CONTRAST), [])
                            self.assertEqual(chromium.evaluate(browser.MISLAID), [])
                            self.assertLessEqual(chromium.evaluate("document.documentElement.scrollWidth"), width)
                            (KEPT / f"{name}-{width}{'-dark' if dark else ''}.png").write_bytes(chromium.screenshot())
                with self.subTest(page=name, paper=True):
                    chromium.open(page, 794, paper=True)  # A4 at 96 dots an inch
                    self.assertEqual(chromium.evaluate(browser.LOW_CONTRAST), [])
                    pdf = chromium.pdf()
                    self.assertEqual(pdf[:5], b"%PDF-")
                    (KEPT / f"{name}.pdf").write_bytes(pdf)


if __name__ == "__main__":
    unittest.main()
