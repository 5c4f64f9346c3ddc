"""Exported policies find and write on a real API server what rules find and mutators write, in every manifest that it takes."""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from e2e import REPOSITORY, Cluster, CommandFailed, wait_for
from release import PROGRAM

FIXTURES = REPOSITORY / "tests/fixtures"
KINDS = "validatingadmissionpolicies,validatingadmissionpolicybindings"
MUTATING_KINDS = "mutatingadmissionpolicies,mutatingadmissionpolicybindings"
SELECTOR = "app.kubernetes.io/component=exported-policy"
VCJOB = "batch.volcano.sh/v1alpha1"
WRONG = {"fault-scheduling": "Force"}  # MG050 denies it


def deployment(of_pods: dict[str, str], **metadata: Any) -> dict[str, Any]:
    pod = {"metadata": {"labels": {"app": "llm"} | of_pods}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 0, "selector": {"matchLabels": {"app": "llm"}}, "template": pod}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "llm"} | metadata, "spec": spec}


def exported(cluster: Cluster, *arguments: object) -> str:
    return cluster.run(PROGRAM, "export", "vap", *arguments).stdout


def own_policy(name: str, **spec: Any) -> list[dict[str, Any]]:
    """A policy about everything with its binding."""
    everything = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}
    policy = {"metadata": {"name": name}, "spec": {"matchConstraints": {"resourceRules": [everything]}} | spec}
    binding = {"metadata": {"name": name}, "spec": {"policyName": name, "validationActions": ["Deny"]}}
    kinds = ("ValidatingAdmissionPolicy", policy), ("ValidatingAdmissionPolicyBinding", binding)
    return [{"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind} | tree for kind, tree in kinds]


def rules_that_warn(tmp_path: pathlib.Path, cluster: Cluster) -> tuple[pathlib.Path, set[str]]:
    """A configuration in which every exported rule warns and nothing is injected, and the ids of these rules."""
    rows = cluster.run(PROGRAM, "export", "vap", "--list").stdout.splitlines()[1:]
    ids = {row.split()[0] for row in rows if row.split()[3] == "yes"}
    defaults = cluster.run(PROGRAM, "config", "defaults").stdout
    section = defaults.split("\nmutators:\n")[1].split("\n\n")[0]
    mutators = re.findall(r"^  ([a-z-]+): true$", section, re.MULTILINE)
    config = {"rules": {rule: "warn" for rule in sorted(ids)}, "mutators": dict.fromkeys(mutators, False)}
    path = tmp_path / "mindgate.yaml"
    path.write_text(yaml.safe_dump(config))
    return path, ids


@pytest.fixture
def without_policies(cluster: Cluster) -> Iterator[None]:
    yield
    cluster.kubectl("delete", KINDS, "-l", SELECTOR)


def await_policies(cluster: Cluster, probe: dict[str, Any]) -> None:
    """The API server has read them all when the last one by name warns of the probe or denies it."""
    wait_for(lambda: "MG194" in create(cluster, probe).stderr, "the API server to read the policies", 300)


def create(cluster: Cluster, tree: dict[str, Any]) -> Any:
    return cluster.kubectl("create", "--dry-run=server", "-o", "json", "-f", "-", input=json.dumps(tree, default=str), check=False)


def objects() -> Iterator[tuple[str, dict[str, Any]]]:
    for folder in ("manifests", "seeds", "real", "seeds-by-row"):
        for path in sorted((FIXTURES / folder).rglob("*.yaml")):
            try:
                trees = list(yaml.safe_load_all(path.read_text()))
            except yaml.YAMLError:
                continue
            for tree in trees:
                if isinstance(tree, dict) and tree.get("kind") and "metadata" in tree:
                    tree["metadata"].pop("namespace", None)
                    yield str(path.relative_to(FIXTURES)), tree


def queue_elsewhere() -> dict[str, Any]:
    """MG194 warns of it."""
    container = {"name": "c", "image": "i", "resources": {"requests": {"huawei.com/Ascend910": 8}, "limits": {"huawei.com/Ascend910": 8}}}
    pods = {"metadata": {"annotations": {"scheduling.volcano.sh/queue-name": "q"}}, "spec": {"containers": [container]}}
    spec = {"replicas": 1, "leaderWorkerTemplate": {"size": 1, "workerTemplate": pods}}
    return {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": {"name": "probe"}, "spec": spec}


def test_policies_find_what_rules_find(
    cluster: Cluster, without_type_checks: None, without_policies: None, tmp_path: pathlib.Path
) -> None:
    config, ids = rules_that_warn(tmp_path, cluster)
    cluster.kubectl("apply", "--server-side", "-f", "-", input=exported(cluster, "--config", config), seconds=600)
    await_policies(cluster, queue_elsewhere())
    compared = 0
    differences = []
    for name, tree in objects():
        answer = create(cluster, tree)
        if answer.returncode != 0:
            assert "ValidatingAdmissionPolicy" not in answer.stderr, answer.stderr
            continue
        found_by_policies = set(re.findall(r"': (MG\d{3}): ", answer.stderr))
        # What the API server has made of it, which is what policies see.
        evaluated = cluster.run(PROGRAM, "apply", "--config", config, "-f", "-", "-o", "json", input=answer.stdout, check=False)
        findings = [each for result in json.loads(evaluated.stdout)["results"] for each in result["findings"]]
        found_by_rules = {each["rule"] for each in findings} & ids
        compared += 1
        if found_by_policies != found_by_rules:
            differences.append((name, tree["kind"], sorted(found_by_policies - found_by_rules), sorted(found_by_rules - found_by_policies)))
        assert "resulted in error" not in answer.stderr, answer.stderr
    assert differences == []
    assert compared > 100


def test_updates_keep_what_was_wrong(cluster: Cluster, without_policies: None) -> None:
    cluster.kubectl("create", "-f", "-", input=json.dumps(deployment(WRONG)))
    cluster.kubectl("apply", "--server-side", "-f", "-", input=exported(cluster, "--rule", "MG050"))
    other = deployment(WRONG)
    other["metadata"]["name"] = "other"
    wait_for(lambda: "MG050: " in create(cluster, other).stderr, "the API server to read the policy")
    with pytest.raises(CommandFailed, match="mindgate-mg050.*MG050: "):
        cluster.kubectl("create", "-f", "-", input=json.dumps(other))
    relabelled = deployment(WRONG, labels={"team": "a"})
    # The API server may read the policy that warns later than the one that denies.
    wait_for(
        lambda: "MG050: " in cluster.replace(relabelled, "--dry-run=server").stderr,
        "the API server to read the policy that warns",
    )
    assert "MG050: " in cluster.replace(relabelled).stderr
    with pytest.raises(CommandFailed, match="MG050: "):
        cluster.replace(deployment({"fault-scheduling": "Grace"}))
    right = cluster.replace(deployment({"fault-scheduling": "grace"}))
    assert right.stderr == ""


def test_policies_of_the_site(cluster: Cluster, without_policies: None, tmp_path: pathlib.Path) -> None:
    own = own_policy("short-names", validations=[{"expression": "object.metadata.name.size() < 4", "message": "a long name"}])
    (tmp_path / "own.yaml").write_text(yaml.safe_dump_all(own))
    config = tmp_path / "mindgate.yaml"
    config.write_text(yaml.safe_dump({"policies": {"files": ["own.yaml"]}, "namespaces": [{"name": "lab", "rules": {"policy/short-names": "warn"}}]}))
    cluster.kubectl("apply", "--server-side", "-f", "-", input=exported(cluster, "--config", config, "--rule", "policy/short-names"))
    long_name = deployment({}, name="longer")
    wait_for(lambda: "a long name" in create(cluster, long_name).stderr, "the API server to read the policies")
    assert create(cluster, long_name).returncode != 0
    assert create(cluster, deployment({}, name="llm")).returncode == 0
    # The kinds that mindgate does not evaluate are left alone.
    assert create(cluster, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "longer"}}).returncode == 0


def test_more_exceptions_than_conditions_fit_into_a_policy(cluster: Cluster, without_policies: None, tmp_path: pathlib.Path) -> None:
    exceptions = [
        {"rules": ["MG050"], "name": f"old-{i}", "owner": "team", "reason": "moves", "expires": "2030-12-31"} for i in range(100)
    ]
    config = tmp_path / "mindgate.yaml"
    config.write_text(yaml.safe_dump({"exceptions": exceptions}))
    cluster.kubectl("apply", "--server-side", "-f", "-", input=exported(cluster, "--config", config, "--rule", "MG050"))
    wait_for(lambda: "MG050: " in create(cluster, deployment(WRONG)).stderr, "the API server to read the policy")
    for name, code in (("old-0", 0), ("old-99", 0), ("old-100", 1)):
        assert create(cluster, deployment(WRONG, name=name)).returncode == code, name


def pod_templates(tree: dict[str, Any]) -> list[dict[str, Any]]:
    kind, spec = tree["kind"], tree["spec"]
    if kind == "Pod":
        return [tree]
    if kind == "LeaderWorkerSet":
        group = spec["leaderWorkerTemplate"]
        return [group[role] for role in ("leaderTemplate", "workerTemplate") if role in group]
    if tree["apiVersion"] == VCJOB:
        return [task["template"] for task in spec["tasks"]]
    return [(spec["jobTemplate"]["spec"] if kind == "CronJob" else spec)["template"]]


def injected_pods(pod: dict[str, Any]) -> dict[str, Any]:
    metadata = pod.get("metadata", {})
    containers = [each for field in ("containers", "initContainers") for each in pod["spec"].get(field, [])]
    # The API server gives each Job another identity, and each reference its version.
    labels = {key: value for key, value in metadata.get("labels", {}).items() if not key.endswith("controller-uid")}
    env = json.loads(json.dumps([each.get("env", []) for each in containers]).replace('"apiVersion": "v1", ', ""))
    return {
        "labels": labels,
        "annotations": metadata.get("annotations", {}),
        "schedulerName": pod["spec"].get("schedulerName"),
        "env": env,
        "resources": [each.get("resources", {}) for each in containers],
    }


def injected(tree: dict[str, Any]) -> list[Any]:
    """The part of an object that mutators write."""
    of_pods = [injected_pods(each) for each in pod_templates(tree)]
    # A batch Job without labels gets those that its template had when it was sent.
    return [tree["metadata"].get("labels", {}), tree["spec"].get("schedulerName"), *of_pods] if tree["apiVersion"] == VCJOB else of_pods


def is_exported(tree: dict[str, Any]) -> bool:
    kinds = {
        "v1": {"Pod"},
        "batch/v1": {"Job", "CronJob"},
        "apps/v1": {"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"},
        "leaderworkerset.x-k8s.io/v1": {"LeaderWorkerSet"},
        VCJOB: {"Job"},
    }
    return tree["kind"] in kinds.get(tree.get("apiVersion", ""), set())


def npu_objects() -> Iterator[dict[str, Any]]:
    """One of each policy, but for the leaders'."""
    container = {"name": "c", "image": "i", "resources": {"limits": {"huawei.com/Ascend910": 8}}}
    pods = {"metadata": {"labels": {"app": "llm"}}, "spec": {"restartPolicy": "Never", "containers": [container]}}
    yield {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "probe"}, "spec": pods["spec"]}
    job = {"spec": {"template": pods}}
    yield {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "probe"}} | job
    yield {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "probe"}, "spec": {"schedule": "@daily", "jobTemplate": job}}
    always = pods | {"spec": {"containers": [container]}}
    group = {"size": 2, "workerTemplate": always, "leaderTemplate": {"spec": {"containers": [container | {"resources": {}}]}}}
    yield {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "probe"},
        "spec": {"replicas": 1, "leaderWorkerTemplate": group},
    }
    labels = {"mind-cluster/scaling-rule": "r", "jobID": "j", "mind-cluster/group-name": "g"}
    tasks = [
        {"name": "a", "replicas": 1, "template": {"spec": pods["spec"]}},
        {"name": "b", "replicas": 1, "template": {"spec": {"containers": [container, container | {"name": "d"}]}}},
    ]
    for count in (1, 2):
        spec = {"minAvailable": 1, "tasks": tasks[:count]}
        yield {"apiVersion": VCJOB, "kind": "Job", "metadata": {"name": "probe", "labels": labels}, "spec": spec}


@pytest.fixture
def without_injections(cluster: Cluster) -> Iterator[None]:
    if cluster.kubectl("get", MUTATING_KINDS, check=False).returncode != 0:
        pytest.skip("this API server has no MutatingAdmissionPolicy")
    yield
    cluster.kubectl("delete", MUTATING_KINDS, "-l", SELECTOR)


def test_policies_write_what_mutators_write(cluster: Cluster, without_injections: None) -> None:
    trees = [(name, tree) for name, tree in objects() if is_exported(tree)]
    trees += [("probe", tree) for tree in npu_objects()]
    plain = [(name, tree, create(cluster, tree)) for name, tree in trees]
    cluster.kubectl("apply", "--server-side", "-f", "-", input=cluster.run(PROGRAM, "export", "map").stdout)

    def is_injected(tree: dict[str, Any]) -> bool:
        return '"schedulerName": "volcano"' in create(cluster, tree).stdout

    for probe in npu_objects():
        wait_for(lambda: is_injected(probe), "the API server to read the policies")
    compared = 0
    differences = []
    for name, tree, before in plain:
        if before.returncode != 0:
            continue
        evaluated = cluster.run(PROGRAM, "apply", "-f", "-", "-o", "json", input=before.stdout, check=False)
        want = injected(json.loads(evaluated.stdout)["results"][0]["object"])
        got = injected(json.loads(create(cluster, tree).stdout))
        compared += got != injected(json.loads(before.stdout))
        if got != want:
            differences.append((name, tree["kind"], got, want))
    assert differences == []
    assert compared > 10
