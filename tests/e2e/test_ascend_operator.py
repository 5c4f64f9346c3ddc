"""AscendJobs under the real ascend-operator: what it makes of NPUs that only limits name, and of objects from before mindgate.

MINDGATE_ASCEND_OPERATOR is the operator's program, linked statically (default ~/.cache/mindgate/ascend-operator). No Go module
has it, so that nothing here builds it: without it these tests are skipped.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import the_cluster
from controllers import ASCEND_OPERATOR
from e2e import HERE, NPU, Cluster, named, wait_for
from release import REAL_NODE, Release, npu_container
from test_gangs import pod_groups, under_limits_alone
from test_never_worse import WRONG
from test_rollout import Phases

pytestmark = pytest.mark.full

Object = dict[str, Any]
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "mindgate"
PROGRAM = pathlib.Path(os.environ.get("MINDGATE_ASCEND_OPERATOR", CACHE / "ascend-operator"))
IMAGE = "localhost/ascend-operator:test"
[_, _, NAMESPACE, ACCOUNT] = ASCEND_OPERATOR.split(":")

# What MindCluster's manifest of the operator lets it do.
RIGHTS = [
    ("", ["events", "pods", "services", "configmaps"]),
    ("scheduling.volcano.sh", ["podgroups"]),
    ("mindxdl.gitee.com", ["ascendjobs", "ascendjobs/finalizers", "ascendjobs/status"]),
]
READS = [
    ("scheduling.volcano.sh", ["queues"]),
    ("scheduling.k8s.io", ["priorityclasses"]),
    ("batch.volcano.sh", ["jobs"]),
    ("apps", ["deployments", "replicasets", "statefulsets"]),
]


def rules(rights: list[tuple[str, list[str]]], *verbs: str) -> list[Object]:
    return [{"apiGroups": [group], "resources": resources, "verbs": list(verbs)} for group, resources in rights]


class Operator:
    """ascend-operator as a Deployment of its own namespace, under the account that mindgate knows it by."""

    def __init__(self, cluster: Cluster):
        self.cluster = Cluster(cluster.folder, NAMESPACE)

    def install(self) -> None:
        role = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": ACCOUNT}}
        write = ("get", "list", "watch", "create", "update", "patch", "delete")
        subject = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE}
        bound = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": ACCOUNT}
        container = {
            "name": "manager",
            "image": IMAGE,
            "imagePullPolicy": "Never",
            "args": ["--enableGangScheduling=true", "--logFile=/tmp/ascend-operator/run.log"],
        }
        spec = {
            "serviceAccountName": ACCOUNT,
            "nodeSelector": REAL_NODE,
            "dnsPolicy": "Default",
            "containers": [container],
        }
        labels = {"app": ACCOUNT}
        self.cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        self.cluster.create(
            [
                {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": ACCOUNT}},
                role | {"kind": "ClusterRole", "rules": rules(RIGHTS, *write) + rules(READS, "get", "list", "watch")},
                role | {"kind": "ClusterRoleBinding", "subjects": [subject], "roleRef": bound},
                {
                    "apiVersion": "apps/v1",
                    "kind": "Deployment",
                    "metadata": {"name": ACCOUNT},
                    "spec": {
                        "replicas": 0,
                        "selector": {"matchLabels": labels},
                        "template": {"metadata": {"labels": labels}, "spec": spec},
                    },
                },
            ]
        )

    def start(self) -> None:
        self.cluster.kubectl("scale", f"deployment/{ACCOUNT}", "--replicas=1")
        self.cluster.await_rollout(ACCOUNT)

    def stop(self) -> None:
        """By SIGTERM, after which it has to end with exit code 0. Nothing is left of it but its namespace."""
        for pod in self.cluster.items("pods", "--selector", f"app={ACCOUNT}"):
            [status] = pod["status"]["containerStatuses"]
            assert status["restartCount"] == 0, f"ascend-operator has ended by itself: {status}"
            self.cluster.stop_container(pod["metadata"]["name"])
        self.cluster.kubectl("scale", f"deployment/{ACCOUNT}", "--replicas=0")
        wait_for(lambda: not self.cluster.items("pods"), "ascend-operator to end", every=0.2)

    def uninstall(self) -> None:
        self.cluster.kubectl("delete", "clusterrole,clusterrolebinding", ACCOUNT)
        self.cluster.kubectl("delete", "namespace", NAMESPACE)


@pytest.fixture(scope="module")
def installed() -> Iterator[Operator]:
    """Installed and not running."""
    if not os.access(PROGRAM, os.X_OK):
        pytest.skip(f"ascend-operator cannot be had: {PROGRAM} is not there; MINDGATE_ASCEND_OPERATOR names its program")
    cluster = the_cluster()
    archive = cluster.folder / "images" / "ascend-operator.tar"
    with archive.open("wb") as file:
        subprocess.run([HERE / "cluster/images/archive", IMAGE, f"{PROGRAM}=/ascend-operator"], stdout=file, check=True)
    cluster.control("import-image", archive)
    archive.unlink()
    operator = Operator(cluster)
    operator.install()
    yield operator
    operator.uninstall()


@pytest.fixture
def stopped(installed: Operator) -> Iterator[Operator]:
    """For a test that starts it; it ends with the test."""
    yield installed
    installed.stop()


@pytest.fixture
def operator(stopped: Operator) -> Operator:
    """Running."""
    stopped.start()
    return stopped


def job(name: str, workers: int = 1, labels: dict[str, str] | None = None) -> Object:
    """A master and workers with eight NPUs each."""

    def replicas(count: int) -> Object:
        return {"replicas": count, "template": {"spec": {"containers": [npu_container("ascend")]}}}

    return {
        "apiVersion": "mindxdl.gitee.com/v1",
        "kind": "AscendJob",
        "metadata": {"name": name, "labels": {"framework": "pytorch"} | (labels or {})},
        "spec": {"replicaSpecs": {"Master": replicas(1), "Worker": replicas(workers)}},
    }


def with_cpu(value: Any) -> Any:
    """Requests of CPU in each container beside the limits: many manifests name both."""
    if isinstance(value, list):
        return [with_cpu(each) for each in value]
    if not isinstance(value, dict):
        return value
    made = {key: with_cpu(each) for key, each in value.items()}
    return made | {"requests": {"cpu": "1"}} if "limits" in made else made


def pods_of(cluster: Cluster, name: str) -> list[Object]:
    return cluster.items("pods", "--selector", f"training.kubeflow.org/job-name={name}")


def await_pods(cluster: Cluster, name: str, count: int) -> list[Object]:
    def running() -> list[Object] | None:
        pods = [pod for pod in pods_of(cluster, name) if pod["status"]["phase"] == "Running"]
        return pods if len(pods) == count else None

    return wait_for(running, f"{count} pods of {name} to run", 90)


def group_of(cluster: Cluster, name: str) -> Object:
    [group] = [each for each in pod_groups(cluster) if each["metadata"]["ownerReferences"][0]["name"] == name]
    return group


def reasons(cluster: Cluster, name: str) -> list[str]:
    """Of the conditions that the operator wrote into the job."""
    status = cluster.get("ascendjob", name).get("status", {})
    return [each["reason"] for each in status.get("conditions", []) if each["status"] == "True"]


def environment(pod: Object) -> dict[str, str]:
    """The variables that depend on the NPUs of a job, by name; of a reference, what it refers to."""
    [container] = pod["spec"]["containers"]
    read = ("ASCEND_VISIBLE_DEVICES", "WORLD_SIZE", "RANK", "MASTER_ADDR")
    return {
        each["name"]: each.get("value") or each["valueFrom"]["fieldRef"]["fieldPath"]
        for each in container.get("env", [])
        if each["name"] in read
    }


def becomes_of(cluster: Cluster, made: Object) -> Object:
    """Of a job that starts as a gang, the NPUs that its PodGroup asks for, and the variables and ranks of master and worker."""
    name = made["metadata"]["name"]
    cluster.create(made)
    pods = sorted(await_pods(cluster, name, 2), key=lambda pod: pod["metadata"]["name"])
    master = cluster.get("service", f"{name}-master-0")["spec"]["clusterIP"]
    group = group_of(cluster, name)["spec"]
    assert group["minMember"] == 2
    assert {pod["spec"]["schedulerName"] for pod in pods} == {"volcano"}
    assert len({pod["spec"]["nodeName"] for pod in pods}) == 2, "eight NPUs are all that a node has"
    ranks = [pod["metadata"]["annotations"]["hccl/rankIndex"] for pod in pods]
    variables = [environment(pod) for pod in pods]
    cluster.kubectl("delete", "ascendjob", name)
    wait_for(lambda: not pods_of(cluster, name), f"the pods of {name} to end", every=0.2)
    for each in variables:
        assert each.pop("MASTER_ADDR", master) == master
    return {"group": group["minResources"].get(NPU), "variables": variables, "ranks": ranks}


def test_npus_under_limits_alone_are_seen(cluster: Cluster, mindgate: Release, operator: Operator) -> None:
    of_all = {"ASCEND_VISIBLE_DEVICES": f"metadata.annotations['{NPU}']", "WORLD_SIZE": "16"}
    complete = {"group": "16", "variables": [of_all | {"RANK": "0"}, of_all | {"RANK": "1"}], "ranks": ["0", "1"]}
    assert becomes_of(cluster, under_limits_alone(job("alone"))) == complete
    assert becomes_of(cluster, with_cpu(job("with-cpu"))) == complete

    # The operator makes pods when Volcano has room for the PodGroup. This one asks for forty NPUs; there are 32.
    cluster.create(with_cpu(job("large", workers=4)))
    wait_for(lambda: "PodGroupPending" in reasons(cluster, "large"), "the operator to report that the PodGroup waits")
    assert group_of(cluster, "large")["status"]["phase"] == "Pending"
    assert pods_of(cluster, "large") == []


@pytest.fixture
def observing(mindgate: Release) -> Iterator[Phases]:
    """mindgate that neither injects nor denies, as before it was installed."""
    phases = Phases(mindgate)
    try:
        mindgate.install({"rolloutPhase": "observe"}, wait=False)
        phases.await_all("admitted", injects=False)
        yield phases
    finally:
        mindgate.install()


def test_without_mindgate_they_are_not(cluster: Cluster, observing: Phases, operator: Operator) -> None:
    """The operator reads requests. For the PodGroup limits count, too, but only where a container requests nothing at all."""
    unseen = {"variables": [{}, {}], "ranks": ["0", "0"]}
    assert becomes_of(cluster, under_limits_alone(job("alone"))) == unseen | {"group": "16"}
    assert becomes_of(cluster, with_cpu(job("with-cpu"))) == unseen | {"group": None}

    cluster.create(with_cpu(job("large", workers=4)))
    wait_for(lambda: len(pods_of(cluster, "large")) == 5, "pods for which there is no room")
    assert group_of(cluster, "large")["status"]["phase"] == "Inqueue"


def test_a_job_from_before_is_operated(cluster: Cluster, observing: Phases, stopped: Operator, mindgate: Release) -> None:
    """It breaks an enforced rule since before the rule was enforced, and its controller has done nothing about it yet."""
    cluster.create(job("tune", labels=WRONG))
    mindgate.install()
    observing.await_all("denied", injects=True)
    answer = cluster.kubectl("create", "--dry-run=server", "-f", "-", input=json.dumps(job("new", labels=WRONG)), check=False)
    assert answer.returncode != 0 and "MG050" in answer.stderr

    stopped.start()
    first = {pod["metadata"]["uid"] for pod in await_pods(cluster, "tune", 2)}
    wait_for(lambda: "JobRunning" in reasons(cluster, "tune"), "the operator to write the status")
    assert group_of(cluster, "tune")["metadata"]["labels"].items() >= WRONG.items()

    # A pod that is lost is replaced.
    cluster.kubectl("delete", "pod", "tune-worker-0")
    wait_for(
        lambda: len({pod["metadata"]["uid"] for pod in await_pods(cluster, "tune", 2)} - first) == 1, "a pod in its place"
    )

    # What a controller writes into the job itself.
    as_operator = named(ASCEND_OPERATOR)
    patch = ("patch", "ascendjob/tune", "--type=merge", *as_operator, "-p")
    cluster.kubectl("label", "ascendjob/tune", "seen=yes", *as_operator)
    cluster.kubectl(*patch, '{"metadata":{"finalizers":["example.com/hold"]}}')
    cluster.kubectl("delete", "ascendjob/tune", "--wait=false")
    assert "deletionTimestamp" in cluster.get("ascendjob", "tune")["metadata"]
    cluster.kubectl(*patch, '{"metadata":{"finalizers":null}}')
    wait_for(
        lambda: not (cluster.items("ascendjobs") or pods_of(cluster, "tune") or pod_groups(cluster)),
        "the job and all that the operator made to go",
        every=0.2,
    )
