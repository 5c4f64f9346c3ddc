"""What the watcher's ServiceAccount may write, with all of its Roles: no more than the watcher does, by the chart's admission policies."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest
from e2e import Cluster, wait_for
from release import CHART, PROGRAM

Object = dict[str, Any]
GATE = "mindgate.io/elastic-scaling"
K = "huawei.com/schedule_minAvailable"
VALUES = {
    "namespaceSelector": {"matchLabels": {"no": "where"}},
    "config": {
        "elasticScaling": {"mode": "enforce", "rebalance": "enforce"},
        "rescheduling": {"mode": "enforce", "isolateNodes": True, "gracefulExit": True},
    },
}
PARTS = ("watcher-rbac", "watcher-policy", "mutating-webhook", "validating-webhook")
CONFIGURATION = "validatingwebhookconfiguration/probe-mindgate"

# What it does: target, kind of patch, patch; and what its token must not be good for, with the words of the refusal.
WRITES: dict[str, tuple[str, str, Any]] = {
    "a CA": (CONFIGURATION, "json", [{"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": "CA"}]),
    "the CA that it replaces": (CONFIGURATION, "json", [{"op": "remove", "path": "/webhooks/1/clientConfig/caBundle"}]),
    "its Namespace as owner": (CONFIGURATION, "json", [{"op": "add", "path": "/metadata/ownerReferences", "value": "OWNER"}]),
    "its gate": ("pod/gated", "json", [{"op": "remove", "path": "/spec/schedulingGates/1"}]),
    "the mark of a Pod": ("pod/gated", "merge", {"metadata": {"annotations": {"huawei.com/pod-status": "Unhealthy-CardUnhealthy"}}}),
    "its taint": ("node/npu-0", "strategic", {"spec": {"taints": [{"key": "mindgate.io/faulty", "effect": "NoSchedule"}]}}),
    "GracefulExit": ("configmap/reset-config-train", "merge", {"data": {"reset.json": "{}", "checkCode": "x"}}),
    "the size of a gang": (
        "podgroup/gang",
        "merge",
        {"metadata": {"annotations": {K: "1", "mindgate.io/gang-repair": "1"}}},
    ),
    "the size of a gang taken back": ("podgroup/gang", "merge", {"metadata": {"annotations": {K: None}}}),
}
CA_ONLY = "The watcher of mindgate may change only clientConfig.caBundle of a webhook."
OWNERS = "may make only Namespace"
METADATA = "may change only ownerReferences among the metadata of a webhook configuration"
GATES_ONLY = "The watcher of mindgate may change only the scheduling gates and the annotation huawei.com/pod-status of a Pod."
ITS_TAINT = "may add and remove only the taint mindgate.io/faulty:NoSchedule of a Node, without a value."
ITS_GATE = f"The watcher of mindgate may remove only the scheduling gate {GATE} of a Pod."
ANNOTATIONS = "The watcher of mindgate may change only annotations of a PodGroup."
ITS_ANNOTATIONS = f"may change only the annotations {K} and mindgate.io/gang-repair"
RESET_ONLY = "change only that one and reset.json and checkCode of ConfigMaps reset-config-*."
NO_REPORT = "The watcher of mindgate may not make a ConfigMap a report of faults."
ITS_EVENTS = "The watcher of mindgate may write only Events with reportingController mindgate.io/watcher."
NO_UID = "00000000-0000-0000-0000-000000000000"


def its_taint(**more: str) -> Object:
    return {"spec": {"taints": [{"key": "mindgate.io/faulty", "effect": "NoSchedule"} | more]}}


REFUSED: dict[str, tuple[str, str, Any, str]] = {
    "another Service": (
        CONFIGURATION,
        "json",
        [{"op": "replace", "path": "/webhooks/0/clientConfig/service/name", "value": "spy"}],
        CA_ONLY,
    ),
    "a URL": (
        CONFIGURATION,
        "json",
        [{"op": "replace", "path": "/webhooks/0/clientConfig", "value": {"url": "https://spy.example/"}}],
        CA_ONLY,
    ),
    "rules": (
        CONFIGURATION,
        "json",
        [{"op": "replace", "path": "/webhooks/0/rules/0/resources", "value": ["secrets"]}],
        CA_ONLY,
    ),
    "failurePolicy": (CONFIGURATION, "json", [{"op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Ignore"}], CA_ONLY),
    "a condition": (CONFIGURATION, "json", [{"op": "remove", "path": "/webhooks/0/matchConditions/0"}], CA_ONLY),
    "objectSelector": (
        CONFIGURATION,
        "json",
        [{"op": "replace", "path": "/webhooks/0/objectSelector", "value": {"matchLabels": {"a": "b"}}}],
        CA_ONLY,
    ),
    "one webhook less": (CONFIGURATION, "json", [{"op": "remove", "path": "/webhooks/0"}], CA_ONLY),
    "no webhook": (CONFIGURATION, "json", [{"op": "remove", "path": "/webhooks"}], CA_ONLY),
    "an annotation of the configuration": (CONFIGURATION, "merge", {"metadata": {"annotations": {"a": "b"}}}, METADATA),
    "a finalizer": (CONFIGURATION, "merge", {"metadata": {"finalizers": ["a.example/b"]}}, METADATA),
    "another owner": (
        CONFIGURATION,
        "json",
        [{"op": "add", "path": "/metadata/ownerReferences", "value": "ANOTHER"}],
        OWNERS,
    ),
    "its Namespace with another uid": (
        CONFIGURATION,
        "json",
        [{"op": "add", "path": "/metadata/ownerReferences", "value": "ANOTHER UID"}],
        OWNERS,
    ),
    "somebody else's gate": ("pod/gated", "json", [{"op": "remove", "path": "/spec/schedulingGates/0"}], ITS_GATE),
    "all gates": ("pod/gated", "json", [{"op": "remove", "path": "/spec/schedulingGates"}], ITS_GATE),
    "a label of a Pod": ("pod/gated", "merge", {"metadata": {"labels": {"a": "b"}}}, GATES_ONLY),
    "an annotation of a Pod": ("pod/gated", "merge", {"metadata": {"annotations": {"huawei.com/Ascend910": "0"}}}, GATES_ONLY),
    "the image of a Pod": (
        "pod/gated",
        "json",
        [{"op": "replace", "path": "/spec/containers/0/image", "value": "spy.example/image"}],
        GATES_ONLY,
    ),
    "the node of a Pod": ("pod/gated", "merge", {"spec": {"nodeSelector": {"a": "b"}}}, GATES_ONLY),
    "another taint": ("node/npu-0", "strategic", {"spec": {"taints": [{"key": "other", "effect": "NoSchedule"}]}}, ITS_TAINT),
    "its taint NoExecute": ("node/npu-0", "strategic", its_taint(effect="NoExecute"), ITS_TAINT),
    "its taint PreferNoSchedule": ("node/npu-0", "strategic", its_taint(effect="PreferNoSchedule"), ITS_TAINT),
    "its taint with a value": ("node/npu-0", "strategic", its_taint(value="x"), ITS_TAINT),
    "a Node that is cordoned": ("node/npu-0", "merge", {"spec": {"unschedulable": True}}, ITS_TAINT),
    "a label of a Node": ("node/npu-0", "merge", {"metadata": {"labels": {"a": "b"}}}, ITS_TAINT),
    "another ConfigMap": ("configmap/settings", "merge", {"data": {"reset.json": "{}"}}, RESET_ONLY),
    "another key of a ConfigMap": ("configmap/reset-config-train", "merge", {"data": {"restartType": "x"}}, RESET_ONLY),
    "a key less": ("configmap/reset-config-train", "merge", {"data": {"restartType": None}}, RESET_ONLY),
    "a label of a ConfigMap": ("configmap/reset-config-train", "merge", {"metadata": {"labels": {"a": "b"}}}, RESET_ONLY),
    "bytes in a ConfigMap": ("configmap/reset-config-train", "merge", {"binaryData": {"a": "YQ=="}}, RESET_ONLY),
    "a label of a PodGroup": ("podgroup/gang", "merge", {"metadata": {"labels": {"a": "b"}}}, ANNOTATIONS),
    "the members of a PodGroup": ("podgroup/gang", "merge", {"spec": {"minMember": 9}}, ANNOTATIONS),
    "another annotation of a PodGroup": ("podgroup/gang", "merge", {"metadata": {"annotations": {"a": "b"}}}, ITS_ANNOTATIONS),
}


def pod(name: str, **meta: Any) -> Object:
    spec = {
        "schedulerName": "nobody",
        "schedulingGates": [{"name": "other.example/gate"}, {"name": GATE}],
        "containers": [{"name": "main", "image": "example/image"}],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **meta}, "spec": spec}


def config_map(name: str, data: dict[str, str], **meta: Any) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **meta}, "data": data}


def event(name: str, by: str) -> Object:
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": name},
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "reportingController": by,
        "reportingInstance": "x",
        "type": "Warning",
        "reason": "Failed",
        "action": "Pulling",
    }


class Watcher:
    """Its ServiceAccount: with the rights that the chart gives it, and no more."""

    def __init__(self, cluster: Cluster):
        self.cluster = cluster
        assert cluster.namespace
        self.user = f"system:serviceaccount:{cluster.namespace}:probe-mindgate-watcher"
        uid = cluster.get("namespace", cluster.namespace)["metadata"]["uid"]
        owner = {"apiVersion": "v1", "kind": "Namespace", "name": cluster.namespace, "uid": uid}
        self.filled_in = {
            "CA": base64.b64encode(b"-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n").decode(),
            "OWNER": [owner | {"blockOwnerDeletion": False}],
            "ANOTHER": [owner | {"name": "default"}],
            "ANOTHER UID": [owner | {"uid": NO_UID}],
        }

    def patch(self, target: str, kind: str, patch: Any) -> str:
        """What the API server says against it; nothing where it would do it."""
        if isinstance(patch, list):
            patch = [
                {**operation, "value": self.filled_in.get(str(operation["value"]), operation["value"])}
                if "value" in operation
                else operation
                for operation in patch
            ]
        return self.ask("patch", target, "--type", kind, "--patch", json.dumps(patch))

    def create(self, each: Object) -> str:
        """The same of an object that it would create."""
        return self.ask("create", "--filename", "-", input=json.dumps(each))

    def ask(self, *arguments: str, input: str | None = None) -> str:
        told = self.cluster.kubectl(*arguments, "--dry-run=server", "--as", self.user, input=input, check=False)
        return told.stderr if told.returncode else ""


@pytest.fixture
def watcher(cluster: Cluster) -> Iterator[Watcher]:
    shown = [word for part in PARTS for word in ("--show-only", f"templates/{part}.yaml")]
    rendered = cluster.run(
        "helm", "template", "probe", CHART, "--namespace", cluster.namespace, "--values", "-", *shown, input=json.dumps(VALUES)
    ).stdout
    cluster.run("kubectl", "apply", "--server-side", "--filename", "-", input=rendered)
    watcher = Watcher(cluster)
    bundle = [{"op": "add", "path": "/webhooks/1/clientConfig/caBundle", "value": watcher.filled_in["CA"]}]
    cluster.kubectl("patch", CONFIGURATION, "--type=json", "--patch", json.dumps(bundle))
    group = {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "gang", "annotations": {K: "2", "other": "x"}},
        "spec": {"minMember": 1},
    }
    # kubectl reads what it patches and deletes.
    cluster.kubectl("create", "role", "reader", "--verb=get", "--resource=podgroups.scheduling.volcano.sh")
    account = f"--serviceaccount={cluster.namespace}:probe-mindgate-watcher"
    cluster.kubectl("create", "rolebinding", "reader", "--role=reader", account)
    of_gang = pod("of-gang", annotations={"scheduling.k8s.io/group-name": "gang"})
    reset = {"reset.json": '{"GracefulExit":0}', "checkCode": "", "restartType": "hotReset"}
    config_maps = [config_map("reset-config-train", reset), config_map("settings", {"reset.json": ""})]
    cluster.kubectl("create", "role", "reader-of-events", "--verb=get", "--resource=events.events.k8s.io")
    cluster.kubectl("create", "rolebinding", "reader-of-events", "--role=reader-of-events", account)
    cluster.create([event("of-kubelet", "kubelet"), event("its-own", "mindgate.io/watcher")])
    cluster.create([pod("gated", labels={"mind-cluster/scaling-rule": "r"}), of_gang, pod("foreign"), group, *config_maps])
    # The API server takes up policies and Roles a moment later.
    wait_for(lambda: CA_ONLY in watcher.patch(*REFUSED["failurePolicy"][:3]), "the policies of the watcher")
    wait_for(lambda: ITS_GATE in watcher.patch(*REFUSED["all gates"][:3]), "the policy about pods")
    wait_for(lambda: ANNOTATIONS in watcher.patch(*REFUSED["the members of a PodGroup"][:3]), "the policy about PodGroups")
    wait_for(lambda: RESET_ONLY in watcher.patch(*REFUSED["another ConfigMap"][:3]), "the policy about ConfigMaps")
    wait_for(lambda: ITS_TAINT in watcher.patch(*REFUSED["another taint"][:3]), "the policy about Nodes")
    wait_for(lambda: ITS_EVENTS in watcher.create(event("x", "kubelet")), "the policy about Events")
    wait_for(lambda: "The watcher of mindgate" in create_secret(watcher, "x"), "the policy about Secrets")
    yield watcher
    cluster.run("kubectl", "delete", "--ignore-not-found", "--filename", "-", input=rendered)


def create_secret(watcher: Watcher, name: str, kind: str = "kubernetes.io/tls") -> str:
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": kind,
        "metadata": {"name": name, "annotations": {"kubernetes.io/service-account.name": "default"}},
        "stringData": {"tls.crt": "", "tls.key": ""},
    }
    return watcher.create(secret)


def evict(watcher: Watcher, name: str, query: str) -> str:
    """The answer to an eviction that the watcher asks for; empty when it is granted."""
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    path = f"/api/v1/namespaces/{watcher.cluster.namespace}/pods/{name}/eviction{query}"
    arguments = ("create", "--raw", path, "--filename", "-", "--as", watcher.user)
    told = watcher.cluster.kubectl(*arguments, input=json.dumps(eviction), check=False)
    return told.stderr if told.returncode else ""


def test_what_the_watcher_does_is_allowed(watcher: Watcher) -> None:
    assert {name: watcher.patch(*write) for name, write in WRITES.items()} == dict.fromkeys(WRITES, "")
    assert watcher.ask("delete", "pod", "gated") == ""
    assert watcher.ask("delete", "pod", "of-gang") == ""
    assert evict(watcher, "gated", "?dryRun=All") == ""
    assert create_secret(watcher, "probe-mindgate-tls") == ""
    assert watcher.create(config_map("mindgate-rescheduling", {"state.json": "{}"}, labels={"team": "a"})) == ""
    assert watcher.create(event("another", "mindgate.io/watcher")) == ""
    assert watcher.patch("events.events.k8s.io/its-own", "merge", {"note": "x"}) == ""


def test_what_the_watcher_does_not_do_is_refused(watcher: Watcher) -> None:
    told = {name: watcher.patch(*refused[:3]) for name, refused in REFUSED.items()}
    assert {name: text for name, text in told.items() if REFUSED[name][3] not in text} == {}
    assert "may delete only Pods with the label mind-cluster/scaling-rule" in watcher.ask("delete", "pod", "foreign")
    assert "may only ask whether a Pod may be evicted" in evict(watcher, "gated", "")
    for name, kind in (
        ("other", "kubernetes.io/tls"),
        ("probe-mindgate-tls", "kubernetes.io/service-account-token"),
    ):
        assert "may create only Secret probe-mindgate-tls of type kubernetes.io/tls" in create_secret(watcher, name, kind)
    report = config_map("mindgate-rescheduling", {}, labels={"mc-consumer-publicfault": "true"})
    assert NO_REPORT in watcher.create(report)
    for name in ("cluster-info-device-0", "mindx-dl-deviceinfo-npu-0", "reset-config-other"):
        assert RESET_ONLY in watcher.create(config_map(name, {}))
    assert ITS_EVENTS in watcher.create(event("another", "kubelet"))
    assert ITS_EVENTS in watcher.patch("events.events.k8s.io/of-kubelet", "merge", {"note": "x"})
    assert ITS_EVENTS in watcher.patch("events.events.k8s.io/its-own", "merge", {"reportingController": "kubelet"})


def test_nobody_else_is_restricted(cluster: Cluster, watcher: Watcher) -> None:
    for name in ("an annotation of the configuration", "an annotation of a Pod", "the members of a PodGroup"):
        target, kind, patch, _ = REFUSED[name]
        cluster.kubectl("patch", target, "--type", kind, "--patch", json.dumps(patch), "--dry-run=server")


def test_the_policies_are_well_typed(cluster: Cluster, watcher: Watcher) -> None:
    """The API server checks the expressions against the types that they are about, and tells in the status."""

    def statuses() -> list[Object]:
        policies = [
            each
            for each in cluster.items("validatingadmissionpolicies")
            if each["metadata"]["name"].startswith("probe-mindgate-watcher-")
        ]
        assert len(policies) == 8 and all("typeChecking" in each.get("status", {}) for each in policies)
        return [each["status"]["typeChecking"] for each in policies]

    assert [each.get("expressionWarnings", []) for each in wait_for(statuses, "the policies to be checked")] == [[]] * 8


def test_doctor_tries_the_bounds(cluster: Cluster, watcher: Watcher) -> None:
    """Of a Pod that looks like a watcher's, since none runs here."""
    labels = {"app.kubernetes.io/component": "watcher", "app.kubernetes.io/name": "mindgate"}
    standing_in = pod("watcher", labels=labels)
    standing_in["spec"]["serviceAccountName"] = "probe-mindgate-watcher"
    cluster.create(standing_in)

    def bounds(*arguments: str) -> list[tuple[str, str]]:
        told = cluster.run(
            PROGRAM, "doctor", "-n", cluster.namespace, "--name", "probe-mindgate", "-o", "json", *arguments, check=False
        )
        findings = json.loads(told.stdout)["findings"]
        return [(each["status"], each["message"]) for each in findings if each["check"] == "watcher-bounds"]

    assert bounds() == [
        ("ok", "ServiceAccount probe-mindgate-watcher may write no more than the watcher needs")
    ]
    cluster.kubectl("delete", "validatingadmissionpolicybinding", "probe-mindgate-watcher-registrations", "probe-mindgate-watcher-secrets")
    wanted = [
        "create a Secret for the token of any ServiceAccount of its namespace",
        "change MutatingWebhookConfiguration probe-mindgate",
        "change ValidatingWebhookConfiguration probe-mindgate",
    ]

    def all_are_named() -> bool:
        found = bounds()
        assert [status for status, _ in found] == ["warning"] * 3, found
        assert all(text in message for text, (_, message) in zip(wanted, found, strict=True)), found
        return True

    wait_for(all_are_named, "doctor to find what is not bounded")
