"""`mindgate` as a post-renderer of a real Helm, by the plugin of docs/gitops.md."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ["MINDGATE_BINARY"])
PLUGIN = (ROOT / "docs/gitops.md").read_text().split("# plugin.yaml\n")[1].split("```")[0]
CHAT = (ROOT / "examples/manifests/chat.yaml").read_text()
OTHERS = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
data: {octal: "010"}
---
apiVersion: example.com/v1
kind: Thing
metadata: {name: thing}
"""


def template(deployment: str) -> subprocess.CompletedProcess[str]:
    """`helm template --post-renderer mindgate` of a chart with these objects."""
    with tempfile.TemporaryDirectory(prefix="mindgate-helm-") as name:
        folder = pathlib.Path(name)
        files = {
            "plugins/mindgate/plugin.yaml": PLUGIN,
            "chart/Chart.yaml": "{apiVersion: v2, name: chat, version: 0.1.0}",
            "chart/templates/chat.yaml": deployment,
            "chart/templates/others.yaml": OTHERS,
        }
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        environment = dict(
            os.environ, HELM_PLUGINS=str(folder / "plugins"), PATH=f"{BINARY.parent}:{os.environ['PATH']}"
        )
        command = [ROOT / "scripts/helm", "template", "chat", folder / "chart", "--post-renderer", "mindgate"]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


class PostRenderer(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls) -> None:
        found = subprocess.run([ROOT / "scripts/helm", "version"], capture_output=True, text=True, check=False)
        if found.returncode != 0 and os.environ.get("CI"):
            raise RuntimeError(f"helm is needed in CI: {found.stderr}")
        if found.returncode != 0:
            raise unittest.SkipTest(f"no helm: {found.stderr}")
        assert shutil.which("mindgate", path=BINARY.parent) == str(BINARY)

    def test_injects_and_keeps_the_rest(self) -> None:
        rendered = template(CHAT)
        self.assertEqual(rendered.returncode, 0, rendered.stderr)
        objects = {each["kind"]: each for each in yaml.safe_load_all(rendered.stdout) if each}
        applied = subprocess.run([BINARY, "apply", "-f", "-"], input=CHAT, capture_output=True, text=True, check=True)
        self.assertEqual(objects["Deployment"], yaml.safe_load(applied.stdout))
        others = {each["kind"]: each for each in yaml.safe_load_all(OTHERS)}
        self.assertEqual({kind: objects[kind] for kind in objects if kind != "Deployment"}, others)

    def test_a_denial_fails_the_release(self) -> None:
        wrong = CHAT.replace("      labels:\n", "      labels:\n        fault-scheduling: Force\n")
        self.assertNotEqual(wrong, CHAT)
        rendered = template(wrong)
        self.assertNotEqual(rendered.returncode, 0)
        self.assertEqual(rendered.stdout, "")


if __name__ == "__main__":
    unittest.main()
