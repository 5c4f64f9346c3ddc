"""The first hours of an installation: `helm test`, the phases of a rollout, and the end of its namespace."""

from __future__ import annotations

import contextlib
import json
import pathlib
import re
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from e2e import Cluster, wait_for
from release import CHART, DENIED, PROGRAM, VALUES, Release, deployment, import_image, merged

CONFIGURATIONS = ("mutatingwebhookconfiguration", "validatingwebhookconfiguration")
RIGHTS = "clusterroles,clusterrolebindings,validatingadmissionpolicies,validatingadmissionpolicybindings"
OWN_FILES = {"certs": {"mode": "files", "secretName": "pair", "caBundle": "-----BEGIN CERTIFICATE-----\n"}}


@pytest.fixture
def changeable(mindgate: Release) -> Iterator[Release]:
    """An installation that the test changes, put back afterwards."""
    yield mindgate
    mindgate.install()


def log_of_the_test(release: Release) -> str:
    return release.cluster.kubectl("logs", "mindgate-test").stdout


def rights_of_the_test(release: Release) -> list[str]:
    found = release.cluster.items("roles,rolebindings,serviceaccounts,clusterroles,clusterrolebindings", "-A")
    return [
        f"{each['kind']} {each['metadata']['name']}" for each in found if each["metadata"]["name"].startswith("mindgate-test")
    ]


@pytest.mark.full
def test_helm_test_passes_and_leaves_no_rights(mindgate: Release) -> None:
    answer = mindgate.cluster.helm("test", "mindgate")
    assert re.search(r"Phase: +Succeeded", answer.stdout), answer.stdout
    log = log_of_the_test(mindgate)
    assert re.search(r"ok +dry-run +an invalid object is denied by mindgate", log), log
    assert re.search(r"ok +dry-run +a Pod that asks for NPUs is injected", log), log
    # It may not read the Secret nor who has which role, nor write as the watcher, and checks all that does not follow from these.
    unreadable = {"certificate", "ca-bundle", "watcher-bounds", "controllers", "versions"}
    assert set(re.findall(r"(?m)^skipped +(\S+)", log)) <= unreadable, log
    assert rights_of_the_test(mindgate) == []


@pytest.mark.full
def test_helm_test_fails_where_nothing_is_validated(changeable: Release) -> None:
    changeable.cluster.kubectl("delete", "validatingwebhookconfiguration", "mindgate")
    assert changeable.cluster.helm("test", "mindgate", check=False).returncode != 0
    log = log_of_the_test(changeable)
    assert "there is no ValidatingWebhookConfiguration mindgate: nothing is validated" in log
    assert rights_of_the_test(changeable) == []


class Phases:
    """What becomes of objects now."""

    def __init__(self, release: Release):
        self.cluster = release.cluster

    def create(self, manifest: dict[str, Any]) -> subprocess.CompletedProcess[str]:
        return self.cluster.kubectl(
            "create",
            "--namespace",
            "default",
            "--dry-run=server",
            "-o",
            "json",
            "-f",
            "-",
            input=json.dumps(manifest),
            check=False,
        )

    def becomes_of_wrong(self) -> str:
        answer = self.create(DENIED)
        if answer.returncode != 0:
            assert "denied the request" in answer.stderr, answer.stderr
            return "denied"
        return "warned" if "Warning: MG" in answer.stderr else "admitted"

    def injects(self) -> bool:
        template = json.loads(self.create(deployment("probe")).stdout)["spec"]["template"]
        return bool(template["spec"].get("schedulerName") == "volcano")

    def await_all(self, wrong: str, injects: bool) -> None:
        """Of several calls, so that each replica is asked."""
        wait_for(
            lambda: {self.becomes_of_wrong() for _ in range(6)} == {wrong} and self.injects() == injects,
            f"wrong objects to be {wrong} and others injected: {injects}",
            150,
            every=2,
        )


@pytest.mark.full
def test_a_rollout_goes_phase_by_phase(changeable: Release) -> None:
    phases = Phases(changeable)
    for phase, wrong, injects in (("observe", "admitted", False), ("warn", "warned", True), ("enforce", "denied", True)):
        changeable.install({"rolloutPhase": phase}, wait=False)
        phases.await_all(wrong, injects)
        # And doctor finds nothing amiss in any.
        answer = changeable.cluster.helm("test", "mindgate", check=False)
        assert answer.returncode == 0, f"{phase}: {answer.stderr}{log_of_the_test(changeable)}"
        if phase == "observe":
            logs = changeable.cluster.kubectl("logs", "-l", "app.kubernetes.io/component=webhook", "--tail=-1").stdout
            assert re.search(r'"rules":"[^"]*MG\d+=audit', logs), logs


def configurations(cluster: Cluster) -> list[dict[str, Any]]:
    return [each for kind in CONFIGURATIONS for each in cluster.items(kind) if each["metadata"]["name"] == "mindgate"]


def await_gone(cluster: Cluster) -> None:
    wait_for(lambda: not configurations(cluster), "the garbage collector to take the configurations")


def remove_rights(cluster: Cluster) -> None:
    """The release went with its namespace; what it left in the cluster does nothing."""
    cluster.kubectl("delete", RIGHTS, "-l", "app.kubernetes.io/instance=mindgate")


@pytest.mark.full
def test_deleting_the_namespace_of_an_installation_blocks_nothing(cluster: Cluster) -> None:
    import_image(cluster)
    release = Release(cluster)
    name = f"{cluster.namespace}-gone"
    release.cluster = Cluster(cluster.folder, name)
    # helm makes the namespace after it has rendered: the owner is the watcher's to set.
    release.cluster.helm(
        "install", "mindgate", CHART, "--create-namespace", "--values", "-", input=json.dumps(merged(VALUES, {}))
    )
    try:
        release.wait_ready()
        uid = cluster.get("namespace", name)["metadata"]["uid"]
        for each in configurations(cluster):
            owners = each["metadata"]["ownerReferences"]
            assert [(owner["kind"], owner["uid"]) for owner in owners] == [("Namespace", uid)]
        # An upgrade leaves it as it is.
        release.cluster.helm("upgrade", "mindgate", CHART, "--values", "-", input=json.dumps(VALUES))
        assert all(each["metadata"].get("ownerReferences") for each in configurations(cluster))
    finally:
        cluster.run("kubectl", "delete", "namespace", name, "--wait")
        await_gone(cluster)
        remove_rights(cluster)
    cluster.kubectl("create", "--namespace", "default", "--dry-run=server", "-f", "-", input=json.dumps(DENIED))


@contextlib.contextmanager
def idle_installation(cluster: Cluster, values: dict[str, Any]) -> Iterator[Cluster]:
    """The chart in a namespace that is deleted at the end. Nothing runs, and the API server is asked about nothing."""
    inside = Cluster(cluster.folder, f"{cluster.namespace}-owner")
    idle = {
        "namespaceSelector": {"matchLabels": {"no": "where"}},
        "replicaCount": 0,
        "watcher": {"replicaCount": 0},
    }
    cluster.run("kubectl", "create", "namespace", inside.namespace)
    try:
        inside.helm("install", "mindgate", CHART, "--values", "-", input=json.dumps(merged(idle, values)))
        assert len(configurations(cluster)) == 2
        yield inside
    finally:
        cluster.run("kubectl", "delete", "namespace", inside.namespace, "--wait")
        await_gone(cluster)
        remove_rights(cluster)


def owners(cluster: Cluster) -> list[list[str]]:
    """Of each configuration, the uids of its owners."""
    return [[owner["uid"] for owner in each["metadata"].get("ownerReferences", [])] for each in configurations(cluster)]


def as_service_account(cluster: Cluster, name: str, folder: pathlib.Path) -> pathlib.Path:
    """A kubeconfig for a ServiceAccount of the cluster's namespace, which may what its Roles say and nothing else."""
    file = folder / f"{name}.kubeconfig"
    file.write_text(cluster.kubeconfig.read_text())
    token = cluster.kubectl("create", "token", name).stdout
    config = ("kubectl", "--kubeconfig", file, "config")
    cluster.run(*config, "set-credentials", name, f"--token={token}")
    cluster.run(*config, "set-context", "--current", f"--user={name}")
    return file


def test_the_watcher_sets_the_owner_with_the_rights_that_it_has(cluster: Cluster, tmp_path: pathlib.Path) -> None:
    with idle_installation(cluster, {}) as inside:
        assert owners(cluster) == [[], []], "helm leaves it to the watcher"
        kubeconfig = as_service_account(inside, "mindgate-watcher", tmp_path)
        registrations = ("--mutating-webhook=mindgate", "--validating-webhook=mindgate")
        inside.run(
            PROGRAM,
            "certs",
            "manage",
            "--once",
            f"--kubeconfig={kubeconfig}",
            f"--namespace={inside.namespace}",
            "--secret=mindgate-tls",
            *registrations,
        )
        uid = cluster.get("namespace", inside.namespace)["metadata"]["uid"]
        assert owners(cluster) == [[uid], [uid]]
        for how in ("--server-side=true", "--server-side=false"):
            inside.helm("upgrade", "mindgate", CHART, "--reset-then-reuse-values", "--set", "log.level=debug", how)
            assert owners(cluster) == [[uid], [uid]], how


def test_helm_sets_the_owner_where_the_watcher_keeps_no_certificates(cluster: Cluster) -> None:
    with idle_installation(cluster, OWN_FILES) as inside:
        uid = cluster.get("namespace", inside.namespace)["metadata"]["uid"]
        assert owners(cluster) == [[uid], [uid]]


def test_the_api_server_takes_a_priority_level_of_our_own(cluster: Cluster) -> None:
    ours = ("-l", "app.kubernetes.io/instance=mindgate")
    with idle_installation(cluster, OWN_FILES | {"flowSchema": {"enabled": True}}) as inside:
        found = cluster.items("flowschemas,prioritylevelconfigurations", *ours)
        assert sorted((each["kind"], each["metadata"]["name"]) for each in found) == [
            ("FlowSchema", "mindgate"),
            ("FlowSchema", "mindgate-leases"),
            ("PriorityLevelConfiguration", "mindgate"),
        ]
        for schema in found:
            for condition in schema.get("status", {}).get("conditions", []):
                assert (condition["type"], condition["status"]) == ("Dangling", "False"), condition
        inside.helm("upgrade", "mindgate", CHART, "--reset-then-reuse-values", "--set", "flowSchema.enabled=false")
        assert cluster.items("flowschemas,prioritylevelconfigurations", *ours) == []
