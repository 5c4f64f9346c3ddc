"""The cluster itself: what the other end-to-end tests take for granted."""

from __future__ import annotations

import contextlib
import http.server
import json
import pathlib
import socket
import threading
from typing import Any

import pytest
import yaml
from e2e import CRDS, NPU, Cluster, CommandFailed, condition, wait_for

REAL_NODE = {"kubernetes.io/hostname": "real-0"}
NPU_NODES = {"npu-0", "npu-1", "npu-2", "npu-3"}


def npu_pod_spec(**more: Any) -> dict[str, Any]:
    npus = {NPU: "8"}
    container = {"name": "worker", "image": "example/vllm-ascend", "resources": {"limits": npus}}
    return {"schedulerName": "volcano", "containers": [container]} | more


def hello_pod_spec() -> dict[str, Any]:
    """A web server on the real node, as restricted as pod security asks for."""
    container = {
        "name": "hello",
        "image": "localhost/hello:1",
        "imagePullPolicy": "Never",
        "readinessProbe": {"httpGet": {"port": 8080}, "periodSeconds": 1},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }
    restricted = {
        "runAsNonRoot": True,
        "runAsUser": 9000,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    return {"nodeSelector": REAL_NODE, "securityContext": restricted, "containers": [container]}


def running_on(cluster: Cluster, selector: str) -> list[str]:
    """The nodes of the running pods, sorted."""
    pods = cluster.items("pods", "--selector", selector)
    return sorted(p["spec"]["nodeName"] for p in pods if p["status"]["phase"] == "Running")


def test_server_has_the_version_asked_for(cluster: Cluster) -> None:
    version = json.loads(cluster.kubectl("get", "--raw", "/version").stdout)
    assert version["gitVersion"].startswith(f"v{cluster.kubernetes}.")
    assert f"{version['major']}.{version['minor']}" == cluster.kubernetes


def test_every_crd_is_served(cluster: Cluster) -> None:
    wanted = {}
    for file in sorted(CRDS.glob("*/*.yaml")):
        if file.parent.name == "open-reports":  # test_audit.py installs it in a cluster that has none
            continue
        crd = yaml.load(file.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        wanted[crd["metadata"]["name"]] = crd["spec"]["names"]["kind"]
    assert {name.split(".", 1)[1] for name in wanted} >= {"ome.io", "batch.volcano.sh", "leaderworkerset.x-k8s.io"}
    there = {c["metadata"]["name"]: c for c in cluster.items("customresourcedefinitions")}
    served = {
        name: crd["spec"]["names"]["kind"]
        for name, crd in there.items()
        if name in wanted and condition(crd, "Established") == "True"
    }
    assert served == wanted


def test_old_revisions_are_gone_after_compaction(cluster: Cluster) -> None:
    path = f"/api/v1/namespaces/{cluster.namespace}/configmaps"

    def listed(query: str = "") -> dict[str, Any]:
        return json.loads(cluster.kubectl("get", "--raw", path + query).stdout)

    at_first = listed()["metadata"]["resourceVersion"]
    cluster.kubectl("create", "configmap", "later")
    cluster.control("restart", "apiserver")  # which remembers recent revisions by itself
    exactly_then = f"?resourceVersion={at_first}&resourceVersionMatch=Exact"
    assert listed(exactly_then)["metadata"]["resourceVersion"] == at_first
    cluster.control("compact")
    with pytest.raises(CommandFailed, match="too old|compacted"):
        listed(exactly_then)


def test_api_server_comes_back_with_what_it_had(cluster: Cluster) -> None:
    cluster.kubectl("create", "configmap", "kept", "--from-literal", "a=b")
    cluster.control("stop", "apiserver")
    gone = cluster.kubectl("get", "configmap", "kept", "--request-timeout", "5s", check=False)
    assert gone.returncode != 0
    cluster.control("start", "apiserver")
    assert cluster.get("configmap", "kept")["data"] == {"a": "b"}


@pytest.mark.full
def test_cut_connections_end_watches(cluster: Cluster, tmp_path: pathlib.Path) -> None:
    path = f"/api/v1/namespaces/{cluster.namespace}/configmaps?watch=1"
    seen = tmp_path / "watch"
    with cluster.start("kubectl", "get", "--raw", path, output=seen) as watch:
        # This ConfigMap is made in every namespace: once it is seen, the watch is on.
        wait_for(lambda: "kube-root-ca.crt" in seen.read_text(), "the first event of the watch")
        assert watch.poll() is None
        assert cluster.control("cut").stdout.endswith("connections cut\n")
        assert watch.wait(timeout=60) != 0, seen.read_text()


@pytest.mark.full
def test_nodes_are_ready(cluster: Cluster) -> None:
    nodes = {node["metadata"]["name"]: node for node in cluster.items("nodes")}
    assert {n: condition(node, "Ready") for n, node in nodes.items()} == {
        name: "True" for name in NPU_NODES | {"real-0"}
    }
    for name in NPU_NODES:
        assert nodes[name]["status"]["allocatable"][NPU] == "8", name
        labels = nodes[name]["metadata"]["labels"]
        assert labels["accelerator"] == "huawei-Ascend910"
        assert labels["workerselector"] == "dls-worker-node"
    assert NPU not in nodes["real-0"]["status"]["allocatable"]


@pytest.mark.full
def test_service_leads_to_pods_of_the_real_node(cluster: Cluster) -> None:
    labels = {"app": "hello"}
    cluster.create(
        [
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": "hello"},
                "spec": {
                    "replicas": 2,
                    "selector": {"matchLabels": labels},
                    "template": {
                        "metadata": {"labels": labels},
                        "spec": {
                            **hello_pod_spec(),
                        },
                    },
                },
            },
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": "hello"},
                "spec": {"selector": labels, "ports": [{"port": 80, "targetPort": 8080}]},
            },
        ]
    )
    cluster.await_rollout("hello")
    pods = {pod["metadata"]["name"] for pod in cluster.items("pods")}
    address = cluster.get("service", "hello")["spec"]["clusterIP"]
    answered: set[str] = set()

    def every_pod_has_answered() -> bool:
        answer = cluster.control("run", "curl", "-sS", "--max-time", "5", f"http://{address}/")
        answered.add(answer.stdout.strip())
        return answered == pods

    wait_for(every_pod_has_answered, f"an answer of each of {pods} through the Service", every=0)


@pytest.mark.full
def test_every_part_can_be_restarted(cluster: Cluster) -> None:
    parts = [line.split() for line in cluster.control("status").stdout.splitlines()]
    assert {state for _, state in parts} == {"running"}, parts
    names = {name for name, _ in parts} - {"holder"}  # which is the namespaces, not a program
    assert names == {
        *("etcd", "apiserver", "controller-manager", "scheduler"),
        *("containerd", "kubelet", "proxy", "kwok"),
    }
    for name in sorted(names):
        cluster.control("restart", name)
    cluster.await_controllers()
    on_npu_node = {"nodeName": "npu-0", "containers": [{"name": "fake", "image": "example/none"}]}
    for name, spec in {"real": hello_pod_spec(), "simulated": on_npu_node}.items():
        cluster.create(
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}
        )
        cluster.kubectl("wait", "--for", "condition=Ready", f"pod/{name}", "--timeout", "180s")


@pytest.mark.full
def test_nothing_in_the_cluster_reaches_the_machine(cluster: Cluster) -> None:
    api = cluster.run("kubectl", "config", "view", "-o", "jsonpath={.clusters[0].cluster.server}")
    server = api.stdout.removeprefix("https://").partition(":")[0]
    with socket.create_connection((server, 6443), timeout=30) as to_api_server:
        machine = to_api_server.getsockname()[0]
    with pytest.raises(OSError):
        socket.create_connection((server, 10250), timeout=1)
    listener = http.server.HTTPServer((machine, 0), http.server.SimpleHTTPRequestHandler)
    url = f"http://{machine}:{listener.server_port}/"
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    with contextlib.closing(listener.socket):
        cluster.run("curl", "--silent", "--fail", "--max-time", "5", "--output", "/dev/null", url)
        inside = cluster.control("run", "curl", "-sS", "--max-time", "2", url, check=False)
        listener.shutdown()
    assert inside.returncode != 0
    assert (
        "refused" in inside.stderr or "unreachable" in inside.stderr or "connect" in inside.stderr
    )


def leader_worker_set(replicas: int) -> dict[str, Any]:
    template = {"spec": npu_pod_spec()}
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "llm"},
        "spec": {
            "replicas": replicas,
            "leaderWorkerTemplate": {
                "size": 2,
                "leaderTemplate": template,
                "workerTemplate": template,
            },
        },
    }


@pytest.mark.full
def test_leader_worker_set_runs_in_gangs(cluster: Cluster) -> None:
    cluster.create(leader_worker_set(replicas=2))
    of_the_set = "leaderworkerset.sigs.k8s.io/name=llm"
    wait_for(lambda: running_on(cluster, of_the_set) == sorted(NPU_NODES), "a pod on each NPU node")
    groups = cluster.items("podgroups.scheduling.volcano.sh")
    assert [group["spec"]["minMember"] for group in groups] == [2, 2]
    wait_for(
        lambda: [g["status"]["phase"] for g in cluster.items("podgroups.scheduling.volcano.sh")]
        == ["Running", "Running"],
        "both pod groups to run",
    )


@pytest.mark.full
def test_leader_worker_set_without_room_for_a_gang_holds_nothing(cluster: Cluster) -> None:
    cluster.kubectl("create", "-f", "-", input=json.dumps(one_chip_pod("taken")))
    wait_for(lambda: running_on(cluster, "app=taken"), "the pod that takes a chip of a node")
    cluster.create(leader_worker_set(replicas=2))
    of_the_set = "leaderworkerset.sigs.k8s.io/name=llm"
    wait_for(lambda: len(running_on(cluster, of_the_set)) == 2, "one group of the set to run")
    pods = wait_for(
        lambda: len(found := cluster.items("pods", "--selector", of_the_set)) == 4 and found,
        "the pods of the other group",
    )
    groups: dict[str, set[str]] = {}
    for pod in pods:
        index = pod["metadata"]["labels"]["leaderworkerset.sigs.k8s.io/group-index"]
        groups.setdefault(index, set()).add(pod["spec"].get("nodeName", "none"))
    assert sorted(len(nodes) for nodes in groups.values()) == [1, 2]
    assert {"none"} in groups.values(), groups


def one_chip_pod(name: str) -> dict[str, Any]:
    spec = npu_pod_spec()
    spec["containers"][0]["resources"] = {"limits": {NPU: "1"}}
    metadata = {"name": name, "labels": {"app": name}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def volcano_job(replicas: int, **more: Any) -> dict[str, Any]:
    template = {"spec": npu_pod_spec(restartPolicy="Never")}
    tasks = [{"name": "train", "replicas": replicas, "template": template}]
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "train"},
        "spec": {"schedulerName": "volcano", "minAvailable": replicas, "tasks": tasks} | more,
    }


@pytest.mark.full
def test_volcano_job_runs_as_one_gang(cluster: Cluster) -> None:
    cluster.create(volcano_job(4, queue="default"))
    of_the_job = "volcano.sh/job-name=train"
    wait_for(lambda: running_on(cluster, of_the_job) == sorted(NPU_NODES), "a pod on each NPU node")
    wait_for(
        lambda: cluster.get("jobs.batch.volcano.sh", "train")["status"]["state"]["phase"]
        == "Running",
        "the job to run",
    )


@pytest.mark.full
def test_volcano_admission_gives_a_job_its_queue(cluster: Cluster) -> None:
    cluster.control("volcano-admission", "on")
    try:
        cluster.create(volcano_job(2))
        assert cluster.get("jobs.batch.volcano.sh", "train")["spec"]["queue"] == "default"
        with pytest.raises(CommandFailed, match="denied the request"):
            cluster.create(volcano_job(2, minAvailable=3) | {"metadata": {"name": "impossible"}})
    finally:
        cluster.control("volcano-admission", "off")
    hooks = cluster.kubectl("get", "mutatingwebhookconfigurations", "-o", "name").stdout
    assert "volcano" not in hooks
