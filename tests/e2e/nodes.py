"""What tests do to the nodes of the cluster, and undo."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator

from e2e import Cluster


@contextlib.contextmanager
def nodes_with(cluster: Cluster, undo: list[tuple[str, ...]], *do: tuple[str, ...]) -> Iterator[None]:
    try:
        for each in do:
            cluster.kubectl(*each)
        yield
    finally:
        for each in undo:
            cluster.kubectl(*each, check=False)


@contextlib.contextmanager
def node_without_kubelet(cluster: Cluster) -> Iterator[Callable[[str], None]]:
    """Node "lost", Ready; what it yields sets that condition."""

    def set_ready(status: str) -> None:
        ready = [{"type": "Ready", "status": status, "reason": "Test", "message": ""}]
        patch = json.dumps({"status": {"conditions": ready}})
        cluster.kubectl("patch", "node", "lost", "--subresource=status", "--type=merge", "-p", patch)

    cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "lost", "labels": {"kubernetes.io/hostname": "lost"}}})
    try:
        set_ready("True")
        yield set_ready
    finally:
        cluster.kubectl("delete", "node", "lost")
