"""Controllers that the cluster of these tests lacks: what AIBrix's and ascend-operator make of stored objects."""

from __future__ import annotations

import json
from typing import Any

from e2e import Cluster
from release import npu_container

# As whom they act.
AIBRIX = "system:serviceaccount:aibrix-system:aibrix-controller-manager"
ASCEND_OPERATOR = "system:serviceaccount:mindx-dl:ascend-operator-manager"


def owned_by(owner: dict[str, Any]) -> list[dict[str, Any]]:
    reference = {key: owner[key] for key in ("apiVersion", "kind")}
    return [reference | {key: owner["metadata"][key] for key in ("name", "uid")} | {"controller": True}]


def pod(name: str, template: dict[str, Any], owner: dict[str, Any], **more: dict[str, str]) -> dict[str, Any]:
    """A pod of a stored template; `more` labels and annotations."""
    metadata = template.get("metadata", {})
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "labels": metadata.get("labels", {}) | more.get("labels", {}),
            "annotations": metadata.get("annotations", {}) | more.get("annotations", {}),
            "ownerReferences": owned_by(owner),
        },
        "spec": template["spec"],
    }


def storm_service(name: str, roles: dict[str, tuple[int, dict[str, str]]]) -> dict[str, Any]:
    """Roles by name: how many replicas of one pod each, and the labels of their pods."""

    def role(role_name: str, replicas: int, labels: dict[str, str]) -> dict[str, Any]:
        template = {"metadata": {"labels": labels}, "spec": {"containers": [npu_container()]}}
        return {"name": role_name, "replicas": replicas, "stateful": True, "podGroupSize": 1, "template": template}

    listed = [role(role_name, replicas, labels) for role_name, (replicas, labels) in roles.items()]
    return {
        "apiVersion": "orchestration.aibrix.ai/v1alpha1",
        "kind": "StormService",
        "metadata": {"name": name},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": {"roles": listed}},
        },
    }


def role_set(stored: dict[str, Any]) -> dict[str, Any]:
    """What AIBrix's controller makes of a stored StormService."""
    return {
        "apiVersion": stored["apiVersion"],
        "kind": "RoleSet",
        "metadata": {"name": stored["metadata"]["name"] + "-0", "ownerReferences": owned_by(stored)},
        "spec": stored["spec"]["template"]["spec"],
    }


def pods_of_roles(roles: dict[str, Any]) -> list[dict[str, Any]]:
    """And what it makes of the stored RoleSet: pods of the templates, all of one owner and so of one PodGroup."""
    return [
        pod(
            f"{roles['metadata']['name']}-{role['name']}-{index}",
            role["template"],
            roles,
            labels={"role-name": role["name"]},
        )
        for role in roles["spec"]["roles"]
        for index in range(role["replicas"])
    ]


def operate(cluster: Cluster, name: str) -> None:
    """What ascend-operator does about a stored AscendJob: its PodGroup, and the pods that it lacks."""
    job = cluster.get("ascendjob", name)
    group = {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": f"{name}-pg", "labels": job["metadata"]["labels"], "ownerReferences": owned_by(job)},
        "spec": {"minMember": job["spec"]["runPolicy"]["schedulingPolicy"]["minAvailable"], "queue": "default"},
    }
    cluster.kubectl("apply", "--filename", "-", input=json.dumps(group))
    there = {each["metadata"]["name"] for each in cluster.items("pods")}
    for kind, spec in job["spec"]["replicaSpecs"].items():
        for index in range(spec["replicas"]):
            made = pod(
                f"{name}-{kind.lower()}-{index}",
                spec["template"],
                job,
                annotations={"scheduling.k8s.io/group-name": f"{name}-pg"},
            )
            made["spec"] = made["spec"] | {"schedulerName": "volcano"}
            if made["metadata"]["name"] not in there:
                cluster.create(made, ASCEND_OPERATOR)
