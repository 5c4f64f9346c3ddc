"""Policies of a site's own in ConfigMaps of mindgate's namespace: followed by webhook and watcher, and evaluated whole."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from e2e import Cluster, condition, wait_for
from release import PROGRAM, Release, deployment

pytestmark = pytest.mark.full
LABEL = "mindgate.io/policies=enabled"


def policy(expression: str) -> str:
    """A policy and its binding, which denies with 422."""
    spec = {
        "matchConstraints": {
            "resourceRules": [{"apiGroups": ["apps"], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["deployments"]}]
        },
        "validations": [{"expression": expression, "message": "the site refuses it", "reason": "Invalid"}],
    }
    api = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": "site"}}
    bound = {"policyName": "site", "validationActions": ["Deny"]}
    documents = [
        api | {"kind": "ValidatingAdmissionPolicy", "spec": spec},
        api | {"kind": "ValidatingAdmissionPolicyBinding", "spec": bound},
    ]
    return "\n---\n".join(json.dumps(each) for each in documents)


@pytest.fixture
def reading(mindgate: Release) -> Iterator[Release]:
    """An installation that reads ConfigMaps, put back afterwards."""
    mindgate.install({"config": {"policies": {"configMaps": True}}})
    yield mindgate
    mindgate.cluster.kubectl("delete", "configmap", "--selector", LABEL, check=False)
    mindgate.install()


def store(release: Release, text: str) -> None:
    labels = dict([LABEL.split("=")])
    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "site-policies", "labels": labels},
        "data": {"site.yaml": text},
    }
    release.cluster.kubectl("apply", "--filename", "-", input=json.dumps(config_map))


def refusal(cluster: Cluster) -> str:
    """What the API server says of a Deployment that rules admit; empty: it was admitted."""
    answer = cluster.kubectl("create", "--dry-run=server", "-f", "-", input=json.dumps(deployment("chat")), check=False)
    return answer.stderr if answer.returncode else ""


def readiness(release: Release, component: str = "webhook") -> list[str]:
    """/readyz?verbose of each replica; a replica that is not ready has it in an error."""
    answers = []
    for pod in release.pod_names(component):
        path = f"/api/v1/namespaces/{release.cluster.namespace}/pods/{pod}:8080/proxy/readyz?verbose"
        answer = release.cluster.kubectl("get", "--raw", path, check=False)
        answers.append(answer.stdout + answer.stderr)
    return answers


def test_config_maps_are_followed(cluster: Cluster, reading: Release) -> None:
    assert refusal(cluster) == ""
    store(reading, policy("object.metadata.name != 'chat'"))
    wait_for(lambda: "policy/site" in refusal(cluster) and "the site refuses it" in refusal(cluster), "the policy to be in force", 60)

    store(reading, policy("objct == 1"))
    place = "ConfigMap mindgate-system/site-policies, key site.yaml:1:"
    wait_for(lambda: all(place in each for each in readiness(reading)), "the fault to be seen by each replica", 60)
    assert "the site refuses it" in refusal(cluster), "the last good set stays in force"
    answer = cluster.run(PROGRAM, "doctor", "-o", "json", check=False)
    faults = [each["message"] for each in json.loads(answer.stdout)["findings"] if each["check"] == "policies"]
    assert len(faults) == 1 and faults[0].startswith(place), faults

    reading.cluster.kubectl("delete", "configmap", "site-policies")
    wait_for(lambda: refusal(cluster) == "", "the policy to be gone", 60)


def test_config_maps_of_others_are_not_read(cluster: Cluster, reading: Release) -> None:
    cluster.kubectl("create", "configmap", "site-policies", f"--from-literal=site.yaml={policy('false')}")
    cluster.kubectl("label", "configmap", "site-policies", LABEL)
    store(reading, policy("object.metadata.name != 'other'"))

    def in_force() -> bool:
        other = json.dumps(deployment("other"))
        answer = cluster.kubectl("create", "--dry-run=server", "-f", "-", input=other, check=False)
        return "the site refuses it" in answer.stderr

    wait_for(in_force, "the policy of mindgate's namespace to be in force", 60)
    assert refusal(cluster) == ""


def test_a_replica_that_may_not_list_them_is_not_ready(reading: Release) -> None:
    store(reading, policy("true"))
    role = reading.cluster.get("rolebinding", "mindgate-policies")
    reading.cluster.kubectl("delete", "rolebinding", "mindgate-policies")
    try:
        reading.cluster.kubectl("delete", "pod", reading.pod_names()[0])
        reason = "the ConfigMaps of namespace mindgate-system cannot be listed"
        wait_for(lambda: any(reason in reading.cluster.kubectl("logs", name).stdout for name in reading.pod_names()), "a log to have it")
        assert {condition(pod, "Ready") for pod in reading.pods()} == {"True", "False"}
    finally:
        kept = {key: role[key] for key in ("apiVersion", "kind", "roleRef", "subjects")}
        metadata = {key: role["metadata"][key] for key in ("name", "namespace", "labels", "annotations")}
        reading.cluster.kubectl("apply", "--filename", "-", input=json.dumps(kept | {"metadata": metadata}))
    reading.wait_ready()
