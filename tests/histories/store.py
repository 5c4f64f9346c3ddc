"""The objects of a small cluster: every kind has its own table, all of them share one version, and watches read the changes.

Nothing acts here by itself. What a scheduler, a kubelet or an owner would do is written by the history.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import re
import threading
import time
from collections.abc import Callable
from typing import Any

Object = dict[str, Any]
Query = dict[str, list[str]]

PODS, CONFIGMAPS, NODES = "api/v1/pods", "api/v1/configmaps", "api/v1/nodes"
NAMESPACES, SECRETS = "api/v1/namespaces", "api/v1/secrets"
LEASES, EVENTS = "apis/coordination.k8s.io/v1/leases", "apis/events.k8s.io/v1/events"
PODGROUPS = "apis/scheduling.volcano.sh/v1beta1/podgroups"
DEPLOYMENTS, REPLICASETS = "apis/apps/v1/deployments", "apis/apps/v1/replicasets"
ASCENDJOBS = "apis/mindxdl.gitee.com/v1/ascendjobs"
MUTATING = "apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
VALIDATING = "apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
KINDS = {
    PODS: "Pod",
    CONFIGMAPS: "ConfigMap",
    NODES: "Node",
    NAMESPACES: "Namespace",
    SECRETS: "Secret",
    LEASES: "Lease",
    EVENTS: "Event",
    PODGROUPS: "PodGroup",
    DEPLOYMENTS: "Deployment",
    REPLICASETS: "ReplicaSet",
    ASCENDJOBS: "AscendJob",
    MUTATING: "MutatingWebhookConfiguration",
    VALIDATING: "ValidatingWebhookConfiguration",
    "apis/apps/v1/statefulsets": "StatefulSet",
    "apis/batch/v1/jobs": "Job",
    "apis/batch.volcano.sh/v1alpha1/jobs": "Job",
    "apis/leaderworkerset.x-k8s.io/v1/leaderworkersets": "LeaderWorkerSet",
    "apis/mindcluster.huawei.com/v1/inferservices": "InferService",
    "apis/mindcluster.huawei.com/v1/inferservicesets": "InferServiceSet",
    "apis/mindcluster.huawei.com/v1/instancesets": "InstanceSet",
    "apis/orchestration.aibrix.ai/v1alpha1/podsets": "PodSet",
    "apis/orchestration.aibrix.ai/v1alpha1/rolesets": "RoleSet",
    "apis/orchestration.aibrix.ai/v1alpha1/stormservices": "StormService",
}
CLUSTER_WIDE = {NODES, NAMESPACES, MUTATING, VALIDATING}


class Refused(Exception):
    """A request that the API server answers with an error."""

    def __init__(self, code: int, reason: str, message: str):
        super().__init__(message)
        self.code, self.reason = code, reason

    def status(self) -> Object:
        return {
            "kind": "Status",
            "apiVersion": "v1",
            "status": "Failure",
            "code": self.code,
            "reason": self.reason,
            "message": str(self),
        }


@dataclasses.dataclass(frozen=True)
class Change:
    version: int
    at: float  # seconds on the steady clock
    kind: str
    before: Object | None
    after: Object | None


def stamp(ago: float = 0) -> str:
    """A timestamp as objects have it, `ago` seconds before now."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - ago))


def api_version(kind: str) -> str:
    return kind.split("/", 1)[1].rsplit("/", 1)[0]


def key_of(kind: str, ns: str, name: str) -> tuple[str, str]:
    return ("" if kind in CLUSTER_WIDE else ns, name)


class Store:
    """Safe from many threads. Objects that were stored are never changed: a change stores another one."""

    def __init__(self) -> None:
        self.changed = threading.Condition(threading.RLock())
        self.changes: list[Change] = []
        self.version = 100
        self.oldest = 0  # a watch from before this version is answered with 410
        self._objects: dict[str, dict[tuple[str, str], Object]] = {kind: {} for kind in KINDS}
        self._uids = 0

    def put(self, kind: str, written: Object) -> Object:
        """Stores a new object, or another state of one. It gets a uid and a version."""
        stored = copy.deepcopy(written)
        stored.update(apiVersion=api_version(kind), kind=KINDS[kind])
        metadata = stored["metadata"]
        if kind not in CLUSTER_WIDE:
            metadata.setdefault("namespace", "default")
        metadata.setdefault("creationTimestamp", stamp())
        key = key_of(kind, metadata.get("namespace", ""), metadata["name"])
        with self.changed:
            before = self._objects[kind].get(key)
            if "uid" not in metadata:
                self._uids += 1
                metadata["uid"] = before["metadata"]["uid"] if before else f"uid-{self._uids}"
            metadata["resourceVersion"] = str(self.version + 1)
            self._objects[kind][key] = stored
            self._note(kind, before, stored)
        return stored

    def remove(self, kind: str, ns: str, name: str) -> None:
        with self.changed:
            before = self._objects[kind].pop(key_of(kind, ns, name), None)
            if before is not None:
                self._note(kind, before, None)

    def get(self, kind: str, ns: str, name: str) -> Object | None:
        """The object, which must not be changed."""
        with self.changed:
            return self._objects[kind].get(key_of(kind, ns, name))

    def edit(self, kind: str, ns: str, name: str, change: Callable[[Object], None]) -> Object:
        """Stores what `change` makes of a copy."""
        with self.changed:
            there = self.get(kind, ns, name)
            if there is None:
                raise Refused(404, "NotFound", f'{kind.split("/")[-1]} "{name}" not found')
            edited = copy.deepcopy(there)
            change(edited)
            return self.put(kind, edited)

    def objects(self, kind: str, ns: str | None = None) -> list[Object]:
        with self.changed:
            return [each for each in self._objects[kind].values() if not ns or each["metadata"].get("namespace") == ns]

    def forget_changes(self) -> None:
        """As a compaction of etcd does: who missed something has to list again."""
        with self.changed:
            self.oldest = self.version
            self.changed.notify_all()

    def _note(self, kind: str, before: Object | None, after: Object | None) -> None:
        self.version += 1
        self.changes.append(Change(self.version, time.monotonic(), kind, before, after))
        self.changed.notify_all()


def selects(query: Query, ns: str | None, one: Object | None) -> bool:
    """Whether a list or watch with these parameters has the object."""
    if one is None or (ns and one["metadata"].get("namespace") != ns):
        return False
    labels = one["metadata"].get("labels") or {}
    for term in re.split(r",(?![^(]*\))", query.get("labelSelector", [""])[0]):
        if not _matches_label(term.strip(), labels):
            return False
    for term in query.get("fieldSelector", [""])[0].split(","):
        if not term:
            continue
        path, value = re.split("!=|==?", term)
        at: Any = one
        for part in path.split("."):
            at = at.get(part, "") if isinstance(at, dict) else ""
        if (at == value) == ("!=" in term):
            return False
    return True


def _matches_label(term: str, labels: dict[str, str]) -> bool:
    among = re.match(r"(\S+) (in|notin) \((.*)\)$", term)
    if among:
        return (labels.get(among[1]) in re.split(r"\s*,\s*", among[3])) == (among[2] == "in")
    if "!=" in term:
        name, value = term.split("!=")
        return labels.get(name) != value
    if "=" in term:
        name, value = re.split("==?", term)
        return labels.get(name) == value
    if term.startswith("!"):
        return term[1:] not in labels
    return not term or term in labels


def merge_patch(one: Object, patch: Object) -> None:
    """RFC 7386."""
    for name, value in patch.items():
        if value is None:
            one.pop(name, None)
        elif isinstance(value, dict):
            if not isinstance(one.get(name), dict):
                one[name] = {}
            merge_patch(one[name], value)
        else:
            one[name] = value


def json_patch(one: Object, operations: list[Object]) -> None:
    """RFC 6902: test, add, replace and remove."""
    for operation in operations:
        path = operation["path"]
        parts = [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]
        at: Any = one
        try:
            for part in parts[:-1]:
                at = at[int(part)] if isinstance(at, list) else at[part]
            last: Any = parts[-1]
            if isinstance(at, list):
                last = len(at) if last == "-" else int(last)
            act = operation["op"]
            if act == "test" and at[last] != operation["value"]:
                raise Refused(422, "Invalid", f"the test of {path} failed")
            if act == "add" and isinstance(at, list):
                at.insert(last, operation["value"])
            elif act in ("add", "replace"):
                at[last] = operation["value"]
            elif act == "remove":
                del at[last]
        except (KeyError, IndexError, ValueError, TypeError) as missing:
            raise Refused(422, "Invalid", f"there is nothing at {path}") from missing


def text_of(one: Object) -> bytes:
    return json.dumps(one, separators=(",", ":")).encode()
