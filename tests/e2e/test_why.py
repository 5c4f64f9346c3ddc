"""`mindgate why` about workloads that do not run, each for a cause of its own, on a real cluster."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

import pytest
from e2e import NPU, Cluster, wait_for
from nodes import nodes_with
from release import PROGRAM
from test_cluster import NPU_NODES, REAL_NODE, hello_pod_spec

pytestmark = pytest.mark.full
GATE = "mindgate.io/elastic-scaling"
HELLO = "localhost/hello:1"


def container(npus: int = 0, **more: Any) -> dict[str, Any]:
    resources = {"limits": {NPU: str(npus)}} if npus else {}
    return {"name": "main", "image": HELLO, "imagePullPolicy": "Never", "resources": resources} | more


def spec(npus: int = 0, **more: Any) -> dict[str, Any]:
    scheduler = "volcano" if npus else "default-scheduler"
    return {"schedulerName": scheduler, "containers": [container(npus)]} | more


def pod(name: str, spec: dict[str, Any], labels: dict[str, str] | None = None, **annotations: str) -> dict[str, Any]:
    metadata = {"name": name, "labels": labels or {}, "annotations": annotations}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"terminationGracePeriodSeconds": 0} | spec}


def real(**more: Any) -> dict[str, Any]:
    """The spec of a pod that really runs."""
    return {"nodeSelector": REAL_NODE, "containers": [container() | more.pop("container", {})]} | more


def deployment(name: str, replicas: int, spec: dict[str, Any], **annotations: str) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": name}, "annotations": annotations}, "spec": spec}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template},
    }


def pod_group(name: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": name},
        "spec": {"minMember": 1, "queue": "default"} | spec,
    }


def in_group(name: str) -> dict[str, str]:
    return {"scheduling.k8s.io/group-name": name}


def ask(cluster: Cluster, name: str) -> dict[str, Any]:
    done = cluster.run(PROGRAM, "why", name, "-n", cluster.namespace, "-o", "json", check=False)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout) | {"code": done.returncode}


def await_reason(cluster: Cluster, name: str, wanted: str, part: str, seconds: float = 90) -> dict[str, Any]:
    """The answer, once it has the reason; a part of its sentence shows that it is about the right thing."""
    last: dict[str, Any] = {}

    def found() -> dict[str, Any] | None:
        last.clear()
        last.update(ask(cluster, name))
        texts = {each["id"]: each["what"] + " " + each["why"] for each in last["reasons"]}
        return last if part in texts.get(wanted, "") and wanted in texts else None

    try:
        return wait_for(found, f"{wanted} of {name}", seconds)
    except BaseException:
        print(json.dumps(last, indent=1))
        raise


def first(answer: dict[str, Any]) -> str:
    return answer["reasons"][0]["id"]


def test_what_runs(cluster: Cluster) -> None:
    cluster.create(deployment("fine", 1, hello_pod_spec()))
    done = cluster.run(PROGRAM, "why", "deploy/fine", "-n", cluster.namespace, "--wait", check=False, seconds=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "[nothing-wrong]" in done.stdout
    answer = ask(cluster, "deployment/fine")
    assert (answer["state"], answer["code"], answer["unread"]) == ("running", 0, [])
    [name] = [each["metadata"]["name"] for each in cluster.items("pods")]
    assert ask(cluster, name)["owners"][-1] == "Deployment/fine"
    missing = cluster.run(PROGRAM, "why", "deployment/fin", "-n", cluster.namespace, check=False)
    assert missing.returncode == 6
    assert 'did you mean "fine"?' in missing.stderr


def test_pods_that_are_refused(cluster: Cluster) -> None:
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few"}, "spec": {"hard": {"pods": "1"}}}
    cluster.create([quota, pod_group("gang", minMember=2)])
    # The quota counts once its controller has seen it.
    wait_for(lambda: cluster.get("resourcequota", "few").get("status", {}).get("hard"), "the quota")
    cluster.create(deployment("two", 2, spec(99), **in_group("gang")))
    answer = await_reason(cluster, "deployment/two", "quota-refuses-pods", "ResourceQuota few")
    assert first(answer) == "quota-refuses-pods"
    assert "kubectl edit resourcequota few" in answer["reasons"][0]["fix"]
    cluster.kubectl("delete", "resourcequota", "few")
    cluster.create(deployment("account", 1, spec(serviceAccountName="nowhere")))
    await_reason(cluster, "deployment/account", "pods-not-created", 'serviceaccount "nowhere" not found')


def test_pods_that_admission_denies(cluster: Cluster) -> None:
    name = cluster.namespace
    match = {
        "resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}},
    }
    rule = {"expression": "false", "message": "no pods here"}
    cluster.create(
        [
            {
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": "ValidatingAdmissionPolicy",
                "metadata": {"name": name},
                "spec": {"matchConstraints": match, "validations": [rule]},
            },
            {
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": "ValidatingAdmissionPolicyBinding",
                "metadata": {"name": name},
                "spec": {"policyName": name, "validationActions": ["Deny"]},
            },
        ]
    )
    try:
        probe = json.dumps(pod("probe", spec()))
        wait_for(
            lambda: cluster.kubectl("create", "--dry-run=server", "-f", "-", input=probe, check=False).returncode, "a denial"
        )
        cluster.create(deployment("denied", 1, spec()))
        answer = await_reason(cluster, "deployment/denied", "webhook-refuses-pods", "no pods here")
        assert first(answer) == "webhook-refuses-pods"
    finally:
        cluster.kubectl("delete", "validatingadmissionpolicybinding,validatingadmissionpolicy", name)


def test_gangs(cluster: Cluster) -> None:
    cluster.create([pod_group("large", minMember=5), deployment("large", 2, spec(1), **in_group("large"))])
    answer = await_reason(cluster, "deployment/large", "min-member-too-large", "minMember is 5, and it has only 2 pods")
    assert answer["state"] == "pending"
    assert answer["podGroups"][0]["minMember"] == 5
    annotations = in_group("k") | {"huawei.com/schedule_minAvailable": "7"}
    cluster.create([pod_group("k"), deployment("k", 2, spec(99), **annotations)])
    await_reason(cluster, "deployment/k", "k-too-large", "is 7, and it has only 2 pods")
    cluster.create(pod("alone", spec(1), **in_group("nowhere")))
    await_reason(cluster, "alone", "pod-group-missing", "PodGroup nowhere")
    gated = spec(1, schedulingGates=[{"name": "example.com/wait"}])
    cluster.create([pod_group("half", minMember=2), pod("half-0", spec(1), **in_group("half")), pod("half-1", gated, **in_group("half"))])
    await_reason(cluster, "podgroup/half", "gang-gated", "1 of its 2 pods")


@contextlib.contextmanager
def queue(cluster: Cluster, name: str, **spec: Any) -> Iterator[str]:
    full = f"{name}-{cluster.namespace[-6:]}"
    metadata = {"name": full}
    cluster.create({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": metadata, "spec": {"weight": 1} | spec})
    try:
        yield full
    finally:
        cluster.kubectl("delete", "pods,podgroups", "--all", "--force", "--grace-period=0")
        cluster.kubectl("delete", "queue", full, check=False)


def test_queues(cluster: Cluster) -> None:
    cluster.create([pod_group("lost", queue="nowhere"), pod("lost", spec(1), **in_group("lost"))])
    answer = await_reason(cluster, "lost", "queue-missing", "Queue nowhere")
    assert first(answer) == "queue-missing"
    with queue(cluster, "small", capability={NPU: "8", "cpu": "100", "memory": "100Gi"}) as small:
        group = pod_group("big", queue=small, minMember=2, minResources={NPU: "16"})
        cluster.create([group, *(pod(f"big-{i}", spec(8), **in_group("big")) for i in range(2))])
        answer = await_reason(cluster, "podgroup/big", "queue-full", f"Queue {small} has no room")
        assert answer["queues"] == [{"name": small, "exists": True, "state": "Open"}]
        await_reason(cluster, "podgroup/big", "pod-group-not-enqueued", "Pending")
    with queue(cluster, "shut") as shut:
        close = {
            "apiVersion": "bus.volcano.sh/v1alpha1",
            "kind": "Command",
            "metadata": {"generateName": "close-", "namespace": cluster.namespace},
            "action": "CloseQueue",
            "target": {
                "apiVersion": "scheduling.volcano.sh/v1beta1",
                "kind": "Queue",
                "name": shut,
                "uid": cluster.get("queue", shut)["metadata"]["uid"],
            },
        }
        cluster.create(close)
        wait_for(lambda: cluster.get("queue", shut)["status"].get("state") in ("Closed", "Closing"), "the queue to close")
        # The scheduler of this version places pods of a closed queue, so nothing else may fit.
        nowhere = spec(1, nodeSelector={"no": "node"})
        cluster.create([pod_group("late", queue=shut), pod("late", nowhere, **in_group("late"))])
        await_reason(cluster, "late", "queue-closed", shut)


def scaling_rule(name: str, text: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"elastic_scaling.json": text}}


def gated_pod(name: str, rule: str, group: str) -> dict[str, Any]:
    labels = {"mind-cluster/scaling-rule": rule, "mind-cluster/group-name": group, "jobID": "job"}
    return pod(name, spec(1, schedulingGates=[{"name": GATE}]), labels)


def test_gates(cluster: Cluster) -> None:
    def tier(prefill: str, decode: str) -> dict[str, Any]:
        groups = {"prefill": prefill, "decode": decode}
        return {"group_list": [{"group_name": k, "group_num": v, "server_num_per_group": "1"} for k, v in groups.items()]}

    text = json.dumps({"version": "1.0", "elastic_scaling_list": [tier("1", "2"), tier("1", "1")]})
    cluster.create(
        [
            scaling_rule("rule", text),
            scaling_rule("broken", "{"),
            gated_pod("decode-0", "rule", "decode"),
            gated_pod("decode-1", "rule", "decode"),
            gated_pod("no-rule", "nowhere", "decode"),
            gated_pod("bad-rule", "broken", "decode"),
            pod("other", spec(1, schedulingGates=[{"name": "example.com/wait"}])),
        ]
    )
    answer = await_reason(cluster, "no-rule", "rule-missing", "ConfigMap nowhere")
    assert (first(answer), answer["state"]) == ("rule-missing", "gated")
    assert first(await_reason(cluster, "bad-rule", "rule-invalid", "ConfigMap broken")) == "rule-invalid"
    assert first(await_reason(cluster, "other", "other-gate", "example.com/wait")) == "other-gate"
    held = await_reason(cluster, "decode-1", "held-by-rule", "scaling rule rule")
    # Where no watcher of mindgate runs, that comes first.
    assert first(held) in ("gate-without-watcher", "held-by-rule")
    assert held["gates"] == {GATE: 1}


def test_nodes(cluster: Cluster) -> None:
    cluster.create(
        [
            pod("red", spec(1, nodeSelector={"pool": "red"})),
            pod("many", spec(16)),
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "device"}}
            | {"spec": spec(containers=[container(resources={"limits": {"huawei.com/Ascend310P": "1"}})], schedulerName="volcano")},
            pod("nobody", spec(1, schedulerName="nowhere")),
            pod("default", spec(99, schedulerName="default-scheduler")),
        ]
    )
    assert first(await_reason(cluster, "red", "no-such-label", "no node has pool=red")) == "no-such-label"
    assert first(await_reason(cluster, "many", "more-than-a-node-has", "no node has more than 8")) == "more-than-a-node-has"
    await_reason(cluster, "many", "scheduler-message", "")
    assert first(await_reason(cluster, "device", "no-such-device", "huawei.com/Ascend310P")) == "no-such-device"
    await_reason(cluster, "default", "wrong-scheduler", "default-scheduler")
    assert first(await_reason(cluster, "nobody", "scheduler-absent", "spec.schedulerName is nowhere")) == "scheduler-absent"


def test_full_tainted_and_cordoned_nodes(cluster: Cluster) -> None:
    cluster.create([pod(f"holds-{node}", spec(5, nodeSelector={"kubernetes.io/hostname": node})) for node in sorted(NPU_NODES)])
    wait_for(lambda: sum(each["status"]["phase"] == "Running" for each in cluster.items("pods")) == 4, "full nodes", 120)
    cluster.create(pod("late", spec(4)))
    answer = await_reason(cluster, "late", "not-enough-npus", "the most that a node has free is 3")
    assert first(answer) == "not-enough-npus"
    # 3 of the gang's pods fit, and 5 do not.
    cluster.create([pod_group("five", minMember=5), *(pod(f"five-{i}", spec(3), **in_group("five")) for i in range(5))])
    await_reason(cluster, "podgroup/five", "gang-room", "no room for all of its gang")
    # What waits goes first: it would take the room.
    cluster.kubectl("delete", "pods", "-l", "!none", "--field-selector", "status.phase=Pending", "--force", "--grace-period=0")
    cluster.kubectl("delete", "pod", "holds-npu-0", "holds-npu-1", "--force", "--grace-period=0")
    undo = [("uncordon", "npu-0"), ("taint", "node", "npu-1", "dedicated-")]
    with nodes_with(cluster, undo, ("cordon", "npu-0"), ("taint", "node", "npu-1", "dedicated=x:NoSchedule")):
        cluster.create(pod("kept", spec(8)))
        await_reason(cluster, "kept", "nodes-cordoned", "npu-0")
        answer = await_reason(cluster, "kept", "taint", "dedicated")
        assert {"nodes-cordoned", "taint", "not-enough-npus"} <= {each["id"] for each in answer["reasons"]}


def device_report(node: str, chip: str) -> dict[str, Any]:
    fault = {"npu_name": chip, "fault_level": "RestartNPU", "fault_code": "80E18005"}
    devices = {f"{NPU}-Unhealthy": chip, f"{NPU}-Fault": json.dumps([fault])}
    name = "cluster-info-device-0"
    data = {name: json.dumps({f"mindx-dl-deviceinfo-{node}": {"DeviceList": devices, "UpdateTime": 1767225601}})}
    metadata = {"name": name, "namespace": "mindx-dl", "labels": {"mx-consumer-volcano": "true"}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def config_map(ns: str, name: str, **data: Any) -> dict[str, Any]:
    texts = {key.replace("_", "-"): json.dumps(value) for key, value in data.items()}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": ns}, "data": texts}


def put(cluster: Cluster, *objects: dict[str, Any]) -> None:
    cluster.run("kubectl", "apply", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))


@contextlib.contextmanager
def mindcluster(cluster: Cluster) -> Iterator[None]:
    """The namespace of ClusterD, and what MindCluster's components leave there and elsewhere; gone with the block."""
    cluster.run("kubectl", "create", "namespace", "mindx-dl")
    try:
        yield
    finally:
        cluster.run("kubectl", "delete", "namespace", "mindx-dl")
        cluster.run("kubectl", "delete", "configmap", "vcjob-fault-npu-cm", "-n", "volcano-system", "--ignore-not-found")


def test_faults_and_restarts(cluster: Cluster) -> None:
    on = {"nodeSelector": {"kubernetes.io/hostname": "npu-2"}}
    with mindcluster(cluster):
        cluster.create([pod_group("kept"), pod("kept", spec(1, **on), {}, **in_group("kept"))])
        cluster.create(pod("cached", spec(99)))
        wait_for(lambda: cluster.get("pod", "kept")["status"]["phase"] == "Running", "a running pod")
        cluster.kubectl("annotate", "pod", "kept", "huawei.com/AscendReal=Ascend910-3")
        key = f"{cluster.namespace}/kept"
        # Of the plugin's cache, the reports know nothing yet.
        cached = [{"NodeName": "npu-1", "UnhealthyNPU": ["Ascend910-6"], "NodeHealthState": "CardUnhealthy"}]
        record = {"RescheduleTimeStamp": 1767225600, "ReasonOfTask": [{"RescheduleReason": "CardUnhealthy", "PodName": "kept"}]}
        put(
            cluster,
            config_map("volcano-system", "vcjob-fault-npu-cm", fault_node=cached),
            config_map("mindx-dl", "job-reschedule-reason", recent_reschedule_records={key: {"JobID": key, "RescheduleRecords": [record]}}),
        )
        assert "Ascend910-6" in str(await_reason(cluster, "cached", "plugin-cache-stale", "npu-1"))
        restarted = await_reason(cluster, "podgroup/kept", "restarted-by-plugin", "kept at 2026-01-01T00:00:00Z")
        assert (restarted["state"], restarted["code"]) == ("restarted", 0)
        # A chip in use breaks, and the job has no label fault-scheduling.
        put(cluster, device_report("npu-2", "Ascend910-3"))
        answer = await_reason(cluster, "kept", "fault-not-handled", "CardUnhealthy")
        assert answer["state"] == "hanging"
        assert "80E18005" in str(answer["reasons"])
        cluster.kubectl("label", "namespace", cluster.namespace, "mindgate.io/rescheduling=disabled")
        assert first(await_reason(cluster, "kept", "opted-out", f"disabled on namespace {cluster.namespace}")) == "opted-out"
        cluster.kubectl("label", "namespace", cluster.namespace, "mindgate.io/rescheduling-")
        cluster.kubectl("label", "pod", "kept", "fault-scheduling=force")
        await_reason(cluster, "kept", "on-faulty-hardware", "MindCluster's plugin restarts")
        # A free chip breaks, and a pod that needs all of the node waits.
        put(cluster, device_report("npu-2", "Ascend910-5"))
        cluster.create(pod("whole", spec(7, **on)))
        cluster.create(pod("none", spec(99)))
        cluster.kubectl("delete", "pod", "whole", "--force", "--grace-period=0")
        undo = [("uncordon", node) for node in sorted(NPU_NODES - {"npu-2"})]
        with nodes_with(cluster, undo, *(("cordon", node) for node in sorted(NPU_NODES - {"npu-2"}))):
            cluster.create(pod("eight", spec(7, **on, schedulingGates=[{"name": "example.com/hold"}])))
            assert first(ask(cluster, "eight")) == "other-gate"
            cluster.create(pod("seven", spec(7, **on, schedulerName="nowhere")))
            await_reason(cluster, "seven", "faulty-chips", "npu-2/Ascend910-5")
        put(
            cluster,
            config_map("volcano-system", "vcjob-fault-npu-cm", remain_retry_times={f"{cluster.namespace}/fails": {"UUID": "u", "Times": 0}}),
        )
        fails = pod("fails", real(container={"command": ["/nothing"]}, restartPolicy="Never", schedulerName="volcano"), **in_group("fails"))
        cluster.create([pod_group("fails"), fails])
        await_reason(cluster, "fails", "retries-used-up", "fault-retry-times has 0 left")
        await_reason(cluster, "fails", "pod-failed", "")


def test_containers(cluster: Cluster) -> None:
    def volume(**source: Any) -> dict[str, Any]:
        mount = {"volumeMounts": [{"name": "v", "mountPath": "/v"}]}
        return real(container=mount, volumes=[{"name": "v"} | source])

    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "models"},
        "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "nothing", "resources": {"requests": {"storage": "1Gi"}}},
    }
    env = {"env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "a"}}}]}
    cluster.create(
        [
            claim,
            pod("image", real(container={"image": "localhost/nothing:1"})),
            pod("crash", real(container={"command": ["/nothing"]})),
            pod("settings", real(container=env)),
            pod("ranks", volume(configMap={"name": "rings-config-train"})),
            pod("mount", volume(secret={"secretName": "nothing"})),
            pod("init", real(initContainers=[container(name="download")])),
            pod("unbound", volume(persistentVolumeClaim={"claimName": "models"})),
            pod("unclaimed", volume(persistentVolumeClaim={"claimName": "nothing"})),
            pod("unready", real(container={"readinessProbe": {"httpGet": {"port": 9}, "periodSeconds": 1}})),
        ]
    )
    assert first(await_reason(cluster, "image", "image-pull", "ErrImageNeverPull")) == "image-pull"
    assert first(await_reason(cluster, "settings", "config-missing", 'configmap "settings" not found')) == "config-missing"
    assert first(await_reason(cluster, "init", "init-container", "download")) == "init-container"
    assert first(await_reason(cluster, "unbound", "claim-unbound", "models")) == "claim-unbound"
    assert first(await_reason(cluster, "unclaimed", "claim-missing", "nothing")) == "claim-missing"
    assert first(await_reason(cluster, "unready", "not-ready", "is not ready")) == "not-ready"
    crash = await_reason(cluster, "crash", "crash-loop", "exit code 128")
    assert "--previous" in crash["reasons"][0]["fix"]
    assert first(await_reason(cluster, "ranks", "rank-table-missing", "rings-config-train")) == "rank-table-missing"
    assert first(await_reason(cluster, "mount", "volume-not-mounted", "nothing")) == "volume-not-mounted"


def test_who_has_rights_in_one_namespace(cluster: Cluster) -> None:
    cluster.create(pod("other", spec(1, schedulingGates=[{"name": "example.com/wait"}])))
    cluster.kubectl("create", "rolebinding", "viewer", "--clusterrole=view", "--user=viewer")
    done = cluster.run(PROGRAM, "why", "other", "-n", cluster.namespace, "-o", "json", "--as", "viewer", check=False)
    assert done.returncode == 1, done.stderr
    answer = json.loads(done.stdout)
    assert first(answer) == "other-gate"
    assert "nodes, pods of all namespaces and fault reports" in {each["what"] for each in answer["unread"]}
