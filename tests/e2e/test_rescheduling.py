"""Rescheduling: real controllers make pods, Volcano schedules them, kwok runs them, and the watcher of the chart restarts
what faults take away. What MindCluster's components report is written by the test.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from e2e import Cluster, CommandFailed, wait_for
from nodes import node_without_kubelet
from release import PROGRAM, Release, deployment
from test_cluster import volcano_job
from test_doctor import failed
from test_elastic_scaling import ENFORCE, install_with, instances, kill_leader, rule
from test_gangs import lws

pytestmark = pytest.mark.full

CHIP = "Ascend910-3"
LABELS = {"fault-scheduling": "force", "pod-rescheduling": "on"}
RESTARTS = {
    "config": {
        "rescheduling": {"mode": "enforce", "escalateAfter": "1m", "gracefulExit": True},
        **ENFORCE["config"],
        "graceOverTime": "5s",
    }
}
TAKEOVER = {"config": {"rescheduling": {"mode": "takeover", "takeoverAfter": "10s", "isolateNodes": True}}}
TAINT = "mindgate.io/faulty"
FOLDER = "mindx-dl"


@pytest.fixture(scope="module")
def restarting(installation: Release) -> Iterator[Release]:
    installation.cluster.kubectl("create", "namespace", FOLDER)
    install_with(installation, RESTARTS)
    yield installation
    install_with(installation, {"config": None})
    installation.cluster.kubectl("delete", "namespace", FOLDER)


Report = Callable[..., None]


def taint_keys(node: dict[str, Any]) -> set[str]:
    return {taint["key"] for taint in node["spec"].get("taints", [])}


def taints(cluster: Cluster, node: str) -> set[str]:
    return taint_keys(cluster.get("node", node))


@pytest.fixture
def report(cluster: Cluster) -> Iterator[Report]:
    """report(chips, machines): as ClusterD, which reports these nodes and nothing else."""

    def put(name: str, entries: dict[str, Any]) -> None:
        metadata = {"name": name, "namespace": FOLDER, "labels": {"mx-consumer-volcano": "true"}}
        made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {name: json.dumps(entries)}}
        cluster.kubectl("apply", "-n", FOLDER, "--server-side", "-f", "-", input=json.dumps(made))

    def write(chips: set[str] | None = None, machines: set[str] | None = None) -> None:
        unhealthy = {"huawei.com/Ascend910-Unhealthy": CHIP}
        of_chips = {"DeviceList": unhealthy, "UpdateTime": 1767225601}
        put("cluster-info-device-0", {f"mindx-dl-deviceinfo-{node}": of_chips for node in chips or set()})
        broken = {"FaultDevList": [], "NodeStatus": "UnHealthy"}
        put("cluster-info-node-cm", {f"mindx-dl-nodeinfo-{node}": broken for node in machines or set()})

    write()
    yield write
    write()


def pods(cluster: Cluster) -> list[dict[str, Any]]:
    return [pod for pod in cluster.items("pods") if "deletionTimestamp" not in pod["metadata"]]


def uids(found: list[dict[str, Any]]) -> dict[str, str]:
    """Nodes by uid."""
    return {pod["metadata"]["uid"]: pod["spec"].get("nodeName", "") for pod in found}


def await_running(cluster: Cluster, count: int) -> list[dict[str, Any]]:
    def running() -> list[dict[str, Any]]:
        found = [pod for pod in pods(cluster) if pod["status"]["phase"] == "Running"]
        assert len(found) == count, f"{len(found)} run"
        return found

    return wait_for(running, f"{count} pods to run", 90)


def use_chip(cluster: Cluster, found: list[dict[str, Any]]) -> None:
    """As the device plugin does."""
    for pod in found:
        cluster.kubectl("annotate", "pod", pod["metadata"]["name"], f"huawei.com/AscendReal={CHIP}", "--overwrite")


def await_replaced(cluster: Cluster, gone: set[str], count: int) -> list[dict[str, Any]]:
    def replaced() -> list[dict[str, Any]]:
        found = [pod for pod in pods(cluster) if pod["status"]["phase"] == "Running"]
        assert not gone & set(uids(found)) and len(found) == count, f"{sorted(uids(found))} run"
        return found

    return wait_for(replaced, f"{len(gone)} pods to be replaced", 90)


def reasons(cluster: Cluster) -> set[str]:
    return {event["reason"] for event in cluster.items("events.events.k8s.io")}


def labelled(made: dict[str, Any], labels: dict[str, str]) -> dict[str, Any]:
    metadata = made["spec"]["template"].setdefault("metadata", {})
    metadata["labels"] = metadata.get("labels", {}) | labels
    return made


def train(labels: dict[str, str]) -> dict[str, Any]:
    job = volcano_job(4, queue="default")
    job["metadata"]["labels"] = labels
    job["spec"]["tasks"][0]["template"]["metadata"] = {"labels": labels}
    return job


def test_a_chip_of_a_deployment(cluster: Cluster, restarting: Release, report: Report) -> None:
    """Only the pod on it goes, and the Event says so. How long each step took is measured."""
    steps = "mindgate_recovery_step_seconds_count"
    before = restarting.watcher_series(steps)
    assert len(before) == 5
    cluster.create(labelled(deployment("chat", replicas=3), LABELS))
    found = await_running(cluster, 3)
    use_chip(cluster, found)
    victim, node = next(iter(uids(found).items()))
    report(chips={node})
    now = await_replaced(cluster, {victim}, 3)
    assert set(uids(found)) - {victim} < set(uids(now))
    wait_for(lambda: "JobRestarted" in reasons(cluster), "the Event")
    wait_for(lambda: restarting.watcher_series(steps) == {step: count + 1 for step, count in before.items()}, "five steps")
    why = cluster.run(PROGRAM, "why", "deployment/chat", "-n", cluster.namespace, "-o", "name", check=False)
    assert "restarted-by-mindgate" in why.stdout.split(), why.stdout + why.stderr


def test_a_machine_of_a_job_whose_pods_go_together(cluster: Cluster, restarting: Release, report: Report) -> None:
    """Without pod-rescheduling all of its pods are replaced, also those on healthy nodes."""
    cluster.create(train({"fault-scheduling": "force"}))
    found = await_running(cluster, 4)
    report(machines={"npu-2"})
    wait_for(lambda: not set(uids(found)) & set(uids(pods(cluster))), "all pods to go", 60)
    report()
    await_replaced(cluster, set(uids(found)), 4)


def test_a_group_of_a_leader_worker_set(cluster: Cluster, restarting: Release, report: Report) -> None:
    """mindgate deletes the faulty pod; LeaderWorkerSet makes its group again, and leaves the other one alone."""
    cluster.create(lws("pair"))
    found = await_running(cluster, 4)
    groups: dict[str, set[str]] = {}
    for pod in found:
        index = pod["metadata"]["labels"]["leaderworkerset.sigs.k8s.io/group-index"]
        groups.setdefault(index, set()).add(pod["metadata"]["uid"])
    node = next(pod["spec"]["nodeName"] for pod in found if pod["metadata"]["uid"] in groups["0"])
    report(machines={node})
    wait_for(lambda: not groups["0"] & set(uids(pods(cluster))), "the group to go", 60)
    report()
    now = await_replaced(cluster, groups["0"], 4)
    assert groups["1"] < set(uids(now))


def test_a_node_that_is_lost(cluster: Cluster, restarting: Release, report: Report) -> None:
    """No kubelet answers for it, so that its pods would be there forever."""
    cluster.create(labelled(deployment("chat", replicas=2), LABELS))
    found = await_running(cluster, 2)
    group = found[0]["metadata"]["annotations"]["scheduling.k8s.io/group-name"]
    metadata = {"name": "stuck", "labels": LABELS, "annotations": {"scheduling.k8s.io/group-name": group}}
    spec = found[0]["spec"] | {"nodeName": "npu-gone", "volumes": [], "serviceAccountName": "default"}
    spec["containers"] = [{"name": "worker", "image": "example/vllm-ascend"}]
    cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    wait_for(lambda: "stuck" not in {pod["metadata"]["name"] for pod in cluster.items("pods")}, "the pod to go")
    assert set(uids(found)) == set(uids(pods(cluster)))


def put_on_lost_node(cluster: Cluster, name: str, of: dict[str, Any], labels: dict[str, str], grace: int = 30) -> None:
    """A pod of the PodGroup of another one, on the node that no kubelet answers for."""
    group = of["metadata"]["annotations"]["scheduling.k8s.io/group-name"]
    pod = {"name": name, "labels": labels, "annotations": {"scheduling.k8s.io/group-name": group}}
    spec = {
        "nodeName": "lost",
        "terminationGracePeriodSeconds": grace,
        "tolerations": [{"operator": "Exists"}],
        "containers": [{"name": "worker", "image": "example/vllm-ascend"}],
    }
    cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": pod, "spec": spec})


def test_a_node_that_is_not_ready_any_more(cluster: Cluster, restarting: Release, report: Report) -> None:
    """Its pod goes at once and by force; nobody on that node would end it."""
    cluster.create(labelled(deployment("chat"), LABELS))
    found = await_running(cluster, 1)
    with node_without_kubelet(cluster) as set_ready:
        put_on_lost_node(cluster, "stuck", found[0], LABELS)
        set_ready("False")
        wait_for(lambda: "stuck" not in {pod["metadata"]["name"] for pod in cluster.items("pods")}, "the pod to go")
    assert set(uids(found)) == set(uids(pods(cluster)))


def fail(cluster: Cluster, pod: dict[str, Any]) -> None:
    """A container ended with an error and was restarted in place."""
    ended = {"terminated": {"exitCode": 1, "reason": "Error", "containerID": "c"}}
    state = {"name": "worker", "image": "i", "imageID": "i", "ready": True, "restartCount": 1, "lastState": ended}
    patch = json.dumps({"status": {"containerStatuses": [state]}})
    name = pod["metadata"]["name"]
    cluster.kubectl("patch", "pod", name, "--subresource=status", "--type=merge", "-p", patch)


def test_failed_software_and_its_retries(cluster: Cluster, restarting: Release, report: Report) -> None:
    labels = LABELS | {"fault-retry-times": "1"}
    cluster.create(labelled(deployment("chat", replicas=2), labels))
    found = await_running(cluster, 2)
    wait_for(
        lambda: {group["status"].get("phase") for group in cluster.items("podgroups")} == {"Running"}, "the gang to run"
    )
    fail(cluster, found[0])
    now = await_replaced(cluster, {found[0]["metadata"]["uid"]}, 2)
    fail(cluster, now[0])
    wait_for(lambda: "NotRestarted" in reasons(cluster), "the retries to be used up")
    assert set(uids(now)) == set(uids(pods(cluster)))
    kept = restarting.cluster.get("configmap", "mindgate-rescheduling")["data"]["state.json"]
    assert [job["retriesUsed"] for job in json.loads(kept)["jobs"] if job["namespace"] == cluster.namespace] == [1]


def test_a_pod_that_will_not_die(cluster: Cluster, restarting: Release, report: Report) -> None:
    """Its grace period is an hour and no kubelet ends it: after graceOverTime it goes by force."""
    labels = LABELS | {"fault-scheduling": "grace"}
    cluster.create(labelled(deployment("chat"), labels))
    found = await_running(cluster, 1)
    with node_without_kubelet(cluster):
        put_on_lost_node(cluster, "stubborn", found[0], labels, grace=3600)
        report(machines={"lost"})

        def is_going() -> bool:
            return "deletionTimestamp" in cluster.get("pod", "stubborn")["metadata"]

        wait_for(is_going, "its eviction")
        wait_for(lambda: len(cluster.items("pods")) == 1, "its end by force")


def test_a_job_that_is_asked_to_end(cluster: Cluster, restarting: Release, report: Report) -> None:
    """Before its pods go it is asked to, and no longer when they are there again: each write brings a new checkCode."""
    reset = '{"RankList":[],"UpdateTime":0,"RetryTime":0,"FaultFlushing":false,"GracefulExit":0,"RestartFaultProcess":false}'
    data = {"reset.json": reset, "checkCode": "", "restartType": "hotReset"}
    metadata = {"name": "reset-config-train", "labels": {"reset": "true"}}
    cluster.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})
    cluster.create(train({"fault-scheduling": "grace", "subHealthyStrategy": "graceExit"}))
    found = await_running(cluster, 4)
    cluster.kubectl("label", "pod", found[0]["metadata"]["name"], "fault-type=SubHealth")
    await_replaced(cluster, set(uids(found)), 4)
    written = data | {"checkCode": hashlib.sha256(reset.encode()).hexdigest()}
    wait_for(lambda: cluster.get("configmap", "reset-config-train")["data"] == written, "the job to be asked no longer")


def test_failed_software_without_retries(cluster: Cluster, restarting: Release, report: Report) -> None:
    """Without fault-retry-times a container that failed is nobody's business; beside it one that has retries is restarted."""
    cluster.create(labelled(deployment("without"), LABELS))
    [without] = await_running(cluster, 1)
    cluster.create(labelled(deployment("with"), LABELS | {"fault-retry-times": "1"}))
    found = await_running(cluster, 2)
    [with_retries] = [pod for pod in found if pod["metadata"]["uid"] != without["metadata"]["uid"]]
    wait_for(
        lambda: {group["status"].get("phase") for group in cluster.items("podgroups")} == {"Running"}, "the gangs to run"
    )
    fail(cluster, without)
    fail(cluster, with_retries)
    now = await_replaced(cluster, {with_retries["metadata"]["uid"]}, 2)
    assert without["metadata"]["uid"] in uids(now)


def test_a_fault_during_a_rolling_update(cluster: Cluster, restarting: Release, report: Report) -> None:
    cluster.create(labelled(deployment("chat", replicas=3), LABELS))
    found = await_running(cluster, 3)
    use_chip(cluster, found)
    node = found[0]["spec"]["nodeName"]
    cluster.kubectl("rollout", "restart", "deployment/chat")
    report(chips={node})
    cluster.await_rollout("chat")
    now = await_replaced(cluster, set(uids(found)), 3)
    assert len(uids(now)) == 3


def test_a_storm_of_faults_restarts_nothing(cluster: Cluster, restarting: Release, report: Report) -> None:
    """Three of five nodes at once are a mistake. When it is corrected, nothing has happened."""
    cluster.create(train({"fault-scheduling": "force"}))
    found = await_running(cluster, 4)
    report(machines={"npu-1", "npu-2", "npu-3"})
    wait_for(lambda: "RestartWaits" in reasons(cluster), "the brake")
    assert set(uids(found)) == set(uids(pods(cluster)))
    report()
    assert set(uids(found)) == set(uids(pods(cluster)))


def test_the_leader_dies_while_a_fault_is_reported(cluster: Cluster, restarting: Release, report: Report) -> None:
    """The standby takes over, and finishes what was begun."""
    cluster.create(labelled(deployment("chat", replicas=3), LABELS))
    found = await_running(cluster, 3)
    use_chip(cluster, found)
    victim, node = next(iter(uids(found).items()))
    report(chips={node})
    kill_leader(restarting)
    wait_for(lambda: victim not in uids(pods(cluster)), "the pod to go", 150)
    restarting.wait_ready()
    await_replaced(cluster, {victim}, 3)


def test_somebody_else_acts_in_the_same_moment(cluster: Cluster, restarting: Release, report: Report) -> None:
    """As Volcano's plugin would: each pod is replaced once."""
    cluster.create(labelled(deployment("chat", replicas=3), LABELS))
    found = await_running(cluster, 3)
    use_chip(cluster, found)
    victim = found[0]["metadata"]
    report(chips={found[0]["spec"]["nodeName"]})
    try:
        cluster.kubectl("delete", "pod", victim["name"], "--grace-period=0", "--force", "--wait=false")
    except CommandFailed as failed:
        assert "not found" in str(failed)
    now = await_replaced(cluster, {victim["uid"]}, 3)
    assert len(set(uids(found)) & set(uids(now))) == 2


def test_beside_elastic_scaling(cluster: Cluster, restarting: Release, report: Report) -> None:
    """The lost instance comes back behind its gate, and is let in since the shape wants it."""
    made = [instances("prefill", "prefill", 2), instances("decode", "decode", 1)]
    cluster.create([rule((2, 1), (1, 1)), *(labelled(each, LABELS) for each in made)])
    found = await_running(cluster, 3)
    use_chip(cluster, found)
    victim = next(pod for pod in found if pod["metadata"]["labels"]["mind-cluster/group-name"] == "decode")
    report(chips={victim["spec"]["nodeName"]})
    now = await_replaced(cluster, {victim["metadata"]["uid"]}, 3)
    groups = sorted(pod["metadata"]["labels"]["mind-cluster/group-name"] for pod in now)
    assert groups == ["decode", "prefill", "prefill"]


def test_what_is_disabled_is_left_alone(cluster: Cluster, restarting: Release, report: Report) -> None:
    cluster.create(labelled(deployment("chat", replicas=2), LABELS))
    found = await_running(cluster, 2)
    cluster.kubectl("annotate", "namespace", cluster.namespace, "mindgate.io/rescheduling=disabled")
    use_chip(cluster, found)
    report(chips={found[0]["spec"]["nodeName"]})
    wait_for(lambda: "RestartWaits" in reasons(cluster), "the Event")
    assert set(uids(found)) == set(uids(pods(cluster)))


def test_a_server_that_ends_without_a_fault(cluster: Cluster, restarting: Release) -> None:
    """Its start script hid a crash: the watcher says so, and leaves the pod alone."""
    cluster.create(labelled(deployment("chat", replicas=2), LABELS))
    name = await_running(cluster, 2)[0]["metadata"]["name"]
    ended = json.dumps({"status": {"phase": "Succeeded"}})
    cluster.kubectl("patch", "pod", name, "--subresource=status", "--type=merge", "-p", ended)
    wait_for(lambda: "ServerSucceeded" in reasons(cluster), "the Event")
    await_running(cluster, 2)  # its ReplicaSet makes another one
    assert cluster.get("pod", name)["status"]["phase"] == "Succeeded"


@pytest.fixture
def taking_over(restarting: Release) -> Iterator[Release]:
    install_with(restarting, TAKEOVER)
    yield restarting
    install_with(restarting, RESTARTS)


def test_takeover_and_isolation(cluster: Cluster, taking_over: Release, report: Report) -> None:
    """Nobody acts on the fault within takeoverAfter, so the watcher does; the node has a taint while it is unhealthy."""

    cluster.create(labelled(deployment("chat", replicas=3), LABELS))
    found = await_running(cluster, 3)
    victim, node = next(iter(uids(found).items()))
    report(machines={node})
    wait_for(lambda: "RestartWaits" in reasons(cluster), "the time of others")
    wait_for(lambda: TAINT in taints(cluster, node), "the taint")
    now = await_replaced(cluster, {victim}, 3)
    assert node not in uids(now).values()
    report()
    wait_for(lambda: TAINT not in taints(cluster, node), "the node to be released")


def isolated(cluster: Cluster) -> list[str]:
    return sorted(node["metadata"]["name"] for node in cluster.items("nodes") if TAINT in taint_keys(node))


def test_nodes_are_released_by_hand(cluster: Cluster, taking_over: Release, report: Report) -> None:
    """After isolateNodes was switched off, which takes the watcher's permission away; doctor names the node."""
    report(machines={"npu-2"})
    wait_for(lambda: isolated(cluster) == ["npu-2"], "the taint")
    cluster.kubectl("taint", "nodes", "npu-2", "example.com/maintenance=now:NoSchedule")
    try:
        install_with(taking_over, {"config": {"rescheduling": TAKEOVER["config"]["rescheduling"] | {"isolateNodes": False}}})
        report()
        [message] = failed(cluster)["taints"]
        assert "npu-2" in message, message
        dry = cluster.run(PROGRAM, "release-nodes", "--all", "--dry-run", "-o", "name")
        assert dry.stdout == "node/npu-2\n" and isolated(cluster) == ["npu-2"]
        cluster.run(PROGRAM, "release-nodes", "--all", "--yes")
        assert isolated(cluster) == []
        assert "example.com/maintenance" in taints(cluster, "npu-2")
    finally:
        cluster.kubectl("taint", "nodes", "npu-2", "example.com/maintenance-")


def test_uninstalling_releases_nodes(cluster: Cluster, taking_over: Release, report: Report) -> None:
    """With the rights to nodes alone: no gates were set."""
    report(machines={"npu-1", "npu-2"})
    wait_for(lambda: isolated(cluster) == ["npu-1", "npu-2"], "the taints")
    taking_over.uninstall()
    try:
        assert isolated(cluster) == []
        for kind in ("clusterroles", "clusterrolebindings", "jobs"):
            left = taking_over.cluster.items(kind, "--selector", "app.kubernetes.io/component=uninstall")
            assert [each["metadata"]["name"] for each in left] == []
    finally:
        report()
        install_with(taking_over, TAKEOVER)
