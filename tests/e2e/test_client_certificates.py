"""A webhook that asks for client certificates: the API server, which has one, is answered, and nobody else is."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from e2e import REPOSITORY, Cluster, wait_for
from programs import stop
from release import DENIED, PROGRAM


def unused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        return int(unused.getsockname()[1])


@pytest.fixture
def webhook(cluster: Cluster, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[int, Path]]:
    """A process on this machine that asks for certificates with the name of the parameter, registered for the test's namespace:
    its port, and the folder with its own certificate."""
    if cluster.mode == "full":
        pytest.skip("the API server of a cluster with nodes has its own network")
    cluster.run(PROGRAM, "certs", "create", "--force", "--dir", tmp_path, "--ip", "127.0.0.1")
    port = unused_port()
    command = [PROGRAM, "webhook", "--listen", f"127.0.0.1:{port}", "--probe-listen", "127.0.0.1:0", "--cert-dir", tmp_path]
    command += ["--client-ca", cluster.folder / "pki" / "ca.crt", "--client-name", request.param]
    registration: dict[str, Any] = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": cluster.namespace},
        "webhooks": [
            {
                "name": "client-certificates.mindgate.io",
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
                "failurePolicy": "Fail",
                "clientConfig": {
                    "url": f"https://127.0.0.1:{port}/validate",
                    "caBundle": cluster.run("base64", "-w0", tmp_path / "ca.crt").stdout,
                },
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": cluster.namespace}},
                "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}],
            }
        ],
    }
    with cluster.start(*command, output=tmp_path / "log") as process:
        wait_for(lambda: '"serving"' in (tmp_path / "log").read_text(), "the webhook to listen")
        cluster.create(registration)
        yield port, tmp_path
        stop(process, log=tmp_path / "log")
    cluster.kubectl("delete", "validatingwebhookconfiguration", cluster.namespace)


def refusal(cluster: Cluster) -> str:
    """What the API server says about an object that the webhook denies."""
    done = cluster.kubectl("create", "--dry-run=server", "--filename", "-", input=json.dumps(DENIED), check=False)
    return done.stderr


@pytest.mark.parametrize("webhook", ["kube-apiserver"], indirect=True)
def test_the_api_server_is_answered_and_nobody_else(cluster: Cluster, webhook: tuple[int, Path]) -> None:
    port, folder = webhook
    wait_for(lambda: "denied the request" in refusal(cluster), "the API server to call the webhook")
    context = ssl.create_default_context(cafile=str(folder / "ca.crt"))
    with socket.create_connection(("127.0.0.1", port)) as plain:
        # With TLS 1.3 the client learns of the refusal when it reads.
        with pytest.raises(ssl.SSLError, match="(?i)certificate.required"):
            with context.wrap_socket(plain, server_hostname="127.0.0.1") as secure:
                secure.sendall(b"POST /validate HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
                secure.recv(1)


@pytest.mark.parametrize("webhook", ["somebody-else"], indirect=True)
def test_another_name_is_refused(cluster: Cluster, webhook: tuple[int, Path]) -> None:
    wait_for(lambda: "failed calling webhook" in refusal(cluster), "the API server to call the webhook")


def test_what_the_script_makes_is_what_an_api_server_reads(cluster: Cluster, tmp_path: Path) -> None:
    """The cluster's own files differ in the name of the user only: "*" is every webhook."""
    cluster.run(REPOSITORY / "scripts" / "api-server-client", tmp_path, "--on-node", cluster.folder / "pki")
    ours = (cluster.folder / "admission.yaml").read_text()
    cluster.run("openssl", "verify", "-CAfile", tmp_path / "ca.crt", "-purpose", "sslclient", tmp_path / "client.crt")
    made = cluster.run("kubectl", "--kubeconfig", tmp_path / "kubeconfig", "config", "view", "-o", "json").stdout
    (user,) = json.loads(made)["users"]
    assert user["name"] == "mindgate-webhook.mindgate-system.svc"
    plugins = yaml.safe_load((tmp_path / "admission.yaml").read_text())["plugins"]
    wanted = yaml.safe_load(ours)["plugins"]
    for plugin in wanted:
        plugin["configuration"]["kubeConfigFile"] = str(cluster.folder / "pki" / "kubeconfig")
    assert plugins == wanted
