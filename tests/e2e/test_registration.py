"""Which objects reach the webhook: what the chart registers, asked of a real API server.

No webhook runs. Both registrations fail closed here, for the test's namespace only, so that an
object that is sent to one is refused with its name, and one that is not is admitted. A match
condition that fails on an object would refuse it too, with other words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from e2e import Cluster, named, wait_for
from release import CHART

NPUS = {"huawei.com/Ascend910": "8"}
Object = dict[str, Any]


def containers(limits: dict[str, str] | None = None) -> list[Object]:
    return [{"name": "main", "image": "image", "resources": {"limits": limits or {}}}]


def metadata(**more: Any) -> Object:
    return {"name": "rings-config-x" if more.pop("rank_table", False) else "x", **more}


def owned_by(api_version: str, kind: str) -> list[Object]:
    return [{"apiVersion": api_version, "kind": kind, "name": "o", "uid": "u", "controller": True}]


def pod(limits: dict[str, str] | None = None, **meta: Any) -> Object:
    # No scheduler has this name: stored pods stay where they are.
    spec = {"containers": containers(limits), "schedulerName": "nobody"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata(**meta), "spec": spec}


def workload(
    limits: dict[str, str] | None = None,
    kind: str = "Deployment",
    pod_labels: Any = None,
    **meta: Any,
) -> Object:
    template = {
        "metadata": {"labels": {"app": "x", **(pod_labels or {})}},
        "spec": {"containers": containers(limits)},
    }
    spec = {"selector": {"matchLabels": {"app": "x"}}, "template": template}
    if kind != "DaemonSet":
        spec["replicas"] = 0
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata(**meta), "spec": spec}


def job(limits: dict[str, str] | None = None) -> Object:
    spec = {
        "suspend": True,
        "template": {"spec": {"restartPolicy": "Never", "containers": containers(limits)}},
    }
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata(), "spec": spec}


def cron_job(limits: dict[str, str] | None = None) -> Object:
    spec = {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": job(limits)["spec"]}}
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": metadata(), "spec": spec}


def config_map(data: dict[str, str] | None = None, **meta: Any) -> Object:
    more = {} if data is None else {"data": data}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata(**meta), **more}


def custom(api_version: str, kind: str, spec: Any = None, **meta: Any) -> Object:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": metadata(**meta),
        "spec": {} if spec is None else spec,
    }


NOBODY = ""
INVALID = "refused by the API server itself"
# An object, who is asked to mutate it, and who is asked to validate it.
CREATIONS: dict[str, tuple[Object, str, str]] = {
    "a pod without NPUs": (pod(), NOBODY, NOBODY),
    "a pod with NPUs": (pod(NPUS), "pods", "pods"),
    "a pod with NPUs in an init container": (
        {
            **pod(),
            "spec": {
                "containers": containers(),
                "initContainers": [{**containers(NPUS)[0], "name": "init"}],
            },
        },
        "pods",
        "pods",
    ),
    "a pod with a label of MindCluster": (
        pod(labels={"fault-scheduling": "force"}),
        "pods",
        "pods",
    ),
    "a pod with an annotation of MindCluster": (
        pod(annotations={"huawei.com/schedule_policy": "x"}),
        "pods",
        "pods",
    ),
    "a pod that opts out": (pod(NPUS, labels={"mindgate.io/inject": "disabled"}), NOBODY, "pods"),
    "a Deployment without NPUs": (workload(), NOBODY, NOBODY),
    "a Deployment with NPUs": (workload(NPUS), "workloads", "workloads"),
    "a Deployment that opts in": (
        workload(labels={"mindgate.io/inject": "enabled"}),
        "workloads",
        "workloads",
    ),
    "a Deployment whose pods have a label of MindCluster": (
        workload(pod_labels={"pod-rescheduling": "on"}),
        "workloads",
        "workloads",
    ),
    "a Deployment without a spec": (
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata()},
        INVALID,
        INVALID,
    ),
    "a Deployment with an empty template": (
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": metadata(),
            "spec": {"template": {}},
        },
        INVALID,
        INVALID,
    ),
    "a Deployment whose members are null": (
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": metadata(labels=None, annotations=None),
            "spec": {"template": {"metadata": None, "spec": {"containers": None}}},
        },
        INVALID,
        INVALID,
    ),
    "a ReplicaSet with NPUs": (workload(NPUS, kind="ReplicaSet"), "workloads", "workloads"),
    "a StatefulSet with NPUs": (workload(NPUS, kind="StatefulSet"), "workloads", "workloads"),
    "a DaemonSet without NPUs": (workload(kind="DaemonSet"), NOBODY, NOBODY),
    "a DaemonSet with NPUs": (workload(NPUS, kind="DaemonSet"), "daemonsets", "daemonsets"),
    "a PodGroup": (custom("scheduling.volcano.sh/v1beta1", "PodGroup"), NOBODY, "podgroups"),
    "a PodGroup of a controller": (
        custom(
            "scheduling.volcano.sh/v1beta1",
            "PodGroup",
            ownerReferences=owned_by("batch.volcano.sh/v1alpha1", "Job"),
        ),
        NOBODY,
        NOBODY,
    ),
    "a Job without NPUs": (job(), NOBODY, NOBODY),
    "a Job with NPUs": (job(NPUS), "workloads", "workloads"),
    "a CronJob without NPUs": (cron_job(), NOBODY, NOBODY),
    "a CronJob with NPUs": (cron_job(NPUS), "cronjobs", "cronjobs"),
    "a ConfigMap": (config_map({"a": "b"}), NOBODY, NOBODY),
    "a ConfigMap without data": (config_map(), NOBODY, NOBODY),
    "a scaling rule": (config_map({"elastic_scaling.json": "{}"}), NOBODY, "configmaps"),
    "a rank table": (config_map({"hccl.json": "{}"}, rank_table=True), NOBODY, "configmaps"),
    "a Secret": ({"apiVersion": "v1", "kind": "Secret", "metadata": metadata()}, NOBODY, NOBODY),
    "an AscendJob": (
        custom("mindxdl.gitee.com/v1", "AscendJob", {"replicaSpecs": {}}),
        "mindcluster",
        "mindcluster",
    ),
    "an AscendJob whose members are null": (
        custom(
            "mindxdl.gitee.com/v1",
            "AscendJob",
            {"replicaSpecs": {}},
            labels=None,
            ownerReferences=None,
        ),
        "mindcluster",
        "mindcluster",
    ),
    "a Volcano Job whose spec is a text": (
        custom("batch.volcano.sh/v1alpha1", "Job", "text"),
        "volcano",
        INVALID,
    ),
    "a Volcano Job": (custom("batch.volcano.sh/v1alpha1", "Job"), "volcano", "volcano"),
    "an InferenceService": (custom("ome.io/v1beta1", "InferenceService"), "ome", "ome"),
    "a ServingRuntime": (custom("ome.io/v1beta1", "ServingRuntime"), "ome", "ome"),
}
KUBERNETES = "system:serviceaccount:kube-system:a-controller"
OME = "system:serviceaccount:ome:ome-controller-manager"
LWS = "system:serviceaccount:lws-system:lws-controller-manager"
OPERATOR = "system:serviceaccount:mindx-dl:ascend-operator-manager"
TENANT = "system:serviceaccount:tenant:kube-system"
# An object that has an owner, who creates it, and who is asked about it, by either hook.
OWNED: dict[str, tuple[Object, str, str]] = {
    f"a {kind} of a {owner}, by {user or 'the administrator'}": (
        (pod if kind == "Pod" else workload)(
            NPUS, **({} if kind == "Pod" else {"kind": kind}), ownerReferences=owned_by(version, owner)
        ),
        user,
        asked_,
    )
    for kind, version, owner, user, asked_ in (
        ("Pod", "apps/v1", "ReplicaSet", KUBERNETES, NOBODY),
        ("Pod", "apps/v1", "ReplicaSet", "system:kube-controller-manager", NOBODY),
        ("Pod", "apps/v1", "ReplicaSet", "", "pods"),
        ("Pod", "apps/v1", "ReplicaSet", TENANT, "pods"),
        ("Pod", "apps/v1", "ReplicaSet", "kube-system", "pods"),
        ("Pod", "apps/v1", "Deployment", KUBERNETES, "pods"),
        ("Pod", "ray.io/v1", "RayCluster", KUBERNETES, "pods"),
        ("Pod", "mindxdl.gitee.com/v1", "AscendJob", OPERATOR, NOBODY),
        ("Pod", "mindxdl.gitee.com/v1", "AscendJob", TENANT, "pods"),
        ("ReplicaSet", "apps/v1", "Deployment", KUBERNETES, NOBODY),
        ("ReplicaSet", "apps/v1", "Deployment", "", "workloads"),
        ("ReplicaSet", "argoproj.io/v1alpha1", "Rollout", KUBERNETES, "workloads"),
        ("Deployment", "apps/v1", "Deployment", KUBERNETES, "workloads"),
        ("Deployment", "ome.io/v1beta1", "InferenceService", OME, NOBODY),
        ("Deployment", "ome.io/v1beta1", "InferenceService", TENANT, "workloads"),
        ("StatefulSet", "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", LWS, NOBODY),
        ("StatefulSet", "v1", "Pod", LWS, NOBODY),
        ("StatefulSet", "v1", "Pod", "", "workloads"),
        ("StatefulSet", "apps/v1", "ReplicaSet", KUBERNETES, "workloads"),
    )
}
# What changes of a stored object (target, merge patch, subresource), and who is asked about it.
UPDATES: dict[str, tuple[str, Object, str, str]] = {
    "finalizers of a Deployment": (
        "deployment/x",
        {"metadata": {"finalizers": ["a.example/b"]}},
        "",
        NOBODY,
    ),
    "labels of a Deployment": (
        "deployment/x",
        {"metadata": {"labels": {"a": "b"}}},
        "",
        "workloads",
    ),
    "annotations of a Deployment": (
        "deployment/x",
        {"metadata": {"annotations": {"a": "b"}}},
        "",
        "workloads",
    ),
    "the spec of a Deployment": ("deployment/x", {"spec": {"minReadySeconds": 3}}, "", "workloads"),
    "the scale of a Deployment": ("deployment/x", {"spec": {"replicas": 1}}, "scale", NOBODY),
    "the status of a Deployment": ("deployment/x", {"status": {"replicas": 1}}, "status", NOBODY),
    "what the device plugin notes on a pod": (
        "pod/x",
        {"metadata": {"annotations": {"huawei.com/AscendReal": "0"}}},
        "",
        NOBODY,
    ),
    "labels of a pod": ("pod/x", {"metadata": {"labels": {"fault-scheduling": "off"}}}, "", "pods"),
    "the deadline of a pod": ("pod/x", {"spec": {"activeDeadlineSeconds": 5}}, "", NOBODY),
    "the status of a pod": ("pod/x", {"status": {"reason": "r"}}, "status", NOBODY),
    "a container to debug a pod": (
        "pod/x",
        {"spec": {"ephemeralContainers": [{"name": "debug", "image": "i"}]}},
        "ephemeralcontainers",
        NOBODY,
    ),
    "the text of a scaling rule": (
        "configmap/x",
        {"data": {"elastic_scaling.json": "{ }"}},
        "",
        "configmaps",
    ),
    "another key of a scaling rule": ("configmap/x", {"data": {"other": "1"}}, "", NOBODY),
    "the devices of a rank table": (
        "configmap/rings-config-x",
        {"data": {"hccl.json": "{ }"}},
        "",
        NOBODY,
    ),
    "labels of a rank table": (
        "configmap/rings-config-x",
        {"metadata": {"labels": {"jobID": "j"}}},
        "",
        "configmaps",
    ),
    # It has no subresource for it: this is an update of the object.
    "the status of a ServingRuntime": (
        "servingruntimes.ome.io/x",
        {"status": {"a": "b"}},
        "",
        NOBODY,
    ),
    "the spec of a ServingRuntime": (
        "servingruntimes.ome.io/x",
        {"spec": {"disabled": True}},
        "",
        "ome",
    ),
}
STORED = [
    pod(NPUS),
    workload(NPUS),
    config_map({"elastic_scaling.json": "{}"}),
    config_map({"hccl.json": "{}"}, rank_table=True),
    custom("ome.io/v1beta1", "ServingRuntime"),
]


def asked(cluster: Cluster, *arguments: str, input: str | None = None) -> str:
    """Who was asked about a request that changes nothing: the first part of the webhook's name."""
    done = cluster.kubectl(*arguments, "--dry-run=server", input=input, check=False)
    if done.returncode == 0:
        return NOBODY
    if called := re.search(
        r'failed calling webhook "([^"]+)\.(?:mutate|validate)\.mindgate\.io"', done.stderr
    ):
        return called.group(1)
    if " is invalid: " in done.stderr and "webhook" not in done.stderr:
        return INVALID
    raise AssertionError(done.stderr)


def asked_about(cluster: Cluster, manifest: Object, user: str = "") -> str:
    # As a client that checks nothing by itself.
    arguments = ("create", "--validate=false", "--filename", "-", *named(user))
    return asked(cluster, *arguments, input=json.dumps(manifest))


@pytest.fixture
def register(cluster: Cluster) -> Iterator[Callable[[str], None]]:
    """register("mutate"): that half of the chart, or the other, for this test's namespace."""
    rendered = ""

    def apply(hook: str) -> None:
        nonlocal rendered
        values = [f"webhook.{each}.failurePolicy=Fail" for each in ("mutate", "validate")]
        values += [
            f"webhook.{each}.enabled={str(each == hook).lower()}" for each in ("mutate", "validate")
        ]
        values.append(
            f"namespaceSelector.matchLabels.kubernetes\\.io/metadata\\.name={cluster.namespace}"
        )
        name = {"mutate": "mutating", "validate": "validating"}[hook]
        rendered = cluster.run(
            "helm",
            "template",
            "probe",
            CHART,
            "--namespace",
            "nowhere",
            "--set",
            ",".join(values),
            "--show-only",
            f"templates/{name}-webhook.yaml",
        ).stdout
        # Nobody answers: only a webhook that may not be left out shows that it was asked.
        rendered = rendered.replace("failurePolicy: Ignore", "failurePolicy: Fail")
        cluster.run("kubectl", "apply", "--server-side", "--filename", "-", input=rendered)
        wait_for(
            lambda: asked_about(cluster, pod(NPUS, annotations={"mindgate.io/probe": ""}))
            == "pods",
            f"the API server to take up the {name} webhook configuration",
        )

    yield apply
    cluster.run("kubectl", "delete", "--ignore-not-found", "--filename", "-", input=rendered)


@pytest.mark.parametrize("hook", ["mutate", "validate"])
def test_objects_that_matter_reach_the_webhook_when_created(
    cluster: Cluster, register, hook: str
) -> None:
    register(hook)
    wanted = {name: case[1 if hook == "mutate" else 2] for name, case in CREATIONS.items()}
    assert {name: asked_about(cluster, case[0]) for name, case in CREATIONS.items()} == wanted


@pytest.mark.parametrize("hook", ["mutate", "validate"])
def test_an_owner_keeps_from_the_webhook_only_what_its_controller_makes(
    cluster: Cluster, register, hook: str
) -> None:
    register(hook)
    got = {name: asked_about(cluster, sent, user) for name, (sent, user, _) in OWNED.items()}
    assert got == {name: case[2] for name, case in OWNED.items()}


def test_changes_that_matter_reach_the_webhook(cluster: Cluster, register) -> None:
    cluster.create(STORED)
    register("validate")
    got = {}
    for name, (target, patch, subresource, _) in UPDATES.items():
        more = ["--subresource", subresource] if subresource else []
        got[name] = asked(
            cluster, "patch", target, "--type", "merge", "--patch", json.dumps(patch), *more
        )
    assert got == {name: case[3] for name, case in UPDATES.items()}


def test_a_frozen_pod_is_mutated_only_when_created(cluster: Cluster, register) -> None:
    cluster.create(STORED[:2])
    register("mutate")
    patch = json.dumps({"metadata": {"labels": {"fault-scheduling": "off"}}})
    changes = {
        target: asked(cluster, "patch", target, "--type", "merge", "--patch", patch)
        for target in ("pod/x", "deployment/x")
    }
    assert changes == {"pod/x": NOBODY, "deployment/x": "workloads"}


def test_what_is_being_deleted_is_left_alone(cluster: Cluster, register) -> None:
    cluster.create(workload(NPUS, finalizers=["a.example/b"]))
    register("validate")
    cluster.kubectl("delete", "deployment", "x", "--wait=false")
    patch = json.dumps({"metadata": {"labels": {"fault-scheduling": "off"}, "finalizers": None}})
    assert asked(cluster, "patch", "deployment/x", "--type", "merge", "--patch", patch) == NOBODY
    cluster.kubectl("patch", "deployment/x", "--type", "merge", "--patch", patch)


def test_a_namespace_that_opts_out_mutates_only_what_opts_in(cluster: Cluster, register) -> None:
    register("mutate")
    cluster.run("kubectl", "label", "namespace", cluster.namespace, "mindgate.io/inject=disabled")
    wait_for(
        lambda: asked_about(cluster, pod(NPUS)) == NOBODY,
        "the API server to see the namespace's label",
    )
    assert asked_about(cluster, workload(labels={"mindgate.io/inject": "enabled"})) == "opted-in"
