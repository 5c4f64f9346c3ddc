#!/usr/bin/env python3
"""Writes what the deploy tool of mindcluster-deploy makes of each file in cfg/ into want/.

    tests/oracle/deploy/render.py FOLDER      # a checkout of mindcluster-deploy at the commit in README.md

It runs the unmodified tool with --dry-run, and reads its output as the tool itself does before it sends the objects, with PyYAML. It
needs Debian's python3-jinja2, python3-click and python3-yaml. The tool imports the Kubernetes client, which a dry run does not use: empty
modules stand in for it.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

HERE = pathlib.Path(__file__).parent
STAND_INS = {
    "kubernetes/__init__.py": "from . import client\nconfig = dynamic = None\n",
    "kubernetes/client/__init__.py": "class ApiClient: pass\n",
    "kubernetes/client/rest.py": "class ApiException(Exception): pass\n",
}


def render(tool: pathlib.Path, modules: str, file: pathlib.Path) -> object:
    """A list of objects, or why there are none."""
    environment = {**os.environ, "PYTHONPATH": modules, "SERVING_FRAMEWORK": file.name.split("-")[0]}
    command = [sys.executable, "main.py", "deploy", "-c", file.resolve(), "--dry-run"]
    done = subprocess.run(command, cwd=tool, env=environment, capture_output=True, text=True, check=False)
    if not done.stdout.strip():
        lines = [line for line in done.stderr.splitlines() if " - INFO - " not in line]
        return "refused: " + lines[-1].lstrip("❌ ")
    objects = []
    # A heading before each template: "--- aibrix/stormservice ---".
    for text in re.split(r"^--- \S+ ---$", done.stdout, flags=re.MULTILINE)[1:]:
        try:
            objects.append(yaml.safe_load(text))
        except yaml.YAMLError as error:
            return "broken YAML: " + str(error).splitlines()[0]
    return objects


def main() -> None:
    tool = pathlib.Path(sys.argv[1]) / "k8s-deploy-tool"
    want = HERE / "want"
    want.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as modules:
        for name, text in STAND_INS.items():
            path = pathlib.Path(modules) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        for file in sorted((HERE / "cfg").glob("*.yaml")):
            rendered = render(tool, modules, file)
            (want / f"{file.stem}.json").write_text(json.dumps(rendered, ensure_ascii=False, sort_keys=True) + "\n")


main()
