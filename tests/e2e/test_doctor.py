"""`mindgate doctor` names the fault of a broken installation, and finds none in one that works."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest
from e2e import Cluster, wait_for
from release import NAMESPACE, PROGRAM, Release

pytestmark = pytest.mark.full


def diagnosis(cluster: Cluster) -> tuple[int, list[dict[str, str]]]:
    answer = cluster.run(PROGRAM, "doctor", "-o", "json", check=False)
    assert answer.returncode in (0, 1), answer.stderr
    return answer.returncode, json.loads(answer.stdout)["findings"]


def failed(cluster: Cluster) -> dict[str, list[str]]:
    """Messages of what failed, by check."""
    faults: dict[str, list[str]] = {}
    for finding in diagnosis(cluster)[1]:
        if finding["status"] == "failed":
            assert finding["fix"], finding
            faults.setdefault(finding["check"], []).append(finding["message"])
    return faults


def await_fault(cluster: Cluster, check: str, text: str) -> dict[str, list[str]]:
    def found() -> dict[str, list[str]]:
        faults = failed(cluster)
        assert any(text in message for message in faults.get(check, [])), faults
        return faults

    return wait_for(found, f"doctor to say of {check}: {text}", 60)


@pytest.fixture
def breakable(mindgate: Release) -> Iterator[Release]:
    """An installation that the test breaks, put back afterwards from nothing."""
    yield mindgate
    mindgate.uninstall()
    mindgate.install()


def patch(release: Release, kind: str, name: str, operations: list[dict[str, Any]]) -> None:
    release.cluster.kubectl("patch", kind, name, "--type=json", "-p", json.dumps(operations))


def fresh_connections(release: Release) -> None:
    """The API server keeps those that it has, whatever becomes of Service and selector; new replicas make it open new ones."""
    selector = "app.kubernetes.io/component=webhook"
    before = {pod["metadata"]["uid"] for pod in release.cluster.items("pods", "-l", selector)}
    release.cluster.kubectl("rollout", "restart", "deployment/mindgate-webhook")
    release.cluster.await_rollout("mindgate-webhook")
    wait_for(
        lambda: not before & {pod["metadata"]["uid"] for pod in release.cluster.items("pods", "-l", selector)},
        "the replicas of before to be gone",
        60,
    )


def stop_watcher(release: Release) -> None:
    """It would fix what is broken here."""
    release.cluster.kubectl("scale", "deployment/mindgate-watcher", "--replicas=0")
    wait_for(
        lambda: not release.cluster.items("pods", "-l", "app.kubernetes.io/component=watcher"),
        "the watcher to be gone",
        60,
    )


def test_a_good_installation(cluster: Cluster, mindgate: Release) -> None:
    # As on every cluster with MindCluster, whose reports are read there.
    cluster.kubectl("create", "namespace", "mindx-dl")
    try:
        code, findings = diagnosis(cluster)
    finally:
        cluster.kubectl("delete", "namespace", "mindx-dl")
    assert [f for f in findings if f["status"] != "ok"] == []
    assert code == 0
    assert {f["check"] for f in findings} == {
        "api-server",
        "registration",
        "service",
        "endpoints",
        "certificate",
        "ca-bundle",
        "selectors",
        "configuration",
        "permissions",
        "controllers",
        "trusted-namespaces",
        "versions",
        "watcher",
        "watcher-bounds",
        "gates",
        "taints",
        "scaled-jobs",
        "dry-run",
    }


def test_wrong_ca(cluster: Cluster, breakable: Release) -> None:
    stop_watcher(breakable)
    other = breakable.cluster.run(
        PROGRAM, "certs", "create", "--dir", cluster.folder / "other-ca", "--dns", "other.example", "--force"
    )
    assert "wrote ca.crt" in other.stdout
    bundle = base64.b64encode((cluster.folder / "other-ca" / "ca.crt").read_bytes()).decode()
    for kind in ("mutating", "validating"):
        count = len(breakable.configuration(kind)["webhooks"])
        path = "/webhooks/{}/clientConfig/caBundle"
        replaced = [{"op": "replace", "path": path.format(i), "value": bundle} for i in range(count)]
        patch(breakable, f"{kind}webhookconfiguration", "mindgate", replaced)
    faults = await_fault(cluster, "dry-run", "the CA in caBundle did not sign")
    assert any("did not sign the served certificate" in m for m in faults["ca-bundle"])


def test_selector_that_matches_no_pod(cluster: Cluster, breakable: Release) -> None:
    patch(breakable, "service", "mindgate-webhook", [{"op": "add", "path": "/spec/selector/app", "value": "nobody"}])
    fresh_connections(breakable)
    faults = await_fault(cluster, "dry-run", "nothing listens where the Service sends")
    assert any("matches no Pod" in message for message in faults["endpoints"])


def test_wrong_target_port(cluster: Cluster, breakable: Release) -> None:
    operation = {"op": "replace", "path": "/spec/ports/0/targetPort", "value": 9999}
    patch(breakable, "service", "mindgate-webhook", [operation])
    fresh_connections(breakable)
    faults = await_fault(cluster, "dry-run", "nothing listens where the Service sends")
    assert any("target port 9999" in message for message in faults["service"])


def test_missing_service(cluster: Cluster, breakable: Release) -> None:
    breakable.cluster.kubectl("delete", "service", "mindgate-webhook")
    fresh_connections(breakable)
    faults = await_fault(cluster, "dry-run", "Service")
    assert any(f"there is no Service {NAMESPACE}/mindgate-webhook" in message for message in faults["service"])


def test_missing_permissions(cluster: Cluster, breakable: Release) -> None:
    breakable.cluster.kubectl("delete", "clusterrolebinding", "mindgate-watcher")
    faults = await_fault(cluster, "permissions", "patch validatingwebhookconfigurations mindgate")
    assert set(faults) <= {"permissions", "watcher", "endpoints"}


def test_operator_that_does_not_count_as_a_controller(cluster: Cluster, breakable: Release) -> None:
    breakable.install({"controllers": {"namespaces": ["kube-system", "volcano-system"]}})
    found = [finding for finding in diagnosis(cluster)[1] if finding["check"] == "controllers"]
    assert [finding["status"] for finding in found] == ["warning"], found
    account = "lws-system/lws-controller-manager"
    assert f"ServiceAccount {account} has the permissions of the operator of leaderworkersets." in found[0]["message"]
    assert "system:serviceaccount:lws-system:lws-controller-manager to controllers.users" in found[0]["fix"]


def test_excluded_namespace(cluster: Cluster, breakable: Release) -> None:
    excluded = ["kube-system", "kube-node-lease", "default"]
    # The chart refuses a `helm test` that would try an object in a namespace that is excluded.
    breakable.install({"excludedNamespaces": excluded, "tests": {"enabled": False}}, wait=False)
    faults = await_fault(cluster, "selectors", "objects of namespace default are not injected")
    assert any("passed the validating webhook" in message for message in faults["dry-run"])


def test_firewall(cluster: Cluster, breakable: Release) -> None:
    """Packets to the Pods' port vanish, as behind the firewall of a private cluster."""
    rule = ["OUTPUT", "-p", "tcp", "--dport", "9443", "-j", "DROP"]
    cluster.control("run", "iptables", "-I", *rule)
    try:
        await_fault(cluster, "dry-run", "no answer in time")
    finally:
        cluster.control("run", "iptables", "-D", *rule)


def test_missing_registration(cluster: Cluster, breakable: Release) -> None:
    breakable.cluster.kubectl("delete", "mutatingwebhookconfiguration", "mindgate")
    faults = failed(cluster)
    assert any("nothing is injected" in message for message in faults["registration"])


def test_nobody_to_ask(cluster: Cluster) -> None:
    answer = cluster.run(PROGRAM, "doctor", "--server", "https://127.0.0.1:1", "-o", "json", check=False)
    assert answer.returncode == 1
    [finding] = json.loads(answer.stdout)["findings"]
    assert (finding["check"], finding["status"]) == ("api-server", "failed")
    assert "kubectl version" in finding["fix"]
