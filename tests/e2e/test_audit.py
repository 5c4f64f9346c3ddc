"""`mindgate audit` on workloads of every framework that were there before mindgate, half of them wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from e2e import OPEN_REPORT_CRDS, Cluster, wait_for
from release import PROGRAM, Release
from workloads import MAKERS, dashed

pytestmark = pytest.mark.full
WRONG = {"fault-scheduling": "sometimes"}  # MG050 denies it
RIGHT = {"fault-scheduling": "force"}


def workloads() -> list[dict[str, Any]]:
    made = []
    for maker in MAKERS:
        name = dashed(maker)
        made += [maker(f"{name}-right", RIGHT), maker(f"{name}-wrong", WRONG)]
    return made


@pytest.fixture
def before_mindgate(cluster: Cluster, installation: Release) -> Iterator[Cluster]:
    """A cluster that runs without mindgate."""
    installation.uninstall()
    try:
        cluster.create(workloads())
        yield cluster
    finally:
        installation.install()


def audit(cluster: Cluster, *arguments: str) -> dict[str, Any]:
    done = cluster.run(PROGRAM, "audit", "-n", cluster.namespace, "-o", "json", *arguments, check=False)
    assert done.returncode == 1, done.stderr
    return json.loads(done.stdout)


def evaluated(audited: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """The workloads by kind and name, without what changes while their pods start: pods, NPUs, what a death does, and the order."""
    lasting = ("namespace", "framework", "outcome", "findings")
    return {(each["kind"], each["name"]): {key: each[key] for key in lasting} for each in audited["workloads"]}


def test_workloads_from_before_mindgate(before_mindgate: Cluster) -> None:
    cluster = before_mindgate
    wait_for(lambda: len(cluster.items("pods", "-l", "app=chat-right", "--field-selector", "status.phase=Running")) == 1, "a pod")
    audited = audit(cluster)
    assert audited["unread"] == []
    outcomes = {(each["kind"], each["name"]): each["outcome"] for each in audited["workloads"]}
    want = {}
    for each in workloads():
        name = each["metadata"]["name"]
        want[each["kind"], name] = "denied" if name.endswith("-wrong") else "admitted"
    assert outcomes == want
    for each in audited["workloads"]:
        denied = {finding["rule"] for finding in each["findings"] if finding["level"] == "denied"}
        assert denied == ({"MG050"} if each["outcome"] == "denied" else set()), each
    # What runs has a place to lose.
    [running] = [each for each in audited["workloads"] if each["name"] == "chat-right"]
    assert running["pods"] == 1
    assert running["npus"] == 1
    assert running["nodeDies"]["recovery"] in {"recovers", "hangs"}
    of_lws = {key: each for key, each in evaluated(audited).items() if key[0] == "LeaderWorkerSet"}
    assert evaluated(audit(cluster, "lws")) == of_lws
    # The CRD of PolicyReports takes what is written, and keeps all of it.
    reports = cluster.run(PROGRAM, "audit", "-n", cluster.namespace, "-o", "policyreport", check=False).stdout
    cluster.kubectl("apply", "--validate=strict", "-f", "-", input=reports)
    stored = cluster.get("policyreports.wgpolicyk8s.io", "mindgate-audit")
    denials = [finding for each in audited["workloads"] for finding in each["findings"] if finding["level"] == "denied"]
    assert stored["summary"]["fail"] == len(denials)
    failed = [result for result in stored["results"] if result["result"] == "fail"]
    assert {result["resources"][0]["name"] for result in failed} == {name for _, name in want if name.endswith("-wrong")}
    # A snapshot of the same cluster gives the same answer.
    snapshot = cluster.run(PROGRAM, "snapshot", "--workloads").stdout
    of_snapshot = cluster.run(
        PROGRAM, "audit", "-n", cluster.namespace, "-o", "json", "--snapshot", "-", input=snapshot, check=False
    )
    assert of_snapshot.returncode == 1, of_snapshot.stderr
    assert evaluated(json.loads(of_snapshot.stdout)) == evaluated(audited)


def test_who_has_rights_in_one_namespace(before_mindgate: Cluster) -> None:
    cluster = before_mindgate
    cluster.kubectl("create", "rolebinding", "auditor", "--clusterrole=view", "--user=auditor")
    done = cluster.run(PROGRAM, "audit", "-n", cluster.namespace, "-o", "json", "--as", "auditor", check=False)
    assert done.returncode == 1, done.stderr
    audited = json.loads(done.stdout)
    native = {"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Pod"}
    denied = {each["kind"] for each in audited["workloads"] if each["outcome"] == "denied"}
    assert native <= denied
    assert audited["lossesSupposed"] is False
    unread = "\n".join(audited["unread"])
    for what in ("what the death of a card or a node does: ", "namespaces: ", "ascendjobs.mindxdl.gitee.com: "):
        assert what in unread
        assert f"Warning: not audited: {what}" in done.stderr


POLICY_REPORTS = "policyreports.wgpolicyk8s.io"
OPEN_REPORTS = "reports.openreports.io"


def reported(cluster: Cluster, resource: str) -> dict[tuple[str, str], set[str]]:
    """The rules that each report denies, by the workload that it is about and that owns it."""
    found = {}
    for report in cluster.items(resource, "-l", "app.kubernetes.io/managed-by=mindgate"):
        [owner] = report["metadata"]["ownerReferences"]
        assert owner["uid"] == report["scope"]["uid"]
        failed = {result["rule"] for result in report["results"] if result["result"] == "fail"}
        found[owner["kind"], owner["name"]] = failed
    return found


def test_the_watcher_keeps_reports(before_mindgate: Cluster, installation: Release) -> None:
    cluster = before_mindgate
    installation.install({"config": {"audit": {"mode": "on"}}})
    installation.wait_ready()
    wrong = {key for key, each in evaluated(audit(cluster)).items() if each["outcome"] == "denied"}
    assert len(wrong) > 10

    def denied(resource: str) -> set[tuple[str, str]]:
        return {key for key, rules in reported(cluster, resource).items() if rules}

    wait_for(lambda: denied(POLICY_REPORTS) == wrong, "a report for each wrong workload", 180)
    # It may read all that it has to, here and in the other namespaces, which it audits one after the other.
    read_whole = 'mindgate_audit_namespaces{read="all"}'
    wait_for(lambda: installation.watcher_series("mindgate_audit_").get(read_whole, 0) > 1, "an audit of another namespace", 180)
    series = installation.watcher_series("mindgate_audit_")
    assert series['mindgate_audit_namespaces{read="in-part"}'] == 0
    assert series['mindgate_audit_findings{rule="MG050",framework="deployment",level="denied"}'] >= 1
    # What is put right has no report any more, and what is deleted takes its report along.
    cluster.kubectl("patch", "deployment", "chat-wrong", "--type=merge", "-p", TEMPLATE_RIGHT)
    cluster.kubectl("delete", "statefulset", "stateful-set-wrong")
    gone = {("Deployment", "chat-wrong"), ("StatefulSet", "stateful-set-wrong")}
    assert gone < wrong
    wait_for(lambda: denied(POLICY_REPORTS) == wrong - gone, "two reports to go", 180)
    # Where there are OpenReports, they take over.
    cluster.kubectl("apply", "--server-side", "--filename", OPEN_REPORT_CRDS)
    try:
        cluster.kubectl("label", "deployment", "chat-wrong", "audited=again")
        wait_for(lambda: denied(OPEN_REPORTS) == wrong - gone, "OpenReports", 180)
        wait_for(lambda: reported(cluster, POLICY_REPORTS) == {}, "the PolicyReports to go", 180)
    finally:
        cluster.kubectl("delete", "--filename", OPEN_REPORT_CRDS)


TEMPLATE_RIGHT = json.dumps({"spec": {"template": {"metadata": {"labels": RIGHT}}}})
