"""What a real API server answers to the expressions of tests/oracle/cel, which tests/cel/api_server_test.cc compares with ours."""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Iterator
from typing import Any

from e2e import Cluster, wait_for
from load import ApiServer

ORACLE = pathlib.Path(__file__).resolve().parent.parent / "oracle" / "cel"
ANSWERS = ORACLE / "api_server_answers.json"
POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
CASE = "example.com/cel-case"
# What a policy of Kubernetes has no place for: variables and functions of the case's own, messages of protobuf.
BESIDE = {"bindings", "type_env", "container", "disable_check", "check_only"}
MESSAGES = ("google.protobuf", "TestAllTypes", "cel.expr.conformance", "enum_value", "object_value")


def expressions() -> list[str]:
    found = dict.fromkeys(each for group in json.loads((ORACLE / "kubernetes.json").read_text()).values() for each in group)
    for file in sorted(ORACLE.glob("*.json")):
        for section in json.loads(file.read_text()).get("section", []) if file not in (ANSWERS, ORACLE / "kubernetes.json") else []:
            for case in section.get("test", []):
                text = json.dumps({key: value for key, value in case.items() if key != "description"})
                if not BESIDE & set(case) and not any(word in text for word in MESSAGES) and "cel.block" not in text:
                    found[case["expr"]] = None
    return list(found)


def subject(case: str = "none") -> dict[str, Any]:
    """A Deployment that has what expressions ask for."""
    main = {
        "name": "main",
        "image": "quay.io/ascend/vllm-ascend:v0.9.1",
        "ports": [{"containerPort": 8000}],
        "env": [{"name": "MODEL", "value": "qwen"}, {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}],
        "resources": {"limits": {"huawei.com/Ascend910": "8"}, "requests": {"huawei.com/Ascend910": "8", "memory": "64Gi"}},
    }
    template = {"metadata": {"labels": {"app": "chat"}}, "spec": {"containers": [main, {"name": "exporter", "image": "exporter:1"}]}}
    labels = {"app": "chat", "fault-scheduling": "force", CASE: case}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "chat", "labels": labels},
        "spec": {"replicas": 4, "selector": {"matchLabels": {"app": "chat"}}, "template": template},
    }


# How a value becomes a text: the second way also writes lists and maps, which `string` does not take.
WAYS = {"string": "string(%s)", "format": "'%%s'.format([%s])"}


def policy(name: str, expression: str, way: str) -> dict[str, Any]:
    """Denies the object of that name with the expression's value."""
    rule = {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["deployments"]}
    written = f"'[' + {WAYS[way] % expression}.replace('\\n', '<line break>') + ']'"
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name, "labels": {CASE: "policy"}},
        "spec": {
            "matchConstraints": {"resourceRules": [rule], "objectSelector": {"matchLabels": {CASE: name}}},
            "validations": [{"expression": "false", "messageExpression": written}],
        },
    }


def binding(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name, "labels": {CASE: "policy"}},
        "spec": {"policyName": name, "validationActions": ["Deny"]},
    }


def answers(cluster: Cluster, server: ApiServer, texts: list[str]) -> Iterator[dict[str, Any]]:
    """For each: that it is refused, that it fails, or its value as a text and how it became one."""
    deployments = f"/apis/apps/v1/namespaces/{cluster.namespace}/deployments?dryRun=All"
    taken: list[tuple[str, str]] = []
    ways: dict[str, str] = {}
    for number, text in enumerate(texts):
        name = f"cel-{number:04}"
        for way in WAYS:
            status, answer = server.call("POST", POLICIES, policy(name, text, way))
            if status != 422:
                break
        if status == 422:
            continue
        assert status == 201, answer
        ways[text] = way
        status, answer = server.call("POST", BINDINGS, binding(name))
        assert status == 201, answer
        taken.append((name, text))
    messages: dict[str, str] = {}

    def ask(name: str, text: str) -> bool:
        status, answer = server.call("POST", deployments, subject(name))
        if status == 201:  # the policy is not in force yet
            return False
        _, found, messages[text] = answer["message"].partition(" denied request: ")
        assert found, answer
        return True

    for name, text in taken:
        if not ask(name, text):
            wait_for(lambda name=name, text=text: ask(name, text), f"policy {name}", 120)
    for text in texts:
        if text not in ways:
            yield {"expression": text, "refused": True}
        elif messages[text] == "failed expression: false":
            yield {"expression": text, "as": ways[text], "fails": True}
        else:
            assert messages[text].startswith("[") and messages[text].endswith("]"), messages[text]
            yield {"expression": text, "as": ways[text], "value": messages[text][1:-1]}


def test_the_api_server_answers_as_recorded(cluster: Cluster, without_type_checks: None) -> None:
    server = ApiServer(cluster)
    texts = expressions()
    # Nothing denies this one: it comes back with the defaults that expressions see.
    status, stored = server.call("POST", f"/apis/apps/v1/namespaces/{cluster.namespace}/deployments?dryRun=All", subject())
    assert status == 201, stored
    for volatile in ("uid", "creationTimestamp", "managedFields", "namespace", "generation"):
        stored["metadata"].pop(volatile, None)
    try:
        found = list(answers(cluster, server, texts))
    finally:
        for path in (BINDINGS, POLICIES):
            server.call("DELETE", f"{path}?labelSelector={CASE}", {"propagationPolicy": "Background"})
    if os.environ.get("MINDGATE_REWRITE"):
        rows = ",\n".join(json.dumps(each, ensure_ascii=False) for each in found)
        ANSWERS.write_text(
            f'{{"kubernetes": "{cluster.kubernetes}",\n"object": {json.dumps(stored)},\n"answers": [\n{rows}\n]}}\n'
        )
    recorded = json.loads(ANSWERS.read_text())
    # Later versions know more functions; what both know has one value.
    known = {each["expression"]: each for each in recorded["answers"]}
    same_version = recorded["kubernetes"] == cluster.kubernetes
    differing = [
        (each, known[each["expression"]])
        for each in found
        if each != known[each["expression"]] and (same_version or not each.get("refused") and not known[each["expression"]].get("refused"))
    ]
    assert differing == []
    assert len(found) == len(known)
