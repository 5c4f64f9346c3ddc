"""What Helm reads from a cluster: which components are installed, which webhooks fail closed already, which nodes there are."""

from __future__ import annotations

import http.server
import json
import pathlib
import re
import tempfile
import threading
import unittest
from typing import Any

from rendering import (
    CHART,
    NAMESPACE,
    RELEASE,
    Object,
    helm,
    objects_of,
    parse,
    template,
    webhooks_of,
)

RBAC = "rbac.authorization.k8s.io"


def subject(kind: str, name: str, **more: str) -> Object:
    return {"kind": kind, "name": name, **more}


class Cluster:
    """What Helm asks of an API server to render: discovery, Namespaces and ClusterRoleBindings, and `more` by path."""

    def __init__(self, namespaces: list[str], subjects: list[Object], more: Object | None = None):
        # Helm maps all kinds that it renders.
        kinds: dict[str, set[str]] = {"v1": {"Namespace", "Node"}, f"{RBAC}/v1": set()}
        for each in objects_of("defaults"):
            kinds.setdefault(each["apiVersion"], set()).add(each["kind"])
        groups = [version.split("/") for version in kinds if "/" in version]
        answers: dict[str, Any] = {
            ("/apis/" if "/" in version else "/api/") + version: self.resources(version, known)
            for version, known in kinds.items()
        } | {
            "/version": {"major": "1", "minor": "34", "gitVersion": "v1.34.0"},
            "/api": {"kind": "APIVersions", "versions": ["v1"]},
            "/apis": {
                "kind": "APIGroupList",
                "apiVersion": "v1",
                "groups": [
                    {
                        "name": group,
                        "versions": [{"groupVersion": f"{group}/{version}", "version": version}],
                    }
                    for group, version in groups
                ],
            },
            "/api/v1/namespaces": {
                "kind": "NamespaceList",
                "apiVersion": "v1",
                "items": [{"metadata": {"name": name, "uid": name}} for name in namespaces],
            },
            f"/apis/{RBAC}/v1/clusterrolebindings": {
                "kind": "ClusterRoleBindingList",
                "apiVersion": f"{RBAC}/v1",
                "items": [
                    {"metadata": {"name": f"binding-{i}"}, "subjects": [each]}
                    for i, each in enumerate(subjects)
                ]
                + [{"metadata": {"name": "without-subjects"}}],
            },
        } | (more or {})
        asked = self.asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = self.path.partition("?")[0]
                asked.append(path)
                body = json.dumps(answers.get(path, {"kind": "Status", "code": 404, "reason": "NotFound"}))
                self.send_response(200 if path in answers else 404)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever)

    @staticmethod
    def resources(version: str, kinds: set[str]) -> Object:
        cluster_wide = ("Namespace", "Node", "ClusterRole", "Webhook", "ValidatingAdmission", "PriorityLevel")
        resources = [
            {
                "name": re.sub("y$", "ie", kind.lower()) + "s",
                "kind": kind,
                "namespaced": not any(word in kind for word in cluster_wide),
                "verbs": ["get", "list", "create", "patch"],
            }
            for kind in sorted(kinds)
        ]
        return {"kind": "APIResourceList", "groupVersion": version, "resources": resources}

    def __enter__(self) -> Cluster:
        self.thread.start()
        self.folder = tempfile.TemporaryDirectory()
        url = f"http://127.0.0.1:{self.server.server_address[1]}"
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": url}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": ""}}],
            "current-context": "c",
        }
        self.kubeconfig = pathlib.Path(self.folder.name) / "kubeconfig"
        self.kubeconfig.write_text(json.dumps(config))
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
        self.folder.cleanup()

    def rendered(self, *arguments: str) -> str:
        return self.helm("template", *arguments)

    def notes(self, *arguments: str) -> str:
        return " ".join(self.helm("install", *arguments).partition("\nNOTES:\n")[2].split())

    def helm(self, command: str, *arguments: str) -> str:
        common = ("--namespace", NAMESPACE, "--kubeconfig", self.kubeconfig)
        alone = ("--dry-run=server", "--disable-openapi-validation")
        done = helm(command, RELEASE, CHART, *common, *alone, *arguments)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return done.stdout


def trusted(text: str) -> tuple[list[str], list[str]]:
    """Namespaces whose ServiceAccounts count as controllers, and those that are not sent."""
    (controllers,) = {
        re.search(r"(\[[^\]]*\])\.exists\(trusted", condition["expression"]).group(1)  # type: ignore[union-attr]
        for _, webhook in webhooks_of(parse(text))
        for condition in webhook["matchConditions"]
        if condition["name"] == "not-made-by-an-admitted-object"
    }
    (excluded,) = {
        json.dumps(expression["values"])
        for _, webhook in webhooks_of(parse(text))
        for expression in webhook["namespaceSelector"]["matchExpressions"]
        if expression["key"] == "kubernetes.io/metadata.name"
    }
    return json.loads(controllers), json.loads(excluded)


SYSTEM = ["kube-system", "kube-public", "kube-node-lease", "default"]
# Volcano and MindCluster are installed. There is a namespace of the name that LeaderWorkerSet proposes, with what whoever creates
# namespaces may have in it, and rights of a ServiceAccount of a namespace that does not exist any more.
NAMESPACES = [*SYSTEM, "volcano-system", "mindx-dl", "lws-system", "operators"]
SUBJECTS = [
    subject("ServiceAccount", "volcano-scheduler", namespace="volcano-system"),
    subject("Group", "system:serviceaccounts:mindx-dl", apiGroup=RBAC),
    subject("ServiceAccount", "ome-controller-manager", namespace="ome"),
    subject("User", "lws-system", apiGroup=RBAC),
]


class InstalledTest(unittest.TestCase):
    maxDiff = None

    def test_where_nothing_is_installed_a_name_is_not_enough(self) -> None:
        with Cluster(NAMESPACES, SUBJECTS) as cluster:
            self.assertEqual(
                trusted(cluster.rendered()),
                (
                    ["kube-system", "mindx-dl", "volcano-system"],
                    [*SYSTEM[:3], "mindx-dl", "volcano-system", NAMESPACE],
                ),
            )
            self.assertEqual(cluster.asked.count(f"/apis/{RBAC}/v1/clusterrolebindings"), 1)

    def test_other_namespaces_count_as_they_are_listed(self) -> None:
        lists = (
            "--set-json",
            'controllers.namespaces=["kube-system","operators","later","ome"]',
            "--set-json",
            'excludedNamespaces=["kube-system","legacy"]',
        )
        with Cluster(NAMESPACES, SUBJECTS) as cluster:
            self.assertEqual(
                trusted(cluster.rendered(*lists)),
                (["kube-system", "operators", "later"], ["kube-system", "legacy", NAMESPACE]),
            )

    def test_without_a_cluster_or_when_it_is_not_asked_the_lists_count(self) -> None:
        text = template()
        self.assertEqual(text.returncode, 0, text.stderr)
        controllers, excluded = trusted(text.stdout)
        self.assertEqual((len(controllers), len(excluded)), (7, 13))
        with Cluster(NAMESPACES, SUBJECTS) as cluster:
            as_listed = cluster.rendered("--set", "onlyInstalledNamespaces=false")
            self.assertEqual(trusted(as_listed), (controllers, excluded))
            self.assertNotIn(f"/apis/{RBAC}/v1/clusterrolebindings", cluster.asked)

    def test_the_notes_name_what_is_left_out_and_what_does_not_exist(self) -> None:
        left_out = (
            "Left out of controllers.namespaces and excludedNamespaces, as no component is installed there:"
            " volcano-monitoring, lws-system, ome, aibrix-system, cluster-system, npu-exporter, cert-manager."
        )
        absent = "WARNING: these namespaces are trusted by their names, and do not exist:"
        with Cluster(NAMESPACES, SUBJECTS) as cluster:
            notes = cluster.notes()
            self.assertIn(left_out, notes)
            self.assertNotIn(absent, notes)
            faults = "config.rescheduling.publicFaults.namespaces={kube-system,ccae-system}"
            notes = cluster.notes("--set", f"controllers.namespaces={{kube-system,later}},{faults}")
            self.assertIn(f"{absent} later, ccae-system. Whoever", notes)
        with Cluster(SYSTEM, []) as cluster:
            self.assertIn(f"{absent} mindx-dl. Whoever", cluster.notes())
            self.assertNotIn(absent, cluster.notes("--set", "config.rescheduling.mode=off"))

    def test_an_upgrade_keeps_what_fails_closed(self) -> None:
        live = {"pods.validate.mindgate.io": "Fail", "ome.validate.mindgate.io": "Ignore", "services.validate.mindgate.io": "Fail"}
        configuration = {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration",
            "metadata": {
                "name": RELEASE,
                "labels": {"app.kubernetes.io/managed-by": "Helm"},
                "annotations": {"meta.helm.sh/release-name": RELEASE, "meta.helm.sh/release-namespace": NAMESPACE},
            },
            "webhooks": [{"name": name, "failurePolicy": policy} for name, policy in live.items()],
        }
        path = f"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/{RELEASE}"
        for phase, fails in (("enforce", ["pods.validate.mindgate.io"]), ("warn", [])):
            with Cluster(NAMESPACES, SUBJECTS, {path: configuration}) as cluster:
                rendered = parse(cluster.rendered("--set", f"rolloutPhase={phase}"))
            closed = [webhook["name"] for _, webhook in webhooks_of(rendered) if webhook["failurePolicy"] == "Fail"]
            # A Service waits for nobody, whatever is in the cluster.
            self.assertEqual(closed, fails, phase)

    def test_the_notes_name_nodes_that_cannot_run_the_image(self) -> None:
        def nodes(*architectures: str) -> Object:
            items = [{"metadata": {"name": each, "labels": {"kubernetes.io/arch": each}}} for each in architectures]
            return {"/api/v1/nodes": {"kind": "NodeList", "apiVersion": "v1", "items": [*items, {"metadata": {"name": "bare"}}]}}

        warning = "WARNING: there are nodes of architecture"
        with Cluster(NAMESPACES, SUBJECTS, nodes("arm64", "riscv64", "loong64", "riscv64")) as cluster:
            self.assertNotIn(warning, cluster.notes())
            notes = cluster.notes("--set", "image.architectures={amd64,arm64}")
            self.assertIn(f"{warning} loong64, riscv64, and the image is for amd64, arm64 only.", notes)
            (values,) = re.findall(r"--set-json '([^']*arch[^']*)'", notes)
            kept = cluster.rendered("--set-json", values)
            for each in parse(kept):
                if each["kind"] == "Deployment":
                    self.assertEqual(each["spec"]["template"]["spec"]["nodeSelector"], {"kubernetes.io/arch": "amd64"})
        with Cluster(NAMESPACES, SUBJECTS, nodes("amd64", "arm64")) as cluster:
            self.assertNotIn(warning, cluster.notes("--set", "image.architectures={amd64,arm64}"))


if __name__ == "__main__":
    unittest.main()
