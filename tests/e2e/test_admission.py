"""Objects as a user sends them: what is stored is what `mindgate apply` says offline, what is denied says why."""

from __future__ import annotations

import json
from typing import Any

import pytest
from e2e import MANIFESTS, Cluster, CommandFailed, wait_for
from release import Release, at, deployment, documents, npu_container, offline

# Documents that no API server takes, whatever webhooks say, and what it says.
UNUSABLE = {
    "aibrix/autoscaling__stormservice-pool.yaml#2": 'unknown field "spec.behavior"',
    "ome/doc-clusterservingruntime-basic.yaml#1": "spec.engineConfig.runner.name: Required value",
    "ome/doc-oep0003-servingruntime.yaml#1": "apiVersion not set",
}
# Kinds that are not served here.
ABSENT = {"keda.sh/v1alpha1 TriggerAuthentication"}
CLUSTER_SCOPED = {"Namespace", "ClusterServingRuntime", "ClusterBaseModel"}
MANIFEST_FILES = sorted(MANIFESTS.glob("*/*.yaml"))


def in_namespace(document: dict[str, Any], namespace: str) -> dict[str, Any]:
    if document.get("kind") not in CLUSTER_SCOPED:
        document.setdefault("metadata", {})["namespace"] = namespace
    return document


def injected(result: dict[str, Any]) -> list[tuple[str, Any]]:
    """Where the patch wrote what, offline."""
    return [(operation["path"], operation["value"]) for operation in result["patch"] or []]


def without_missing_runtime(warnings: list[str]) -> list[str]:
    """Only the webhook, which looks runtimes up, can know that there is none of that name."""
    left = [each.replace(" MG165", "") for each in warnings if not each.startswith("MG165 ")]
    return [each for each in left if each != "more: kubectl mindgate explain"]


@pytest.mark.parametrize("file", MANIFEST_FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_stored_object_is_what_apply_prints_offline(cluster: Cluster, mindgate: Release, file: Any) -> None:
    name = f"{file.parent.name}/{file.name}"
    sent = [in_namespace(document, cluster.namespace) for document in documents(file)]
    sent = [document for document in sent if document["kind"] != "Namespace"] if all("kind" in d for d in sent) else sent
    for number, document in enumerate(sent, 1):
        if f"{document.get('apiVersion')} {document.get('kind')}" in ABSENT:
            continue
        answer = cluster.kubectl("create", "--filename", "-", "--output", "json", input=json.dumps(document), check=False)
        unusable = UNUSABLE.get(f"{name}#{number}")
        if unusable:
            assert answer.returncode != 0 and unusable in answer.stderr
            continue
        [result] = offline(cluster, [document])
        if result["outcome"] == "denied":
            assert answer.returncode != 0, f"document {number} is denied offline and was stored"
            assert "admission webhook" in answer.stderr and "denied the request" in answer.stderr
            for finding in result["findings"]:
                if finding["mode"] == "enforce":
                    assert finding["message"] in answer.stderr
            continue
        assert answer.returncode == 0, answer.stderr
        stored = json.loads(answer.stdout)
        for pointer, value in injected(result):
            assert json.dumps(at(stored, pointer), sort_keys=True) == json.dumps(value, sort_keys=True), pointer
        # Every warning of ours, as kubectl prints it, and none that apply does not give.
        ours = ("Warning: MG", "Warning: more: kubectl mindgate", "Warning: and ")
        shown = [line.removeprefix("Warning: ") for line in answer.stderr.splitlines() if line.startswith(ours)]
        assert without_missing_runtime(shown) == result["warnings"]
        if document["kind"] in CLUSTER_SCOPED:
            cluster.kubectl("delete", document["kind"], document["metadata"]["name"])


def test_denial_names_rule_field_reason_and_fix(cluster: Cluster, mindgate: Release) -> None:
    sent = deployment("denied")
    sent["spec"]["template"]["metadata"]["labels"]["fault-scheduling"] = "sometimes"
    [result] = offline(cluster, [sent])
    [finding] = [f for f in result["findings"] if f["mode"] == "enforce"]
    answer = cluster.kubectl("create", "--filename", "-", input=json.dumps(sent), check=False)
    assert answer.returncode == 1
    assert 'admission webhook "workloads.validate.mindgate.io" denied the request' in answer.stderr
    for part in (finding["rule"], finding["field"], finding["message"], finding["fix"]):
        assert part in answer.stderr, part


def test_wrong_type_in_a_built_in_kind_is_refused_by_the_server_itself(cluster: Cluster, mindgate: Release) -> None:
    """An unquoted number as a label: its decoder comes before any webhook."""
    sent = deployment("unquoted")
    sent["spec"]["template"]["metadata"]["labels"]["fault-retry-times"] = 3
    answer = cluster.kubectl("create", "--filename", "-", input=json.dumps(sent), check=False)
    assert answer.returncode == 1
    assert "cannot unmarshal number into Go struct field ObjectMeta.spec.template.metadata.labels" in answer.stderr


def test_wrong_type_in_an_open_schema_is_refused_by_us(cluster: Cluster, mindgate: Release) -> None:
    """AscendJob's definition leaves the metadata of its templates open."""
    template = {"metadata": {"labels": {"fault-retry-times": 3}}, "spec": {"containers": [npu_container("ascend")]}}
    sent = {
        "apiVersion": "mindxdl.gitee.com/v1",
        "kind": "AscendJob",
        "metadata": {"name": "unquoted", "labels": {"framework": "pytorch"}},
        "spec": {"schedulerName": "volcano", "replicaSpecs": {"Master": {"replicas": 1, "template": template}}},
    }
    answer = cluster.kubectl("create", "--filename", "-", input=json.dumps(sent), check=False)
    assert answer.returncode == 1
    assert "MG001" in answer.stderr and "labels[fault-retry-times]" in answer.stderr


def test_deployment_of_npus_gets_everything(cluster: Cluster, mindgate: Release) -> None:
    cluster.create(deployment("chat"))
    template = cluster.get("deployment", "chat")["spec"]["template"]
    assert template["metadata"]["labels"] == {
        "app": "chat",
        "fault-scheduling": "force",
        "pod-rescheduling": "on",
    }
    assert template["spec"]["schedulerName"] == "volcano"
    assert template["spec"]["containers"][0]["env"] == [
        {
            "name": "ASCEND_VISIBLE_DEVICES",
            "valueFrom": {
                "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.annotations['huawei.com/Ascend910']"}
            },
        }
    ]


def test_gpu_and_cpu_workloads_never_reach_us(cluster: Cluster, mindgate: Release) -> None:
    sent = deployment("cpu")
    sent["spec"]["template"]["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "1"}}
    cluster.create(sent)
    stored = cluster.get("deployment", "cpu")["spec"]["template"]
    assert stored["metadata"]["labels"] == {"app": "cpu"}
    assert stored["spec"]["schedulerName"] == "default-scheduler"


def test_injection_switched_off(cluster: Cluster, mindgate: Release) -> None:
    off = deployment("off")
    off["metadata"]["labels"] = {"mindgate.io/inject": "disabled"}
    cluster.create(off)
    assert cluster.get("deployment", "off")["spec"]["template"]["metadata"]["labels"] == {"app": "off"}

    cluster.kubectl("label", "namespace", cluster.namespace, "mindgate.io/inject=disabled")
    wait_for(lambda: not is_injected(cluster, deployment("by-namespace")), "the label of the namespace to count")
    asks = deployment("asks")
    asks["metadata"]["labels"] = {"mindgate.io/inject": "enabled"}
    assert is_injected(cluster, asks)


def is_injected(cluster: Cluster, sent: dict[str, Any]) -> bool:
    """By a dry run, which leaves nothing behind."""
    answer = cluster.kubectl("create", "--dry-run=server", "-o", "json", "-f", "-", input=json.dumps(sent))
    return "fault-scheduling" in json.loads(answer.stdout)["spec"]["template"]["metadata"]["labels"]


def test_dry_run_decides_and_stores_nothing(cluster: Cluster, mindgate: Release) -> None:
    assert is_injected(cluster, deployment("dry"))
    assert cluster.items("deployments") == []


RUNTIME = {
    "apiVersion": "ome.io/v1beta1",
    "kind": "ServingRuntime",
    "metadata": {"name": "npu-runtime"},
    "spec": {
        "engineConfig": {"runner": npu_container("ome-container")},
    },
}
SERVICE = {
    "apiVersion": "ome.io/v1beta1",
    "kind": "InferenceService",
    "metadata": {"name": "chat"},
    "spec": {"runtime": {"kind": "ServingRuntime", "name": "npu-runtime"}, "engine": {"minReplicas": 2, "maxReplicas": 2}},
}


def engine_of(cluster: Cluster, sent: dict[str, Any]) -> dict[str, Any]:
    answer = cluster.kubectl("create", "--dry-run=server", "-o", "json", "-f", "-", input=json.dumps(sent))
    return json.loads(answer.stdout)["spec"]["engine"]


def test_inference_service_is_injected_by_what_its_runtime_asks_for(cluster: Cluster, mindgate: Release) -> None:
    """The runtime comes by a watch: an InferenceService that names it needs no label."""
    assert "labels" not in engine_of(cluster, SERVICE)
    cluster.create(RUNTIME)

    def injected_engine() -> dict[str, Any]:
        engine = engine_of(cluster, SERVICE)
        assert engine.get("labels", {}).get("fault-scheduling") == "force"
        return engine

    engine = wait_for(injected_engine, "the runtime to be known to every replica", 30)
    assert engine["labels"]["pod-rescheduling"] == "on"
    assert engine["annotations"]["huawei.com/schedule_minAvailable"] == "2"
    stored = json.loads(json.dumps(SERVICE))
    [_, result] = offline(cluster, [RUNTIME, stored])
    for pointer, value in injected(result):
        if pointer.startswith("/spec/engine/"):
            assert at({"spec": {"engine": engine}}, pointer) == value


# What a user does after the first create must change nothing by itself.


def generation(cluster: Cluster, name: str) -> int:
    return cluster.get("deployment", name)["metadata"]["generation"]


def replica_sets(cluster: Cluster) -> list[str]:
    return [each["metadata"]["name"] for each in cluster.items("replicasets")]


def observed(cluster: Cluster, name: str) -> None:
    wait_for(
        lambda: cluster.get("deployment", name)["status"].get("observedGeneration") == generation(cluster, name),
        f"the controller to have seen deployment {name}",
    )


@pytest.mark.parametrize("server_side", [False, True], ids=["client-side", "server-side"])
def test_applying_twice_is_no_rollout(cluster: Cluster, mindgate: Release, server_side: bool) -> None:
    text = json.dumps(deployment("same"))
    apply = ["apply", "-f", "-"] + (["--server-side"] if server_side else [])
    cluster.kubectl(*apply, input=text)
    observed(cluster, "same")
    before = generation(cluster, "same")
    for _ in range(3):
        cluster.kubectl(*apply, input=text)
    observed(cluster, "same")
    assert generation(cluster, "same") == before
    assert len(replica_sets(cluster)) == 1
    diff = cluster.kubectl("diff", "-f", "-", *(["--server-side"] if server_side else []), input=text, check=False)
    assert diff.returncode == 0, diff.stdout + diff.stderr


def test_replace_by_the_original_manifest_is_no_rollout(cluster: Cluster, mindgate: Release) -> None:
    cluster.create(deployment("original"))
    observed(cluster, "original")
    template = cluster.get("deployment", "original")["spec"]["template"]
    cluster.replace(deployment("original"))
    observed(cluster, "original")
    assert cluster.get("deployment", "original")["spec"]["template"] == template
    assert len(replica_sets(cluster)) == 1


def test_scale_status_finalizers_and_labels_change_no_template(cluster: Cluster, mindgate: Release) -> None:
    cluster.create(deployment("steady"))
    template = cluster.get("deployment", "steady")["spec"]["template"]
    cluster.kubectl("scale", "deployment/steady", "--replicas=2")
    cluster.kubectl("annotate", "deployment/steady", "team=serving")
    patch = json.dumps({"metadata": {"finalizers": ["example.com/kept"]}})
    cluster.kubectl("patch", "deployment/steady", "--type=merge", "-p", patch)
    status = json.dumps({"status": {"conditions": [{"type": "Checked", "status": "True"}]}})
    cluster.kubectl("patch", "deployment/steady", "--subresource=status", "--type=merge", "-p", status)
    observed(cluster, "steady")
    assert cluster.get("deployment", "steady")["spec"]["template"] == template
    assert len(replica_sets(cluster)) == 1
    # Finalizers are removed from an object that is being deleted: nobody may be in the way of that.
    cluster.kubectl("delete", "deployment/steady", "--wait=false")
    cluster.kubectl("patch", "deployment/steady", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
    wait_for(lambda: not cluster.items("deployments"), "the deployment to be gone")


def test_children_of_a_deployment_are_left_alone(cluster: Cluster, mindgate: Release) -> None:
    """Its ReplicaSet and pods are what the template says: no second opinion, no loop."""
    cluster.create(deployment("parent"))
    [replica_set] = wait_for(lambda: cluster.items("replicasets"), "the replica set")
    template = cluster.get("deployment", "parent")["spec"]["template"]
    of_set = replica_set["spec"]["template"]
    of_set["metadata"]["labels"].pop("pod-template-hash")
    assert of_set == template


def test_a_change_that_is_refused_leaves_the_object(cluster: Cluster, mindgate: Release) -> None:
    cluster.create(deployment("kept"))
    before = cluster.get("deployment", "kept")["spec"]
    patch = json.dumps({"spec": {"template": {"metadata": {"labels": {"fault-scheduling": "sometimes"}}}}})
    with pytest.raises(CommandFailed, match="denied the request"):
        cluster.kubectl("patch", "deployment/kept", "--type=merge", "-p", patch)
    assert cluster.get("deployment", "kept")["spec"] == before
