"""One-click applications on the real API server, with the real CRDs of each framework. No controller of them runs: what is
deployed is what `mindgate deploy` wrote, and the store of OME is the only thing that gets ready by itself.
"""

from __future__ import annotations

import json
import pathlib
import subprocess
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
    told = cluster.run(PROGRAM, "status", app, "-n", cluster.namespace, "-o", "json", check=False)
    assert told.returncode in (0, 1), told.stderr
    return json.loads(told.stdout)


def delete(cluster: Cluster, app: str = "chat") -> str:
    return cluster.run(PROGRAM, "delete", app, "-n", cluster.namespace, "--yes", "--timeout", "60s").stdout


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
    told = status(cluster)
    assert (told["framework"], told["verdict"]) == (framework, "Progressing")

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
    deploy(cluster, config)
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
    told = cluster.run(PROGRAM, "status", "chat", "-n", cluster.namespace, "-o", "json")
    assert json.loads(told.stdout)["verdict"] == "Healthy"


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
