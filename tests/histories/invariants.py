"""What must hold in every history, read from the log of requests after it has ended.

The order is that of the server's clock. A client learns of a change a little later than it is stored, so a stop counts
once the client has been shown it, or `SLACK` after it was stored, whatever comes first.
"""

from __future__ import annotations

import collections
import dataclasses
import time
from collections.abc import Callable

from api_server import ApiServer, Request
from store import CLUSTER_WIDE, KINDS, LEASES, NAMESPACES, NODES, PODGROUPS, PODS, Change, Object, api_version

SLACK = 2.0  # seconds from a stop to the last request that may have been sent before it was known
SHOWN = 0.3  # the same from a read that showed it
FEW = 2  # so many faulty nodes never stop anything
OPT_OUT = "mindgate.io/rescheduling"
PAUSE = "mindgate.io/pause-rescheduling"
LEASE = (LEASES, "mindgate-system", "mindgate-watcher")


@dataclasses.dataclass
class Limits:
    """What the watchers of a history may do."""

    electing: set[str] = dataclasses.field(default_factory=set)
    modes: dict[str, list[tuple[float, str]]] = dataclasses.field(default_factory=dict)  # by watcher, since when
    restarts_per_minute: int = 0  # the largest that was configured
    max_faulty_nodes: int = 30
    faulty: list[tuple[float, str, int, int, int]] = dataclasses.field(default_factory=list)  # at, kind, version, faulty, all
    slack: float = SLACK

    def configured(self, watcher: str, rescheduling: Object) -> None:
        self.modes.setdefault(watcher, []).append((time.monotonic(), rescheduling["mode"]))
        self.restarts_per_minute = max(self.restarts_per_minute, rescheduling.get("restartsPerMinute", 30))
        self.max_faulty_nodes = rescheduling.get("maxFaultyNodes", 30)


def violations(server: ApiServer, limits: Limits) -> list[str]:
    """A line for each request that must not have been made."""
    return Reading(server, limits).all()


class Reading:
    def __init__(self, server: ApiServer, limits: Limits):
        self.server, self.limits = server, limits
        self.states: dict[tuple[str, str, str], list[Change]] = collections.defaultdict(list)
        for change in server.store.changes:
            one = change.after or change.before or {}
            ns = "" if change.kind in CLUSTER_WIDE else one["metadata"]["namespace"]
            self.states[change.kind, ns, one["metadata"]["name"]].append(change)
        self.reads: dict[tuple[str, str, str, str], list[Request]] = collections.defaultdict(list)
        for request in server.requests:
            if request.verb == "GET" and request.code == 200:
                self.reads[request.caller, request.kind, request.ns, request.name].append(request)

    def all(self) -> list[str]:
        found = []
        for request in self.server.requests:
            if not self.is_destructive(request):
                continue
            why = self.why_not(request)
            if why:
                what = f"{request.verb} {request.kind.split('/')[-1]} {request.ns}/{request.name}"
                found.append(f"{what} by {request.caller}: {why}")
        return found + self.beyond_the_budget()

    @staticmethod
    def is_destructive(request: Request) -> bool:
        if request.is_dry() or request.code not in (200, 201):
            return False
        if request.kind == PODS:
            return request.verb == "DELETE" or request.subresource == "eviction"
        adds = request.verb == "PATCH" and isinstance(request.body, list) and any(op["op"] == "add" for op in request.body)
        return request.kind == NODES and adds

    def why_not(self, request: Request) -> str:
        caller = request.caller
        if caller in self.limits.electing and self.holder(request.arrived) != caller:
            return f"the Lease was held by {self.holder(request.arrived) or 'no one'}"
        mode = [mode for at, mode in self.limits.modes.get(caller, []) if at < request.arrived - self.limits.slack]
        if mode and mode[-1] in ("off", "observe"):
            return f"its mode is {mode[-1]}"
        if self.is_stopped(request, LEASE, is_paused):
            return "rescheduling is paused on the Lease"
        if self.too_many_are_faulty(request):
            return "more than maxFaultyNodes of the nodes are faulty"
        if request.kind == NODES:
            return ""
        if not (request.options().get("preconditions") or {}).get("uid"):
            return "it names no uid"
        pod = request.answer or {}
        group = (PODGROUPS, request.ns, pod["metadata"].get("annotations", {}).get("scheduling.k8s.io/group-name", ""))
        where = [(NAMESPACES, "", request.ns), group, (PODS, request.ns, request.name), *self.owners(group, request.arrived)]
        where += [(PODS, request.ns, name) for name in self.pods_of(group, request.arrived)]
        for key in where:
            if self.is_stopped(request, key, is_disabled):
                return f"{key[0].split('/')[-1]} {key[2]} opts out"
        if self.is_stopped(request, group, is_off):
            return "the PodGroup has fault-scheduling: off"
        return ""

    def holder(self, at: float) -> str:
        lease = self.state(LEASE, at) or {}
        return lease.get("spec", {}).get("holderIdentity") or ""

    def state(self, key: tuple[str, str, str], at: float) -> Object | None:
        before = [change.after for change in self.states.get(key, []) if change.at <= at]
        return before[-1] if before else None

    def is_stopped(self, request: Request, key: tuple[str, str, str], stops: Callable[[Object], bool]) -> bool:
        since = None
        for change in self.states.get(key, []):
            if change.at > request.arrived:
                break
            if change.after is None or not stops(change.after):
                since = None
            elif since is None:
                since = change.at
        if since is None:
            return False
        shown = [
            read
            for read in self.reads[(request.caller, *key)]
            if since <= read.answered < request.arrived - SHOWN and stops(read.answer or {})
        ]
        return bool(shown) or since < request.arrived - self.limits.slack

    def too_many_are_faulty(self, request: Request) -> bool:
        since = None
        for at, kind, version, faulty, nodes in self.limits.faulty:
            if at > request.arrived:
                break
            if faulty <= FEW or faulty * 100 <= nodes * self.limits.max_faulty_nodes:
                since = None
            elif since is None:
                since = (kind, version)
        known = since and self.server.doors[request.caller].knew(*since)
        return bool(known) and known < request.arrived - SHOWN

    def owners(self, group: tuple[str, str, str], at: float) -> list[tuple[str, str, str]]:
        found = []
        one = self.state(group, at)
        while one and len(found) < 4:
            references = [each for each in one["metadata"].get("ownerReferences", []) if each.get("controller")]
            kind = next(
                (
                    path
                    for path, name in KINDS.items()
                    if references and name == references[0]["kind"] and api_version(path) == references[0]["apiVersion"]
                ),
                None,
            )
            if kind is None:
                break
            found.append((kind, group[1], references[0]["name"]))
            one = self.state(found[-1], at)
            if one and one["metadata"]["uid"] != references[0]["uid"]:
                found.pop()
                break
        return found

    def pods_of(self, group: tuple[str, str, str], at: float) -> list[str]:
        names = []
        for key in self.states:
            if key[0] == PODS and key[1] == group[1]:
                pod = self.state(key, at)
                if pod and pod["metadata"].get("annotations", {}).get("scheduling.k8s.io/group-name") == group[2]:
                    names.append(key[2])
        return names

    def beyond_the_budget(self) -> list[str]:
        """Counts different jobs only, which is never more than what was taken of the budget."""
        times: list[tuple[float, tuple[str, str]]] = []
        for request in self.server.requests:
            if request.kind == PODS and self.is_destructive(request) and request.answer:
                group = request.answer["metadata"].get("annotations", {}).get("scheduling.k8s.io/group-name", "")
                times.append((request.arrived, (request.ns, group)))
        for at, _ in times:
            jobs = {job for time_of, job in times if at <= time_of < at + 59}
            if len(jobs) > self.limits.restarts_per_minute:
                return [f"restartsPerMinute: {len(jobs)} jobs were restarted within a minute, more than {self.limits.restarts_per_minute}"]
        return []


def is_disabled(one: Object) -> bool:
    metadata = one.get("metadata", {})
    return any((metadata.get(member) or {}).get(OPT_OUT) == "disabled" for member in ("labels", "annotations"))


def is_paused(one: Object) -> bool:
    return (one.get("metadata", {}).get("annotations") or {}).get(PAUSE) == "true"


def is_off(one: Object) -> bool:
    return (one.get("metadata", {}).get("labels") or {}).get("fault-scheduling") == "off"
