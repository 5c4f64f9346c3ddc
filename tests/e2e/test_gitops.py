"""Tools that compare Git with the cluster see no drift in what mindgate injects, each as docs/gitops.md sets it up."""

from __future__ import annotations

import copy
import json
import os
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from e2e import REPOSITORY, Cluster, wait_for
from release import PROGRAM, Release
from workloads import MAKERS, dashed

pytestmark = pytest.mark.full
Object = dict[str, Any]
# Whose lists Argo CD compares item by item: custom resources. A container without env gets a new member of a map instead.
CUSTOM = {"pair", "vcjob", "pod-set", "ascend-job", "storm", "runtime", "service"}


@pytest.fixture(scope="module")
def differ() -> str:
    """Argo CD's own differ (argocd_differ), a process for all pairs of a test."""
    cached = ["--cached"] if os.environ.get("CI") else []
    done = subprocess.run(
        [REPOSITORY / "scripts/go-program", "tests/e2e/argocd_differ", *cached], text=True, capture_output=True
    )
    if done.returncode != 0:
        pytest.skip(f"Argo CD's differ cannot be had: {done.stderr.strip()}")
    return done.stdout.strip()


def with_env(value: Any) -> Any:
    """The same, with a variable in each container that asks for NPUs."""
    if isinstance(value, list):
        return [with_env(each) for each in value]
    if not isinstance(value, dict):
        return value
    made = {key: with_env(each) for key, each in value.items()}
    if "huawei.com/Ascend910" in made.get("resources", {}).get("limits", {}):
        made["env"] = [{"name": "MODE", "value": "serve"}]
    return made


def manifests(namespace: str) -> dict[str, Object]:
    """What stands in Git, by name: each kind without env and with it."""
    made = {}
    for maker in MAKERS:
        for end, change in (("plain", lambda each: each), ("env", with_env)):
            each = change(maker(f"{dashed(maker)}-{end}", {"team": "search"}))
            each["metadata"]["namespace"] = namespace
            made[each["metadata"]["name"]] = each
    return made


@pytest.fixture
def without_mindgate(cluster: Cluster, installation: Release) -> Iterator[Cluster]:
    installation.uninstall()
    yield cluster
    installation.install()


def apply(cluster: Cluster, objects: dict[str, Object], manager: str, *flags: str) -> dict[str, Object]:
    """What the cluster has after a sync, by name."""
    text = yaml.safe_dump_all(objects.values())
    cluster.kubectl("apply", f"--field-manager={manager}", *flags, "-f", "-", input=text)
    return stored(cluster, objects)


def stored(cluster: Cluster, objects: dict[str, Object]) -> dict[str, Object]:
    return {name: cluster.get(resource_of(each), name, "--show-managed-fields") for name, each in objects.items()}


def resource_of(each: Object) -> str:
    """As kubectl takes it: "Deployment.v1.apps", "Pod"."""
    group, _, version = each["apiVersion"].rpartition("/")
    return f"{each['kind']}.{version}.{group}" if group else each["kind"]


def out_of_sync(
    differ: str,
    cluster: Cluster,
    git: dict[str, Object],
    live: dict[str, Object],
    ignored: dict[str, list[str]] | None = None,
    server_side: bool = False,
) -> set[str]:
    """The names of the objects that Argo CD shows as OutOfSync. `ignored`: as settings() gives them."""
    pairs = [
        {"config": each, "live": live[name], "jq": (ignored or {}).get(kind_of(each), []), "serverSide": server_side}
        for name, each in git.items()
    ]
    lines = [json.dumps(pair) for pair in pairs]
    environment = dict(cluster.environment(), KUBECTL="kubectl")
    done = subprocess.run(
        [differ], input="\n".join(lines) + "\n", text=True, capture_output=True, env=environment, timeout=300
    )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(git)
    return {name for name, answer in zip(git, answers) if answer["modified"]}


def kind_of(each: Object) -> str:
    """Group and kind."""
    return f"{each['apiVersion'].rpartition('/')[0]}/{each['kind']}"


def settings() -> dict[str, list[str]]:
    """jqPathExpressions by group and kind, as `mindgate explain --argocd` prints them."""
    printed = subprocess.run([PROGRAM, "explain", "--argocd"], text=True, capture_output=True, check=True).stdout
    ignored = yaml.safe_load(printed)["ignoreDifferences"]
    return {f"{each['group']}/{each['kind']}": each["jqPathExpressions"] for each in ignored}


def test_argo_cd_before_mindgate(without_mindgate: Cluster, differ: str) -> None:
    git = manifests(without_mindgate.namespace)
    live = apply(without_mindgate, git, "argocd-controller")
    assert out_of_sync(differ, without_mindgate, git, live) == set()


def test_argo_cd(cluster: Cluster, mindgate: Release, differ: str) -> None:
    git = manifests(cluster.namespace)
    live = apply(cluster, git, "argocd-controller")
    # Without any setting: what the page is about.
    assert out_of_sync(differ, cluster, git, live) == {f"{name}-env" for name in CUSTOM}
    # With ignoreDifferences.
    ignored = settings()
    assert out_of_sync(differ, cluster, git, live, ignored) == set()
    # A difference of the user's own still shows.
    other = copy.deepcopy(git["pair-env"])
    other["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"][0]["env"][0]["value"] = "train"
    assert out_of_sync(differ, cluster, {"pair-env": other}, live, ignored) == {"pair-env"}
    # With ServerSideDiff=true and nothing else. What controllers write in between is seen a moment later, as by Argo CD.
    wait_for(
        lambda: not out_of_sync(differ, cluster, git, stored(cluster, git), server_side=True),
        "all objects to be in sync by ServerSideDiff",
    )


def test_argo_cd_with_what_apply_prints(cluster: Cluster, mindgate: Release, differ: str) -> None:
    written = cluster.run(
        PROGRAM, "apply", "-f", "-", input=yaml.safe_dump_all(manifests(cluster.namespace).values())
    ).stdout
    git = {each["metadata"]["name"]: each for each in yaml.safe_load_all(written)}
    live = apply(cluster, git, "argocd-controller")
    assert out_of_sync(differ, cluster, git, live) == set()


def without_bookkeeping(each: Object) -> Object:
    """What Flux compares (fluxcd/pkg: ssa, hasDrifted): all but status and what the server keeps of the object."""
    kept = {key: value for key, value in each.items() if key != "status"}
    server = {"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"}
    kept["metadata"] = {key: value for key, value in each["metadata"].items() if key not in server}
    return kept


def test_flux(cluster: Cluster, mindgate: Release) -> None:
    git = manifests(cluster.namespace)
    flags = ("--server-side", "--force-conflicts")
    apply(cluster, git, "kustomize-controller", *flags)
    text = yaml.safe_dump_all(git.values())

    def in_sync() -> bool:
        live = stored(cluster, git)
        dry = cluster.kubectl(
            "apply", "--field-manager=kustomize-controller", *flags, "--dry-run=server", "-o", "json", "-f", "-", input=text
        )
        would_be = {each["metadata"]["name"]: each for each in json.loads(dry.stdout)["items"]}
        assert {name for name in git if without_bookkeeping(would_be[name]) != without_bookkeeping(live[name])} == set()
        return True

    # What controllers write between both answers, as a PodGroup into a pod, is in both a moment later.
    wait_for(in_sync, "all objects to be without drift")
