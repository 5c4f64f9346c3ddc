#!/usr/bin/env python3
"""That the invariants of histories notice what they are there for."""

from __future__ import annotations

import pathlib
import sys
import time
import unittest
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

from api_server import ApiServer, Request  # noqa: E402
from invariants import LEASE, Limits, violations  # noqa: E402
from store import LEASES, NAMESPACES, NODES, PODGROUPS, PODS, Object  # noqa: E402

GROUP = "scheduling.k8s.io/group-name"
DISABLED = {"mindgate.io/rescheduling": "disabled"}
PAUSED = {"mindgate.io/pause-rescheduling": "true"}
LONG_AGO = 10.0  # seconds; more than any slack


class Scene:
    """A pod "a-0" of job "a", and watcher "w", which asks for its deletion."""

    def __init__(self) -> None:
        self.server = ApiServer()
        self.limits = Limits(restarts_per_minute=30, modes={"w": [(0.0, "enforce")]})
        self.put(NAMESPACES, "", "default")
        self.put(PODGROUPS, "default", "a", labels={"fault-scheduling": "force"})
        self.put(PODS, "default", "a-0", annotations={GROUP: "a"})
        self.lease("w")
        self.server.door("w")

    def put(self, kind: str, ns: str, name: str, ago: float = 2 * LONG_AGO, **metadata: Any) -> None:
        """Stores it, as if that had been some seconds ago."""
        self.server.store.put(kind, {"metadata": {"namespace": ns, "name": name, **metadata}, "spec": {}})
        self.age(ago)

    def age(self, ago: float) -> None:
        changes = self.server.store.changes
        object.__setattr__(changes[-1], "at", time.monotonic() - ago)

    def lease(self, holder: str, ago: float = 2 * LONG_AGO, **metadata: Any) -> None:
        lease = {"metadata": {"namespace": LEASE[1], "name": LEASE[2], **metadata}, "spec": {"holderIdentity": holder}}
        self.server.store.put(LEASES, lease)
        self.age(ago)

    def request(self, verb: str, kind: str, name: str, body: Object | None = None, ago: float = 0, **more: Any) -> Request:
        ns = "" if kind in (NODES, NAMESPACES) else more.get("ns", "default")
        at = time.monotonic() - ago
        answer = self.server.store.get(kind, ns, name)
        request = Request("w", verb, kind, ns, name, "", more.get("query", {}), body, at, at, 200, answer)
        self.server.requests.append(request)
        return request

    def delete(self, name: str = "a-0", **more: Any) -> None:
        self.request("DELETE", PODS, name, {"preconditions": {"uid": "u"}}, **more)

    def found(self) -> list[str]:
        found = violations(self.server, self.limits)
        self.server.close()
        return [line.partition(": ")[2] for line in found]


def without_uid(scene: Scene) -> None:
    scene.request("DELETE", PODS, "a-0", {})


def without_the_lease(scene: Scene) -> None:
    scene.limits.electing.add("w")
    scene.lease("other")
    scene.delete()


def namespace_opts_out(scene: Scene) -> None:
    scene.put(NAMESPACES, "", "default", LONG_AGO, annotations=DISABLED)
    scene.delete()


def group_opts_out(scene: Scene) -> None:
    scene.put(PODGROUPS, "default", "a", LONG_AGO, labels=DISABLED)
    scene.delete()


def other_pod_opts_out(scene: Scene) -> None:
    scene.put(PODS, "default", "a-1", LONG_AGO, annotations={GROUP: "a"}, labels=DISABLED)
    scene.delete()


def policy_is_off(scene: Scene) -> None:
    scene.put(PODGROUPS, "default", "a", LONG_AGO, labels={"fault-scheduling": "off"})
    scene.delete()


def paused(scene: Scene) -> None:
    scene.lease("w", LONG_AGO, annotations=PAUSED)
    scene.delete()


def taint_while_paused(scene: Scene) -> None:
    scene.put(NODES, "", "n0")
    scene.lease("w", LONG_AGO, annotations=PAUSED)
    scene.request("PATCH", NODES, "n0", [{"op": "add", "path": "/spec/taints", "value": []}])


def shown_a_moment_ago(scene: Scene) -> None:
    """The pause is young, and the watcher was shown it before it deleted the pod."""
    scene.lease("w", 0.9, annotations=PAUSED)
    scene.request("GET", LEASES, LEASE[2], ago=0.5, ns=LEASE[1])
    scene.delete()


def observes(scene: Scene) -> None:
    scene.limits.modes["w"].append((time.monotonic() - LONG_AGO, "observe"))
    scene.delete()


def too_many_are_faulty(scene: Scene) -> None:
    scene.limits.faulty.append((time.monotonic() - LONG_AGO, NODES, 100, 4, 10))
    scene.server.door("w").sent[NODES] = [(time.monotonic() - 1, 100)]
    scene.delete()


def beyond_the_budget(scene: Scene) -> None:
    scene.limits.restarts_per_minute = 2
    for name in ("a", "b", "c"):
        scene.put(PODS, "default", f"{name}-0", annotations={GROUP: name})
        scene.delete(f"{name}-0", ago=5)


def nothing_wrong(scene: Scene) -> None:
    scene.limits.electing.add("w")
    scene.delete()


def a_young_pause(scene: Scene) -> None:
    """Too young for anyone to know of it."""
    scene.lease("w", 0.1, annotations=PAUSED)
    scene.delete()


def a_pause_that_is_over(scene: Scene) -> None:
    scene.lease("w", LONG_AGO, annotations=PAUSED)
    scene.lease("w", LONG_AGO / 2)
    scene.delete()


def dry_run(scene: Scene) -> None:
    scene.lease("w", LONG_AGO, annotations=PAUSED)
    scene.delete(query={"dryRun": ["All"]})


def a_brake_that_was_not_shown_yet(scene: Scene) -> None:
    scene.limits.faulty.append((time.monotonic() - LONG_AGO, NODES, 100, 4, 10))
    scene.delete()


def two_faulty_nodes_are_few(scene: Scene) -> None:
    scene.limits.faulty.append((time.monotonic() - LONG_AGO, NODES, 100, 2, 3))
    scene.server.door("w").sent[NODES] = [(time.monotonic() - 1, 100)]
    scene.delete()


CASES = (
    (without_uid, ["it names no uid"]),
    (without_the_lease, ["the Lease was held by other"]),
    (namespace_opts_out, ["namespaces default opts out"]),
    (group_opts_out, ["podgroups a opts out"]),
    (other_pod_opts_out, ["pods a-1 opts out"]),
    (policy_is_off, ["the PodGroup has fault-scheduling: off"]),
    (paused, ["rescheduling is paused on the Lease"]),
    (taint_while_paused, ["rescheduling is paused on the Lease"]),
    (shown_a_moment_ago, ["rescheduling is paused on the Lease"]),
    (observes, ["its mode is observe"]),
    (too_many_are_faulty, ["more than maxFaultyNodes of the nodes are faulty"]),
    (beyond_the_budget, ["3 jobs were restarted within a minute, more than 2"]),
    (nothing_wrong, []),
    (a_young_pause, []),
    (a_pause_that_is_over, []),
    (dry_run, []),
    (a_brake_that_was_not_shown_yet, []),
    (two_faulty_nodes_are_few, []),
)


class Invariants(unittest.TestCase):
    def test_each_violation_is_found_and_nothing_else(self) -> None:
        for play, expected in CASES:
            with self.subTest(play.__name__):
                scene = Scene()
                play(scene)
                self.assertEqual(scene.found(), expected)


if __name__ == "__main__":
    unittest.main()
