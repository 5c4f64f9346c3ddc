"""With mindgate nothing becomes impossible that was possible without it: manifests sent again, and objects from before."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from controllers import storm_service
from e2e import Cluster, CommandFailed, wait_for
from release import Release, deployment, npu_container
from test_gangs import lws, volcano_job
from test_rollout import Phases

JOBS = "jobs.batch.volcano.sh"
WRONG = {"fault-scheduling": "sometimes"}  # MG050 denies it


@pytest.fixture
def volcano_admission(cluster: Cluster) -> Iterator[None]:
    """Volcano's own webhooks, which compare the whole spec of an updated job."""
    cluster.control("volcano-admission", "on")
    try:
        probe = json.dumps(volcano_job("probe"))
        wait_for(
            lambda: cluster.kubectl("create", "--dry-run=server", "-f", "-", input=probe, check=False).returncode == 0,
            "Volcano's webhook to take a job",
            90,
        )
        yield
    finally:
        cluster.control("volcano-admission", "off")


def complete_job() -> dict[str, Any]:
    """It names what Volcano's webhook would add to a task: without mindgate it can be applied again and again."""
    return volcano_job("train", minAvailable=2, maxRetry=3)


@pytest.mark.full
def test_a_volcano_job_is_applied_scaled_and_relabelled(cluster: Cluster, mindgate: Release, volcano_admission: None) -> None:
    job = complete_job()
    apply = ["apply", "-f", "-"]
    cluster.kubectl(*apply, input=json.dumps(job))
    created = cluster.get(JOBS, "train")
    [container] = created["spec"]["tasks"][0]["template"]["spec"]["containers"]
    assert [each["name"] for each in container["env"]] == ["ASCEND_VISIBLE_DEVICES"]
    cluster.kubectl(*apply, input=json.dumps(job))
    assert cluster.get(JOBS, "train")["spec"] == created["spec"]

    job["metadata"]["labels"] = {"team": "serving"}
    cluster.kubectl(*apply, input=json.dumps(job))
    relabelled = cluster.get(JOBS, "train")
    assert relabelled["metadata"]["labels"] == created["metadata"]["labels"] | {"team": "serving"}
    assert relabelled["spec"] == created["spec"]

    job["spec"]["tasks"][0]["replicas"] = 3
    cluster.kubectl(*apply, input=json.dumps(job))
    scaled = cluster.get(JOBS, "train")["spec"]
    assert scaled["tasks"][0] == created["spec"]["tasks"][0] | {"replicas": 3}


@pytest.mark.full
def test_a_replaced_volcano_job_keeps_its_labels(cluster: Cluster, mindgate: Release, volcano_admission: None) -> None:
    job = complete_job()
    cluster.create(job)
    created = cluster.get(JOBS, "train")
    job["spec"] = {key: value for key, value in created["spec"].items() if key != "tasks"} | {"tasks": job["spec"]["tasks"]}
    cluster.replace(job)
    replaced = cluster.get(JOBS, "train")
    assert replaced["metadata"]["labels"] == created["metadata"]["labels"]
    assert replaced["spec"] == created["spec"]


def wrong_objects() -> list[dict[str, Any]]:
    chat, pair = deployment("chat"), lws("pair")
    chat["spec"]["template"]["metadata"]["labels"] |= WRONG
    pair["spec"]["leaderWorkerTemplate"]["workerTemplate"]["metadata"] = {"labels": WRONG}
    tune = {
        "apiVersion": "mindxdl.gitee.com/v1",
        "kind": "AscendJob",
        "metadata": {"name": "tune", "labels": {"framework": "pytorch"} | WRONG},
        "spec": {"replicaSpecs": {"Worker": {"replicas": 1, "template": {"spec": {"containers": [npu_container("ascend")]}}}}},
    }
    return [chat, pair, storm_service("pd", {"prefill": (1, WRONG)}), tune]


@pytest.fixture
def from_before(cluster: Cluster, mindgate: Release) -> Iterator[Cluster]:
    """Objects that break an enforced rule since before the rule was enforced."""
    phases = Phases(mindgate)
    try:
        mindgate.install({"rolloutPhase": "observe"}, wait=False)
        phases.await_all("admitted", injects=False)
        cluster.create(wrong_objects())
        mindgate.install()
        phases.await_all("denied", injects=True)
        yield cluster
    finally:
        mindgate.install()


@pytest.mark.full
def test_objects_from_before_can_be_updated(from_before: Cluster) -> None:
    cluster = from_before
    for kind, name in (("deployment", "chat"), ("leaderworkerset", "pair"), ("stormservice", "pd")):
        answer = cluster.kubectl("annotate", f"{kind}/{name}", "team=serving")
        assert "MG050" in answer.stderr and "(it was so before this change)" in answer.stderr
        cluster.kubectl("patch", f"{kind}/{name}", "--type=merge", "-p", '{"spec":{"replicas":2}}')
        spec = cluster.get(kind, name)["spec"]
        assert spec["replicas"] == 2
        assert json.dumps(WRONG).strip("{}") in json.dumps(spec), "what is wrong is the author's to change"
    answer = cluster.kubectl("annotate", "ascendjob/tune", "team=serving")
    assert "MG050" in answer.stderr and "(it was so before this change)" in answer.stderr
    cluster.kubectl("rollout", "restart", "deployment/chat")

    # A mistake of the update itself is still denied.
    patch = json.dumps({"spec": {"template": {"metadata": {"labels": {"fault-scheduling": "never"}}}}})
    with pytest.raises(CommandFailed, match="denied the request"):
        cluster.kubectl("patch", "deployment/chat", "--type=merge", "-p", patch)
