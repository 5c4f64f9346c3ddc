"""An upgrade from an earlier chart loses no call, and leaves nothing of that chart behind."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from e2e import HERE, Cluster, wait_for
from load import Load
from release import NAME, NEW_PODS, VALUES, Release

pytestmark = pytest.mark.full

EARLIER = HERE / "charts" / "mindgate-f8ad953.tgz"
INSTALLED = f"app.kubernetes.io/instance={NAME},app.kubernetes.io/managed-by=Helm"


def key(each: dict[str, Any]) -> tuple[str, str, str]:
    """Kind, namespace and name."""
    return each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"]


def rendered(release: Release) -> list[dict[str, Any]]:
    manifest = release.cluster.helm("get", "manifest", NAME).stdout
    return [each for each in yaml.safe_load_all(manifest) if each]


def conditions(configuration: dict[str, Any]) -> dict[str, list[str]]:
    """What each webhook asks before it is called."""
    return {
        webhook["name"]: [each["expression"] for each in webhook.get("matchConditions", [])]
        for webhook in configuration["webhooks"]
    }


def resources(configuration: dict[str, Any]) -> dict[str, list[list[str]]]:
    return {
        webhook["name"]: [rule["resources"] for rule in webhook.get("rules") or []] for webhook in configuration["webhooks"]
    }


@pytest.fixture
def earlier(mindgate: Release) -> Iterator[Release]:
    """The earlier chart, with the image of today; afterwards the installation of the other tests."""
    mindgate.uninstall()
    values = json.dumps(VALUES)
    mindgate.cluster.helm("install", NAME, EARLIER, "--values", "-", input=values)
    mindgate.wait_ready()
    yield mindgate
    mindgate.uninstall()
    mindgate.install()


def test_upgrade_from_an_earlier_chart_loses_no_call(cluster: Cluster, earlier: Release) -> None:
    before = rendered(earlier)
    old_pods = set(earlier.pod_names("webhook") + earlier.pod_names("watcher"))
    with Load(cluster) as load:
        time.sleep(2)  # load before and after, so that the first and last moments are seen too
        earlier.install(NEW_PODS, wait=False)
        for deployment in ("mindgate-watcher", "mindgate-webhook"):
            earlier.cluster.await_rollout(deployment)
        wait_for(
            lambda: not old_pods & {pod["metadata"]["name"] for pod in earlier.cluster.items("pods")},
            "the pods of the earlier chart to be gone",
        )
        time.sleep(3)
    print(load.summary())
    assert load.failures == [], load.summary()
    assert load.calls > 100, load.summary()
    earlier.wait_ready()

    after = rendered(earlier)
    kinds = {(each["apiVersion"], each["kind"]) for each in before + after}
    live = [
        each
        for version, kind in sorted(kinds)
        for each in earlier.cluster.items(
            f"{kind.lower()}.{version.split('/')[0]}" if "/" in version else kind.lower(), "-A", "-l", INSTALLED
        )
    ]
    assert {key(each) for each in live} == {key(each) for each in after}
    assert {key(each) for each in before} != {key(each) for each in after}, "the charts render the same objects"

    for configuration in (each for each in after if each["kind"].endswith("WebhookConfiguration")):
        [found] = [each for each in live if key(each) == key(configuration)]
        assert conditions(found) == conditions(configuration)
        assert resources(found) == resources(configuration)
    for policy in (each for each in after if each["kind"] == "NetworkPolicy"):
        [found] = [each for each in live if key(each) == key(policy)]
        assert len(found["spec"].get("ingress", [])) == len(policy["spec"]["ingress"])

