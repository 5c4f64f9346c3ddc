"""Gangs: what mindgate makes of each framework's object is scheduled by the real Volcano, and has what the Ascend plugin reads."""

from __future__ import annotations

import json
from typing import Any

import pytest
from controllers import AIBRIX, pods_of_roles, role_set, storm_service
from e2e import NPU, Cluster, wait_for
from release import Release, deployment, npu_container

pytestmark = pytest.mark.full


def running(cluster: Cluster, selector: str) -> list[dict[str, Any]]:
    pods = cluster.items("pods", "--selector", selector)
    return [pod for pod in pods if pod["status"]["phase"] == "Running"]


def pod_groups(cluster: Cluster) -> list[dict[str, Any]]:
    return cluster.items("podgroups.scheduling.volcano.sh")


def await_running(cluster: Cluster, selector: str, count: int) -> list[dict[str, Any]]:
    return wait_for(
        lambda: pods if len(pods := running(cluster, selector)) == count else None,
        f"{count} pods with {selector} to run",
        90,
    )


def plugin_reads(pod: dict[str, Any]) -> dict[str, Any]:
    """What upstream's scheduler plugin and device plugin look at in a pod."""
    metadata = pod["metadata"]
    read = ("fault-scheduling", "pod-rescheduling", "fault-retry-times")
    environment = {e["name"]: e for c in pod["spec"]["containers"] for e in c.get("env", [])}
    visible = environment.get("ASCEND_VISIBLE_DEVICES", {})
    return {
        "scheduler": pod["spec"]["schedulerName"],
        "labels": {key: metadata.get("labels", {})[key] for key in read if key in metadata.get("labels", {})},
        "group": metadata.get("annotations", {}).get("scheduling.k8s.io/group-name") is not None,
        "devices": visible.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath"),
    }


NPU_FIELD = f"metadata.annotations['{NPU}']"


def test_deployment(cluster: Cluster, mindgate: Release) -> None:
    cluster.create(deployment("chat", replicas=2))
    pods = await_running(cluster, "app=chat", 2)
    for pod in pods:
        assert plugin_reads(pod) == {
            "scheduler": "volcano",
            "labels": {"fault-scheduling": "force", "pod-rescheduling": "on"},
            "group": True,
            "devices": NPU_FIELD,
        }
        assert pod["spec"]["nodeName"].startswith("npu-")


def test_deployment_without_mindgate(cluster: Cluster, mindgate: Release) -> None:
    """The same manifest where nothing is injected: the default scheduler takes it, and no fault is ever handled."""
    cluster.kubectl("label", "namespace", cluster.namespace, "mindgate.io/inject=disabled")
    sent = deployment("chat", replicas=2)
    sent["metadata"]["labels"] = {"mindgate.io/inject": "disabled"}
    cluster.create(sent)
    for pod in await_running(cluster, "app=chat", 2):
        assert plugin_reads(pod) == {
            "scheduler": "default-scheduler",
            "labels": {},
            "group": False,
            "devices": None,
        }
    assert pod_groups(cluster) == []


def lws(name: str) -> dict[str, Any]:
    template = {"spec": {"containers": [npu_container()]}}
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": name},
        "spec": {"replicas": 2, "leaderWorkerTemplate": {"size": 2, "workerTemplate": template}},
    }


def test_leader_worker_set(cluster: Cluster, mindgate: Release) -> None:
    cluster.create(lws("pair"))
    pods = await_running(cluster, "leaderworkerset.sigs.k8s.io/name=pair", 4)
    for pod in pods:
        read = plugin_reads(pod)
        assert read["scheduler"] == "volcano"
        assert read["labels"]["fault-scheduling"] == "force"
        assert read["labels"]["pod-rescheduling"] == "on", "leaders share a PodGroup: one fault must not delete them all"
        assert read["devices"] == NPU_FIELD
    # Each on a node of its own: eight NPUs are all that one has.
    assert len({pod["spec"]["nodeName"] for pod in pods}) == 4


def test_storm_service(cluster: Cluster, mindgate: Release) -> None:
    labels = {"model.aibrix.ai/name": "pd"}
    cluster.create(storm_service("pd", {"prefill": (1, labels), "decode": (1, labels)}))
    cluster.create(role_set(cluster.get("stormservice", "pd")), AIBRIX)
    roles = cluster.get("roleset", "pd-0")
    cluster.create(pods_of_roles(roles), AIBRIX)
    pods = await_running(cluster, "role-name", 2)
    for pod in pods:
        read = plugin_reads(pod)
        assert read == {
            "scheduler": "volcano",
            "labels": {"fault-scheduling": "force", "pod-rescheduling": "on", "fault-retry-times": "10"},
            "group": True,
            "devices": NPU_FIELD,
        }
        annotations = pod["metadata"]["annotations"]
        assert annotations["huawei.com/recover_policy_path"] == "pod"
        assert annotations["huawei.com/schedule_minAvailable"] == "2", "prefill and decode share one PodGroup"
    assert len({pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] for pod in pods}) == 1
    assert len(pod_groups(cluster)) == 1


def volcano_job(name: str, **task: Any) -> dict[str, Any]:
    template = {"spec": {"restartPolicy": "Never", "containers": [npu_container()]}}
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {
            "minAvailable": 2,
            "queue": "default",
            "tasks": [{"name": "worker", "replicas": 2, "template": template} | task],
        },
    }


def test_volcano_job(cluster: Cluster, mindgate: Release) -> None:
    cluster.create(volcano_job("train"))
    for pod in await_running(cluster, "volcano.sh/job-name=train", 2):
        read = plugin_reads(pod)
        assert read["scheduler"] == "volcano"
        assert read["devices"] == NPU_FIELD
    [group] = pod_groups(cluster)
    assert group["spec"]["minMember"] == 2
    # The Ascend plugin reads the fault labels of a vcjob from the job and its PodGroup.
    stored = cluster.get("jobs.batch.volcano.sh", "train")
    assert "fault-scheduling" in json.dumps(stored["metadata"]["labels"]) or "fault-scheduling" in json.dumps(
        stored["spec"]["tasks"][0]["template"]["metadata"]["labels"]
    )


def under_limits_alone(value: Any) -> Any:
    """The same without requests: what many manifests look like, since Kubernetes completes them in Pods."""
    if isinstance(value, dict):
        return {key: under_limits_alone(each) for key, each in value.items() if key != "requests"}
    return [under_limits_alone(each) for each in value] if isinstance(value, list) else value


def test_npus_under_limits_alone_count(cluster: Cluster, mindgate: Release) -> None:
    """Volcano counts the requests of a stored template: without them the PodGroup of a vcjob asks for no NPUs."""
    cluster.create(under_limits_alone(volcano_job("train")))
    await_running(cluster, "volcano.sh/job-name=train", 2)
    [group] = pod_groups(cluster)
    assert NPU in json.dumps(group["spec"]["minResources"])

    cluster.create(under_limits_alone(lws("pair")))
    await_running(cluster, "leaderworkerset.sigs.k8s.io/name=pair,leaderworkerset.sigs.k8s.io/group-index=0", 2)
    worker = cluster.get("leaderworkerset", "pair")["spec"]["leaderWorkerTemplate"]["workerTemplate"]
    assert worker["spec"]["containers"][0]["resources"] == npu_container()["resources"]

    job = {
        "apiVersion": "mindxdl.gitee.com/v1",
        "kind": "AscendJob",
        "metadata": {"name": "tune", "labels": {"framework": "pytorch"}},
        "spec": {
            "schedulerName": "volcano",
            "replicaSpecs": {"Master": {"replicas": 1, "template": {"spec": {"containers": [npu_container("ascend")]}}}},
        },
    }
    cluster.create(under_limits_alone(job))
    [container] = cluster.get("ascendjob", "tune")["spec"]["replicaSpecs"]["Master"]["template"]["spec"]["containers"]
    assert container["resources"] == npu_container()["resources"], "ascend-operator makes WORLD_SIZE of requests"


def test_pods_that_ask_for_more_than_there_is_wait_together(cluster: Cluster, mindgate: Release) -> None:
    """The point of a gang: five of eight NPUs on four nodes hold none of them while one is missing."""
    sent = volcano_job("large", replicas=5)
    sent["spec"]["minAvailable"] = 5
    cluster.create(sent)
    wait_for(
        lambda: [g for g in pod_groups(cluster) if "NotEnoughResources" in json.dumps(g.get("status", {}))],
        "Volcano to say that the gang does not fit",
        60,
    )
    assert [pod for pod in cluster.items("pods") if pod["spec"].get("nodeName")] == []
