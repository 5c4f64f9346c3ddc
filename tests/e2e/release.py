"""mindgate on the cluster: installed by its chart from the image of `make image`, and asked offline for comparison."""

from __future__ import annotations

import copy
import json
import os
import pathlib
import socket
import subprocess
import tempfile
from typing import Any

import pytest
import yaml
from e2e import REPOSITORY, Cluster, wait_for
from programs import stop

# The folder of a release whose image and chart are tested (tests/release/run with RELEASE_E2E=1); without it those of this tree.
RELEASED = os.environ.get("MINDGATE_RELEASE")
PROGRAM = pathlib.Path(os.environ.get("MINDGATE", REPOSITORY / "build" / "release" / "mindgate"))
IMAGE = REPOSITORY / "build" / "mindgate-image.tar"
NAMESPACE = "mindgate-system"
NAME = "mindgate"
REAL_NODE = {"kubernetes.io/hostname": "real-0"}

# An upgrade brings another image, and with it other pods; here the image is the same.
NEW_PODS = {"podAnnotations": {"upgraded": "yes"}, "watcher": {"podAnnotations": {"upgraded": "yes"}}}

# What every installation of these tests has: the image that is on the node, Pods on the node that runs any, and time enough
# for an answer: two seconds, the default, are over when a loaded machine is halted once.
VALUES: dict[str, Any] = {
    "webhook": {kind: {"timeoutSeconds": 9} for kind in ("mutate", "validate")},
    "image": {"pullPolicy": "Never"} | ({} if RELEASED else {"tag": "dev"}),
    "nodeSelector": REAL_NODE,
    "watcher": {"nodeSelector": REAL_NODE},
}


def released(pattern: str) -> pathlib.Path:
    """The one file of the release with such a name."""
    [found] = pathlib.Path(RELEASED or "").glob(pattern)
    return found.resolve()


CHART = released("mindgate-[0-9]*.tgz") if RELEASED else REPOSITORY / "charts" / "mindgate"


def import_image(cluster: Cluster) -> None:
    """The image under test, on the node that runs pods; that of a release as its install.sh does it on a host."""
    if not RELEASED:
        if not IMAGE.exists():
            raise pytest.UsageError(f"{IMAGE} is not there; `make image` makes it")
        cluster.control("import-image", IMAGE)
        return
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["tar", "-xf", released("mindgate-offline-*.tar"), "--directory", folder], check=True)
        [script] = pathlib.Path(folder).glob("*/install.sh")
        environment = {**os.environ, "CONTAINERD_ADDRESS": str(cluster.folder / "containerd/containerd.sock")}
        subprocess.run([script, "image"], check=True, env=environment)


def merged(base: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """`base` with the members of `more`, objects in objects."""
    values = copy.deepcopy(base)
    for key, value in more.items():
        deeper = isinstance(value, dict) and isinstance(values.get(key), dict)
        values[key] = merged(values[key], value) if deeper else value
    return values


class Release:
    """The chart, installed in `mindgate-system`."""

    def __init__(self, cluster: Cluster):
        self.cluster = Cluster(cluster.folder, NAMESPACE)

    def install(self, more: dict[str, Any] | None = None, wait: bool = True) -> None:
        """`helm upgrade --install`; returns when every replica serves and the API server knows their CA."""
        values = json.dumps(merged(VALUES, more or {}))
        self.cluster.helm(
            "upgrade", "--install", NAME, CHART, "--create-namespace", "--values", "-", input=values
        )
        if wait:
            self.wait_ready()
            wanted = f'mindgate_config_info{{generation="{self.generation()}"}} 1'
            wait_for(lambda: self.all_have(wanted), "every replica to have read the configuration of the chart", 120)

    def generation(self) -> str:
        """How mindgate names the configuration that the ConfigMap holds."""
        text = self.cluster.get("configmap", f"{NAME}-config")["data"]["mindgate.yaml"]
        return self.cluster.run(PROGRAM, "config", "validate", "-", input=text).stdout.split()[-1]

    def all_have(self, series: str) -> bool:
        """Whether all replicas have it, and none is ending that may not. The kubelet brings a ConfigMap to each at its own time."""
        return all(
            "deletionTimestamp" not in pod["metadata"] and series in self.metrics(pod["metadata"]["name"], check=False)
            for pod in self.all_pods()
        )

    def metrics(self, pod: str, check: bool = True) -> list[str]:
        """The lines of its metrics. Without `check`, none of a pod that cannot be read."""
        path = f"/api/v1/namespaces/{self.cluster.namespace}/pods/{pod}:8080/proxy/metrics"
        return self.cluster.kubectl("get", "--raw", path, check=check).stdout.splitlines()

    def uninstall(self) -> None:
        self.cluster.helm("uninstall", NAME, "--wait", check=False)

    def wait_registered(self) -> None:
        """Returns when the new pods run, and the watcher that leads has done its work. In the phases warn and enforce."""
        for deployment in ("mindgate-watcher", "mindgate-webhook"):
            self.cluster.await_rollout(deployment)
        # A webhook that was just registered again has no caBundle before a watcher leads, and Ignore admits meanwhile.
        wait_for(lambda: "" not in self.bundles(), "the watcher to publish the CA", 120)
        self.wait_closed()

    def wait_closed(self) -> None:
        wait_for(lambda: not self.open_webhooks(), "the watcher to set failurePolicy Fail", 120)

    def wait_ready(self) -> None:
        self.wait_registered()
        wait_for(self.serves, "the API server to reach the webhook", 60)
        # After a leader that could not release its Lease, the next one waits for the end of it.
        wait_for(self.is_led, "a watcher that runs to lead", 120)

    def is_led(self) -> bool:
        """Whether the Lease was renewed by a watcher that runs: a container that was killed left its own behind."""
        lease = self.cluster.get("lease", "mindgate-watcher")["spec"]
        started = {
            pod["metadata"]["name"]: status["state"].get("running", {}).get("startedAt", "9999")
            for pod in self.pods("watcher")
            for status in pod["status"].get("containerStatuses", [])
        }
        holder = (lease.get("holderIdentity") or "").split("_")[0]
        return lease.get("renewTime", "") > started.get(holder, "9999")

    def serves(self) -> bool:
        """Whether an object that must be denied is, and by mindgate: caBundle, Service and endpoints are all there."""
        answer = self.cluster.kubectl(
            "create", "--namespace", "default", "--dry-run=server", "--filename", "-", input=json.dumps(DENIED), check=False
        )
        return answer.returncode != 0 and "MG" in answer.stderr and "denied the request" in answer.stderr

    def all_pods(self, component: str = "webhook") -> list[dict[str, Any]]:
        """With those that are ending."""
        return self.cluster.items("pods", "--selector", f"app.kubernetes.io/component={component}")

    def pods(self, component: str = "webhook") -> list[dict[str, Any]]:
        return [pod for pod in self.all_pods(component) if "deletionTimestamp" not in pod["metadata"]]

    def pod_names(self, component: str = "webhook") -> list[str]:
        return sorted(pod["metadata"]["name"] for pod in self.pods(component))

    def watcher_series(self, prefix: str) -> dict[str, float]:
        """The series of the watcher that begin so, with their labels, of all replicas together: only the leader counts."""
        series: dict[str, float] = {}
        for pod in self.pod_names("watcher"):
            for line in self.metrics(pod):
                name, _, value = line.rpartition(" ")
                if name.startswith(prefix):
                    series[name] = series.get(name, 0) + float(value)
        return series

    def configuration(self, kind: str) -> dict[str, Any]:
        return self.cluster.get(f"{kind}webhookconfiguration", NAME)

    def bundles(self) -> set[str]:
        """All caBundles of both configurations; "" where there is none."""
        return {
            webhook["clientConfig"].get("caBundle", "")
            for kind in ("mutating", "validating")
            for webhook in self.configuration(kind)["webhooks"]
        }


    def to_fail_closed(self) -> dict[str, str]:
        """The failurePolicy of each webhook that is Fail once the API server gets answers."""
        return {
            webhook["name"]: webhook["failurePolicy"]
            for kind in ("mutating", "validating")
            for configuration in [self.configuration(kind)]
            for webhook in configuration["webhooks"]
            if webhook["name"] in configuration["metadata"].get("annotations", {}).get("mindgate.io/fail-closed", "").split(",")
        }

    def open_webhooks(self) -> list[str]:
        """Those that are to fail closed, and do not yet."""
        return [name for name, policy in self.to_fail_closed().items() if policy == "Ignore"]


class LocalProcess(Release):
    """Where no pods run: the same webhooks of the chart, called by URL in a process on this machine."""

    def __init__(self, cluster: Cluster):
        super().__init__(cluster)
        self.folder = cluster.folder / "webhook"
        self.process: subprocess.Popen[bytes] | None = None

    def install(self, more: dict[str, Any] | None = None, wait: bool = True) -> None:
        create = ["certs", "create", "--force", "--dir", self.folder, "--ip", "127.0.0.1"]
        self.cluster.run(PROGRAM, *create)
        with socket.create_server(("127.0.0.1", 0)) as unused:
            port = unused.getsockname()[1]
        self.process = subprocess.Popen(
            [PROGRAM, "webhook", "--listen", f"127.0.0.1:{port}", "--probe-listen", "127.0.0.1:0"]
            + ["--cert-dir", self.folder, "--lookup-runtimes", "--kubeconfig", self.cluster.kubeconfig],
            stderr=(self.folder / "log").open("w"),
        )
        files: dict[str, Any] = {"certs": {"mode": "files", "secretName": "unused", "caBundle": (self.folder / "ca.crt").read_text()}}
        # No watcher runs, which would set failurePolicy Fail later.
        files["webhook"] = {"failOpenUntilAnswered": False}
        values = json.dumps(merged(merged(VALUES, files), more or {}))
        rendered = self.cluster.helm("template", NAME, CHART, "--values", "-", input=values).stdout
        for document in yaml.safe_load_all(rendered):
            if not document or not document["kind"].endswith("WebhookConfiguration"):
                continue
            for webhook in document["webhooks"]:
                path = webhook["clientConfig"].pop("service")["path"]
                webhook["clientConfig"]["url"] = f"https://127.0.0.1:{port}{path}"
            self.cluster.kubectl("apply", "--server-side", "-f", "-", input=json.dumps(document))
        if wait:
            self.wait_ready()

    def uninstall(self) -> None:
        for kind in ("mutating", "validating"):
            self.cluster.kubectl("delete", f"{kind}webhookconfiguration", NAME, check=False)
        if self.process:
            stop(self.process, log=self.folder / "log")

    def wait_ready(self) -> None:
        wait_for(self.serves, f"the API server to reach the webhook, whose log is {self.folder / 'log'}")


# A scaling rule that is not JSON: denied under every configuration except one that switches the rule off.
DENIED: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "denied"},
    "data": {"elastic_scaling.json": "{"},
}


def npu_container(name: str = "worker", npus: int = 8) -> dict[str, Any]:
    amounts = {"huawei.com/Ascend910": str(npus)}
    return {"name": name, "image": "example/vllm-ascend", "resources": {"limits": amounts, "requests": amounts}}


def deployment(name: str, replicas: int = 1, npus: int = 8, **spec: Any) -> dict[str, Any]:
    """A Deployment of NPU pods with nothing that MindCluster asks for."""
    containers = [npu_container(npus=npus)]
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": containers}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template} | spec,
    }


def documents(path: pathlib.Path) -> list[dict[str, Any]]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return [document for document in yaml.load_all(path.read_text(), Loader=loader) if document]


def offline(cluster: Cluster, objects: list[dict[str, Any]], *arguments: str) -> list[dict[str, Any]]:
    """What `mindgate apply -o json` says about each, in order."""
    text = "---\n".join(yaml.safe_dump(each) for each in objects)
    answer = cluster.run(PROGRAM, "apply", "-f", "-", "-o", "json", *arguments, input=text, check=False)
    assert answer.returncode in (0, 1), answer.stderr
    return json.loads(answer.stdout)["results"]


def at(value: Any, pointer: str) -> Any:
    """The value at a JSON pointer; for one that ends in "-", the last element of the list."""
    for step in pointer.split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list):
            value = value[-1 if step == "-" else int(step)]
        else:
            value = value[step]
    return value
