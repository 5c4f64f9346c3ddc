"""Gang repair: the PodGroup of a new ReplicaSet asks for the pods that a rolling update has made, and for no more.

Stock Volcano reads minMember alone, which is 1 here, so that it places every pod as it comes. What the Ascend plugin would
read stands in the stored PodGroup, and that is what these tests look at. Pods count as available only some seconds after
they are ready: each step of an update lasts long enough to be seen.
"""

from __future__ import annotations

import time
from typing import Any

import pytest
from e2e import Cluster, wait_for
from release import Release, deployment

pytestmark = pytest.mark.full

K = "huawei.com/schedule_minAvailable"
MARKER = "mindgate.io/gang-repair"
STEP_SECONDS = 6


def gang(name: str, replicas: int = 4, max_surge: int = 1) -> dict[str, Any]:
    """A Deployment as OME makes it: a gang of all its replicas, updated one by one."""
    made = deployment(
        name,
        replicas=replicas,
        npus=1,
        minReadySeconds=STEP_SECONDS,
        strategy={"type": "RollingUpdate", "rollingUpdate": {"maxSurge": max_surge, "maxUnavailable": 0}},
    )
    made["spec"]["template"]["metadata"]["annotations"] = {K: str(replicas)}
    made["spec"]["template"]["spec"]["schedulerName"] = "volcano"
    return made


def newest_set(cluster: Cluster, name: str) -> dict[str, Any]:
    sets = cluster.items("replicasets", "--selector", f"app={name}")
    return max(sets, key=lambda each: int(each["metadata"]["annotations"]["deployment.kubernetes.io/revision"]))


def group_of(cluster: Cluster, replica_set: dict[str, Any]) -> dict[str, Any]:
    return cluster.get("podgroups.scheduling.volcano.sh", "podgroup-" + replica_set["metadata"]["uid"])


def repair_of(cluster: Cluster, replica_set: dict[str, Any]) -> tuple[str | None, str | None]:
    """Annotation and marker of its PodGroup."""
    annotations = group_of(cluster, replica_set)["metadata"].get("annotations", {})
    return annotations.get(K), annotations.get(MARKER)


def pods_of(cluster: Cluster, replica_set: dict[str, Any]) -> int:
    uid = replica_set["metadata"]["uid"]
    return len(
        [
            pod
            for pod in cluster.items("pods")
            if "deletionTimestamp" not in pod["metadata"] and uid in [o["uid"] for o in pod["metadata"]["ownerReferences"]]
        ]
    )


def start_update(cluster: Cluster, name: str) -> dict[str, Any]:
    """Another image; returns the ReplicaSet that is made for it, when its PodGroup is there."""
    before = newest_set(cluster, name)["metadata"]["uid"]
    cluster.kubectl("set", "image", f"deployment/{name}", "worker=example/vllm-ascend:next")

    def made() -> dict[str, Any] | None:
        newest = newest_set(cluster, name)
        return newest if newest["metadata"]["uid"] != before and group_of(cluster, newest) else None

    return wait_for(made, "the ReplicaSet and the PodGroup of the new image", 30, every=0.2)


def settled(cluster: Cluster, name: str) -> None:
    cluster.await_rollout(name)


def test_the_value_follows_the_pods_and_goes_with_the_rollout(cluster: Cluster, mindgate: Release) -> None:
    cluster.create(gang("chat"))
    settled(cluster, "chat")
    first = newest_set(cluster, "chat")
    assert repair_of(cluster, first)[1] is None, "the first pods come all at once: nothing to repair"

    newest = start_update(cluster, "chat")
    seen: list[str | None] = []
    deadline = time.monotonic() + 4 * STEP_SECONDS + 60
    while time.monotonic() < deadline:
        value, marker = repair_of(cluster, newest)
        if marker is None and seen:
            break
        if marker is not None and value not in seen:
            seen.append(value)
        time.sleep(0.3)
    assert seen == ["1", "2", "3"]

    settled(cluster, "chat")
    # Volcano may have copied the pods' own value; ours is gone.
    wait_for(lambda: repair_of(cluster, newest) in [(None, None), ("4", None)], "the PodGroup to be given back", 30)
    groups = cluster.items("podgroups.scheduling.volcano.sh")
    assert not [each for each in groups if MARKER in each["metadata"].get("annotations", {})]

    def reasons() -> set[str]:
        events = cluster.items("events")
        return {each["reason"] for each in events if each["involvedObject"]["name"] == "chat"}

    wait_for(lambda: {"GangLowered", "GangRestored"} <= reasons(), "Events that say why")


def test_a_value_that_is_written_over_comes_back(cluster: Cluster, mindgate: Release) -> None:
    cluster.create(gang("chat"))
    settled(cluster, "chat")
    newest = start_update(cluster, "chat")
    group = group_of(cluster, newest)["metadata"]["name"]
    wait_for(lambda: repair_of(cluster, newest)[0] == "2", "the value to follow the pods", 60, every=0.2)
    # As a scheduler does that writes an older copy of the PodGroup, or what it read from a pod.
    for old in ("1", "4"):
        cluster.kubectl("annotate", "--overwrite", "podgroups.scheduling.volcano.sh", group, f"{K}={old}")
        wait_for(
            lambda: repair_of(cluster, newest)[0] == str(pods_of(cluster, newest)) or repair_of(cluster, newest)[1] is None,
            f"the value to be set again after {old} was written",
            30,
            every=0.2,
        )
    settled(cluster, "chat")
    wait_for(lambda: repair_of(cluster, newest)[1] is None, "the PodGroup to be given back", 30)


def test_a_persons_value_stays(cluster: Cluster, mindgate: Release) -> None:
    cluster.create(gang("chat", replicas=3))
    settled(cluster, "chat")
    newest = start_update(cluster, "chat")
    group = group_of(cluster, newest)["metadata"]["name"]
    cluster.kubectl("annotate", "--overwrite", "podgroups.scheduling.volcano.sh", group, f"{K}=7", f"{MARKER}-")
    settled(cluster, "chat")
    assert repair_of(cluster, newest) == ("7", None)


def test_an_update_that_makes_a_whole_gang_is_left_alone(cluster: Cluster, mindgate: Release) -> None:
    cluster.create(gang("chat", replicas=2, max_surge=2))
    settled(cluster, "chat")
    newest = start_update(cluster, "chat")
    while True:
        assert repair_of(cluster, newest)[1] is None
        status = cluster.get("deployment", "chat")["status"]
        if status.get("updatedReplicas") == 2 and status.get("availableReplicas") == 2 and status["replicas"] == 2:
            break
        time.sleep(0.3)
