"""With mindgate nothing becomes impossible that was possible without it: manifests sent again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from e2e import Cluster, wait_for
from release import Release
from test_gangs import volcano_job

JOBS = "jobs.batch.volcano.sh"


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
    cluster.kubectl("replace", "-f", "-", input=json.dumps(job))
    replaced = cluster.get(JOBS, "train")
    assert replaced["metadata"]["labels"] == created["metadata"]["labels"]
    assert replaced["spec"] == created["spec"]
