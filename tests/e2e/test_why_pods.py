"""`mindgate why` about pods that do not come, do not start or do not go, each for a cause of its own, on a real cluster."""

from __future__ import annotations

import json
from typing import Any

import pytest
from e2e import Cluster, wait_for
from nodes import node_without_kubelet
from release import PROGRAM
from test_cluster import NPU_NODES
from test_why import (
    await_reason,
    config_map,
    container,
    deployment,
    first,
    in_group,
    mindcluster,
    pod,
    pod_group,
    put,
    real,
    spec,
)
from workloads import ascend_job

pytestmark = pytest.mark.full


def job(name: str, pod_spec: dict[str, Any], **more: Any) -> dict[str, Any]:
    template = {"spec": {"restartPolicy": "Never"} | pod_spec}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {"template": template} | more}


def quota(name: str, pods: int) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name}, "spec": {"hard": {"pods": str(pods)}}}


def pinned(node: str, npus: int = 1, **more: Any) -> dict[str, Any]:
    return spec(npus, nodeSelector={"kubernetes.io/hostname": node}, **more)


def test_a_quota_that_is_used_up(cluster: Cluster) -> None:
    cluster.create([quota("one", 1), pod("first", real())])
    wait_for(lambda: cluster.get("resourcequota", "one").get("status", {}).get("used") == {"pods": "1"}, "the quota to count")
    # No controller runs here that would be refused.
    cluster.create(ascend_job("train", {}))
    answer = await_reason(cluster, "ascendjob/train", "quota-exhausted", "ResourceQuota one is used up: 1 of 1 pods")
    assert (first(answer), answer["state"]) == ("quota-exhausted", "pending")
    assert answer["reasons"][0]["fix"] == f"raise it: kubectl edit resourcequota one -n {cluster.namespace}"


def test_a_gang_whose_pods_do_not_come(cluster: Cluster) -> None:
    cluster.create([quota("two", 2), pod_group("three", minMember=3)])
    wait_for(lambda: cluster.get("resourcequota", "two").get("status", {}).get("hard"), "the quota")
    cluster.create(deployment("three", 3, spec(1), **in_group("three")))
    answer = await_reason(cluster, "deployment/three", "gang-pods-missing", "minMember is 3, and it has 2 pods")
    # What keeps them away comes first.
    assert first(answer) == "quota-refuses-pods"


def test_jobs_that_do_not_run(cluster: Cluster) -> None:
    cluster.create([job("later", real(), suspend=True), deployment("none", 0, spec(1))])
    answer = await_reason(cluster, "job/later", "suspended", "spec.suspend is true")
    assert (first(answer), answer["state"]) == ("suspended", "waiting")
    assert first(await_reason(cluster, "deployment/none", "suspended", "asks for 0 pods")) == "suspended"
    cluster.create(job("over", real(container={"command": ["/nothing"]}), backoffLimit=0))
    answer = await_reason(cluster, "job/over", "refused", "BackoffLimitExceeded")
    assert (first(answer), answer["state"]) == ("refused", "hanging")


def test_containers_that_do_not_start(cluster: Cluster) -> None:
    handler = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "handler": "nothing"}
    cluster.create(handler | {"metadata": {"name": cluster.namespace}})
    try:
        cluster.create(pod("sandbox", real(runtimeClassName=cluster.namespace)))
        answer = await_reason(cluster, "sandbox", "container-creating", "ContainerCreating")
        assert (first(answer), answer["state"]) == ("container-creating", "waiting")
        wait_for(lambda: "FailedCreatePodSandBox" in str(await_reason(cluster, "sandbox", "container-creating", "")), "its Event")
    finally:
        cluster.kubectl("delete", "runtimeclass", cluster.namespace)


def test_a_container_that_needs_more_memory(cluster: Cluster) -> None:
    """kwok runs the pod; its kubelet's report is written here."""
    cluster.create(pod("large", spec(1)))
    wait_for(lambda: cluster.get("pod", "large")["status"]["phase"] == "Running", "a running pod")
    state = {"name": "main", "image": "i", "imageID": "i", "ready": False, "restartCount": 4}
    state |= {
        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
        "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled", "containerID": "c"}},
    }
    patch = json.dumps({"status": {"containerStatuses": [state]}})
    cluster.kubectl("patch", "pod", "large", "--subresource=status", "--type=merge", "-p", patch)
    answer = await_reason(cluster, "large", "out-of-memory", "was killed (OOMKilled), 4 restarts")
    assert (first(answer), answer["state"]) == ("out-of-memory", "hanging")


def test_pods_that_do_not_go(cluster: Cluster) -> None:
    kept = pod("kept", spec(1))
    kept["metadata"]["finalizers"] = ["example.com/hold"]
    cluster.create(kept)
    tolerant = {"tolerations": [{"operator": "Exists"}], "nodeName": "lost", "terminationGracePeriodSeconds": 600}
    with node_without_kubelet(cluster) as set_ready:
        try:
            cluster.create(pod("stuck", spec(1, **tolerant)))
            set_ready("False")
            # Else the scheduler may still place a pod there.
            wait_for(lambda: "node.kubernetes.io/not-ready" in str(cluster.get("node", "lost")["spec"]), "the taint of the node")
            cluster.create(pod("waits", pinned("lost", 0)))
            answer = await_reason(cluster, "waits", "nodes-not-ready", "1 node (lost) cannot take pods, as not Ready")
            assert (first(answer), answer["state"]) == ("nodes-not-ready", "pending")
            cluster.kubectl("delete", "pod", "stuck", "kept", "--wait=false")
            answer = await_reason(cluster, "stuck", "terminating-on-lost-node", "its node lost is not Ready")
            assert (first(answer), answer["state"]) == ("terminating-on-lost-node", "hanging")
            answer = await_reason(cluster, "kept", "terminating", "It has finalizers: example.com/hold")
            assert (first(answer), answer["state"]) == ("terminating", "hanging")
        finally:
            cluster.kubectl("patch", "pod", "kept", "--type=merge", "-p", '{"metadata": {"finalizers": null}}', check=False)
            cluster.kubectl("delete", "pods", "--all", "--force", "--grace-period=0")


def test_a_leader_worker_set_that_runs(cluster: Cluster) -> None:
    """Its workers are pods of StatefulSets that the leader pods own."""
    template = {"spec": spec(1)}
    lws = {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": {"name": "rank"}}
    lws["spec"] = {"replicas": 2, "leaderWorkerTemplate": {"size": 2, "workerTemplate": template}}
    cluster.create(lws)
    cluster.run(PROGRAM, "why", "lws/rank", "-n", cluster.namespace, "--wait", "-o", "name", seconds=180)
    answer = await_reason(cluster, "lws/rank", "nothing-wrong", "4 pods of it are ready")
    assert (answer["code"], answer["wanted"], answer["pods"]) == (0, 4, {"Running": 4})


def test_a_node_that_is_reported_as_faulty(cluster: Cluster) -> None:
    node = max(NPU_NODES)
    broken = {"FaultDevList": [], "NodeStatus": "UnHealthy"}
    with mindcluster(cluster):
        report = config_map("mindx-dl", "cluster-info-node-cm")
        report["metadata"]["labels"] = {"mx-consumer-volcano": "true"}
        report["data"] = {"cluster-info-node-cm": json.dumps({f"mindx-dl-nodeinfo-{node}": broken})}
        put(cluster, report)
        cluster.create(pod("away", pinned(node, schedulerName="nowhere", containers=[container(1)])))
        answer = await_reason(cluster, "away", "faulty-nodes", f"keeps Pod away from faulty nodes: {node}")
        assert "NodeD or a switch reports the node" in str(answer)
