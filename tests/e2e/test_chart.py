"""The chart with the image of `make image` on a real node, with certificates of one's own."""

from __future__ import annotations

import base64
import json
import pathlib
from collections.abc import Iterator

import pytest
from e2e import REPOSITORY, Cluster, CommandFailed, wait_for
from release import CHART, PROGRAM, VALUES, Release, import_image

CONFIGURATIONS = "mutatingwebhookconfigurations,validatingwebhookconfigurations"


@pytest.fixture
def release(cluster: Cluster, tmp_path: pathlib.Path) -> Iterator[Cluster]:
    """mindgate, installed in the test's namespace, which allows restricted pods only."""
    assert PROGRAM.exists(), f"{PROGRAM} is missing: `make build` makes it"
    import_image(cluster)
    cluster.run(
        "kubectl",
        "label",
        "namespace",
        cluster.namespace,
        "pod-security.kubernetes.io/enforce=restricted",
    )
    cluster.run(
        PROGRAM,
        "certs",
        "create",
        "--dir",
        tmp_path / "tls",
        "--service",
        f"mindgate-webhook.{cluster.namespace}",
    )
    files = [f"--from-file={tmp_path / 'tls' / name}" for name in ("tls.crt", "tls.key", "ca.crt")]
    cluster.kubectl("create", "secret", "generic", "pair", "--type=kubernetes.io/tls", *files)
    authority = (tmp_path / "tls" / "ca.crt").read_text()
    values = VALUES | {"certs": {"mode": "files", "secretName": "pair", "caBundle": authority}}
    (tmp_path / "values.json").write_text(json.dumps(values))
    try:
        cluster.helm(
            "install",
            "mindgate",
            CHART,
            "--values",
            tmp_path / "values.json",
            "--wait",
            "--timeout",
            "3m",
        )
        # Ready is one thing, kube-proxy on the API server's node another.
        wait_for(Release(cluster).serves, "the API server to reach the webhook", 60)
        yield cluster
    finally:
        cluster.helm("uninstall", "mindgate", "--wait", "--ignore-not-found")


def webhook_pods(cluster: Cluster) -> list[dict]:
    return cluster.items(
        "pods",
        "--selector",
        "app.kubernetes.io/component=webhook",
        "--field-selector",
        "status.phase=Running",
    )


def other_namespace(cluster: Cluster) -> str:
    """One that is not mindgate's own."""
    name = f"{cluster.namespace}-jobs"
    cluster.run("kubectl", "create", "namespace", name)
    return name


@pytest.fixture
def jobs(cluster: Cluster) -> Iterator[Cluster]:
    name = other_namespace(cluster)
    yield Cluster(cluster.folder, name)
    cluster.run("kubectl", "delete", "namespace", name, "--wait=false")


def chat(name: str) -> str:
    text = (REPOSITORY / "examples" / "manifests" / f"{name}.yaml").read_text()
    return text.replace("  namespace: serving\n", "")


@pytest.mark.full
def test_both_replicas_serve_behind_the_service(release: Cluster, jobs: Cluster) -> None:
    pods = webhook_pods(release)
    assert [pod["status"]["containerStatuses"][0]["ready"] for pod in pods] == [True, True]
    answer = jobs.kubectl(
        "create", "--dry-run=server", "--output", "json", "--filename", "-", input=chat("chat")
    )
    template = json.loads(answer.stdout)["spec"]["template"]
    assert template["spec"]["schedulerName"] == "volcano"
    assert template["metadata"]["labels"]["fault-scheduling"] == "force"
    with pytest.raises(
        CommandFailed,
        match='"workloads.validate.mindgate.io" denied the request: 3 rules are violated',
    ):
        jobs.kubectl("create", "--dry-run=server", "--filename", "-", input=chat("chat-broken"))


@pytest.mark.full
def test_a_new_configuration_is_reloaded_without_a_restart(release: Cluster, jobs: Cluster) -> None:
    before = sorted(pod["metadata"]["uid"] for pod in webhook_pods(release))
    release.helm(
        "upgrade", "mindgate", CHART, "--reset-then-reuse-values", "--set", "config.scheduler=volcano-next"
    )

    def schedulers() -> set[str]:
        """Of several calls, so that each replica is asked."""
        answers = [
            jobs.kubectl(
                "create",
                "--dry-run=server",
                "--output",
                "json",
                "--filename",
                "-",
                input=chat("chat"),
            )
            for _ in range(4)
        ]
        return {
            json.loads(each.stdout)["spec"]["template"]["spec"]["schedulerName"] for each in answers
        }

    wait_for(
        lambda: schedulers() == {"volcano-next"},
        "both replicas to reload the configuration",
        seconds=150,
        every=2,
    )
    assert sorted(pod["metadata"]["uid"] for pod in webhook_pods(release)) == before


@pytest.mark.full
def test_uninstalling_leaves_nothing_that_blocks(release: Cluster, jobs: Cluster) -> None:
    release.helm("uninstall", "mindgate", "--wait")
    jobs.kubectl("create", "--dry-run=server", "--filename", "-", input=chat("chat-broken"))
    everywhere = f"{CONFIGURATIONS},clusterroles,clusterrolebindings"
    here = (
        "deployments,services,configmaps,serviceaccounts,roles,rolebindings,poddisruptionbudgets,"
        "networkpolicies,secrets"
    )
    for kinds in (everywhere, here):
        left = release.items(kinds, "--selector", "app.kubernetes.io/instance=mindgate")
        assert [(each["kind"], each["metadata"]["name"]) for each in left] == []
    assert [each["metadata"]["name"] for each in release.items("secrets")] == ["pair"]


def test_an_upgrade_keeps_the_ca_that_the_watcher_published(cluster: Cluster) -> None:
    """Whatever way helm writes. Nothing runs: the API server is asked about nothing here."""
    ca = base64.b64encode(b"-----BEGIN CERTIFICATE-----\n").decode()
    install = [
        "mindgate",
        CHART,
        "--set",
        "namespaceSelector.matchLabels.no=where",
        "--set",
        "replicaCount=0,watcher.replicaCount=0",
    ]

    def published() -> set[str]:
        return {
            hook["clientConfig"].get("caBundle", "")
            for each in cluster.items(CONFIGURATIONS)
            if each["metadata"]["name"] == "mindgate"
            for hook in each["webhooks"]
        }

    cluster.helm("install", *install)
    try:
        assert published() == {""}
        for kind in CONFIGURATIONS.split(","):
            hooks = cluster.get(kind, "mindgate")["webhooks"]
            patch = [
                {"op": "add", "path": f"/webhooks/{i}/clientConfig/caBundle", "value": ca}
                for i in range(len(hooks))
            ]
            cluster.run(
                "kubectl",
                "patch",
                kind,
                "mindgate",
                "--type=json",
                "--field-manager=mindgate-certs",
                "--patch",
                json.dumps(patch),
            )
        for how in ("--server-side=true", "--server-side=false"):
            cluster.helm("upgrade", *install, "--set", "webhook.mutate.timeoutSeconds=4", how)
            assert published() == {ca}, how
        cluster.helm("rollback", "mindgate", "1")
        assert published() == {ca}, "rollback"
    finally:
        cluster.helm("uninstall", "mindgate", "--wait")
