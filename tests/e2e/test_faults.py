"""`mindgate status --faults` on objects that Volcano made; what MindCluster's components report is written by the test."""

from __future__ import annotations

import json
from typing import Any

import pytest
from e2e import Cluster, wait_for
from release import PROGRAM, Release
from test_cluster import NPU_NODES, running_on, volcano_job

pytestmark = pytest.mark.full
OF_THE_JOB = "volcano.sh/job-name=train"


def report_of(node: str, chip: str) -> dict[str, Any]:
    fault = {"npu_name": chip, "fault_level": "RestartNPU", "fault_code": "80E18005"}
    devices = {"huawei.com/Ascend910-Unhealthy": chip, "huawei.com/Ascend910-Fault": json.dumps([fault])}
    entry = {f"mindx-dl-deviceinfo-{node}": {"DeviceList": devices, "UpdateTime": 1767225601}}
    name = "cluster-info-device-0"
    metadata = {"name": name, "labels": {"mx-consumer-volcano": "true"}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {name: json.dumps(entry)}}


def test_a_faulty_chip_and_the_job_on_it(cluster: Cluster, installation: Release) -> None:
    job = volcano_job(4, queue="default")
    labels = {"fault-scheduling": "grace", "pod-rescheduling": "on"}
    job["metadata"]["labels"] = labels
    job["spec"]["tasks"][0]["template"]["metadata"] = {"labels": labels}
    cluster.create(job)
    wait_for(lambda: running_on(cluster, OF_THE_JOB) == sorted(NPU_NODES), "a pod on each NPU node")
    pods = {pod["spec"]["nodeName"]: pod for pod in cluster.items("pods", "-l", OF_THE_JOB)}
    for rank, (_, pod) in enumerate(sorted(pods.items())):
        # As the device plugin and the scheduler do.
        cluster.kubectl(
            "annotate", "pod", pod["metadata"]["name"], "huawei.com/AscendReal=Ascend910-3", f"hccl/rankIndex={rank}"
        )
    cluster.kubectl("create", "namespace", "mindx-dl")
    try:
        cluster.kubectl("create", "-n", "mindx-dl", "-f", "-", input=json.dumps(report_of("npu-2", "Ascend910-3")))
        reported = json.loads(cluster.run(PROGRAM, "status", "--faults", "-o", "json").stdout)
        # With the watcher's rights, as the runbooks begin.
        inside = ("exec", "deployment/mindgate-watcher", "--", "mindgate", "status")
        assert "mode:   unknown" not in installation.cluster.kubectl(*inside, "-A").stdout
        asked = json.loads(installation.cluster.kubectl(*inside, "--faults", "-o", "json").stdout)
        # By default the watcher says what it would do, and does nothing.
        wait_for(lambda: "WouldRestart" in {event["reason"] for event in cluster.items("events.events.k8s.io")}, "the Event")
        assert running_on(cluster, OF_THE_JOB) == sorted(NPU_NODES)
        decisions = json.loads(cluster.run(PROGRAM, "status", "--faults", "-o", "json").stdout)["decisions"]
        assert "WouldRestart" in {each["decision"] for each in decisions if each["namespace"] == cluster.namespace}
    finally:
        cluster.kubectl("delete", "namespace", "mindx-dl")
    name = pods["npu-2"]["metadata"]["name"]
    group = pods["npu-2"]["metadata"]["annotations"]["scheduling.k8s.io/group-name"]
    faulty = [{"namespace": cluster.namespace, "name": name, "podGroup": group}]
    part = {"part": "Ascend910-3", "state": "RestartNPU", "codes": ["80E18005"], "since": None, "faultyPods": faulty}
    assert reported["problems"] == []
    assert (asked["nodes"], asked["jobs"]) == (reported["nodes"], reported["jobs"])
    assert reported["nodes"] == [{"node": "npu-2", "parts": [part]}]
    assert reported["jobs"] == [
        {
            "namespace": cluster.namespace,
            "podGroup": group,
            "pods": 4,
            "fault": "CardUnhealthy",
            "step": "evict",
            "of": [name],
            "why": "fault-scheduling is grace",
            "by": "plugin",
            "withinSeconds": 0,
            "later": "",
            "pluginRestarted": None,
        }
    ]
