"""The wall clock of the watcher's host jumps, or is wrong from the start. Deadlines within one leader do not move with it."""

from __future__ import annotations

import json
import time

from program import Program
from registry import history
from store import CONFIGMAPS, PODS
from world import FORCE, GRACE, World

HOUR, DAY = 3600, 86400
RECORDS = "job-reschedule-reason"


def forced(world: World, pod: str) -> bool:
    return any(each.name == pod and each.options().get("gracePeriodSeconds") == 0 for each in world.server.deleted)


def in_grace(world: World, ahead: float = 0, **config: str) -> Program:
    """The pod of job "a" was asked to end, and does not."""
    world.nodes(10)
    world.job("a", ["n0"], labels=GRACE)
    watcher = world.watch(clock=world.clock(ahead), **config)
    world.report(["n0"])
    world.await_deleted("default/a-0")
    return watcher


def reconciled(world: World, watcher: Program, pod: str) -> None:
    """The job of this pod was reconciled after now."""
    looks = world.looks(watcher)
    world.reconcile(pod, "default")
    watcher.until(lambda: world.looks(watcher) > looks, "the job to be reconciled")
    world.await_acting(watcher)


@history()
def a_clock_that_jumps_ahead_takes_no_pod_its_grace_period(world: World) -> None:
    watcher = in_grace(world)
    watcher.clock.set(HOUR)
    reconciled(world, watcher, "a-0")
    world.restarts_marker(watcher, "n0")
    assert not forced(world, "a-0")


@history()
def a_clock_that_is_put_right_leaves_no_pod_hanging(world: World) -> None:
    """An hour ahead while the grace period began; it still ends after five seconds."""
    watcher = in_grace(world, ahead=HOUR, graceOverTime="5s")
    watcher.clock.set(0)
    watcher.until(lambda: forced(world, "a-0"), "the end of the grace period")


@history()
def a_clock_that_falls_back_leaves_no_pod_hanging(world: World) -> None:
    watcher = in_grace(world, graceOverTime="5s")
    watcher.clock.set(-DAY)
    reconciled(world, watcher, "a-0")
    watcher.until(lambda: forced(world, "a-0"), "the end of the grace period")


@history()
def a_clock_that_is_a_day_behind_restarts_jobs(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0"])
    world.watch(clock=world.clock(-DAY))
    world.report(["n0"])
    world.await_deleted("default/a-0")


@history()
def a_clock_that_is_a_day_ahead_restarts_jobs(world: World) -> None:
    """ClusterD's times look a day old by it. ClusterD is there all the same."""
    world.nodes(10)
    world.job("a", ["n0"])
    world.watch(clock=world.clock(DAY))
    world.report(["n0"])
    world.await_deleted("default/a-0")


@history()
def a_clock_that_jumps_ahead_takes_others_no_time_to_act(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0"])
    watcher = world.watch({"mode": "takeover", "takeoverAfter": "30m"}, clock=world.clock())
    world.report(["n0"])
    watcher.until(lambda: world.events("RestartWaits", "a"), "it to wait for others")
    watcher.clock.set(HOUR)
    reconciled(world, watcher, "a-0")
    assert not world.deleted()


@history()
def a_clock_that_falls_back_takes_over_all_the_same(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0"])
    watcher = world.watch({"mode": "takeover", "takeoverAfter": "5s"}, clock=world.clock())
    world.report(["n0"])
    watcher.until(lambda: world.events("RestartWaits", "a"), "it to wait for others")
    watcher.clock.set(-HOUR)
    world.await_deleted("default/a-0")


def watch_a_restart_of_one_pod(world: World, escalate_after: str) -> Program:
    """Of a job of two, one pod was deleted. Its replacement waits for room, and may be widened to the whole job."""
    world.nodes(10)
    world.job("a", ["n0", "n1"], labels=FORCE | {"pod-rescheduling": "on"})
    watcher = world.watch({"escalateAfter": escalate_after}, clock=world.clock())
    world.owners_recreate()
    world.report(["n1"])
    world.await_deleted("default/a-1")
    world.await_sent(watcher)
    reconciled(world, watcher, "a-0")
    return watcher


@history()
def a_clock_that_jumps_ahead_widens_no_restart(world: World) -> None:
    """The replacement has twenty minutes to find room before the whole job is restarted."""
    watcher = watch_a_restart_of_one_pod(world, "10m")
    watcher.clock.set(HOUR)
    reconciled(world, watcher, "a-0")
    assert world.deleted() == ["default/a-1"], world.deleted()


@history()
def a_clock_that_falls_back_widens_the_restart_all_the_same(world: World) -> None:
    watcher = watch_a_restart_of_one_pod(world, "5s")
    watcher.clock.set(-HOUR)
    watcher.until(lambda: "default/a-0" in world.deleted(), "the whole job to be restarted")


@history()
def a_clock_that_falls_back_ends_the_pause_between_vain_restarts(world: World) -> None:
    """The new pods run on the broken node as well: they are restarted after a pause of ten seconds, not of an hour."""
    world.nodes(10)
    world.job("a", ["n0"])
    watcher = world.watch(clock=world.clock())
    world.owners_recreate(onto="n0")
    world.report(["n0"])
    watcher.until(lambda: world.server.deleted, "the first restart")
    watcher.clock.set(-HOUR)
    watcher.until(lambda: len(world.server.deleted) >= 2, "the second restart")


@history()
def a_record_of_volcano_from_the_future_delays_no_restart(world: World) -> None:
    """The clock of volcano-scheduler's host is an hour ahead, and the record of its plugin has that time."""
    world.nodes(10)
    world.job("a", ["n0"])
    record = {"default/a": {"RescheduleRecords": [{"RescheduleTimeStamp": int(time.time()) + HOUR}]}}
    data = {"recent-reschedule-records": json.dumps(record)}
    world.store.put(CONFIGMAPS, {"metadata": {"namespace": "mindx-dl", "name": RECORDS}, "data": data})
    world.watch({"mode": "takeover", "takeoverAfter": "2s"})
    world.report(["n0"])
    world.await_deleted("default/a-0")


@history()
def a_successor_whose_clock_is_behind_ends_the_grace_period(world: World) -> None:
    """What the first leader wrote down is in the future of the second one."""
    first = in_grace(world, graceOverTime="5s")
    first.kill()
    second = world.watch(name="b", clock=world.clock(-DAY), graceOverTime="5s")
    second.until(lambda: forced(world, "a-0"), "the end of the grace period")


@history()
def a_pod_that_somebody_deletes_with_an_hour_of_grace_is_taken_over(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0"])
    world.watch({"mode": "takeover", "takeoverAfter": "3s"})
    with world.store.changed:
        world.server.terminate(world.store.get(PODS, "default", "a-0"), HOUR)
    world.report(["n0"])
    world.await_deleted("default/a-0")
