"""One-click applications on the real API server, with the real CRDs of each framework. No controller of them runs: what is
deployed is what `mindgate deploy` wrote, and the store of OME is the only thing that gets ready by itself.
"""

from __future__ import annotations

import contextlib
import json
import pathlib
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from controllers import operate
from e2e import Cluster, wait_for
from release import PROGRAM, Release

pytestmark = pytest.mark.full

FRAMEWORKS = ["ome", "aibrix", "mindie"]
# The kind that makes the pods, and the key that says how many instances there are.
MAIN = {"ome": "inferenceservice", "aibrix": "stormservice", "mindie": "ascendjob"}
MORE = {
    "ome": ("min_replicas: 1                # instances", "min_replicas: 2"),
    "aibrix": ("replicas: 2                    # instances", "replicas: 3"),
    "mindie": ("instances: 2                   # one", "instances: 3                   # one"),
}
BOOT = ["boot-bash-script", "python-script-get-group-id", "python-script-update-server-conf"]
SETTINGS = ["common-env", "mindie-http-client-ctl-config", "mindie-ms-controller-config"]
MINDIE = [*BOOT, *SETTINGS, "mindie-ms-coordinator-config", "mindie-server-config"]


def runner() -> dict[str, Any]:
    return {"runner": {"name": "ome-container", "image": "example/sglang", "resources": {"limits": {"huawei.com/Ascend910": "8"}}}}


def needed(framework: str) -> list[dict[str, Any]]:
    """What an application of the framework finds on its cluster."""
    if framework == "mindie":
        return [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}} for name in MINDIE]
    if framework == "aibrix":
        return []
    model = {"vendor": "meta", "modelFormat": {"name": "safetensors"}, "storage": {"storageUri": "hf://example/model"}}
    spec = {
        "supportedModelFormats": [{"modelFormat": {"name": "safetensors"}, "modelFramework": {"name": "transformers"}}],
        "engineConfig": runner(),
        "decoderConfig": runner(),
        "routerConfig": {"runner": {"name": "router", "image": "example/router"}},
    }
    return [
        {"apiVersion": "ome.io/v1beta1", "kind": "BaseModel", "metadata": {"name": "llama-3-1-8b-instruct"}, "spec": model},
        {"apiVersion": "ome.io/v1beta1", "kind": "ServingRuntime", "metadata": {"name": "llama-3-1-8b-rt"}, "spec": spec},
    ]


def starter(cluster: Cluster, framework: str, app: str = "chat") -> str:
    text = cluster.run(PROGRAM, "deploy", "--init", framework).stdout
    return text.replace("app_name: chat ", f"app_name: {app} ").replace("app_namespace: default ", f"app_namespace: {cluster.namespace} ")


def deploy(cluster: Cluster, config: str, *arguments: object, check: bool = True) -> subprocess.CompletedProcess[str]:
    return cluster.run(PROGRAM, "deploy", "-f", "-", *arguments, input=config, check=check)


def objects(cluster: Cluster, app: str = "chat") -> dict[str, str]:
    """Kind and name of what carries the application's label, with the resourceVersion."""
    kinds = "services,configmaps,deployments,inferenceservices,stormservices,ascendjobs"
    found = cluster.items(kinds, "--selector", f"app.kubernetes.io/instance={app},app.kubernetes.io/managed-by=mindgate-deploy")
    return {f"{each['kind']} {each['metadata']['name']}": each["metadata"]["resourceVersion"] for each in found}


def status(cluster: Cluster, app: str = "chat") -> dict[str, Any]:
    answer = cluster.run(PROGRAM, "status", app, "-n", cluster.namespace, "-o", "json", check=False)
    assert answer.returncode in (0, 1), answer.stderr
    return json.loads(answer.stdout)


def delete(cluster: Cluster, app: str = "chat") -> str:
    # A run that was killed holds the application for a minute.
    command = (PROGRAM, "delete", app, "-n", cluster.namespace, "--yes", "--timeout", "60s", "--wait-for-lock", "2m")
    return cluster.run(*command).stdout


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_from_the_first_deployment_to_the_end(cluster: Cluster, mindgate: Release, framework: str) -> None:
    if needed(framework):
        cluster.create(needed(framework))
    config = starter(cluster, framework)
    deploy(cluster, config)
    made = objects(cluster)
    rendered = [each for each in yaml.safe_load_all(deploy(cluster, config, "--dry-run").stdout) if each]
    assert set(made) == {f"{each['kind']} {each['metadata']['name']}" for each in rendered if each["kind"] != "PriorityClass"}

    again = deploy(cluster, config)
    assert "nothing was changed" in again.stdout
    assert deploy(cluster, config, "--diff").stdout == ""
    answer = status(cluster)
    assert (answer["framework"], answer["verdict"]) == (framework, "Progressing")

    before, after = MORE[framework]
    assert before in config
    larger = config.replace(before, after, 1)
    different = deploy(cluster, larger, "--diff", check=False)
    assert different.returncode == 1 and different.stdout
    deploy(cluster, larger)
    assert "nothing was changed" in deploy(cluster, larger).stdout
    deploy(cluster, config)
    assert set(objects(cluster)) == set(made), "what the smaller one does not need is gone"

    assert "deleted" in delete(cluster)
    assert objects(cluster) == {}
    delete(cluster)  # twice is fine
    left = {each["metadata"]["name"] for each in cluster.items("configmaps")}
    assert set(MINDIE) <= left if framework == "mindie" else True


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_what_is_not_ready_in_time_is_rolled_back(cluster: Cluster, mindgate: Release, framework: str) -> None:
    """Of a new application nothing is left, and one that ran before is as it was."""
    if needed(framework):
        cluster.create(needed(framework))
    config = starter(cluster, framework)
    failed = deploy(cluster, config, "--atomic", "--timeout", "20s", check=False)
    assert failed.returncode == 5, failed.stderr
    wait_for(lambda: objects(cluster) == {}, "what was made to go")

    deploy(cluster, config)
    made = set(objects(cluster))
    before, after = MORE[framework]
    failed = deploy(cluster, config.replace(before, after, 1), "--atomic", "--timeout", "5s", check=False)
    assert failed.returncode == 5, failed.stderr
    wait_for(lambda: set(objects(cluster)) == made, "the objects of before")
    # The API server may have put variables into another order.
    different = deploy(cluster, config, "--diff", check=False).stdout.splitlines()
    assert not [line for line in different if line[:1] in "+-" and "eplicas:" in line]
    deploy(cluster, config)
    delete(cluster)


def test_a_deployment_that_was_killed(cluster: Cluster, mindgate: Release, tmp_path: pathlib.Path) -> None:
    """After the first object, with no time for anything. The next run goes on."""
    config = starter(cluster, "aibrix")
    file = tmp_path / "chat.yaml"
    file.write_text(config)
    output = tmp_path / "output"
    with cluster.start(PROGRAM, "deploy", "-f", file, output=output) as process:
        wait_for(lambda: "created" in output.read_text() or process.poll() is not None, "the first object", every=0.001)
        process.kill()
    refused = deploy(cluster, config, check=False)
    assert refused.returncode == 4 and "is being changed by" in refused.stderr, refused.stderr
    deploy(cluster, config, "--wait-for-lock", "2m")
    assert "nothing was changed" in deploy(cluster, config).stdout
    delete(cluster)
    assert objects(cluster) == {}


def test_a_killed_deployment_is_deleted(cluster: Cluster, mindgate: Release, tmp_path: pathlib.Path) -> None:
    """Nothing has to be deployed whole before it can be deleted."""
    cluster.create(needed("mindie"))
    file = tmp_path / "chat.yaml"
    file.write_text(starter(cluster, "mindie"))
    output = tmp_path / "output"
    with cluster.start(PROGRAM, "deploy", "-f", file, output=output) as process:
        wait_for(lambda: "created" in output.read_text() or process.poll() is not None, "the first object", every=0.001)
        process.kill()
    delete(cluster)
    assert objects(cluster) == {}


def test_it_waits_until_every_pod_is_ready(cluster: Cluster, mindgate: Release, tmp_path: pathlib.Path) -> None:
    """The test is ascend-operator; Volcano places the pods, and kwok runs them."""
    cluster.create(needed("mindie"))
    file = tmp_path / "chat.yaml"
    file.write_text(starter(cluster, "mindie"))
    output = tmp_path / "output"
    with cluster.start(PROGRAM, "deploy", "-f", file, "--wait", "--timeout", "5m", output=output) as process:
        jobs = wait_for(
            lambda: [job["metadata"]["name"] for job in cluster.items("ascendjobs")] if len(cluster.items("ascendjobs")) == 5 else [],
            "the jobs",
        )
        assert status(cluster)["verdict"] == "Progressing"
        for name in jobs:
            operate(cluster, name)
        wait_for(lambda: process.poll() is not None, "the deployment to end")
    assert process.returncode == 0, output.read_text()
    assert "\r" not in output.read_text(), "a file is no terminal"
    answer = cluster.run(PROGRAM, "status", "chat", "-n", cluster.namespace, "-o", "json")
    assert json.loads(answer.stdout)["verdict"] == "Healthy"


def test_two_side_by_side(cluster: Cluster, mindgate: Release) -> None:
    deploy(cluster, starter(cluster, "aibrix"))
    cluster.create(needed("mindie"))
    deploy(cluster, starter(cluster, "mindie", "other"))
    others = objects(cluster, "other")
    assert status(cluster)["framework"] == "aibrix" and status(cluster, "other")["framework"] == "mindie"
    delete(cluster)
    assert objects(cluster) == {} and objects(cluster, "other") == others
    delete(cluster, "other")


def test_without_rights_nothing_is_written(cluster: Cluster, mindgate: Release) -> None:
    refused = deploy(cluster, starter(cluster, "aibrix"), "--as", "nobody", check=False)
    assert refused.returncode == 4, refused.stderr
    assert "forbidden" in refused.stderr.lower()
    assert objects(cluster) == {}


def test_an_object_of_somebody_else(cluster: Cluster, mindgate: Release) -> None:
    """It is neither taken over nor deleted."""
    cluster.create(
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "chat-router"}, "spec": {"ports": [{"port": 1}]}}
    )
    refused = deploy(cluster, starter(cluster, "aibrix"), check=False)
    assert refused.returncode == 4 and "chat-router" in refused.stderr
    assert objects(cluster) == {}
    delete(cluster)
    assert cluster.get("service", "chat-router")["spec"]["ports"][0]["port"] == 1


def test_an_application_that_does_not_fit(cluster: Cluster, mindgate: Release) -> None:
    """No node has 16 NPUs."""
    config = starter(cluster, "aibrix").replace("npu_num: 8 ", "npu_num: 16 ").replace("dp_size: 2 ", "dp_size: 4 ")
    refused = deploy(cluster, config, check=False)
    assert refused.returncode == 4, refused.stderr
    assert "16 huawei.com/Ascend910" in refused.stderr
    assert objects(cluster) == {}


@contextlib.contextmanager
def refusing(cluster: Cluster, names: list[str]) -> Iterator[None]:
    """A policy of the cluster that refuses these objects when they are written, and not in a dry run."""
    policy = f"refuse-{cluster.namespace}"
    probe = "policy-probe"
    metadata = {"name": policy}
    rules = {
        "": ["configmaps"],
        "ome.io": ["inferenceservices"],
        "orchestration.aibrix.ai": ["stormservices"],
        "mindxdl.gitee.com": ["ascendjobs"],
    }
    expression = f"(has(request.dryRun) && request.dryRun) || !(object.metadata.name in {json.dumps([probe, *names])})"
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": cluster.namespace}},
            "resourceRules": [
                {"apiGroups": [group], "apiVersions": ["*"], "resources": resources, "operations": ["CREATE", "UPDATE"]}
                for group, resources in rules.items()
            ],
        },
        "validations": [{"expression": expression, "message": "refused by the test"}],
    }
    api = "admissionregistration.k8s.io/v1"
    binding = {"policyName": policy, "validationActions": ["Deny"]}
    cluster.create(
        [
            {"apiVersion": api, "kind": "ValidatingAdmissionPolicy", "metadata": metadata, "spec": spec},
            {"apiVersion": api, "kind": "ValidatingAdmissionPolicyBinding", "metadata": metadata, "spec": binding},
        ]
    )

    def is_refused() -> bool:
        """The API server learns of a policy some time after it was stored."""
        answer = cluster.kubectl("create", "configmap", probe, check=False)
        if answer.returncode == 0:
            cluster.kubectl("delete", "configmap", probe)
        return "refused by the test" in answer.stderr

    try:
        wait_for(is_refused, "the policy to be in force")
        yield
    finally:
        for kind in ("validatingadmissionpolicybinding", "validatingadmissionpolicy"):
            cluster.kubectl("delete", kind, policy)
        wait_for(lambda: not is_refused(), "the policy to be forgotten")


# What is written when others of the application are there already.
LATE = {"ome": "chat", "aibrix": "chat", "mindie": "chat-d0"}


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_refusal_in_the_middle_is_rolled_back(cluster: Cluster, mindgate: Release, framework: str) -> None:
    """The dry run found nothing, and the real write of one object is refused: what was written before it goes."""
    if needed(framework):
        cluster.create(needed(framework))
    config = starter(cluster, framework)
    with refusing(cluster, [LATE[framework]]):
        failed = deploy(cluster, config, "--atomic", "-o", "json", check=False)
        assert failed.returncode == 1, failed.stderr
        answer = json.loads(failed.stdout)
        assert "refused by the test" in answer["message"] and answer["rolledBack"] is True, failed.stdout
        assert answer["written"] > 0, "it was not in the middle"
        wait_for(lambda: objects(cluster) == {}, "what was made to go")

        # Without --atomic it stays, for the next run to go on.
        failed = deploy(cluster, config, check=False)
        assert failed.returncode == 1 and "refused by the test" in failed.stderr, failed.stderr
        left = set(objects(cluster))
        assert left
    deploy(cluster, config)
    assert left < set(objects(cluster))
    delete(cluster)
    assert objects(cluster) == {}


def test_a_refused_change_leaves_what_ran(cluster: Cluster, mindgate: Release) -> None:
    """A Service of the third instance is made, the StormService is refused: the Service goes, and nothing else was touched."""
    config = starter(cluster, "aibrix")
    deploy(cluster, config)
    made = objects(cluster)
    before, after = MORE["aibrix"]
    with refusing(cluster, ["chat"]):
        failed = deploy(cluster, config.replace(before, after, 1), "--atomic", check=False)
    assert failed.returncode == 1, failed.stderr
    assert "Service chat-prefill-2" in failed.stdout + failed.stderr
    wait_for(lambda: set(objects(cluster)) == set(made), "the new Service to go")
    assert objects(cluster)["StormService chat"] == made["StormService chat"]
    deploy(cluster, config)
    delete(cluster)


def rights(name: str, rules: dict[tuple[str, str], str]) -> list[dict[str, Any]]:
    """A Role of that name, and its binding to the user of that name. Rules: (group, resource) to verbs."""
    group = "rbac.authorization.k8s.io"
    listed = [{"apiGroups": [api], "resources": [resource], "verbs": verbs.split()} for (api, resource), verbs in rules.items()]
    return [
        {"apiVersion": f"{group}/v1", "kind": "Role", "metadata": {"name": name}, "rules": listed},
        {
            "apiVersion": f"{group}/v1",
            "kind": "RoleBinding",
            "metadata": {"name": name},
            "subjects": [{"kind": "User", "apiGroup": group, "name": name}],
            "roleRef": {"kind": "Role", "apiGroup": group, "name": name},
        },
    ]


def await_right(cluster: Cluster, user: str, verb: str, resource: str) -> None:
    wait_for(
        lambda: cluster.kubectl("auth", "can-i", verb, resource, "--as", user, check=False).stdout.strip() == "yes",
        f"{user} to be allowed to {verb} {resource}",
    )


def test_a_user_with_a_role_for_one_framework(cluster: Cluster, mindgate: Release) -> None:
    """Neither nodes, quotas, namespaces nor the kinds of other frameworks may be read: they are not needed."""
    verbs = "get list create patch delete"
    storms = ("orchestration.aibrix.ai", "stormservices")
    pods = {("", "pods"): "get list", ("scheduling.volcano.sh", "podgroups"): "get list"}
    cluster.create(rights("half", {("", "services"): verbs, storms: "get list", **pods}))
    cluster.create(rights("whole", {("", "services"): verbs, storms: verbs, **pods}))
    await_right(cluster, "half", "list", "podgroups.scheduling.volcano.sh")
    await_right(cluster, "whole", "create", "stormservices.orchestration.aibrix.ai")
    config = starter(cluster, "aibrix")

    # The Services would be allowed, and are not made: the StormService is tried first.
    refused = deploy(cluster, config, "--as", "half", check=False)
    assert refused.returncode == 4, refused.stderr
    assert "StormService chat" in refused.stderr and "forbidden" in refused.stderr.lower()
    assert objects(cluster) == {}

    done = deploy(cluster, config, "--as", "whole")
    assert "not checked" in done.stdout + done.stderr, "what could not be read is a note"
    assert "StormService chat" in objects(cluster)
    assert "nothing was changed" in deploy(cluster, config, "--as", "whole").stdout
    half = cluster.run(PROGRAM, "delete", "chat", "-n", cluster.namespace, "--yes", "--as", "half", check=False)
    assert half.returncode != 0 and "StormService chat" in objects(cluster)
    cluster.run(PROGRAM, "delete", "chat", "-n", cluster.namespace, "--yes", "--timeout", "60s", "--as", "whole")
    assert objects(cluster) == {}


def uids(cluster: Cluster, kind: str) -> dict[str, str]:
    """Without the revisions that are kept."""
    found = {each["metadata"]["name"]: each["metadata"]["uid"] for each in cluster.items(kind)}
    return {name: uid for name, uid in found.items() if not name.startswith("mindgate-deploy.")}


def test_changed_jobs_are_submitted_again(cluster: Cluster, mindgate: Release) -> None:
    """Only with --replace, and only the jobs: the rank tables and the Service stay the objects that they were."""
    cluster.create(needed("mindie"))
    config = starter(cluster, "mindie")
    deploy(cluster, config)
    jobs, maps, services = (uids(cluster, kind) for kind in ("ascendjobs", "configmaps", "services"))
    changed = config.replace("image: mindie:1.0.0 ", "image: mindie:1.0.1 ", 1)
    assert changed != config
    refused = deploy(cluster, changed, check=False)
    assert refused.returncode == 4 and "--replace" in refused.stderr, refused.stderr
    assert uids(cluster, "ascendjobs") == jobs

    done = deploy(cluster, changed, "--replace")
    assert "AscendJob chat-p0 submitted again" in done.stdout + done.stderr
    new = uids(cluster, "ascendjobs")
    assert set(new) == set(jobs) and not set(new.values()) & set(jobs.values())
    assert uids(cluster, "configmaps") == maps and uids(cluster, "services") == services
    assert "nothing was changed" in deploy(cluster, changed, "--replace").stdout
    delete(cluster)


def lease(cluster: Cluster) -> dict[str, Any] | None:
    found = [each for each in cluster.items("leases") if each["metadata"]["name"] == "mindgate-deploy-chat"]
    return found[0] if found else None


def test_a_second_deployment_waits_for_the_first(cluster: Cluster, mindgate: Release, tmp_path: pathlib.Path) -> None:
    """The first one keeps the application until it is healthy or as before, and is named meanwhile."""
    config = starter(cluster, "aibrix")
    before, after = MORE["aibrix"]
    larger = config.replace(before, after, 1)
    file = tmp_path / "chat.yaml"
    file.write_text(config)
    output = tmp_path / "output"
    with cluster.start(PROGRAM, "deploy", "-f", file, "--atomic", "--timeout", "20s", output=output) as process:
        held = wait_for(lambda: lease(cluster), "the Lease")
        refused = deploy(cluster, larger, check=False)
        assert refused.returncode == 4 and held["spec"]["holderIdentity"] in refused.stderr, refused.stderr
        kept = cluster.run(PROGRAM, "delete", "chat", "-n", cluster.namespace, "--yes", check=False)
        assert kept.returncode == 4 and held["spec"]["holderIdentity"] in kept.stderr, kept.stderr
        assert deploy(cluster, larger, "--diff", check=False).returncode == 1, "what changes nothing needs no Lease"
        done = deploy(cluster, larger, "--wait-for-lock", "3m")
        assert "waiting for it" in done.stderr
        assert process.wait(60) == 5
    # The second one came after the first was undone, and nothing of it is lost.
    assert "StormService chat" in objects(cluster)
    assert "nothing was changed" in deploy(cluster, larger).stdout
    assert lease(cluster) is None
    delete(cluster)


@pytest.mark.parametrize("exists", [False, True])
def test_undoing_leaves_what_somebody_else_changed(
    cluster: Cluster, mindgate: Release, tmp_path: pathlib.Path, exists: bool
) -> None:
    """A person at kubectl takes no Lease."""
    config = starter(cluster, "aibrix")
    before, after = MORE["aibrix"]
    if exists:
        deploy(cluster, config)
    file = tmp_path / "chat.yaml"
    file.write_text(config.replace(before, after, 1))
    output = tmp_path / "output"
    patch = json.dumps([{"op": "replace", "path": "/spec/template/spec/roles/0/replicas", "value": 7}])
    with cluster.start(PROGRAM, "deploy", "-f", file, "--atomic", "--timeout", "60s", output=output) as process:
        wait_for(lambda: "waiting:" in output.read_text(), "the deployment to wait")
        cluster.kubectl("patch", "stormservice", "chat", "--type", "json", "-p", patch, "--field-manager", "kubectl-edit")
        assert process.wait(120) == 1
    answer = output.read_text()
    assert "StormService chat was changed meanwhile by kubectl-edit" in answer, answer
    assert "StormService chat not undone: changed meanwhile by kubectl-edit" in answer, answer
    storm = cluster.get("stormservice", "chat")
    assert storm["spec"]["template"]["spec"]["roles"][0]["replicas"] == 7
    delete(cluster)


def test_deleting_in_the_foreground_ends_waiting(cluster: Cluster, mindgate: Release, tmp_path: pathlib.Path) -> None:
    """The custom resource stays while a finalizer hangs, and its application is not healthy."""
    config = starter(cluster, "aibrix")
    file = tmp_path / "chat.yaml"
    file.write_text(config)
    output = tmp_path / "output"
    hold = json.dumps({"metadata": {"finalizers": ["example.com/hold"]}})
    with cluster.start(PROGRAM, "deploy", "-f", file, "--wait", "--timeout", "5m", output=output) as process:
        wait_for(lambda: "waiting:" in output.read_text(), "the deployment to wait")
        cluster.kubectl("patch", "stormservice", "chat", "--type", "merge", "-p", hold)
        # --wait alone has given the Lease back.
        cluster.run(PROGRAM, "delete", "chat", "-n", cluster.namespace, "--yes", "--no-wait")
        assert process.wait(60) == 1
    # Whichever it sees first: the object that the finalizer holds, or one that went before it.
    answer = output.read_text()
    assert "StormService chat is being deleted by somebody" in answer or "is gone: somebody deleted it meanwhile" in answer, answer
    answer = status(cluster)
    assert answer["verdict"] == "Deleting" and "example.com/hold" in answer["reason"], answer
    cluster.kubectl("patch", "stormservice", "chat", "--type", "merge", "-p", '{"metadata": {"finalizers": null}}')
    delete(cluster)
    assert objects(cluster) == {}


def test_an_earlier_configuration_comes_back(cluster: Cluster, mindgate: Release) -> None:
    config = starter(cluster, "aibrix")
    before, after = MORE["aibrix"]
    deploy(cluster, config)
    deploy(cluster, config.replace(before, after, 1))
    history = cluster.run(PROGRAM, "deploy", "history", "chat", "-n", cluster.namespace, "-o", "json").stdout
    assert [each["revision"] for each in json.loads(history)["revisions"]] == [1, 2]
    cluster.run(PROGRAM, "deploy", "rollback", "chat", "-n", cluster.namespace)
    assert "nothing was changed" in deploy(cluster, config).stdout
    delete(cluster)
    assert not [each for each in cluster.items("configmaps") if each["metadata"]["name"].startswith("mindgate-deploy.")]


def test_a_store_that_is_kept(cluster: Cluster, mindgate: Release) -> None:
    """Its owner goes without it, and the next deployment takes the same one."""
    cluster.create(needed("ome"))
    config = starter(cluster, "ome")
    deploy(cluster, config)
    (store,) = uids(cluster, "deployments").values()
    cluster.run(PROGRAM, "delete", "chat", "-n", cluster.namespace, "--yes", "--keep-store", "--timeout", "60s")
    assert set(objects(cluster)) == {"Deployment chat-mf-store", "Service chat-mf-store"}
    kept = cluster.get("deployment", "chat-mf-store")
    assert "ownerReferences" not in kept["metadata"]
    assert status(cluster)["verdict"] == "Failed", "a store alone serves nobody"

    deploy(cluster, config)
    assert list(uids(cluster, "deployments").values()) == [store]
    (owner,) = cluster.get("deployment", "chat-mf-store")["metadata"]["ownerReferences"]
    assert owner["uid"] == cluster.get("inferenceservice", "chat")["metadata"]["uid"]
    delete(cluster)
    assert objects(cluster) == {}


def test_status_while_the_first_deployment_waits_for_its_store(
    cluster: Cluster, mindgate: Release, tmp_path: pathlib.Path
) -> None:
    """The store cannot be placed, so that it is never ready; there is no InferenceService yet, and that is as it should be."""
    cluster.create(needed("ome"))
    file = tmp_path / "chat.yaml"
    file.write_text(starter(cluster, "ome") + "  node_selector: {mindgate.io/no-such-node: 'yes'}\n")
    output = tmp_path / "output"
    with cluster.start(PROGRAM, "deploy", "-f", file, "--timeout", "5m", output=output) as process:
        wait_for(lambda: "waiting for" in output.read_text() or process.poll() is not None, "the deployment to wait", every=0.1)
        assert process.poll() is None, output.read_text()
        answer = status(cluster)
    # Its pod says what the scheduler says, once the scheduler has tried it.
    assert answer["verdict"] in ("Progressing", "Failed"), answer
    if answer["verdict"] == "Progressing":
        assert "waiting for Deployment chat-mf-store" in answer["reason"], answer
    else:
        assert "pod chat-mf-store-" in answer["reason"], answer
    delete(cluster)
    assert objects(cluster) == {}


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_dry_run_on_the_server(cluster: Cluster, mindgate: Release, framework: str) -> None:
    """It prints what the API server would store, and stores nothing."""
    if needed(framework):
        cluster.create(needed(framework))
    config = starter(cluster, framework)
    client = [each for each in yaml.safe_load_all(deploy(cluster, config, "--dry-run").stdout) if each]
    server = [each for each in yaml.safe_load_all(deploy(cluster, config, "--dry-run=server").stdout) if each]
    assert objects(cluster) == {}
    assert {(each["kind"], each["metadata"]["name"]) for each in server} == {
        (each["kind"], each["metadata"]["name"]) for each in client
    }
    defaults = {each["spec"].get("sessionAffinity") for each in server if each["kind"] == "Service"}
    assert defaults == {"None"}, "the API server has defaults for Services"
    assert not {"managedFields", "uid", "resourceVersion"} & set(server[0]["metadata"])


def test_the_priorities_of_instances(cluster: Cluster, mindgate: Release) -> None:
    """PriorityClasses are of the whole cluster: they go with their instances, and with the application."""
    cluster.create(needed("mindie"))
    line = "# priority_classes: false        # keep"
    config = starter(cluster, "mindie")
    assert line in config
    config = config.replace(line, "priority_classes: true           # keep", 1)

    def values() -> dict[str, int]:
        ours = f"{cluster.namespace}-chat-"
        found = {each["metadata"]["name"]: each["value"] for each in cluster.items("priorityclasses")}
        return {name.removeprefix(ours): value for name, value in found.items() if name.startswith(ours)}

    deploy(cluster, config)
    before = values()
    assert before and max(before, key=before.get).startswith("decode"), before
    for job in cluster.items("ascendjobs"):
        for spec in job["spec"]["replicaSpecs"].values():
            name = spec["template"]["spec"].get("priorityClassName", "")
            is_server = job["metadata"]["name"][-2:-1] in "pd"
            assert name.removeprefix(f"{cluster.namespace}-chat-") in before if is_server else not name
    assert "nothing was changed" in deploy(cluster, config).stdout

    deploy(cluster, config.replace("priority_classes: true", "priority_classes: false", 1), "--replace")
    assert values() == {}
    deploy(cluster, config, "--replace")
    assert values() == before
    delete(cluster)
    assert values() == {}


def test_two_of_ome_side_by_side(cluster: Cluster, mindgate: Release) -> None:
    """Each has its store, and deleting the one takes nothing of the other."""
    cluster.create(needed("ome"))
    deploy(cluster, starter(cluster, "ome"))
    deploy(cluster, starter(cluster, "ome", "other"))
    assert set(objects(cluster)) == {"InferenceService chat", "Deployment chat-mf-store", "Service chat-mf-store"}
    others = set(objects(cluster, "other"))
    assert others == {"InferenceService other", "Deployment other-mf-store", "Service other-mf-store"}
    store = cluster.get("deployment", "other-mf-store")["spec"]["selector"]["matchLabels"]
    assert cluster.get("service", "other-mf-store")["spec"]["selector"].items() <= store.items()
    for app in ("chat", "other"):
        addresses = {
            variable["value"]
            for component in ("engine", "decoder")
            for variable in cluster.get("inferenceservice", app)["spec"][component]["runner"]["env"]
            if variable["name"] == "ASCEND_MF_STORE_ADDRESS"
        }
        assert addresses == {f"{app}-mf-store"}
    delete(cluster)
    assert objects(cluster) == {} and set(objects(cluster, "other")) == others
    assert status(cluster, "other")["verdict"] == "Progressing"
    delete(cluster, "other")
