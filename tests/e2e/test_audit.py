"""`mindgate audit` on workloads of every framework that were there before mindgate, half of them wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from controllers import storm_service
from e2e import Cluster, wait_for
from release import PROGRAM, Release, deployment, npu_container
from test_gangs import lws, volcano_job

pytestmark = pytest.mark.full
WRONG = {"fault-scheduling": "sometimes"}  # MG050 denies it
RIGHT = {"fault-scheduling": "force"}


def pod_template(labels: dict[str, str], **spec: Any) -> dict[str, Any]:
    return {"metadata": {"labels": labels}, "spec": {"containers": [npu_container(npus=1)]} | spec}


def chat(name: str, labels: dict[str, str]) -> dict[str, Any]:
    made = deployment(name, npus=1)
    made["spec"]["template"]["metadata"]["labels"] |= labels
    made["spec"]["template"]["spec"]["schedulerName"] = "volcano"
    return made


def stateful_set(name: str, labels: dict[str, str]) -> dict[str, Any]:
    made = chat(name, labels)
    made["spec"]["serviceName"] = name
    return made | {"kind": "StatefulSet"}


def daemon_set(name: str, labels: dict[str, str]) -> dict[str, Any]:
    made = chat(name, labels)
    del made["spec"]["replicas"]
    return made | {"kind": "DaemonSet"}


def replica_set(name: str, labels: dict[str, str]) -> dict[str, Any]:
    return chat(name, labels) | {"kind": "ReplicaSet"}


def replication_controller(name: str, labels: dict[str, str]) -> dict[str, Any]:
    made = chat(name, labels)
    made["spec"]["selector"] = {"app": name}
    return made | {"kind": "ReplicationController", "apiVersion": "v1"}


def pair(name: str, labels: dict[str, str]) -> dict[str, Any]:
    made = lws(name)
    made["spec"]["leaderWorkerTemplate"]["workerTemplate"] = pod_template(labels, schedulerName="volcano")
    return made


def vcjob(name: str, labels: dict[str, str]) -> dict[str, Any]:
    return volcano_job(name, template=pod_template(labels, restartPolicy="Never"))


def pod_set(name: str, labels: dict[str, str]) -> dict[str, Any]:
    spec = {"podGroupSize": 2, "template": pod_template(labels, schedulerName="volcano")}
    return {"apiVersion": "orchestration.aibrix.ai/v1alpha1", "kind": "PodSet", "metadata": {"name": name}, "spec": spec}


def job(name: str, labels: dict[str, str]) -> dict[str, Any]:
    template = pod_template(labels, restartPolicy="Never", schedulerName="volcano")
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {"template": template}}


def cron_job(name: str, labels: dict[str, str]) -> dict[str, Any]:
    spec = {"schedule": "0 3 1 1 *", "jobTemplate": {"spec": job(name, labels)["spec"]}}
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": name}, "spec": spec}


def ascend_job(name: str, labels: dict[str, str]) -> dict[str, Any]:
    worker = {"replicas": 1, "template": {"spec": {"containers": [npu_container("ascend", 1)]}}}
    metadata = {"name": name, "labels": {"framework": "pytorch"} | labels}
    return {
        "apiVersion": "mindxdl.gitee.com/v1",
        "kind": "AscendJob",
        "metadata": metadata,
        "spec": {"replicaSpecs": {"Master": worker}},
    }


def storm(name: str, labels: dict[str, str]) -> dict[str, Any]:
    return storm_service(name, {"prefill": (1, labels), "decode": (1, labels)})


def runtime(name: str, labels: dict[str, str]) -> dict[str, Any]:
    engine = {"runner": npu_container("ome-container", 1), "labels": labels}
    return {
        "apiVersion": "ome.io/v1beta1",
        "kind": "ServingRuntime",
        "metadata": {"name": name},
        "spec": {"engineConfig": engine},
    }


def service(name: str, labels: dict[str, str]) -> dict[str, Any]:
    spec = {"model": {"name": "llama"}, "engine": {"labels": labels, "runner": npu_container("ome-container", 1)}}
    return {"apiVersion": "ome.io/v1beta1", "kind": "InferenceService", "metadata": {"name": name}, "spec": spec}


def pod(name: str, labels: dict[str, str]) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod"} | pod_template(labels) | {"metadata": {"name": name, "labels": labels}}


MAKERS: list[Callable[[str, dict[str, str]], dict[str, Any]]] = [
    chat,
    stateful_set,
    daemon_set,
    replica_set,
    replication_controller,
    pair,
    vcjob,
    pod_set,
    job,
    cron_job,
    ascend_job,
    storm,
    runtime,
    service,
    pod,
]


def workloads() -> list[dict[str, Any]]:
    made = []
    for maker in MAKERS:
        name = maker.__name__.replace("_", "-")
        made += [maker(f"{name}-right", RIGHT), maker(f"{name}-wrong", WRONG)]
    return made


@pytest.fixture
def before_mindgate(cluster: Cluster, installation: Release) -> Iterator[Cluster]:
    """A cluster that runs without mindgate."""
    installation.uninstall()
    try:
        cluster.create(workloads())
        yield cluster
    finally:
        installation.install()


def audit(cluster: Cluster, *arguments: str) -> dict[str, Any]:
    done = cluster.run(PROGRAM, "audit", "-n", cluster.namespace, "-o", "json", *arguments, check=False)
    assert done.returncode == 1, done.stderr
    return json.loads(done.stdout)


def judged(told: dict[str, Any]) -> list[dict[str, Any]]:
    """The workloads without what changes while their pods start: pods, NPUs and what a death does to them."""
    lasting = ("kind", "namespace", "name", "framework", "outcome", "findings")
    return [{key: each.get(key) for key in lasting} for each in told["workloads"]]


def test_workloads_from_before_mindgate(before_mindgate: Cluster) -> None:
    cluster = before_mindgate
    wait_for(lambda: len(cluster.items("pods", "-l", "app=chat-right", "--field-selector", "status.phase=Running")) == 1, "a pod")
    told = audit(cluster)
    assert told["unread"] == []
    outcomes = {(each["kind"], each["name"]): each["outcome"] for each in told["workloads"]}
    want = {}
    for each in workloads():
        name = each["metadata"]["name"]
        want[each["kind"], name] = "denied" if name.endswith("-wrong") else "admitted"
    assert outcomes == want
    for each in told["workloads"]:
        denied = {finding["rule"] for finding in each["findings"] if finding["level"] == "denied"}
        assert denied == ({"MG050"} if each["outcome"] == "denied" else set()), each
    # What runs has a place to lose.
    [running] = [each for each in told["workloads"] if each["name"] == "chat-right"]
    assert running["pods"] == 1
    assert running["npus"] == 1
    assert running["nodeDies"]["recovery"] in {"recovers", "hangs"}
    assert judged(audit(cluster, "lws")) == [each for each in judged(told) if each["kind"] == "LeaderWorkerSet"]
    # The CRD of PolicyReports takes what is written, and keeps all of it.
    reports = cluster.run(PROGRAM, "audit", "-n", cluster.namespace, "-o", "policyreport", check=False).stdout
    cluster.kubectl("apply", "--validate=strict", "-f", "-", input=reports)
    stored = cluster.get("policyreports.wgpolicyk8s.io", "mindgate-audit")
    denials = [finding for each in told["workloads"] for finding in each["findings"] if finding["level"] == "denied"]
    assert stored["summary"]["fail"] == len(denials)
    failed = [result for result in stored["results"] if result["result"] == "fail"]
    assert {result["resources"][0]["name"] for result in failed} == {name for _, name in want if name.endswith("-wrong")}
    # A snapshot of the same cluster gives the same answer.
    snapshot = cluster.run(PROGRAM, "snapshot", "--workloads").stdout
    of_snapshot = cluster.run(
        PROGRAM, "audit", "-n", cluster.namespace, "-o", "json", "--snapshot", "-", input=snapshot, check=False
    )
    assert of_snapshot.returncode == 1, of_snapshot.stderr
    assert judged(json.loads(of_snapshot.stdout)) == judged(told)


def test_who_has_rights_in_one_namespace(before_mindgate: Cluster) -> None:
    cluster = before_mindgate
    cluster.kubectl("create", "rolebinding", "auditor", "--clusterrole=view", "--user=auditor")
    done = cluster.run(PROGRAM, "audit", "-n", cluster.namespace, "-o", "json", "--as", "auditor", check=False)
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    native = {"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Pod"}
    denied = {each["kind"] for each in told["workloads"] if each["outcome"] == "denied"}
    assert native <= denied
    assert told["lossesSupposed"] is False
    unread = "\n".join(told["unread"])
    for what in ("what the death of a card or a node does: ", "namespaces: ", "ascendjobs.mindxdl.gitee.com: "):
        assert what in unread
        assert f"Warning: not audited: {what}" in done.stderr
