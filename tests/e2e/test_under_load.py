"""Nothing that happens to a replica or to its certificate loses a call, of either webhook, through the real Service."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from e2e import Cluster, wait_for
from load import Load
from release import Release

pytestmark = pytest.mark.full

# What a rotation waits for is hours and days in production: an API server or a node that was away.
QUICK_ROTATION = {"certs": {"managed": {"publishSeconds": 5, "overlapSeconds": 60}}}


def settle(seconds: float) -> None:
    """Load before and after what happens, so that its first and last moments are seen too."""
    time.sleep(seconds)


def undisturbed(cluster: Cluster, happens: Callable[[], None]) -> None:
    with Load(cluster) as load:
        settle(2)
        happens()
        settle(3)
    print(load.summary())
    assert load.failures == [], load.summary()
    assert load.calls > 100, load.summary()


def test_rolling_restart(cluster: Cluster, mindgate: Release) -> None:
    before = mindgate.pod_names()

    def restart() -> None:
        mindgate.cluster.kubectl("rollout", "restart", "deployment/mindgate-webhook")
        mindgate.cluster.await_rollout("mindgate-webhook")
        wait_for(lambda: not set(before) & all_pods(mindgate), "the old pods to be gone", 60)

    undisturbed(cluster, restart)
    assert not set(before) & set(mindgate.pod_names())


def all_pods(mindgate: Release) -> set[str]:
    return {pod["metadata"]["name"] for pod in mindgate.all_pods()}


def test_helm_upgrade(cluster: Cluster, mindgate: Release) -> None:
    bundles = mindgate.bundles()

    def upgrade() -> None:
        mindgate.install({"podAnnotations": {"upgraded": "yes"}}, wait=False)
        mindgate.cluster.await_rollout("mindgate-webhook")

    undisturbed(cluster, upgrade)
    assert mindgate.bundles() == bundles, "an upgrade keeps certificates"
    assert len(bundles) == 1 and "" not in bundles
    mindgate.install()


def test_eviction_through_the_budget(cluster: Cluster, mindgate: Release) -> None:
    [first, second] = mindgate.pod_names()

    def evict(pod: str) -> None:
        eviction = '{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"%s"}}' % pod
        path = f"/api/v1/namespaces/{mindgate.cluster.namespace}/pods/{pod}/eviction"
        mindgate.cluster.kubectl("create", "--raw", path, "-f", "-", input=eviction)

    def evict_both() -> None:
        evict(first)
        wait_for(lambda: evict(second) is None, "the budget to allow the second", 90)
        wait_for(
            lambda: len(mindgate.pod_names()) == 2 and not {first, second} & all_pods(mindgate),
            "two other replicas",
            90,
        )
        mindgate.wait_ready()

    undisturbed(cluster, evict_both)


def test_certificate_rotation_with_its_ca(cluster: Cluster, mindgate: Release) -> None:
    """Serving certificate first, then the CA in its three steps."""
    mindgate.install(QUICK_ROTATION)
    [old] = mindgate.bundles()

    def rotate(what: str) -> None:
        mindgate.cluster.kubectl("annotate", "secret", "mindgate-tls", f"mindgate.io/rotate={what}", "--overwrite")

    def new_ca_alone() -> bool:
        bundles = mindgate.bundles()
        return len(bundles) == 1 and all(b != old and len(b) < 1.5 * len(old) for b in bundles)

    def rotate_all() -> None:
        version = mindgate.cluster.get("secret", "mindgate-tls")["data"]["tls.crt"]
        rotate("serving")
        wait_for(
            lambda: mindgate.cluster.get("secret", "mindgate-tls")["data"]["tls.crt"] != version,
            "a new serving certificate",
        )
        rotate("ca")
        wait_for(lambda: mindgate.bundles() != {old}, "the new CA to be published beside the old one")
        wait_for(new_ca_alone, "the old CA to be dropped", 150)

    undisturbed(cluster, rotate_all)
    mindgate.install()


def test_stopped_container(cluster: Cluster, mindgate: Release) -> None:
    """The kubelet ends a container by SIGTERM: for its own reasons, or because somebody asked."""
    [first, _] = mindgate.pod_names()

    def stop() -> None:
        mindgate.cluster.stop_container(first)
        mindgate.wait_ready()

    undisturbed(cluster, stop)


def test_killed_container(cluster: Cluster, mindgate: Release) -> None:
    """
    SIGKILL is beyond any server: the calls in flight are lost, and until the kubelet and kube-proxy have noticed, new
    connections to the dead replica are refused, which the API server does not try again elsewhere. What can be shown is that
    nothing else fails, and that it ends by itself.
    """
    [first, _] = mindgate.pod_names()
    with Load(cluster) as load:
        settle(2)
        assert load.failures == [], load.summary()
        mindgate.cluster.control("kill-container", first, mindgate.cluster.namespace, "KILL")
        mindgate.wait_ready()
        lost = len(load.failures)
        settle(3)
    print(load.summary())
    assert len(load.failures) == lost, f"it serves again, and yet: {load.summary()}"
    # How a connection to a process that is gone ends: when it is opened, read from, or written to.
    noticed = ("connection refused", "EOF", "connection reset by peer", "broken pipe", "came back without injection")
    assert [fault for fault in load.failures if not any(text in fault for text in noticed)] == []
