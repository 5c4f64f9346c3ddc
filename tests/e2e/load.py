"""Steady load through the API server on both webhooks, which counts every call that did not do its work."""

from __future__ import annotations

import base64
import dataclasses
import http.client
import json
import ssl
import tempfile
import threading
import time
import urllib.parse
from typing import Any

import yaml
from e2e import Cluster
from release import DENIED, npu_container

# Asked for NPUs and nothing else: it comes back injected when the mutating webhook was called.
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "load"},
    "spec": {"containers": [npu_container()]},
}


class ApiServer:
    """One kept connection, with the client certificate of the kubeconfig. One thread."""

    def __init__(self, cluster: Cluster):
        config = yaml.safe_load(cluster.kubeconfig.read_text())
        server = urllib.parse.urlsplit(config["clusters"][0]["cluster"]["server"])
        self.host, self.port = server.hostname, server.port
        authority = base64.b64decode(config["clusters"][0]["cluster"]["certificate-authority-data"]).decode()
        self.context = ssl.create_default_context(cadata=authority)
        user = config["users"][0]["user"]
        with tempfile.NamedTemporaryFile("wb", suffix=".pem") as pair:
            pair.write(base64.b64decode(user["client-certificate-data"]) + b"\n")
            pair.write(base64.b64decode(user["client-key-data"]))
            pair.flush()
            self.context.load_cert_chain(pair.name)
        self.connection: http.client.HTTPSConnection | None = None

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and decoded answer."""
        if self.connection is None:
            self.connection = http.client.HTTPSConnection(self.host, self.port, context=self.context, timeout=60)
        try:
            text = None if body is None else json.dumps(body)
            self.connection.request(method, path, text, {"Content-Type": "application/json"})
            answer = self.connection.getresponse()
            return answer.status, json.loads(answer.read())
        except OSError:
            self.connection.close()
            self.connection = None
            raise


@dataclasses.dataclass
class Load:
    """`rate` calls a second as dry runs, half of objects to inject, half of objects to deny."""

    cluster: Cluster
    rate: float = 200
    threads: int = 8
    calls: int = 0
    failures: list[str] = dataclasses.field(default_factory=list)

    def __post_init__(self) -> None:
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._workers: list[threading.Thread] = []

    def __enter__(self) -> Load:
        for number in range(self.threads):
            worker = threading.Thread(target=self._run, args=(number,), daemon=True)
            worker.start()
            self._workers.append(worker)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for worker in self._workers:
            worker.join(60)

    def _run(self, number: int) -> None:
        server = ApiServer(self.cluster)
        base = f"/api/v1/namespaces/{self.cluster.namespace}"
        interval = self.threads / self.rate
        due = time.monotonic() + interval * number / self.threads
        turn = number
        while not self._stop.is_set():
            self._stop.wait(max(0.0, due - time.monotonic()))
            # Late calls are not made up for: the rate is an upper bound, and `calls` says what came of it.
            due = max(due + interval, time.monotonic() - interval)
            turn += 1
            try:
                fault = self._inject(server, base) if turn % 2 else self._deny(server, base)
            except OSError as error:
                fault = f"no answer of the API server: {error}"
            with self._lock:
                self.calls += 1
                if fault:
                    self.failures.append(fault)

    def _inject(self, server: ApiServer, base: str) -> str:
        status, answer = server.call("POST", f"{base}/pods?dryRun=All", POD)
        if status != 201:
            return f"create of a Pod: {status} {answer.get('message')}"
        injected = answer["spec"].get("schedulerName") == "volcano"
        return "" if injected else "a Pod came back without injection"

    def _deny(self, server: ApiServer, base: str) -> str:
        status, answer = server.call("POST", f"{base}/configmaps?dryRun=All", DENIED)
        if status == 201:
            return "a wrong object was admitted"
        return "" if "denied the request: MG" in answer.get("message", "") else f"{status} {answer.get('message')}"

    def summary(self) -> str:
        kinds = sorted(set(self.failures))
        return f"{len(self.failures)} of {self.calls} calls failed; kinds: {kinds[:5]}"
