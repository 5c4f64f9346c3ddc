"""mindgate beside other webhooks: Volcano's own, and one that injects a sidecar before or after it."""

from __future__ import annotations

import base64
import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from e2e import HERE, Cluster, wait_for
from release import PROGRAM, Release, deployment
from test_gangs import await_running, plugin_reads, volcano_job

pytestmark = pytest.mark.full

ENVIRONMENT = {
    "name": "ASCEND_VISIBLE_DEVICES",
    "valueFrom": {
        "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.annotations['huawei.com/Ascend910']"}
    },
}


@pytest.fixture
def sidecar_injector(cluster: Cluster, tmp_path: pathlib.Path) -> Iterator[Callable[[str], None]]:
    """Registers it under a name: webhooks are called in the order of their configurations' names."""
    cluster.run(PROGRAM, "certs", "create", "--dir", tmp_path, "--ip", "127.0.0.1")
    # In the network of the API server, which calls it there.
    server = subprocess.Popen(
        [HERE / "cluster" / "control", "run", sys.executable, HERE / "sidecar_injector.py"]
        + [tmp_path / "tls.crt", tmp_path / "tls.key"],
        stdout=subprocess.PIPE,
        text=True,
        env=dict(os.environ, MINDGATE_E2E_DIR=str(cluster.folder)),
        start_new_session=True,
    )
    assert server.stdout
    port = int(server.stdout.readline())
    bundle = base64.b64encode((tmp_path / "ca.crt").read_bytes()).decode()
    names: list[str] = []

    def register(name: str) -> None:
        names.append(name)
        rule = {
            "apiGroups": ["apps"],
            "apiVersions": ["v1"],
            "resources": ["deployments"],
            "operations": ["CREATE"],
        }
        webhook = {
            "name": "sidecar.example.com",
            "clientConfig": {"url": f"https://127.0.0.1:{port}/", "caBundle": bundle},
            "rules": [rule],
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": cluster.namespace}},
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "failurePolicy": "Fail",
            "reinvocationPolicy": "IfNeeded",
        }
        configuration = {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "MutatingWebhookConfiguration",
            "metadata": {"name": name},
            "webhooks": [webhook],
        }
        cluster.create(configuration)

    yield register
    for name in names:
        cluster.kubectl("delete", "mutatingwebhookconfiguration", name)
    os.killpg(server.pid, 15)
    server.wait(10)


@pytest.mark.parametrize("name", ["a-sidecar", "z-sidecar"], ids=["before-ours", "after-ours"])
def test_sidecar_that_asks_for_npus_is_injected_too(
    cluster: Cluster, mindgate: Release, sidecar_injector: Callable[[str], None], name: str
) -> None:
    """What comes after us makes the API server call us again. Only one container of a pod may ask for NPUs."""
    sidecar_injector(name)
    sent = deployment("both", npus=1)
    # Without it we would not be called before the sidecar is there, and so not again.
    sent["metadata"]["labels"] = {"mindgate.io/inject": "enabled"}
    del sent["spec"]["template"]["spec"]["containers"][0]["resources"]

    def stored() -> dict[str, Any] | None:
        answer = cluster.kubectl("create", "--dry-run=server", "-o", "json", "-f", "-", input=json.dumps(sent))
        admitted = json.loads(answer.stdout)
        return admitted if len(admitted["spec"]["template"]["spec"]["containers"]) == 2 else None

    created = wait_for(stored, "the sidecar to be injected", 30)
    spec = created["spec"]["template"]["spec"]
    assert [(container["name"], container.get("env")) for container in spec["containers"]] == [
        ("worker", None),
        ("sidecar", [ENVIRONMENT]),
    ]
    # Once each: nothing is added twice by the second call.
    assert created["spec"]["template"]["metadata"]["labels"] == {
        "app": "both",
        "fault-scheduling": "force",
        "pod-rescheduling": "on",
    }


def test_volcano_job_with_volcanos_own_admission(cluster: Cluster, mindgate: Release) -> None:
    """It defaults queue and scheduler next to us; the job runs, and nothing was written twice."""
    cluster.control("volcano-admission", "on")
    try:
        sent = volcano_job("train")
        del sent["spec"]["queue"]

        def created() -> bool:
            answer = cluster.kubectl("create", "-f", "-", input=json.dumps(sent), check=False)
            return answer.returncode == 0

        wait_for(created, "Volcano's webhook to take a job", 90)
        stored = cluster.get("jobs.batch.volcano.sh", "train")
        assert stored["spec"]["queue"] == "default"
        assert stored["spec"]["schedulerName"] == "volcano"
        for pod in await_running(cluster, "volcano.sh/job-name=train", 2):
            read = plugin_reads(pod)
            assert read["scheduler"] == "volcano"
            [container] = pod["spec"]["containers"]
            assert [e for e in container["env"] if e["name"] == "ASCEND_VISIBLE_DEVICES"] == [ENVIRONMENT]
    finally:
        cluster.control("volcano-admission", "off")
