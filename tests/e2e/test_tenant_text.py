"""What a tenant writes into objects, at its largest, beside the memory and the log of a watcher: the real program before a small API server."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlparse

import pytest
from e2e import wait_for
from release import PROGRAM

Object = dict[str, Any]
MOST_RESIDENT = 96 * 1024  # KiB
MOST_LOG = 2_000_000  # bytes


class Server(ThreadingHTTPServer):
    """Lists and watches pods by their phase, has nothing of any other kind, and takes every write."""

    daemon_threads = True

    def __init__(self, pods: list[Object]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.pods = pods
        self.watches: set[str] = set()
        self.stopped = threading.Event()

    def handle_error(self, *_: Any) -> None:
        """A watcher that stops breaks its connections off."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, *_: Any) -> None:
        pass

    def answer(self, body: Object, code: int = 200) -> None:
        text = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self) -> None:
        url = urlparse(self.path)
        query = {key: values[0] for key, values in parse_qs(url.query).items()}
        if "watch" in query:
            return self.watch(url.path + query.get("fieldSelector", ""))
        pods = self.server.pods if url.path == "/api/v1/pods" else []
        for term in filter(None, query.get("fieldSelector", "").split(",")):
            unequal = "!=" in term
            phase = term.split("=")[-1]
            pods = [pod for pod in pods if (pod["status"]["phase"] == phase) != unequal]
        first = int(query.get("continue", "0"))
        limit = int(query.get("limit", "0")) or len(pods) + 1
        more = str(first + limit) if first + limit < len(pods) else ""
        self.answer({"kind": "List", "metadata": {"resourceVersion": "9", "continue": more}, "items": pods[first : first + limit]})

    def watch(self, what: str) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        line = b'{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}}\n'
        try:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
            self.server.watches.add(what)
            self.server.stopped.wait(600)
        except OSError:
            pass
        self.close_connection = True

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self.answer(json.loads(body or b"{}"), 201)

    do_PUT = do_PATCH = do_POST


class Run:
    """A watcher before that server, with its log."""

    def __init__(self, pods: list[Object], folder: Path) -> None:
        self.server = Server(pods)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.log = folder / "log"
        (folder / "mindgate.yaml").write_text("{}\n")
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [
                    PROGRAM, "watch", "--server", f"http://127.0.0.1:{self.server.server_port}", "--config", "mindgate.yaml",
                    "--probe-listen", "127.0.0.1:0",
                ],
                stdout=log, stderr=subprocess.STDOUT, cwd=folder, env={"PATH": os.environ["PATH"], "HOME": str(folder)},
            )  # fmt: skip

    def port(self) -> int:
        found = re.search(r'probe[^\n]*?127\.0\.0\.1:([1-9]\d*)', self.log.read_text(errors="replace"))
        return int(found[1]) if found else 0

    def get(self, path: str) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port()}{path}", timeout=10) as answer:
            return str(answer.read().decode())

    def resident(self) -> int:
        """At its highest, in KiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmHWM:\s+(\d+)", status)
        assert found
        return int(found[1])

    def settle(self) -> None:
        """Until all has been listed and its log has been silent for a while."""
        wait_for(lambda: any("Succeeded" in what and "!=" not in what for what in self.server.watches), "the watch of ended pods", 120)
        wait_for(lambda: any("!=" in what for what in self.server.watches), "the watch of pods", 120)
        size = -1
        while size != self.log.stat().st_size:
            size = self.log.stat().st_size
            time.sleep(2)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(30)
        self.server.stopped.set()
        self.server.shutdown()
        return code


def pod(index: int, phase: str, **metadata: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"namespace": "tenant", "name": f"p{index}", "uid": f"u{index}", "resourceVersion": "1", **metadata},
        "spec": {"containers": [{"name": "main", "image": "x"}]},
        "status": {"phase": phase},
    }


def of_owner(index: int, name: str) -> Object:
    owner = {"apiVersion": "apps/v9", "kind": "Deployment", "name": name, "uid": "o", "controller": True}
    return pod(index, "Succeeded", ownerReferences=[owner])


def of_group(index: int, name: str) -> Object:
    return pod(index, "Pending", annotations={"scheduling.k8s.io/group-name": name})


def letters(index: int, kilobytes: int) -> str:
    return f"n{index}-" + "x" * (kilobytes * 1000)


CASES: dict[str, list[Object]] = {
    "300 ended pods with owner names of 700 KB": [of_owner(i, letters(i, 700)) for i in range(300)],
    "600 pending pods with group names of 250 KB": [of_group(i, letters(i, 250)) for i in range(600)],
    "3,000 ended pods with honest owners": [of_owner(i, f"chat-{i}") for i in range(3000)],
}


@pytest.fixture(params=CASES)
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Run]:
    running = Run(CASES[request.param], tmp_path)
    yield running
    if running.process.poll() is None:
        running.process.kill()


def test_memory_log_and_decisions_have_a_bound(run: Run) -> None:
    run.settle()
    resident, log = run.resident(), run.log.stat().st_size
    print(f"{resident} KiB resident at its highest, {log} bytes of log")
    if run.port():
        decisions = json.loads(run.get("/decisions"))
        assert len(json.dumps(decisions)) < 1_000_000
    assert run.stop() == 0
    assert resident <= MOST_RESIDENT
    assert log <= MOST_LOG
