"""Who is restarted, how far a restart widens, and when it is over."""

from __future__ import annotations

from registry import history
from store import CONFIGMAPS, PODS, Object
from world import FORCE, GRACE, World

ALONE: Object = FORCE | {"pod-rescheduling": "on"}  # only the faulty pods go, unless that is not enough


@history()
def members_that_succeeded_count_when_a_restart_is_over(world: World) -> None:
    """Of four, two have succeeded, one runs, and one is replaced: nothing more is restarted."""
    world.nodes(10)
    world.job("a", ["n0", "n1", "n2", "n3"], labels=ALONE)
    for pod in ("a-1", "a-2"):
        world.change_pod(pod, phase="Succeeded")
    watcher = world.watch({"escalateAfter": "1s"})
    world.report(["n3"])
    world.await_deleted("default/a-3")
    world.replace("a-3", "a", "n5", labels=ALONE, rank=3)
    settled(world, watcher)
    assert world.deleted() == ["default/a-3", "marked/marker-0"], world.deleted()


@history(fast=True)
def members_that_are_drained_count_when_a_restart_is_over(world: World) -> None:
    """Somebody drains a node with a long grace period, and another pod is replaced meanwhile: the drained one keeps its time."""
    world.nodes(10)
    world.job("a", ["n0", "n1", "n2", "n3"], labels=ALONE)
    watcher = world.watch({"escalateAfter": "1s"})
    with world.store.changed:
        world.server.terminate(world.store.get(PODS, "default", "a-1"), 300)
    world.report(["n3"])
    world.await_deleted("default/a-3")
    world.replace("a-3", "a", "n5", labels=ALONE, rank=3)
    settled(world, watcher)
    assert world.deleted() == ["default/a-3", "marked/marker-0"], world.deleted()


def settled(world: World, watcher: object) -> None:
    """The time after which a restart of "a" would widen is over, as it is for a job that begins later and does widen."""
    world.job("later", ["n7", "n8"], labels=ALONE)
    world.report(["n8"])
    watcher.until(lambda: "default/later-0" in world.deleted(), "the other job to be restarted as a whole")
    for name in ("later-0", "later-1"):
        world.server.deleted[:] = [request for request in world.server.deleted if request.name != name]
    world.restarts_marker(watcher, "n8")


@history()
def only_the_faulty_pod_goes_and_the_rest_when_nothing_replaces_it(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0", "n1", "n2"], labels=ALONE)
    watcher = world.watch({"escalateAfter": "2s"})
    world.owners_recreate()
    world.report(["n2"])
    watcher.until(lambda: world.server.deleted, "the first deletion")
    assert world.deleted() == ["default/a-2"]
    watcher.until(lambda: {"default/a-0", "default/a-1"} <= set(world.deleted()), "the whole job to be restarted")


@history()
def a_replacement_that_runs_ends_the_restart(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0", "n1", "n2"], labels=ALONE)
    watcher = world.watch({"escalateAfter": "1s"})
    world.owners_recreate(onto="n5")
    world.report(["n2"])
    world.await_deleted("default/a-2")
    world.server.on_deleted.pop()  # the other job is not replaced
    settled(world, watcher)
    assert world.deleted() == ["default/a-2", "marked/marker-0"], world.deleted()


@history()
def rank_0_takes_all_others_with_it(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0", "n1", "n2"], labels=ALONE)
    world.watch({"escalateAfter": "10m"})
    world.report(["n0"])
    world.await_deleted("default/a-0", "default/a-1", "default/a-2")


@history()
def a_master_without_chips_takes_all_others_with_it(world: World) -> None:
    """The launcher of rank 0 has no NPU; its workers have."""
    world.nodes(10)
    world.group("a", "default", 3, ALONE)
    for rank, chips in enumerate(("", "Ascend910-0", "Ascend910-0")):
        world.pod(f"a-{rank}", "a", f"n{rank}", ALONE, chips=chips, rank=rank)
    world.watch({"escalateAfter": "10m"})
    world.node("n0", ready=False)
    world.await_deleted("default/a-0", "default/a-1", "default/a-2")


@history()
def a_broken_chip_is_seen_by_a_pod_with_a_part_of_it(world: World) -> None:
    """A virtual NPU: the pod has Ascend310P-1c-400-1_0, which is a part of Ascend310P-1."""
    world.nodes(10)
    world.job("a", ["n0"], chips="Ascend310P-1c-400-1_0")
    world.job("b", ["n0"], chips="Ascend310P-1c-400-2_0")
    world.watch()
    world.report({"n0": ["Ascend310P-1"]})
    world.await_deleted("default/a-0")


@history()
def a_chip_that_no_pod_has_restarts_nothing(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0"], chips="Ascend910-3")
    watcher = world.watch()
    world.report(["n0"])
    world.restarts_marker(watcher, "n0")
    assert world.deleted() == ["marked/marker-0"], world.deleted()


@history(fast=True)
def a_grace_period_ends_by_force(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0"], labels=GRACE)
    watcher = world.watch(graceOverTime="3s")
    world.report(["n0"])
    watcher.until(lambda: len(world.server.deleted) == 2, "the pod to be forced")
    evicted, forced = world.server.deleted
    assert "gracePeriodSeconds" not in evicted.options() and forced.options()["gracePeriodSeconds"] == 0


@history()
def a_pod_that_ends_within_its_grace_period_is_not_forced(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0"], labels=GRACE)
    watcher = world.watch(graceOverTime="3s")
    world.report(["n0"])
    world.await_deleted("default/a-0")
    world.end("a-0")
    world.job("later", ["n0"], labels=GRACE)
    watcher.until(lambda: [each.name for each in world.server.deleted].count("later-0") == 2, "a later pod to be forced")
    assert [each.name for each in world.server.deleted].count("a-0") == 1


@history()
def a_failed_pod_is_retried_as_often_as_its_job_asks(world: World) -> None:
    labels: Object = FORCE | {"fault-retry-times": "2"}
    world.nodes(10)
    world.job("a", ["n0"], labels=labels)
    watcher = world.watch()
    for turn in range(3):
        world.change_pod("a-0", phase="Failed")
        if turn == 2:
            break
        watcher.until(lambda: len(world.server.deleted) == turn + 1, "the retry")
        world.replace("a-0", "a", "n0", labels=labels, rank=0)
        world.await_sent(watcher)
        world.await_acting(watcher)
    watcher.until(lambda: world.events("NotRestarted", "a"), "it to give up")
    assert len(world.server.deleted) == 2


@history()
def a_takeover_waits_while_somebody_else_deletes(world: World) -> None:
    """Volcano's plugin acts at once: nothing is left for the watcher."""
    world.nodes(10)
    world.job("a", ["n0"])
    watcher = world.watch({"mode": "takeover", "takeoverAfter": "3s"})
    world.report(["n0"])
    world.store.remove(PODS, "default", "a-0")
    world.replace("a-0", "a", "n5", labels=FORCE, rank=0)
    world.restarts_marker(watcher, "n0")
    assert world.deleted() == ["marked/marker-0"], world.deleted()


@history(fast=True)
def a_job_on_slow_chips_is_asked_to_exit_before_its_pods_go(world: World) -> None:
    world.nodes(10)
    owner = ("mindxdl.gitee.com/v1", "AscendJob", "train")
    labels: Object = GRACE | {"subHealthyStrategy": "graceExit"}
    world.job("a", ["n0"], labels=labels, owner=owner)
    data = {"reset.json": '{"RankList":[],"GracefulExit":0}', "checkCode": ""}
    world.store.put(CONFIGMAPS, {"metadata": {"namespace": "default", "name": "reset-config-train"}, "data": data})
    world.watch({"gracefulExit": True})
    world.report({}, sub_healthy=["n0"])
    world.await_deleted("default/a-0")
    asked = [change for change in world.store.changes if change.after and change.after["metadata"]["name"] == "reset-config-train"]
    assert '"GracefulExit":1' in asked[-1].after["data"]["reset.json"]
    assert asked[-1].at < world.server.deleted[0].arrived


@history()
def a_node_that_is_gone_takes_its_jobs_with_it(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0"])
    world.watch()
    world.remove_node("n0")
    world.await_deleted("default/a-0")


@history()
def a_node_that_was_gone_before_the_watcher_came_takes_its_jobs_with_it(world: World) -> None:
    """The pods ran there: a scheduler bound them."""
    world.nodes(10)
    world.job("a", ["n0"])
    world.remove_node("n0")
    world.watch()
    world.await_deleted("default/a-0")
