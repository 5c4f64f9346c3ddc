"""What a tenant cannot get past the rules by naming an owner. Who is asked about what, test_registration.py has."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from controllers import owned_by
from e2e import Cluster, wait_for
from release import Release, deployment

Object = dict[str, Any]


@pytest.fixture
def tenant(cluster: Cluster) -> Iterator[str]:
    """A ServiceAccount that may do everything in its namespace that the role `edit` allows, and nothing elsewhere."""
    cluster.kubectl("create", "serviceaccount", "tenant")
    cluster.kubectl(
        "create", "rolebinding", "tenant", "--clusterrole=edit", f"--serviceaccount={cluster.namespace}:tenant"
    )
    user = f"system:serviceaccount:{cluster.namespace}:tenant"
    wait_for(
        lambda: cluster.kubectl("auth", "can-i", "create", "replicasets.apps", "--as", user).stdout.strip() == "yes",
        "the tenant's rights",
    )
    yield user


def of_kind(kind: str, owner: Object | None, cores: int = 3) -> Object:
    """An object that asks for slices of a chip, by default in a size that there is not; the owner, as its controller."""
    made = deployment("bypass", replicas=0) | {"kind": kind}
    template = made["spec"]["template"]
    template["metadata"]["labels"]["ring-controller.atlas"] = "ascend-910"
    amounts = {"huawei.com/npu-core": str(cores)}
    template["spec"]["containers"][0]["resources"] = {"limits": amounts, "requests": amounts}
    if kind == "Pod":
        made = template | {"apiVersion": "v1", "kind": "Pod"}
        made["metadata"]["name"] = "bypass"
    if owner:
        made["metadata"]["ownerReferences"] = owned_by(owner)
    return made


def empty(kind: str) -> Object:
    """What its author may create at will: it asks for no NPUs, and makes nothing."""
    made = deployment("owner", replicas=0)
    made["spec"]["template"]["spec"]["containers"] = [{"name": "main", "image": "example/none"}]
    return made | {"kind": kind}


@pytest.mark.parametrize(
    ("kind", "owner"),
    [
        ("ReplicaSet", None),
        ("ReplicaSet", "Deployment"),
        ("Deployment", "Deployment"),
        ("StatefulSet", "ReplicaSet"),
        ("Pod", "ReplicaSet"),
        ("Pod", "StatefulSet"),
        ("Pod", "Deployment"),
    ],
)
def test_an_owner_reference_keeps_no_rule_away(
    cluster: Cluster, mindgate: Release, tenant: str, kind: str, owner: str | None
) -> None:
    stored = None
    if owner:
        cluster.kubectl("create", "--as", tenant, "-f", "-", input=json.dumps(empty(owner)))
        stored = cluster.get(owner, "owner")
    sent = json.dumps(of_kind(kind, stored))
    answer = cluster.kubectl("create", "--as", tenant, "-f", "-", input=sent, check=False)
    assert answer.returncode != 0
    assert "denied the request" in answer.stderr and "MG107" in answer.stderr


def test_a_replica_set_that_is_right_is_injected(cluster: Cluster, mindgate: Release, tenant: str) -> None:
    cluster.kubectl("create", "--as", tenant, "-f", "-", input=json.dumps(of_kind("ReplicaSet", None, cores=8)))
    template = cluster.get("replicaset", "bypass")["spec"]["template"]
    assert template["spec"]["schedulerName"] == "volcano"
    assert template["metadata"]["labels"]["fault-scheduling"] == "force"


def test_a_replica_set_of_another_is_evaluated_and_left_as_it_is(cluster: Cluster, mindgate: Release, tenant: str) -> None:
    cluster.kubectl("create", "--as", tenant, "-f", "-", input=json.dumps(empty("Deployment")))
    sent = of_kind("ReplicaSet", cluster.get("deployment", "owner"), cores=8)
    # So that the deployment controller does not take it for its own.
    answer = cluster.kubectl(
        "create", "--as", tenant, "--dry-run=server", "-o", "json", "-f", "-", input=json.dumps(sent)
    )
    assert json.loads(answer.stdout)["spec"]["template"]["metadata"]["labels"] == sent["spec"]["template"]["metadata"]["labels"]
