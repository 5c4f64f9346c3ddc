"""From the first second of an installation to the last of its removal, nothing is refused because of mindgate."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator

import pytest
from e2e import Cluster, wait_for
from load import ApiServer, Load
from release import CHART, DENIED, NAME, NEW_PODS, VALUES, Release, deployment, import_image, merged

pytestmark = pytest.mark.full


class Creations(Load):
    """Deployments of NPU pods are created, every tenth for good: the controllers make 20 calls a second at most, for all there is."""

    def _create(self, server: ApiServer, _: str) -> str:
        manifest = deployment(f"npus-{uuid.uuid4().hex[:12]}", replicas=0)
        dry_run = "?dryRun=All" if self.calls % 10 else ""
        path = f"/apis/apps/v1/namespaces/{self.cluster.namespace}/deployments{dry_run}"
        status, answer = server.call("POST", path, manifest)
        return "" if status == 201 else f"create of a Deployment: {status} {answer.get('message')}"

    _inject = _create
    _deny = _create


@pytest.fixture
def release(cluster: Cluster) -> Iterator[Release]:
    """Nothing is installed yet."""
    import_image(cluster)
    release = Release(cluster)
    # Pods of the installation before, which are ending, would answer for this one: kube-proxy sends calls to them while there are no
    # others.
    wait_for(lambda: not release.cluster.items("pods"), "the pods of the installation before to be gone")
    yield release
    release.uninstall()


def helm(release: Release, *arguments: str, values: dict[str, object] | None = None) -> None:
    """With --wait, and without more waiting than that."""
    text = json.dumps(merged(VALUES, values or {}))
    release.cluster.helm(*arguments, NAME, CHART, "--create-namespace", "--wait", "--timeout=5m", "--values=-", input=text)


def evict(server: ApiServer, release: Release, pod: str) -> None:
    path = f"/api/v1/namespaces/{release.cluster.namespace}/pods/{pod}/eviction"
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod}}

    def evicted() -> bool:
        status, answer = server.call("POST", path, eviction)
        assert status in (201, 429), answer
        return status == 201

    wait_for(evicted, f"the PodDisruptionBudget to let {pod} go")
    wait_for(lambda: pod not in release.pod_names(), f"{pod} to be gone")
    release.cluster.await_rollout("mindgate-webhook")


def test_no_creation_fails_from_before_the_installation_until_after_its_removal(cluster: Cluster, release: Release) -> None:
    with Creations(cluster, rate=10, threads=4) as load:
        time.sleep(2)  # load before and after, so that the first and last moments are seen too
        helm(release, "install")
        assert release.serves(), "helm install --wait returned before an invalid object was denied"
        assert release.open_webhooks() == []
        helm(release, "upgrade", values=NEW_PODS)
        assert release.open_webhooks() == [], "an upgrade keeps what is Fail"
        server = ApiServer(cluster)
        for pod in release.pod_names():
            evict(server, release, pod)
        release.uninstall()
        time.sleep(3)
    print(load.summary())
    assert load.failures == [], load.summary()
    assert load.calls > 100, load.summary()


def admitted(cluster: Cluster) -> bool:
    return cluster.kubectl("create", "--dry-run=server", "-f", "-", input=json.dumps(DENIED), check=False).returncode == 0


def test_without_an_answer_nothing_is_refused(cluster: Cluster, release: Release) -> None:
    """The watcher runs and publishes the CA, and no pod of the webhook answers. Later one does, and goes again."""
    no_replica = {"replicaCount": 0}
    release.install(no_replica, wait=False)
    wait_for(lambda: "" not in release.bundles(), "the watcher to publish the CA", 120)

    def unready() -> bool:
        log = release.cluster.kubectl("logs", "-l", "app.kubernetes.io/component=watcher", "--tail=-1").stdout
        return "webhooks have failurePolicy Ignore until the API server gets an answer" in log

    wait_for(unready, "the watcher to wait for an answer")
    assert "pods.validate.mindgate.io" in release.open_webhooks()
    assert set(release.to_fail_closed().values()) == {"Ignore"}
    assert admitted(cluster)

    release.cluster.kubectl("scale", "deployment/mindgate-webhook", "--replicas=1")
    release.wait_closed()
    assert not admitted(cluster)

    release.cluster.kubectl("scale", "deployment/mindgate-webhook", "--replicas=0")

    def fails_closed() -> bool:
        refused = cluster.kubectl("create", "--dry-run=server", "-f", "-", input=json.dumps(DENIED), check=False)
        return "failed calling webhook" in refused.stderr

    wait_for(fails_closed, "the last replica to be gone")

    # Whoever upgrades sets the field: neither way of applying conflicts with the watcher.
    for how in ("--server-side=true", "--server-side=false"):
        upgrade(release, how, {"rolloutPhase": "warn", "replicaCount": 0})
        assert policy_of_pods(release) == "Ignore", how
        upgrade(release, how, {"replicaCount": 1})
        wait_for(lambda: policy_of_pods(release) == "Fail", "the watcher to set failurePolicy Fail", 120)


def upgrade(release: Release, how: str, values: dict[str, object]) -> None:
    release.cluster.helm("upgrade", NAME, CHART, how, "--values=-", input=json.dumps(merged(VALUES, values)))


def policy_of_pods(release: Release) -> str:
    [webhook] = [each for each in release.configuration("validating")["webhooks"] if each["name"].startswith("pods.")]
    return webhook["failurePolicy"]
