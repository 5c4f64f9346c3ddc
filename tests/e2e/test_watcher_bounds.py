"""What the ServiceAccounts of the chart may write, with all of their Roles: no more than they need, by its admission policies."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml
from e2e import OPEN_REPORT_CRDS, REPOSITORY, Cluster, wait_for
from release import CHART, PROGRAM

Object = dict[str, Any]
GATE = "mindgate.io/elastic-scaling"
K = "huawei.com/schedule_minAvailable"
VALUES = {
    "namespaceSelector": {"matchLabels": {"no": "where"}},
    "config": {
        "elasticScaling": {"mode": "enforce", "rebalance": "enforce"},
        "rescheduling": {"mode": "enforce", "isolateNodes": True, "gracefulExit": True},
        "audit": {"mode": "on"},
    },
}
REPORTS = {
    "policyreports": ("wgpolicyk8s.io/v1alpha2", "PolicyReport"),
    "clusterpolicyreports": ("wgpolicyk8s.io/v1alpha2", "ClusterPolicyReport"),
    "reports": ("openreports.io/v1alpha1", "Report"),
    "clusterreports": ("openreports.io/v1alpha1", "ClusterReport"),
}
PARTS = ("watcher-rbac", "watcher-policy", "mutating-webhook", "validating-webhook", "uninstall", "tests/doctor")
RUNS = ("Job", "Pod")  # of hooks; here their accounts are asked about
CONFIGURATION = "validatingwebhookconfiguration/probe-mindgate"


def taint(**more: str) -> list[Object]:
    """Adds the watcher's taint, or with more members another one."""
    value = {"key": "mindgate.io/faulty", "effect": "NoSchedule"} | more
    return [{"op": "add", "path": "/spec/taints/-", "value": value}]


# What it does: target, kind of patch, patch; and what its token must not be good for, with the words of the refusal.
WRITES: dict[str, tuple[str, str, Any]] = {
    "a CA": (CONFIGURATION, "json", [{"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": "CA"}]),
    "the CA that it replaces": (CONFIGURATION, "json", [{"op": "remove", "path": "/webhooks/1/clientConfig/caBundle"}]),
    "failurePolicy Fail": (CONFIGURATION, "json", [{"op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Fail"}]),
    "its Namespace as owner": (CONFIGURATION, "json", [{"op": "add", "path": "/metadata/ownerReferences", "value": "OWNER"}]),
    "its gate": ("pod/gated", "json", [{"op": "remove", "path": "/spec/schedulingGates/1"}]),
    "the mark of a Pod": ("pod/gated", "merge", {"metadata": {"annotations": {"huawei.com/pod-status": "Unhealthy-CardUnhealthy"}}}),
    "its taint": ("node/bounded", "json", taint()),
    "GracefulExit": ("configmap/reset-config-train", "merge", {"data": {"reset.json": "{}", "checkCode": "x"}}),
    "the size of a gang": (
        "podgroup/gang",
        "merge",
        {"metadata": {"annotations": {K: "1", "mindgate.io/gang-repair": "1"}}},
    ),
    "the size of a gang taken back": ("podgroup/gang", "merge", {"metadata": {"annotations": {K: None}}}),
}
CA_ONLY = "The watcher of mindgate may change only clientConfig.caBundle of a webhook, and failurePolicy to Fail where"
OWNERS = "may make only Namespace"
METADATA = "may change only ownerReferences among the metadata of a webhook configuration"
GATES_ONLY = "The watcher of mindgate may change only the scheduling gates and the annotation huawei.com/pod-status of a Pod."
ITS_TAINT = "may add and remove only the taint mindgate.io/faulty:NoSchedule of a Node, without a value."
ITS_GATE = f"The watcher of mindgate may remove only the scheduling gate {GATE} of a Pod."
ANNOTATIONS = "The watcher of mindgate may change only annotations of a PodGroup."
ITS_ANNOTATIONS = f"may change only the annotations {K} and mindgate.io/gang-repair"
RESET_ONLY = "it may change only the first and reset.json and checkCode of ConfigMaps reset-config-*."
NO_REPORT = "The watcher of mindgate may not make a ConfigMap a report of faults."
NO_POLICIES = "The watcher of mindgate may not make a ConfigMap one of policies"
ITS_EVENTS = "The watcher of mindgate may write only Events with reportingController mindgate.io/watcher."
ONLY_DRY_RUNS = "The test Pod of mindgate may create objects only as a dry run."
ONLY_TAKES_GATE = "The uninstall Job of mindgate may only remove the scheduling gate mindgate.io/elastic-scaling of a Pod."
ONLY_TAKES_TAINT = "The uninstall Job of mindgate may only remove the taint mindgate.io/faulty:NoSchedule of a Node."
ITS_REPORTS = "may write only reports with the label app.kubernetes.io/managed-by mindgate."
SERIES = {"series": {"count": 2, "lastObservedTime": "2026-01-01T00:01:00.000000Z"}}
NO_UID = "00000000-0000-0000-0000-000000000000"
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
    "failurePolicy Ignore": (
        CONFIGURATION,
        "json",
        [{"op": "replace", "path": "/webhooks/1/failurePolicy", "value": "Ignore"}],
        CA_ONLY,
    ),
    # No DaemonSet waits for mindgate.
    "failurePolicy Fail of another": (
        CONFIGURATION,
        "json",
        [{"op": "replace", "path": "/webhooks/2/failurePolicy", "value": "Fail"}],
        CA_ONLY,
    ),
    "what fails closed": (
        CONFIGURATION,
        "merge",
        {"metadata": {"annotations": {"mindgate.io/fail-closed": "daemonsets.validate.mindgate.io"}}},
        METADATA,
    ),
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
    "another taint": ("node/bounded", "json", taint(key="other"), ITS_TAINT),
    "its taint NoExecute": ("node/bounded", "json", taint(effect="NoExecute"), ITS_TAINT),
    "its taint PreferNoSchedule": ("node/bounded", "json", taint(effect="PreferNoSchedule"), ITS_TAINT),
    "its taint with a value": ("node/bounded", "json", taint(value="x"), ITS_TAINT),
    "a taint of somebody else": ("node/bounded", "json", [{"op": "remove", "path": "/spec/taints/0"}], ITS_TAINT),
    "a Node that is cordoned": ("node/bounded", "merge", {"spec": {"unschedulable": True}}, ITS_TAINT),
    "a label of a Node": ("node/bounded", "merge", {"metadata": {"labels": {"a": "b"}}}, ITS_TAINT),
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


POD = pod("probe")


def config_map(name: str, data: dict[str, str], **meta: Any) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **meta}, "data": data}


def event(cluster: Cluster, name: str, by: str) -> Object:
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": name},
        "regarding": {"apiVersion": "v1", "kind": "Pod", "namespace": cluster.namespace, "name": "gated"},
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "reportingController": by,
        "reportingInstance": "x",
        "type": "Warning",
        "reason": "Failed",
        "action": "Pulling",
    }


class Account:
    """A ServiceAccount: with the rights that the chart gives it, and no more."""

    def __init__(self, cluster: Cluster, name: str):
        self.cluster = cluster
        assert cluster.namespace
        self.user = f"system:serviceaccount:{cluster.namespace}:probe-mindgate-{name}"
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
        return self.do(*arguments, "--dry-run=server", input=input)

    def do(self, *arguments: str, input: str | None = None) -> str:
        """Not as a dry run: where it must be refused."""
        answer = self.cluster.kubectl(*arguments, "--as", self.user, input=input, check=False)
        return answer.stderr if answer.returncode else ""


@pytest.fixture
def watcher(cluster: Cluster) -> Iterator[Account]:
    shown = [word for part in PARTS for word in ("--show-only", f"templates/{part}.yaml")]
    text = cluster.run(
        "helm", "template", "probe", CHART, "--namespace", cluster.namespace, "--values", "-", *shown, input=json.dumps(VALUES)
    ).stdout
    rendered = yaml.safe_dump_all(each for each in yaml.safe_load_all(text) if each and each["kind"] not in RUNS)
    cluster.run("kubectl", "apply", "--server-side", "--filename", "-", input=rendered)
    watcher = Account(cluster, "watcher")
    answers = [
        {"op": "add", "path": "/webhooks/1/clientConfig/caBundle", "value": watcher.filled_in["CA"]},
        {"op": "replace", "path": "/webhooks/1/failurePolicy", "value": "Fail"},
    ]
    cluster.kubectl("patch", CONFIGURATION, "--type=json", "--patch", json.dumps(answers))
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
    tainted = {"taints": [{"key": "other.example/taint", "effect": "NoSchedule"}]}
    cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "bounded"}, "spec": tainted})
    cluster.create([event(cluster, "of-kubelet", "kubelet"), event(cluster, "its-own", "mindgate.io/watcher")])
    cluster.kubectl("apply", "--server-side", "--filename", OPEN_REPORT_CRDS)
    # kubectl does not wait for what has no list of conditions yet, and a CRD has none at first.
    wait_for(lambda: cluster.kubectl("wait", "--for=condition=Established", "--filename", OPEN_REPORT_CRDS), "its CRDs")
    cluster.create([report(resource, "of-kyverno", "kyverno") for resource in REPORTS])
    cluster.kubectl("create", "clusterrole", f"{cluster.namespace}-reports", "--verb=get", f"--resource={','.join(full_names())}")
    cluster.kubectl("create", "clusterrolebinding", f"{cluster.namespace}-reports", f"--clusterrole={cluster.namespace}-reports", account)
    cluster.create([pod("gated", labels={"mind-cluster/scaling-rule": "r"}), of_gang, pod("foreign"), group, *config_maps])
    # The API server takes up policies and Roles a moment later.
    wait_for(lambda: CA_ONLY in watcher.patch(*REFUSED["failurePolicy Ignore"][:3]), "the policies of the watcher")
    wait_for(lambda: ITS_GATE in watcher.patch(*REFUSED["all gates"][:3]), "the policy about pods")
    wait_for(lambda: ANNOTATIONS in watcher.patch(*REFUSED["the members of a PodGroup"][:3]), "the policy about PodGroups")
    wait_for(lambda: RESET_ONLY in watcher.patch(*REFUSED["another ConfigMap"][:3]), "the policy about ConfigMaps")
    wait_for(lambda: ITS_TAINT in watcher.patch(*REFUSED["another taint"][:3]), "the policy about Nodes")
    wait_for(lambda: ITS_EVENTS in watcher.create(event(cluster, "x", "kubelet")), "the policy about Events")
    wait_for(lambda: "The watcher of mindgate" in create_secret(watcher, "x"), "the policy about Secrets")
    for resource in REPORTS:
        wait_for(lambda r=resource: ITS_REPORTS in watcher.create(report(r, "x", "kyverno")), f"the policy about {resource}")
    wait_for(lambda: ONLY_DRY_RUNS in create_for_good(Account(cluster, "test"), POD), "the policy of the test Pod")
    uninstall = Account(cluster, "uninstall")
    wait_for(lambda: ONLY_TAKES_TAINT in uninstall.patch(*REFUSED["another taint"][:3]), "the policy of uninstall about Nodes")
    wait_for(lambda: ONLY_TAKES_GATE in uninstall.patch(*REFUSED["all gates"][:3]), "the policy of uninstall about Pods")
    yield watcher
    cluster.kubectl("delete", "node", "bounded")
    cluster.kubectl("delete", "clusterrole,clusterrolebinding", f"{cluster.namespace}-reports")
    cluster.kubectl("delete", "clusterpolicyreport", "of-kyverno")
    cluster.kubectl("delete", "--filename", OPEN_REPORT_CRDS)
    cluster.run("kubectl", "delete", "--ignore-not-found", "--filename", "-", input=rendered)


def create_for_good(account: Account, each: Object) -> str:
    """Not as a dry run, in the namespace of the probes."""
    return account.do("create", "--namespace", "default", "--filename", "-", input=json.dumps(each))


def create_secret(watcher: Account, name: str, kind: str = "kubernetes.io/tls") -> str:
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": kind,
        "metadata": {"name": name, "annotations": {"kubernetes.io/service-account.name": "default"}},
        "stringData": {"tls.crt": "", "tls.key": ""},
    }
    return watcher.create(secret)


def evict(watcher: Account, name: str, query: str) -> str:
    """The answer to an eviction that the watcher asks for; empty when it is granted."""
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    path = f"/api/v1/namespaces/{watcher.cluster.namespace}/pods/{name}/eviction{query}"
    arguments = ("create", "--raw", path, "--filename", "-", "--as", watcher.user)
    answer = watcher.cluster.kubectl(*arguments, input=json.dumps(eviction), check=False)
    return answer.stderr if answer.returncode else ""


def report(resource: str, name: str, manager: str) -> Object:
    version, kind = REPORTS[resource]
    metadata = {"name": name, "labels": {"app.kubernetes.io/managed-by": manager}}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "results": []}


def full_names() -> list[str]:
    return [f"{resource}.{version.split('/')[0]}" for resource, (version, _) in REPORTS.items()]


def test_what_the_watcher_does_is_allowed(watcher: Account) -> None:
    assert {name: watcher.patch(*write) for name, write in WRITES.items()} == dict.fromkeys(WRITES, "")
    assert watcher.ask("delete", "pod", "gated") == ""
    assert watcher.ask("delete", "pod", "of-gang") == ""
    assert evict(watcher, "gated", "?dryRun=All") == ""
    assert create_secret(watcher, "probe-mindgate-tls") == ""
    assert watcher.create(config_map("mindgate-rescheduling", {"state.json": "{}"}, labels={"team": "a"})) == ""
    assert watcher.create(config_map("mindgate-probe", {})) == ""
    assert watcher.create(event(watcher.cluster, "another", "mindgate.io/watcher")) == ""
    assert watcher.patch("events.events.k8s.io/its-own", "merge", SERIES) == ""
    for resource in REPORTS:
        assert watcher.create(report(resource, "its-own", "mindgate")) == ""


def test_what_the_watcher_does_not_do_is_refused(watcher: Account) -> None:
    refusals = {name: watcher.patch(*refused[:3]) for name, refused in REFUSED.items()}
    assert {name: text for name, text in refusals.items() if REFUSED[name][3] not in text} == {}
    assert "may delete only Pods with the label mind-cluster/scaling-rule" in watcher.ask("delete", "pod", "foreign")
    assert "may only ask whether a Pod may be evicted" in evict(watcher, "gated", "")
    for name, kind in (
        ("other", "kubernetes.io/tls"),
        ("probe-mindgate-tls", "kubernetes.io/service-account-token"),
    ):
        assert "may create only Secret probe-mindgate-tls of type kubernetes.io/tls" in create_secret(watcher, name, kind)
    report = config_map("mindgate-rescheduling", {}, labels={"mc-consumer-publicfault": "true"})
    assert NO_REPORT in watcher.create(report)
    policies = config_map("mindgate-rescheduling", {}, labels={"mindgate.io/policies": "enabled"})
    assert NO_POLICIES in watcher.create(policies)
    probe = json.dumps(config_map("mindgate-probe", {}))
    assert RESET_ONLY in watcher.do("create", "--filename", "-", input=probe), "not as a dry run"
    for name in ("cluster-info-device-0", "mindx-dl-deviceinfo-npu-0", "reset-config-other"):
        assert RESET_ONLY in watcher.create(config_map(name, {}))


# One attempt for each right to write that an account has (docs/rights.md): what it must not be good for, and the refusal.
Attempt = tuple[Callable[[Account], str], str]


def refused(name: str, text: str | None = None) -> Attempt:
    target, kind, patch, refusal = REFUSED[name]
    return lambda account: account.patch(target, kind, patch), text or refusal


def of_others(verb: str, what: str) -> Attempt:
    """On an object that is not the account's own, which RBAC refuses."""
    change = json.dumps({"metadata": {"annotations": {"a": "b"}}})

    def attempt(account: Account) -> str:
        resource, name = what.split("/")
        if verb == "patch":
            return account.patch(what, "merge", json.loads(change))
        each = account.cluster.get(resource, name)
        each["metadata"].setdefault("annotations", {})["a"] = "b"
        return account.ask("replace", "--filename", "-", input=json.dumps(each))

    return attempt, "is forbidden"


def of_kyverno(verb: str, resource: str) -> Attempt:
    """On a report of somebody else."""
    full = f"{resource}.{REPORTS[resource][0].split('/')[0]}/of-kyverno"
    attempts: dict[str, Callable[[Account], str]] = {
        "create": lambda account: account.create(report(resource, "another", "kyverno")),
        "patch": lambda account: account.patch(full, "merge", {"metadata": {"labels": {"app.kubernetes.io/managed-by": "mindgate"}}}),
        "delete": lambda account: account.ask("delete", full),
    }
    return attempts[verb], ITS_REPORTS


ATTEMPTS: dict[tuple[str, str, str], Attempt] = {
    ("watcher", "create", "configmaps"): (lambda account: account.create(config_map("cluster-info-device-0", {})), RESET_ONLY),
    ("watcher", "create", "events"): (lambda account: account.create(event(account.cluster, "another", "kubelet")), ITS_EVENTS),
    ("watcher", "create", "pods/eviction"): (
        lambda account: evict(account, "gated", ""),
        "may only ask whether a Pod may be evicted",
    ),
    ("watcher", "create", "secrets"): (
        lambda account: create_secret(account, "other"),
        "may create only Secret probe-mindgate-tls of type kubernetes.io/tls",
    ),
    ("watcher", "delete", "pods"): (
        lambda account: account.ask("delete", "pod", "foreign"),
        "may delete only Pods with the label mind-cluster/scaling-rule",
    ),
    ("watcher", "patch", "configmaps"): refused("another ConfigMap"),
    ("watcher", "patch", "events"): (
        lambda account: account.patch("events.events.k8s.io/of-kubelet", "merge", SERIES),
        ITS_EVENTS,
    ),
    ("watcher", "patch", "leases"): of_others("patch", "lease/other"),
    ("watcher", "patch", "mutatingwebhookconfigurations"): (
        lambda account: account.patch("mutating" + CONFIGURATION.removeprefix("validating"), *REFUSED["no webhook"][1:3]),
        CA_ONLY,
    ),
    ("watcher", "patch", "nodes"): refused("its taint NoExecute"),
    ("watcher", "patch", "podgroups"): refused("the members of a PodGroup"),
    ("watcher", "patch", "pods"): refused("the image of a Pod"),
    ("watcher", "patch", "secrets"): of_others("patch", "secret/other"),
    ("watcher", "patch", "validatingwebhookconfigurations"): refused("its Namespace with another uid"),
    ("watcher", "update", "leases"): of_others("update", "lease/other"),
    ("watcher", "update", "secrets"): of_others("update", "secret/other"),
    ("watcher", "create", "clusterpolicyreports"): of_kyverno("create", "clusterpolicyreports"),
    ("watcher", "create", "clusterreports"): of_kyverno("create", "clusterreports"),
    ("watcher", "create", "policyreports"): of_kyverno("create", "policyreports"),
    ("watcher", "create", "reports"): of_kyverno("create", "reports"),
    ("watcher", "delete", "clusterpolicyreports"): of_kyverno("delete", "clusterpolicyreports"),
    ("watcher", "delete", "clusterreports"): of_kyverno("delete", "clusterreports"),
    ("watcher", "delete", "policyreports"): of_kyverno("delete", "policyreports"),
    ("watcher", "delete", "reports"): of_kyverno("delete", "reports"),
    ("watcher", "patch", "clusterpolicyreports"): of_kyverno("patch", "clusterpolicyreports"),
    ("watcher", "patch", "clusterreports"): of_kyverno("patch", "clusterreports"),
    ("watcher", "patch", "policyreports"): of_kyverno("patch", "policyreports"),
    ("watcher", "patch", "reports"): of_kyverno("patch", "reports"),
    ("uninstall", "patch", "nodes"): (lambda account: account.patch(*WRITES["its taint"]), ONLY_TAKES_TAINT),
    ("uninstall", "patch", "pods"): refused("the image of a Pod", ONLY_TAKES_GATE),
    ("test", "create", "configmaps"): (lambda account: create_for_good(account, config_map("x", {})), ONLY_DRY_RUNS),
    ("test", "create", "pods"): (lambda account: create_for_good(account, POD), ONLY_DRY_RUNS),
}
# The API server stores nothing of these.
STORES_NOTHING = {("test", "create", "subjectaccessreviews")}
# What none of them may do at all.
FORBIDDEN = (
    "get secrets/other",
    "list secrets",
    "get secrets -n kube-system",
    "create pods/exec",
    "create serviceaccounts/token",
    "deletecollection pods",
    "delete nodes",
    "create clusterrolebindings",
    "escalate clusterroles",
    "impersonate users",
    "create validatingadmissionpolicies",
    "delete validatingadmissionpolicybindings",
)


def test_every_right_to_write_is_limited(cluster: Cluster, watcher: Account) -> None:
    rights = json.loads(cluster.run(REPOSITORY / "scripts/chart-rights", "--json").stdout)
    writes = {
        (account, right["verb"], right["resource"])
        for account, of_account in rights.items()
        for right in of_account
        if right["verb"] not in ("get", "list", "watch")
    }
    assert writes - STORES_NOTHING == set(ATTEMPTS)
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "other"}}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "other"}}
    cluster.create([lease, secret])
    refusals = {attempt: do(Account(cluster, attempt[0])) for attempt, (do, _) in ATTEMPTS.items()}
    assert {attempt: text for attempt, text in refusals.items() if ATTEMPTS[attempt][1] not in text} == {}


def test_no_account_has_rights_that_lead_to_others(cluster: Cluster, watcher: Account) -> None:
    for account in ("watcher", "uninstall", "test", "webhook"):
        user = Account(cluster, account).user
        allowed = [
            right
            for right in FORBIDDEN
            if cluster.kubectl("auth", "can-i", *right.split(), "--as", user, check=False).stdout.strip() != "no"
        ]
        assert allowed == [], account


def test_what_hooks_do_is_allowed(cluster: Cluster, watcher: Account) -> None:
    uninstall = Account(cluster, "uninstall")
    assert uninstall.patch(*WRITES["its gate"]) == ""
    cluster.kubectl("taint", "node", "bounded", "mindgate.io/faulty:NoSchedule")
    try:
        place = [each["key"] for each in cluster.get("node", "bounded")["spec"]["taints"]].index("mindgate.io/faulty")
        take = [{"op": "remove", "path": f"/spec/taints/{place}"}]
        assert uninstall.patch("node/bounded", "json", take) == ""
        assert watcher.patch("node/bounded", "json", take) == ""
    finally:
        cluster.kubectl("taint", "node", "bounded", "mindgate.io/faulty:NoSchedule-")
    for each in (POD, config_map("x", {})):
        arguments = ("create", "--namespace", "default", "--filename", "-")
        assert Account(cluster, "test").ask(*arguments, input=json.dumps(each)) == ""


def test_nobody_else_is_restricted(cluster: Cluster, watcher: Account) -> None:
    for name in ("an annotation of the configuration", "an annotation of a Pod", "the members of a PodGroup"):
        target, kind, patch, _ = REFUSED[name]
        cluster.kubectl("patch", target, "--type", kind, "--patch", json.dumps(patch), "--dry-run=server")


def test_the_policies_are_well_typed(cluster: Cluster, watcher: Account) -> None:
    """The API server checks the expressions against the types that they are about, and reports that in the status."""

    def statuses() -> list[Object]:
        policies = [
            each
            for each in cluster.items("validatingadmissionpolicies")
            if each["metadata"]["name"].startswith("probe-mindgate-watcher-")
        ]
        assert len(policies) == 10 and all("typeChecking" in each.get("status", {}) for each in policies)
        return [each["status"]["typeChecking"] for each in policies]

    assert [each.get("expressionWarnings", []) for each in wait_for(statuses, "the policies to be checked")] == [[]] * 10


def test_doctor_tries_the_bounds(cluster: Cluster, watcher: Account) -> None:
    """Of a Pod that looks like a watcher's, since none runs here."""
    labels = {"app.kubernetes.io/component": "watcher", "app.kubernetes.io/instance": "probe"}
    substitute = pod("watcher", labels=labels)
    substitute["spec"]["serviceAccountName"] = "probe-mindgate-watcher"
    cluster.create(substitute)

    def bounds(*arguments: str) -> list[tuple[str, str]]:
        answer = cluster.run(
            PROGRAM, "doctor", "-n", cluster.namespace, "--name", "probe-mindgate", "-o", "json", *arguments, check=False
        )
        findings = json.loads(answer.stdout)["findings"]
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
