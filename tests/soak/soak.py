#!/usr/bin/env python3
"""Every known attack on the admission port at once, beside honest traffic.

    tests/soak/soak.py [--minutes 1] [--program build/release/mindgate] [--without ATTACK]

Honest callers must not see one failure; memory stays below 128 MiB, threads do not change, and file descriptors come back when
the attackers have gone. Prints a line every ten seconds; exit code 1 when something did not hold.
"""

from __future__ import annotations

import argparse
import collections
import http.client
import json
import multiprocessing
import os
import pathlib
import random
import re
import resource
import select
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(REPOSITORY / "tests" / "support"))
from programs import stop  # noqa: E402

MAX_RSS = 128 * 1024 * 1024
HALF_OPEN = IDLE = 2000
SLOW_READERS = 40
LARGE_ANSWERS = 400
HONEST = 4


def review(target: dict[str, Any]) -> bytes:
    group, _, version = target["apiVersion"].rpartition("/")
    return json.dumps(
        {
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "request": {
                "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
                "kind": {"group": group, "version": version, "kind": target["kind"]},
                "operation": "CREATE",
                "namespace": "soak",
                "object": target,
            },
        }
    ).encode()


def container(name: str) -> dict[str, Any]:
    return {"name": name, "image": "infer:1", "resources": {"limits": {"huawei.com/Ascend910": "1"}}}


def deployment() -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "honest", "namespace": "soak"},
        "spec": {
            "selector": {"matchLabels": {"app": "honest"}},
            "template": {"metadata": {"labels": {"app": "honest"}}, "spec": {"containers": [container("main")]}},
        },
    }


def vcjob(tasks: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "job", "namespace": "soak"},
        "spec": {"schedulerName": "volcano", "minAvailable": 1, "tasks": tasks},
    }


def many_tasks() -> dict[str, Any]:
    """As many templates as mindgate takes, so that the patch is as large as it gets."""
    pod = {"spec": {"containers": [container(f"c{i}") for i in range(4)]}}
    return vcjob([{"name": f"t{i}", "replicas": 1, "template": pod} for i in range(1000)])


def hostile() -> list[bytes]:
    """Objects of design: Cost, at the sizes that an API server lets through."""
    groups = json.dumps({"elastic_scaling_list": [{"group_list": [{} for _ in range(60_000)]}]})
    rule = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "rule", "namespace": "soak", "labels": {"mx-consumer-cim": "true"}},
        "data": {"elastic_scaling.json": groups},
    }
    names = {f"huawei.com/x{i}": "1" for i in range(40_000)}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "pod", "namespace": "soak"},
        "spec": {"containers": [dict(container("main"), resources={"limits": names})]},
    }
    return [review(rule), review(vcjob([{} for _ in range(400_000)])), review(pod), review(many_tasks())]


def naming_authorities(hello: bytes) -> bytes:
    """The ClientHello with 3,800 empty names of certificate authorities (RFC 8446, 4.2.4), of which OpenSSL makes 700 KB."""
    at = 5 + 4 + 2 + 32  # record and message headers, version, random
    at += 1 + hello[at]  # session
    at += 2 + int.from_bytes(hello[at : at + 2], "big")  # cipher suites
    at += 1 + hello[at]  # compression
    names = bytes.fromhex("00023000") * 3800
    added = (47).to_bytes(2, "big") + (len(names) + 2).to_bytes(2, "big") + len(names).to_bytes(2, "big") + names
    extensions = hello[at + 2 :] + added
    message = hello[9:at] + len(extensions).to_bytes(2, "big") + extensions
    message = hello[5:6] + len(message).to_bytes(3, "big") + message
    return hello[:3] + len(message).to_bytes(2, "big") + message


class Target:
    """The port, as callers of one address see it."""

    def __init__(self, port: int, authority: str, source: str = "127.0.0.1"):
        self.address = ("127.0.0.1", port)
        self.source = (source, 0)
        self.context = ssl.create_default_context(cafile=authority)
        self.context.check_hostname = False
        bio = ssl.MemoryBIO()
        half = self.context.wrap_bio(ssl.MemoryBIO(), bio)
        try:
            half.do_handshake()
        except ssl.SSLWantReadError:
            pass
        self.hello = bio.read()

    def bare(self) -> socket.socket:
        made = socket.create_connection(self.address, 10, self.source)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return made

    def tls(self) -> ssl.SSLSocket:
        return self.context.wrap_socket(self.bare())

    def post(self, path: str, body: bytes) -> bytes:
        return (
            f"POST {path}?timeout=10s HTTP/1.1\r\nHost: soak\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        ).encode() + body


def hold(count: int, connect: Callable[[], socket.socket]) -> None:
    """Keeps so many connections open: whichever ends is opened again."""
    held: dict[int, socket.socket] = {}
    poll = select.poll()
    while True:
        for _ in range(min(50, count - len(held))):
            try:
                made = connect()
            except (OSError, http.client.HTTPException):
                break
            held[made.fileno()] = made
            poll.register(made, select.POLLHUP | select.POLLRDHUP | select.POLLERR)
        for fd, _ in poll.poll(20):
            poll.unregister(fd)
            held.pop(fd).close()


def half_open(target: Target) -> None:
    """A third says nothing, a third half a hello, a third a hello and nothing after it."""
    parts = [b"", target.hello[: len(target.hello) // 2], target.hello]

    def connect() -> socket.socket:
        made = target.bare()
        made.sendall(random.choice(parts))
        return made

    hold(HALF_OPEN, connect)


def idle(target: Target) -> None:
    def connect() -> socket.socket:
        made = target.tls()
        made.sendall(b"POST /none HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 0\r\n\r\n")
        made.recv(1024)
        return made

    hold(IDLE, connect)


def slow_readers(target: Target) -> None:
    request = target.post("/mutate", review(many_tasks()))

    def connect() -> socket.socket:
        made = target.bare()
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        over_tls = target.context.wrap_socket(made)
        over_tls.sendall(request)
        return over_tls

    hold(SLOW_READERS, connect)


def large_answers(target: Target) -> None:
    """Connections that read a megabyte each and then stay."""
    request = target.post("/mutate", review(many_tasks()))

    def connect() -> socket.socket:
        made = target.tls()
        made.settimeout(10)
        made.sendall(request)
        answer = http.client.HTTPResponse(made)
        answer.begin()
        answer.read()
        return made

    hold(LARGE_ANSWERS, connect)


def claims(target: Target) -> None:
    """Nine bytes that claim a message of 128 KiB, and bare connections, 1,500 a second."""
    while True:
        begun = time.monotonic()
        for i in range(150):
            try:
                with target.bare() as made:
                    if i % 2 == 0:
                        made.sendall(bytes.fromhex("160301000401020144"))
            except OSError:
                pass
        time.sleep(max(0.0, 0.1 - (time.monotonic() - begun)))


def long_hellos(target: Target) -> None:
    hello = naming_authorities(target.hello)
    held: collections.deque[socket.socket] = collections.deque(maxlen=HALF_OPEN)
    while True:
        try:
            made = target.bare()
            made.sendall(hello)
            held.append(made)
        except OSError:
            pass
        time.sleep(0.01)


def key_updates(target: Target) -> None:
    host, port = target.address
    while True:
        with subprocess.Popen(
            ["openssl", "s_client", "-bind", target.source[0], "-connect", f"{host}:{port}", "-tls1_3"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as client:
            assert client.stdin is not None
            try:
                while client.poll() is None:
                    client.stdin.write(b"k\n" * 1000)
                    client.stdin.flush()
            except OSError:
                pass
            client.kill()
            client.stdin = None


def hostile_reviews(target: Target) -> None:
    requests = [target.post(path, body) for body in hostile() for path in ("/mutate", "/validate")]
    while True:
        try:
            with target.tls() as made:
                made.sendall(random.choice(requests))
                made.recv(1024)
        except OSError:
            pass


ATTACKS: dict[str, Callable[[Target], None]] = {
    "half-open": half_open,
    "idle": idle,
    "slow-readers": slow_readers,
    "large-answers": large_answers,
    "claims": claims,
    "long-hellos": long_hellos,
    "key-updates": key_updates,
    "hostile-reviews": hostile_reviews,
}


class Honest:
    """An API server's calls: over a kept connection, and now and then over a new one."""

    def __init__(self, target: Target):
        self.target = target
        self.body = review(deployment())
        self.times: list[float] = []
        self.retries = 0
        self.failures: list[str] = []
        self.connection: http.client.HTTPSConnection | None = None

    def call(self) -> None:
        begun = time.monotonic()
        # client-go repeats what is answered with Retry-After, at most ten times (rest/with_retry.go).
        for _ in range(10):
            if self.connection is None:
                host, port = self.target.address
                self.connection = http.client.HTTPSConnection(host, port, context=self.target.context, timeout=30)
            try:
                headers = {"Content-Type": "application/json"}
                self.connection.request("POST", "/mutate?timeout=10s", self.body, headers)
                answer = self.connection.getresponse()
                body = answer.read()
            except (OSError, http.client.HTTPException) as fault:
                self.failures.append(f"{type(fault).__name__}: {fault}")
                self.connection.close()
                self.connection = None
                return
            if answer.status == 503 and answer.headers["Retry-After"] is not None:
                self.retries += 1
                time.sleep(int(answer.headers["Retry-After"]))
                continue
            if answer.status != 200 or b'"patch"' not in body:
                self.failures.append(f"status {answer.status}: {body[:200]!r}")
            self.times.append(time.monotonic() - begun)
            return
        self.failures.append("ten answers of 503")

    def run(self, stop: threading.Event) -> None:
        while not stop.is_set():
            self.call()
            if random.random() < 0.05 and self.connection is not None:
                self.connection.close()
                self.connection = None


def status(pid: int) -> dict[str, int]:
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    fields = dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)
    return {
        "rss": int(fields["VmRSS"].split()[0]) * 1024,
        "peak": int(fields["VmHWM"].split()[0]) * 1024,
        "threads": int(fields["Threads"]),
        "fds": len(os.listdir(f"/proc/{pid}/fd")),
    }


def drops(port: int) -> str:
    """Why the webhook ended connections, as its metrics count it."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    found = re.findall(r'_(?:drops|rejects)_total\{port="admission",reason="(\w+)"\} ([1-9]\d*)', text)
    return ", ".join(f"{reason} {count}" for reason, count in found)


def serve(program: str, folder: str) -> tuple[subprocess.Popen[str], int, int]:
    subprocess.run(
        [program, "certs", "create", "--dir", folder, "--dns", "localhost", "--ip", "127.0.0.1"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    server = subprocess.Popen(
        [program, "webhook", "--cert-dir", folder, "--listen", "127.0.0.1:0", "--probe-listen", "127.0.0.1:0",
         "--drain-delay", "0", "--log-level", "info"],
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    assert server.stderr is not None
    for line in server.stderr:
        entry = json.loads(line)
        if entry.get("message", entry.get("msg")) == "serving":
            threading.Thread(target=lambda: [None for _ in server.stderr], daemon=True).start()
            return server, entry["port"], entry["probe_port"]
    raise SystemExit("the webhook did not start")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--program", default=str(REPOSITORY / "build" / "release" / "mindgate"))
    parser.add_argument("--without", action="append", default=[], choices=sorted(ATTACKS))
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65_536), hard))
    with tempfile.TemporaryDirectory(prefix="mindgate-soak-") as folder:
        server, port, probe_port = serve(options.program, folder)
        attackers: list[multiprocessing.Process] = []
        try:
            honest, hostile = (Target(port, f"{folder}/ca.crt", source) for source in ("127.0.0.1", "127.0.0.2"))
            return soak(options, server.pid, honest, hostile, probe_port, attackers)
        finally:
            for attacker in attackers:
                attacker.kill()
            stop(server)


def soak(
    options: argparse.Namespace,
    pid: int,
    target: Target,
    hostile: Target,
    probe_port: int,
    attackers: list[multiprocessing.Process],
) -> int:
    honest = [Honest(target) for _ in range(HONEST)]
    for caller in honest:
        caller.call()
    before = status(pid)
    print(f"before: {before['rss'] >> 20} MiB, {before['threads']} threads, {before['fds']} file descriptors", flush=True)
    for name, attack in ATTACKS.items():
        if name not in options.without:
            attackers.append(multiprocessing.Process(target=attack, args=(hostile,), daemon=True))
            attackers[-1].start()
    stop = threading.Event()
    threads = [threading.Thread(target=caller.run, args=(stop,)) for caller in honest]
    for thread in threads:
        thread.start()
    end = time.monotonic() + options.minutes * 60
    while (left := end - time.monotonic()) > 0:
        time.sleep(min(10.0, left))
        now = status(pid)
        calls = sum(len(caller.times) for caller in honest)
        failures = sum(len(caller.failures) for caller in honest)
        print(
            f"{now['rss'] >> 20:4d} MiB (peak {now['peak'] >> 20}), {now['threads']} threads, {now['fds']} file descriptors, "
            f"{calls} honest reviews, {failures} failed",
            flush=True,
        )
    peak = status(pid)
    for attacker in attackers:
        attacker.kill()
        attacker.join()
    stop.set()
    for thread in threads:
        thread.join()
    for caller in honest:
        if caller.connection is not None:
            caller.connection.close()
    for _ in range(300):
        after = status(pid)
        if after["fds"] <= before["fds"]:
            break
        time.sleep(0.1)
    times = sorted(value for caller in honest for value in caller.times)
    failures = [failure for caller in honest for failure in caller.failures]
    print(
        f"honest reviews: {len(times)}, median {statistics.median(times) * 1000:.1f} ms, "
        f"p99 {times[int(len(times) * 0.99)] * 1000:.1f} ms, {sum(caller.retries for caller in honest)} repeated after 503, "
        f"{len(failures)} failed"
    )
    print(f"connections and requests that ended early: {drops(probe_port)}")
    print(f"after:  {after['rss'] >> 20} MiB, {after['threads']} threads, {after['fds']} file descriptors")
    faults = sorted(set(failures))[:10]
    if peak["peak"] > MAX_RSS:
        faults.append(f"memory: {peak['peak'] >> 20} MiB at its peak, more than {MAX_RSS >> 20}")
    if after["threads"] != before["threads"]:
        faults.append(f"threads: {before['threads']} before, {after['threads']} after")
    if after["fds"] > before["fds"]:
        faults.append(f"file descriptors: {before['fds']} before, {after['fds']} after")
    for fault in faults:
        print(f"failed: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
