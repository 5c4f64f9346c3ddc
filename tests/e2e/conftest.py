"""Fixtures of the end-to-end tests. They need a cluster that is up: `make e2e` brings one up around them."""

from __future__ import annotations

import collections
import json
import os
import pathlib
import re
import secrets
from collections.abc import Callable, Iterator

import pytest
from e2e import CONTROLLERS, Cluster, CommandFailed, wait_for
from release import LocalProcess, Release, import_image

DEFAULT_FOLDER = "/tmp/mindgate-e2e" if os.getuid() == 0 else f"/tmp/mindgate-e2e-{os.getuid()}"


def the_cluster() -> Cluster:
    return Cluster(pathlib.Path(os.environ.get("MINDGATE_E2E_DIR", DEFAULT_FOLDER)))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "full: needs nodes that run pods; skipped in loopback mode")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    cluster = the_cluster()
    if not cluster.kubeconfig.exists():
        raise pytest.UsageError(
            f"there is no cluster in {cluster.folder}; `make e2e` brings one up and runs these tests, "
            "`make e2e-up` leaves one to run them on"
        )
    # Those that bring an installation of their own come before the one that all others share.
    items.sort(key=lambda item: "installation" in getattr(item, "fixturenames", ()))
    if cluster.mode == "loopback":
        reason = "needs nodes that run pods; this cluster is in loopback mode (cluster/up said why)"
        for item in items:
            if item.get_closest_marker("full"):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    outcome = yield
    report = outcome.get_result()
    if report.when == "call" and report.failed and "cluster" in getattr(item, "funcargs", {}):
        cluster: Cluster = item.funcargs["cluster"]
        if crash := getattr(report.longrepr, "reprcrash", None):
            # pytest's summary has the first line alone, and often only the summary is at hand.
            first, *more = crash.message.splitlines() or [""]
            crash.message = "\n".join([f"{first}; {state_of(cluster)}", *more])
        for what in ("pods,podgroups.scheduling.volcano.sh", "events"):
            answer = cluster.kubectl("get", what, "--output", "wide", check=False)
            report.sections.append((f"{what} in {cluster.namespace}", answer.stdout + answer.stderr))


def state_of(cluster: Cluster) -> str:
    """In a line: the pods of the namespace by phase, why one has no node, and the controllers that were started again."""
    pods = cluster.kubectl("get", "pods", "--output", "json", check=False)
    if pods.returncode != 0:
        return f"no pods could be read: {pods.stderr.strip().splitlines()[-1:]}"
    items = json.loads(pods.stdout)["items"]
    parts = [f"{count} {phase}" for phase, count in collections.Counter(pod["status"]["phase"] for pod in items).items()]
    unscheduled = [
        f"{pod['metadata']['name']}: {condition.get('message')}"
        for pod in items
        for condition in pod["status"].get("conditions", [])
        if condition["type"] == "PodScheduled" and condition["status"] != "True"
    ]
    parts += unscheduled[:1]
    for pod in cluster.items("pods", "--all-namespaces"):
        for container in pod["status"].get("containerStatuses", []):
            if pod["metadata"]["namespace"] in CONTROLLERS and container["restartCount"]:
                parts.append(f"{container['name']} was started {container['restartCount'] + 1} times, ready: {container['ready']}")
    return "pods: " + (", ".join(parts) or "none")


def fresh_name(test: str) -> str:
    """A namespace name from a test's name, with an end that no earlier run has used."""
    words = re.sub(r"[^a-z0-9]+", "-", test.lower().removeprefix("test_")).strip("-")
    return f"{words[:40].strip('-')}-{secrets.token_hex(3)}"


@pytest.fixture
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """The cluster, with clients that act in a namespace of this test, which ends with it."""
    cluster = the_cluster()
    namespace = fresh_name(request.node.name)
    cluster.kubectl("create", "namespace", namespace)
    wait_for(
        lambda: cluster.kubectl("get", "serviceaccount", "default", "-n", namespace, "-o", "name").stdout,
        f"the ServiceAccount of namespace {namespace}, without which no pod is admitted",
        every=0.1,
    )
    yield Cluster(cluster.folder, namespace)
    cluster.kubectl("delete", "namespace", namespace, "--wait=false")
    # Its pods hold NPUs that the next test may need.
    wait_for(
        lambda: cluster.kubectl("get", "pods", "-n", namespace, "-o", "name").stdout == "",
        f"the pods of namespace {namespace} to end",
        every=0.2,
    )


@pytest.fixture
def without_type_checks(cluster: Cluster) -> Iterator[None]:
    """The controller manager does not work meanwhile: to check the types of a hundred policies takes it minutes of processor time."""
    cluster.control("pause", "controller-manager")
    yield
    cluster.control("resume", "controller-manager")


@pytest.fixture
def kubectl(cluster: Cluster) -> Callable:
    """kubectl(*arguments, input=None, check=True) in the test's namespace."""
    return cluster.kubectl


@pytest.fixture
def helm(cluster: Cluster) -> Callable:
    """helm(*arguments, input=None, check=True) in the test's namespace."""
    return cluster.helm


@pytest.fixture(scope="session")
def installation() -> Iterator[Release]:
    """mindgate as its chart installs it, for the whole run; a process on this machine where no pods run."""
    cluster = the_cluster()
    release = LocalProcess(cluster) if cluster.mode == "loopback" else Release(cluster)
    if cluster.mode == "full":
        import_image(cluster)
    release.install()
    yield release
    release.uninstall()


@pytest.fixture
def mindgate(installation: Release) -> Release:
    """The installation, serving: a test that changed it has to put it back, and is caught here if it did not."""
    installation.wait_ready()
    return installation


@pytest.fixture(autouse=True)
def settled_cluster() -> None:
    """A test may have stopped the API server, and what depends on it; the next one begins when all of it serves."""
    cluster = the_cluster()
    wait_for(
        lambda: cluster.kubectl("get", "--raw", "/readyz", "--request-timeout", "5s").stdout
        == "ok",
        "the API server to be ready",
    )
    if cluster.mode == "full":
        cluster.await_controllers()


__all__ = ["CommandFailed", "cluster", "helm", "kubectl", "settled_cluster"]
