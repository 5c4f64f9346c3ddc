"""Elastic scaling: real gates, Volcano schedules, kwok runs the pods, and the watcher of the chart decides.

Every pod takes a whole node, so that four nodes are four places. The test is ascend-operator and AIBrix's controller where
pods are theirs to make.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from controllers import AIBRIX, operate, pods_of_roles, role_set, storm_service
from e2e import REPOSITORY, Cluster, wait_for
from release import PROGRAM, Release, deployment, npu_container

pytestmark = pytest.mark.full

DOCS = REPOSITORY / "docs"
GATE = "mindgate.io/elastic-scaling"
NODES = [f"npu-{i}" for i in range(4)]
ENFORCE = {
    "config": {
        "elasticScaling": {"mode": "enforce", "rebalance": "enforce", "rebalanceAfter": "5s", "coolDown": "5s"}
    }
}


def install_with(release: Release, values: dict[str, Any]) -> None:
    """A change of the configuration alone is loaded once kubelet has updated it; new pods have it at once."""
    release.install(values)
    release.cluster.kubectl("rollout", "restart", "deployment/mindgate-watcher", "deployment/mindgate-webhook")
    release.wait_ready()


@pytest.fixture(scope="module")
def enforcing(installation: Release) -> Iterator[Release]:
    install_with(installation, ENFORCE)
    yield installation
    install_with(installation, {"config": None})


def rule(*tiers: tuple[int, int]) -> dict[str, Any]:
    """Shapes of so many prefill and decode instances, the largest first."""

    def group(name: str, number: int) -> dict[str, str]:
        return {"group_name": name, "group_num": str(number), "server_num_per_group": "1"}

    listed = [{"group_list": [group("prefill", p), group("decode", d)]} for p, d in tiers]
    text = json.dumps({"version": "1.0", "elastic_scaling_list": listed})
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "scaling-rule"},
        "data": {"elastic_scaling.json": text},
    }


def labels(group: str) -> dict[str, str]:
    return {"jobID": "chat", "mind-cluster/scaling-rule": "scaling-rule", "mind-cluster/group-name": group}


def pods(cluster: Cluster) -> list[dict[str, Any]]:
    return [pod for pod in cluster.items("pods") if "deletionTimestamp" not in pod["metadata"]]


def group_of(pod: dict[str, Any]) -> str:
    return pod["metadata"]["labels"]["mind-cluster/group-name"]


def is_held(pod: dict[str, Any]) -> bool:
    return any(gate["name"] == GATE for gate in pod["spec"].get("schedulingGates", []))


def count(cluster: Cluster, chosen: Callable[[dict[str, Any]], bool]) -> tuple[int, int]:
    groups = [group_of(pod) for pod in pods(cluster) if chosen(pod)]
    return groups.count("prefill"), groups.count("decode")


def running(cluster: Cluster) -> tuple[int, int]:
    return count(cluster, lambda pod: pod["status"]["phase"] == "Running")


def held(cluster: Cluster) -> tuple[int, int]:
    return count(cluster, is_held)


def await_shape(cluster: Cluster, prefill: int, decode: int) -> None:
    def runs() -> bool:
        now = running(cluster)
        assert now == (prefill, decode), f"{now} run, {held(cluster)} are held"
        return True

    wait_for(runs, f"{prefill} prefill and {decode} decode to run", 90)


def await_held(cluster: Cluster, prefill: int, decode: int) -> None:
    wait_for(
        lambda: held(cluster) == (prefill, decode), f"{prefill} prefill and {decode} decode to be held"
    )


@pytest.fixture
def nodes(cluster: Cluster) -> Iterator[Callable[..., None]]:
    """nodes(n, ...): these can be used, the others are broken: what runs there is evicted."""

    def only(*usable: str) -> None:
        for name in NODES:
            change = "broken-" if name in usable else "broken=yes:NoExecute"
            cluster.kubectl("taint", "node", name, change, "--overwrite", check=False)

    yield only
    only(*NODES)


def instances(name: str, group: str, replicas: int) -> dict[str, Any]:
    made = deployment(name, replicas=replicas)
    # On the object alone: mindgate brings them to the pods.
    made["metadata"]["labels"] = labels(group)
    return made


def submit_deployments(cluster: Cluster) -> None:
    cluster.create([rule((2, 1), (1, 1)), instances("prefill", "prefill", 2), instances("decode", "decode", 1)])


def node_of(cluster: Cluster, group: str) -> str:
    return next(
        pod["spec"]["nodeName"]
        for pod in pods(cluster)
        if group_of(pod) == group and pod["status"]["phase"] == "Running"
    )


def reasons(cluster: Cluster) -> set[str]:
    return {event["reason"] for event in cluster.items("events.events.k8s.io")}


def test_deployments_reach_the_largest_shape(cluster: Cluster, enforcing: Release) -> None:
    submit_deployments(cluster)
    await_shape(cluster, 2, 1)
    assert held(cluster) == (0, 0)
    wait_for(lambda: {"InstanceGranted", "InstanceHeld"} <= reasons(cluster), "Events that say why")
    answer = cluster.run(PROGRAM, "status", "-o", "json", "-n", cluster.namespace)
    service = json.loads(answer.stdout)["services"][0]
    assert (service["jobID"], service["shape"], service["aim"]) == ("chat", 1, None)


def test_the_documents_fault_story(cluster: Cluster, enforcing: Release, nodes: Callable[..., None]) -> None:
    """Decode's node breaks and none is spare: a prefill makes room, and comes back with the hardware."""
    nodes("npu-0", "npu-1", "npu-2")
    submit_deployments(cluster)
    await_shape(cluster, 2, 1)
    broken = node_of(cluster, "decode")
    nodes(*({"npu-0", "npu-1", "npu-2"} - {broken}))
    await_shape(cluster, 1, 1)
    wait_for(lambda: "InstanceGivenUp" in reasons(cluster), "an Event that says why")
    nodes("npu-0", "npu-1", "npu-2")
    await_shape(cluster, 2, 1)


def test_edits_of_the_rule(cluster: Cluster, enforcing: Release) -> None:
    cluster.create([rule((1, 1)), instances("prefill", "prefill", 2), instances("decode", "decode", 1)])
    await_shape(cluster, 1, 1)
    await_held(cluster, 1, 0)
    cluster.kubectl("apply", "--filename", "-", input=json.dumps(rule((2, 1), (1, 1))))
    await_shape(cluster, 2, 1)
    # Down again: what runs stays, and what ends does not come back.
    cluster.kubectl("apply", "--filename", "-", input=json.dumps(rule((1, 1))))
    one = next(pod for pod in pods(cluster) if group_of(pod) == "prefill")
    cluster.kubectl("delete", "pod", one["metadata"]["name"])
    await_held(cluster, 1, 0)
    assert running(cluster) == (1, 1)


def test_a_rolling_update_under_a_rule(cluster: Cluster, enforcing: Release) -> None:
    """A pod of the new template takes the place of an old one, although the shape wants no more."""
    submit_deployments(cluster)
    await_shape(cluster, 2, 1)
    made = cluster.get("deployment", "prefill")["spec"]["template"]["metadata"]["annotations"]
    assert made["huawei.com/schedule_minAvailable"] == "1"
    strategy = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    template = {"metadata": {"annotations": {"changed": "yes"}}}
    change = json.dumps({"spec": {"strategy": strategy, "template": template}})
    cluster.kubectl("patch", "deployment/prefill", "--patch", change)
    cluster.kubectl("rollout", "status", "deployment/prefill", "--timeout=120s")
    await_shape(cluster, 2, 1)
    assert held(cluster) == (0, 0)


def test_a_rolling_update_of_a_leader_worker_set(cluster: Cluster, enforcing: Release) -> None:
    """A group of two pods is one instance. LeaderWorkerSet deletes it and makes it again of the new template."""
    template = {"metadata": {"labels": labels("prefill")}, "spec": {"containers": [npu_container()]}}
    prefill = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "prefill", "labels": labels("prefill")},
        "spec": {"replicas": 1, "leaderWorkerTemplate": {"size": 2, "workerTemplate": template}},
    }
    cluster.create([rule((1, 1)), prefill, instances("decode", "decode", 1)])
    await_shape(cluster, 2, 1)

    def changed() -> list[bool]:
        of_prefill = [pod["metadata"] for pod in pods(cluster) if group_of(pod) == "prefill"]
        return ["changed" in metadata.get("annotations", {}) for metadata in of_prefill]

    assert changed() == [False, False]
    worker = {"workerTemplate": {"metadata": {"annotations": {"changed": "yes"}}}}
    change = json.dumps({"spec": {"leaderWorkerTemplate": worker}})
    cluster.kubectl("patch", "leaderworkerset/prefill", "--type=merge", "--patch", change)
    wait_for(lambda: changed() == [True, True] and running(cluster) == (2, 1), "the new group to run", 90)
    assert held(cluster) == (0, 0)


def test_without_a_rule_all_wait(cluster: Cluster, enforcing: Release) -> None:
    cluster.create(instances("prefill", "prefill", 1))
    wait_for(lambda: "ScalingRuleUnusable" in reasons(cluster), "an Event that says why")
    assert held(cluster) == (1, 0)
    cluster.create(rule((1, 0)))
    await_shape(cluster, 1, 0)


def leader(release: Release) -> str:
    """The pod that holds the Lease; "" when nobody does."""
    return (release.cluster.get("lease", "mindgate-watcher")["spec"].get("holderIdentity") or "").split("_")[0]


def kill_leader(release: Release) -> None:
    release.cluster.kubectl("delete", "pod", leader(release), "--grace-period=0", "--force")


def test_a_stopped_leader_ends_in_order(cluster: Cluster, enforcing: Release) -> None:
    """The kubelet ends its container while instances start."""
    cluster.create([rule((1, 1)), instances("prefill", "prefill", 3), instances("decode", "decode", 1)])
    wait_for(lambda: len(pods(cluster)) == 4, "the pods to be made")
    enforcing.cluster.stop_container(leader(enforcing))
    wait_for(lambda: running(cluster) == (1, 1), "the shape to run under another leader", 150)
    assert held(cluster) == (2, 0)
    enforcing.wait_ready()


def test_another_watcher_goes_on(cluster: Cluster, enforcing: Release) -> None:
    """Its leader dies without a word while instances start; no instance is granted that the shape does not want."""
    cluster.create([rule((1, 1)), instances("prefill", "prefill", 3), instances("decode", "decode", 1)])
    wait_for(lambda: len(pods(cluster)) == 4, "the pods to be made")
    kill_leader(enforcing)
    wait_for(lambda: running(cluster) == (1, 1), "the shape to run under another leader", 150)
    assert held(cluster) == (2, 0)
    enforcing.wait_ready()


OUTAGES = {
    "watches cut": [["cut"]],
    "API server restarted": [["restart", "apiserver"]],
    "history gone": [["compact"], ["restart", "apiserver"]],
}


@pytest.mark.parametrize("outage", OUTAGES)
def test_no_outage_leads_to_a_wrong_grant(cluster: Cluster, enforcing: Release, outage: str) -> None:
    """While instances are granted. A gate that was opened never comes back, so that the held pods show wrong grants."""
    cluster.create([rule((1, 1)), instances("prefill", "prefill", 3), instances("decode", "decode", 1)])
    wait_for(lambda: len(pods(cluster)) == 4, "the pods to be made")
    for control in OUTAGES[outage]:
        cluster.control(*control)
    await_shape(cluster, 1, 1)
    assert held(cluster) == (2, 0)
    one = next(pod for pod in pods(cluster) if group_of(pod) == "prefill" and not is_held(pod))
    cluster.kubectl("delete", "pod", one["metadata"]["name"])
    wait_for(lambda: running(cluster) == (1, 1) and held(cluster) == (2, 0), "another one in its place")


def ascend_job(name: str, group: str, workers: int) -> dict[str, Any]:
    template = {"spec": {"containers": [npu_container("ascend")]}}
    return {
        "apiVersion": "mindxdl.gitee.com/v1",
        "kind": "AscendJob",
        "metadata": {"name": name, "labels": labels(group) | {"app": "mindie-ms-server", "framework": "pytorch"}},
        "spec": {
            "runPolicy": {"schedulingPolicy": {"minAvailable": workers, "queue": "default"}},
            "successPolicy": "AllWorkers",
            "replicaSpecs": {
                "Master": {"replicas": 1, "restartPolicy": "Never", "template": template},
                **({"Worker": {"replicas": workers - 1, "restartPolicy": "Never", "template": template}} if workers > 1 else {}),
            },
        },
    }


def test_ascend_jobs(cluster: Cluster, enforcing: Release, nodes: Callable[..., None]) -> None:
    """Instances of two pods: a grant opens both gates, and a prefill goes as a whole."""
    nodes(*NODES)
    cluster.create(rule((2, 1), (1, 1)))
    jobs = {"p0": ("prefill", 1), "p1": ("prefill", 1), "d0": ("decode", 2)}
    for name, (group, workers) in jobs.items():
        cluster.create(ascend_job(name, group, workers))
        operate(cluster, name)
    await_shape(cluster, 2, 2)
    broken = node_of(cluster, "decode")
    nodes(*(set(NODES) - {broken}))
    # Volcano with the Ascend plugin deletes what is left of the instance.
    cluster.kubectl("delete", "pod", "d0-master-0", "d0-worker-0", "--ignore-not-found")
    operate(cluster, "d0")
    await_shape(cluster, 1, 2)
    gone = {"p0", "p1"} - {pod["metadata"]["name"][:2] for pod in pods(cluster)}
    for name in gone:
        operate(cluster, name)
    nodes(*NODES)
    await_shape(cluster, 2, 2)


def test_storm_service(cluster: Cluster, enforcing: Release) -> None:
    """Roles of one RoleSet share a PodGroup: no gang of all of them is asked for, since they start one by one."""
    roles = {"prefill": (2, labels("prefill")), "decode": (1, labels("decode"))}
    cluster.create([rule((2, 1), (1, 1)), storm_service("pd", roles)])
    cluster.create(role_set(cluster.get("stormservice", "pd")), AIBRIX)
    made = cluster.get("roleset", "pd-0")
    for role in made["spec"]["roles"]:
        assert "huawei.com/schedule_minAvailable" not in role["template"]["metadata"].get("annotations", {})
    cluster.create(pods_of_roles(made), AIBRIX)
    await_shape(cluster, 2, 1)
    # A stateful role is updated pod by pod: one goes, and one of the new template comes under its name.
    for pod in pods_of_roles(made):
        if pod["metadata"]["labels"]["role-name"] == "prefill":
            cluster.kubectl("delete", "pod", pod["metadata"]["name"])
            pod["metadata"]["annotations"]["changed"] = "yes"
            cluster.create(pod, AIBRIX)
            await_shape(cluster, 2, 1)
    assert held(cluster) == (0, 0)


def documented_commands(heading: str) -> list[str]:
    """The shell blocks of docs/scaling.md below a heading."""
    section = (DOCS / "scaling.md").read_text().split(f"{heading}\n", 1)[1].split("\n#", 1)[0]
    return re.findall(r"```sh\n(.*?)```", section, re.DOTALL)


@pytest.mark.parametrize("with_plugin", [True, False], ids=["kubectl mindgate", "kubectl alone"])
def test_gates_are_opened_by_hand(cluster: Cluster, enforcing: Release, tmp_path: Path, with_plugin: bool) -> None:
    """As the documents say, where no watcher would open them: there is no rule."""
    (tmp_path / "kubectl-mindgate").symlink_to(PROGRAM)
    cluster.create(instances("prefill", "prefill", 2))
    await_held(cluster, 2, 0)
    [plugin, alone] = documented_commands("## Gates without a watcher")
    file = tmp_path / "typed"
    file.write_text(f'PATH="{tmp_path}:$PATH"\n{plugin if with_plugin else alone}')
    # On a terminal, where the plugin asks before it opens gates.
    cluster.run("script", "--quiet", "--return", "--command", f"bash -e {file}", "/dev/null", input="y\ny\n")
    await_shape(cluster, 2, 0)


def test_uninstalling_releases_what_waits(cluster: Cluster, enforcing: Release) -> None:
    cluster.create(instances("prefill", "prefill", 1))
    await_held(cluster, 1, 0)
    enforcing.uninstall()
    try:
        await_shape(cluster, 1, 0)
    finally:
        install_with(enforcing, ENFORCE)
