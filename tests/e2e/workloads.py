"""One small workload of each kind that holds pods with NPUs, by name and with labels for its pods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from controllers import storm_service
from release import deployment, npu_container
from test_gangs import lws, volcano_job


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


def dashed(maker: Callable[..., Any]) -> str:
    """What its objects are named after."""
    return maker.__name__.replace("_", "-")
