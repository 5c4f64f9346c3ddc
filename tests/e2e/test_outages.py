"""mindgate away: what it mutates passes as it is, what it validates is refused, nothing else notices, and it comes back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from e2e import Cluster, wait_for
from release import DENIED, REAL_NODE, Release, deployment

pytestmark = pytest.mark.full


def create(cluster: Cluster, sent: dict[str, Any], *arguments: str) -> Any:
    return cluster.kubectl("create", *arguments, "-o", "json", "-f", "-", input=json.dumps(sent), check=False)


@pytest.fixture
def nobody(mindgate: Release) -> Any:
    """No replica of the webhook at all, for the time of a test."""
    mindgate.cluster.kubectl("scale", "deployment/mindgate-webhook", "--replicas=0")
    wait_for(
        lambda: not mindgate.cluster.items("pods", "-l", "app.kubernetes.io/component=webhook"),
        "the replicas to be gone",
        90,
    )
    yield mindgate
    mindgate.install()


def only_mutating(mindgate: Release) -> None:
    mindgate.cluster.kubectl("delete", "validatingwebhookconfiguration", "mindgate")


def test_validation_fails_closed_and_names_who_is_missing(cluster: Cluster, nobody: Release) -> None:
    answer = create(cluster, deployment("refused"))
    assert answer.returncode == 1
    assert 'failed calling webhook "workloads.validate.mindgate.io"' in answer.stderr
    assert "https://mindgate-webhook.mindgate-system.svc:443/validate" in answer.stderr
    assert "connection refused" in answer.stderr


def test_mutation_fails_open(cluster: Cluster, nobody: Release) -> None:
    only_mutating(nobody)
    answer = create(cluster, deployment("open"))
    assert answer.returncode == 0, answer.stderr
    template = json.loads(answer.stdout)["spec"]["template"]
    assert template["metadata"]["labels"] == {"app": "open"}


def test_what_does_not_concern_us_never_notices(cluster: Cluster, nobody: Release) -> None:
    """Pods, jobs and ConfigMaps without NPUs, everything in system namespaces, and what runs already."""
    plain = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "plain"},
        "spec": {
            "containers": [{"name": "c", "image": "localhost/hello:1", "imagePullPolicy": "Never"}],
            "nodeSelector": REAL_NODE,
        },
    }
    cluster.create(plain)
    wait_for(lambda: cluster.get("pod", "plain")["status"]["phase"] == "Running", "a plain pod to run")
    cluster.kubectl("create", "configmap", "plain", "--from-literal", "a=b")
    in_system = deployment("npus-of-the-system", replicas=0)
    cluster.kubectl("create", "--namespace", "kube-system", "-f", "-", input=json.dumps(in_system))
    cluster.kubectl("delete", "--namespace", "kube-system", "deployment", "npus-of-the-system")


def test_pods_of_admitted_workloads_are_replaced(cluster: Cluster, mindgate: Release) -> None:
    """A card dies while mindgate is away: the controller's new pod must not wait for it."""
    cluster.create(deployment("served"))
    [pod] = wait_for(lambda: cluster.items("pods", "-l", "app=served"), "the pod")
    mindgate.cluster.kubectl("scale", "deployment/mindgate-webhook", "--replicas=0")
    wait_for(lambda: not mindgate.pods(), "the replicas to be gone", 90)
    try:
        cluster.kubectl("delete", "pod", pod["metadata"]["name"], "--wait=false")
        wait_for(
            lambda: [
                p
                for p in cluster.items("pods", "-l", "app=served")
                if p["metadata"]["uid"] != pod["metadata"]["uid"] and p["status"]["phase"] == "Running"
            ],
            "its successor to run",
            90,
        )
        # Finalizers, status and deletion of what is stored need nobody either.
        cluster.kubectl("delete", "deployment/served", "--wait=false")
        wait_for(lambda: not cluster.items("deployments"), "the deployment to be gone")
    finally:
        mindgate.install()


def test_uninstall_leaves_nothing_that_blocks(cluster: Cluster, mindgate: Release) -> None:
    bundle = mindgate.bundles()
    try:
        mindgate.uninstall()
        for kind in ("mutating", "validating"):
            left = cluster.items(f"{kind}webhookconfigurations", "-l", "app.kubernetes.io/name=mindgate")
            assert left == []
        assert create(cluster, deployment("free")).returncode == 0
        assert create(cluster, DENIED).returncode == 0
        kept = [s["metadata"]["name"] for s in mindgate.cluster.items("secrets") if s["type"] == "kubernetes.io/tls"]
        assert kept == ["mindgate-tls"], "the next installation goes on with its certificates"
    finally:
        mindgate.install()
    assert mindgate.bundles() == bundle


def test_first_start_in_any_order(cluster: Cluster, mindgate: Release) -> None:
    """The Secret is lost: a new CA is published beside the old one, and no call fails for want of trust meanwhile."""
    [old] = mindgate.bundles()
    mindgate.cluster.kubectl("delete", "secret", "mindgate-tls")
    wait_for(lambda: mindgate.bundles() != {old}, "a new CA to be published", 60)
    assert mindgate.serves(), "replicas still serve the old certificate, and are trusted"
    secret = mindgate.cluster.get("secret", "mindgate-tls")
    assert sorted(secret["data"]) == ["ca.crt", "ca.key", "tls.crt", "tls.key"]
    # And with nothing there at all.
    mindgate.uninstall()
    mindgate.cluster.kubectl("delete", "secret", "mindgate-tls")
    mindgate.install()
    assert mindgate.serves()
