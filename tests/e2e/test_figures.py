"""What a create costs through the API server, with both webhooks and without: printed, never asserted."""

from __future__ import annotations

import time

import pytest
from e2e import Cluster
from load import POD, ApiServer
from release import Release

pytestmark = pytest.mark.full

# Namespaces that never reach the webhook are the comparison: the same object, server and connection.
EXCLUDED = "lws-system"
CALLS = 400


def milliseconds(server: ApiServer, namespace: str, injected: bool) -> float:
    begin = time.perf_counter()
    status, answer = server.call("POST", f"/api/v1/namespaces/{namespace}/pods?dryRun=All", POD)
    took = (time.perf_counter() - begin) * 1000
    assert status == 201, answer
    assert (answer["spec"].get("schedulerName") == "volcano") == injected
    return took


def test_latency_of_a_create(
    cluster: Cluster, mindgate: Release, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cluster.namespace
    server = ApiServer(cluster)
    with_us, without = [], []
    for _ in range(CALLS):
        # By turns, so that what else the machine does falls on both.
        with_us.append(milliseconds(server, cluster.namespace, True))
        without.append(milliseconds(server, EXCLUDED, False))
    lines, figures = [""], {}
    for name, values in (("with both webhooks", with_us), ("without", without)):
        ordered = sorted(values)
        figures[name] = (ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.99)])
        lines.append(
            f"create of a Pod, {name}: p50 {figures[name][0]:.2f} ms, p99 {figures[name][1]:.2f} ms"
        )
    ratios = [a / b for a, b in zip(figures["with both webhooks"], figures["without"])]
    lines.append(f"ratio: p50 {ratios[0]:.2f}, p99 {ratios[1]:.2f}")
    with capsys.disabled():
        print("\n".join(lines))
