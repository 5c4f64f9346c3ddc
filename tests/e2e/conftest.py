"""Fixtures of the end-to-end tests. They need a cluster that is up: `make e2e` brings one up around them."""

from __future__ import annotations

import os
import pathlib
import re
import secrets
from collections.abc import Callable, Iterator

import pytest
from e2e import Cluster, CommandFailed, wait_for
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
        for what in ("pods,podgroups.scheduling.volcano.sh", "events"):
            told = cluster.kubectl("get", what, "--output", "wide", check=False)
            report.sections.append((f"{what} in {cluster.namespace}", told.stdout + told.stderr))


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
    wait_for(
        lambda: cluster.kubectl("get", "serviceaccount", "default", check=False).returncode == 0,
        "the ServiceAccount of the namespace, without which no pod is admitted",
    )
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
def settled_api_server() -> None:
    """A test may have stopped it; the next one begins when it answers."""
    cluster = the_cluster()
    wait_for(
        lambda: cluster.kubectl("get", "--raw", "/readyz", "--request-timeout", "5s").stdout
        == "ok",
        "the API server to be ready",
    )


__all__ = ["CommandFailed", "cluster", "helm", "kubectl", "settled_api_server"]
