"""Runs helm on the chart, and reads what it renders."""

from __future__ import annotations

import functools
import json
import os
import pathlib
import subprocess
import unittest
from typing import Any, Iterator

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHART = ROOT / "charts/mindgate"
HERE = ROOT / "tests/chart"
RELEASE = "mindgate"
NAMESPACE = "mindgate-system"
VALUE_SETS = ["defaults", "cert-manager", "own-files", "everything", "minimal"]
# Those of which the mutating webhook is registered, and the others.
GOLDEN_SETS = [*VALUE_SETS, "observe"]
BINARY = os.environ["MINDGATE_BINARY"]

Object = dict[str, Any]


def run(*command: str | os.PathLike[str], stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)


@functools.cache
def require_helm() -> None:
    """Without helm nothing of the chart is tested: an error in CI, else the tests are skipped."""
    found = run(ROOT / "scripts/helm", "version", "--short")
    if found.returncode == 0:
        return
    if os.environ.get("CI"):
        raise RuntimeError(f"helm is needed in CI: {found.stderr}")
    raise unittest.SkipTest(f"no helm: {found.stderr}")


def helm(*arguments: str | os.PathLike[str]) -> subprocess.CompletedProcess[str]:
    require_helm()
    return run(ROOT / "scripts/helm", *arguments)


def template(*arguments: str | os.PathLike[str]) -> subprocess.CompletedProcess[str]:
    return helm("template", RELEASE, CHART, "--namespace", NAMESPACE, *arguments)


@functools.cache
def text_of(value_set: str) -> str:
    rendered = template("--values", HERE / "values" / f"{value_set}.yaml")
    if rendered.returncode != 0:
        raise AssertionError(f"{value_set}: {rendered.stderr}")
    return rendered.stdout


def parse(text: str) -> list[Object]:
    return [document for document in yaml.load_all(text, Loader=yaml.CSafeLoader) if document]


@functools.cache
def objects_of(value_set: str) -> list[Object]:
    return parse(text_of(value_set))


def of_kind(objects: list[Object], kind: str) -> list[Object]:
    return [each for each in objects if each["kind"] == kind]


def the(objects: list[Object], kind: str, name: str) -> Object:
    found = [each for each in of_kind(objects, kind) if each["metadata"]["name"] == name]
    if len(found) != 1:
        names = sorted(f"{each['kind']} {each['metadata']['name']}" for each in objects)
        raise AssertionError(f"{len(found)} objects are {kind} {name} among {names}")
    return found[0]


def webhooks_of(objects: list[Object]) -> Iterator[tuple[str, Object]]:
    """Each registered webhook but the probes, with "mutate" or "validate"."""
    for hook, configuration in configurations_of(objects):
        for webhook in configuration["webhooks"]:
            if webhook["name"] != f"probe.{hook}.mindgate.io":
                yield hook, webhook


def configurations_of(objects: list[Object]) -> Iterator[tuple[str, Object]]:
    """Each webhook configuration, with "mutate" or "validate"."""
    for hook, kind in (("mutate", "Mutating"), ("validate", "Validating")):
        for configuration in of_kind(objects, f"{kind}WebhookConfiguration"):
            yield hook, configuration


@functools.cache
def kinds_of_the_engine() -> list[Object]:
    """Every kind that mindgate handles: the rows of schemas/kinds.h."""
    printed = run(BINARY, "kinds", "-o", "json")
    return list(json.loads(printed.stdout)["kinds"])
