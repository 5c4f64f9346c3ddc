"""Reports that are torn, late, old or contradictory, and writers that go silent."""

from __future__ import annotations

import time

import reports
from registry import history
from store import CONFIGMAPS, Object
from world import World

MINUTE, DAY = 60, 86400
BROKEN_TEXTS = {
    "nothing": "",
    "half": '{"mindx-dl-deviceinfo-n0": {"DeviceList": {"huawei.com/Ascend910-Unhealthy": "Ascend9',
    "an_array": "[]",
    "a_number": "17",
    "null": "null",
    "of_another_shape": '{"mindx-dl-deviceinfo-n0": {"DeviceList": ["Ascend910-0"], "UpdateTime": "soon"}}',
    "deep": "[" * 5000 + "]" * 5000,
    "not_utf8": '{"mindx-dl-deviceinfo-n0": "\\ud800"}',
    "with_a_key_twice": '{"mindx-dl-deviceinfo-n0": {}, "mindx-dl-deviceinfo-n0": {"DeviceList": {}}}',
}


@history()
def torn_reports_restart_nothing_and_the_next_good_one_does(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0"])
    watcher = world.watch()
    for text in BROKEN_TEXTS.values():
        world.store.put(*reports.config_map("mindx-dl", "cluster-info-device-0", "mx-consumer-volcano", {"cluster-info-device-0": text}))
        world.await_sent(watcher)
        world.await_acting(watcher)
        assert not world.deleted(), text[:80]
    world.report(["n0"])
    world.await_deleted("default/a-0")


@history()
def a_torn_report_of_one_part_leaves_the_other_parts_alone(world: World) -> None:
    names = world.nodes(10)
    world.job("a", ["n9"])
    watcher = world.watch()
    world.store.put(*reports.of_clusterd({name: reports.device_report([], []) for name in names[:5]}, 0))
    world.store.put(*reports.config_map("mindx-dl", "cluster-info-device-0", "mx-consumer-volcano", {"cluster-info-device-0": '{"mi'}))
    world.store.put(*reports.of_clusterd({name: reports.device_report(["Ascend910-0"] * (name == "n9"), []) for name in names[5:]}, 1))
    world.await_sent(watcher)
    world.await_deleted("default/a-0")


@history()
def faults_are_read_from_the_nodes_where_clusterd_has_gone(world: World) -> None:
    """ClusterD wrote twenty minutes ago; since then a chip broke."""
    names = world.nodes(10)
    world.job("a", ["n0"])
    silent(world, names)
    world.watch()
    breaks(world, names, "n0")
    world.await_deleted("default/a-0")


@history()
def a_node_whose_clock_is_ahead_does_not_hide_that_clusterd_has_gone(world: World) -> None:
    """In ClusterD's last report the time of one node is a day ahead: that node's own clock is wrong."""
    names = world.nodes(10)
    world.job("a", ["n0"])
    silent(world, names, {"n7": time.time() + DAY})
    world.watch()
    breaks(world, names, "n0")
    world.await_deleted("default/a-0")


def silent(world: World, names: list[str], other: dict[str, float] | None = None) -> None:
    """ClusterD's report of healthy chips is twenty minutes old."""
    old = dict.fromkeys(names, time.time() - 20 * MINUTE)
    world.report({}, at=old | (other or {}))


def breaks(world: World, names: list[str], node: str) -> None:
    """What the device plugins of all nodes write now."""
    for name in names:
        world.store.put(*reports.of_device_plugin(name, reports.device_report(["Ascend910-0"] if name == node else [], [])))


@history()
def a_node_whose_clock_is_ahead_is_restarted_like_others(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0"])
    world.job("b", ["n1"])
    world.watch()
    world.report(["n0", "n1"], at={"n0": time.time() + DAY, "n1": time.time() - 5})
    world.await_deleted("default/a-0", "default/b-0")


@history()
def a_cluster_without_clusterd_is_served_by_the_reports_of_nodes(world: World) -> None:
    names = [f"n{i}" for i in range(10)]
    for name in names:
        world.node(name)
    world.job("a", ["n0"])
    world.watch()
    breaks(world, names, "n0")
    world.await_deleted("default/a-0")


@history()
def faults_of_nodes_that_do_not_exist_count_for_nothing(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0"])
    world.watch()
    devices: dict[str, Object] = {f"phantom-{i}": reports.device_report(["Ascend910-0"], []) for i in range(100)}
    devices |= {f"n{i}": reports.device_report(["Ascend910-0"] if i == 0 else [], []) for i in range(10)}
    world.store.put(*reports.of_clusterd(devices))
    world.await_deleted("default/a-0")


@history()
def a_report_that_is_removed_restarts_nothing(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0"])
    watcher = world.watch()
    world.store.remove(CONFIGMAPS, "mindx-dl", "cluster-info-device-0")
    world.await_sent(watcher)
    world.await_acting(watcher)
    assert not world.deleted()
    world.report(["n0"])
    world.await_deleted("default/a-0")


@history()
def a_node_that_noded_calls_unhealthy_takes_its_jobs_and_gets_the_taint(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0"])
    watcher = world.watch({"isolateNodes": True})
    world.machines({"n0": "UnHealthy", "n1": "PreSeparate"})
    world.await_deleted("default/a-0")
    watcher.until(lambda: world.taints("n0"), "the taint of n0")
    assert not world.taints("n1")


@history()
def a_fault_on_the_network_of_a_chip_restarts_nothing(world: World) -> None:
    world.nodes(10)
    world.job("a", ["n0"])
    watcher = world.watch()
    report = reports.device_report([], [])
    report["DeviceList"]["huawei.com/Ascend910-NetworkUnhealthy"] = "Ascend910-0"
    healthy = {f"n{i}": reports.device_report([], []) for i in range(1, 9)}
    world.store.put(*reports.of_clusterd(healthy | {"n0": report, "n9": reports.device_report(["Ascend910-0"], [])}))
    world.restarts_marker(watcher, "n9")
    assert world.deleted() == ["marked/marker-0"], world.deleted()
