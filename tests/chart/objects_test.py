"""The other objects: rights, security, what belongs together, what the program accepts."""

from __future__ import annotations

import itertools
import json
import re
import unittest
from typing import Any

import yaml

from rendering import (
    BINARY,
    CHART,
    NAMESPACE,
    ROOT,
    VALUE_SETS,
    Object,
    objects_of,
    of_kind,
    parse,
    run,
    template,
    the,
    webhooks_of,
)

READ_RUNTIMES = (
    "",
    [
        {
            "apiGroups": ["ome.io"],
            "resources": ["servingruntimes", "clusterservingruntimes"],
            "verbs": ["get", "list", "watch"],
        }
    ],
)


def watcher_rights(secret: str) -> list[tuple[str, list[Object]]]:
    """Namespace ("" is everywhere) and rules of each binding of the watcher."""
    return [
        (
            NAMESPACE,
            [
                {"apiGroups": [""], "resources": ["secrets"], "verbs": ["create"]},
                {
                    "apiGroups": [""],
                    "resources": ["secrets"],
                    "resourceNames": [secret],
                    "verbs": ["get", "list", "watch", "update", "patch"],
                },
                {
                    "apiGroups": ["coordination.k8s.io"],
                    "resources": ["leases"],
                    "resourceNames": ["mindgate-watcher"],
                    "verbs": ["get", "update", "patch"],
                },
                {
                    "apiGroups": ["events.k8s.io"],
                    "resources": ["events"],
                    "verbs": ["create", "patch"],
                },
            ],
        ),
        (
            "",
            [
                {
                    "apiGroups": ["admissionregistration.k8s.io"],
                    "resources": [
                        "mutatingwebhookconfigurations",
                        "validatingwebhookconfigurations",
                    ],
                    "resourceNames": ["mindgate"],
                    "verbs": ["get", "list", "watch", "patch"],
                }
            ],
        ),
    ]


RIGHTS = {
    "defaults": {
        "mindgate-webhook": [READ_RUNTIMES],
        "mindgate-watcher": watcher_rights("mindgate-tls"),
    },
    "cert-manager": {"mindgate-webhook": [READ_RUNTIMES]},
    "own-files": {},
    "everything": {"reader": [READ_RUNTIMES], "keeper": watcher_rights("webhook-pair")},
    "minimal": {
        "mindgate-webhook": [READ_RUNTIMES],
        "mindgate-watcher": watcher_rights("mindgate-tls"),
    },
}


def pod_templates(objects: list[Object]) -> dict[str, Object]:
    return {
        each["metadata"]["name"]: each["spec"]["template"]
        for each in of_kind(objects, "Deployment")
    }


def container_of(objects: list[Object], deployment: str) -> Object:
    container: Object = pod_templates(objects)[deployment]["spec"]["containers"][0]
    return container


def flag(container: Object, name: str) -> str:
    """The value of --name=value among the arguments."""
    (value,) = [
        each.partition("=")[2] for each in container["args"] if each.startswith(f"--{name}=")
    ]
    return str(value)


class RightsTest(unittest.TestCase):
    maxDiff = None

    def test_each_service_account_may_do_what_it_needs_and_nothing_more(self) -> None:
        for value_set in VALUE_SETS:
            objects = objects_of(value_set)
            rules = {
                (each["kind"], each["metadata"]["name"]): each["rules"]
                for kind in ("Role", "ClusterRole")
                for each in of_kind(objects, kind)
            }
            rights: dict[str, list[tuple[str, list[Object]]]] = {}
            for binding in [
                *of_kind(objects, "RoleBinding"),
                *of_kind(objects, "ClusterRoleBinding"),
            ]:
                (subject,) = binding["subjects"]
                self.assertEqual(
                    (subject["kind"], subject["namespace"]), ("ServiceAccount", NAMESPACE)
                )
                granted = rules.pop((binding["roleRef"]["kind"], binding["roleRef"]["name"]))
                rights.setdefault(subject["name"], []).append(
                    (binding["metadata"].get("namespace", ""), granted)
                )
            self.assertEqual(rules, {}, f"{value_set}: roles that nobody has")
            self.assertEqual(rights, RIGHTS[value_set], value_set)

    def test_pods_have_a_token_only_with_rights(self) -> None:
        for value_set in VALUE_SETS:
            objects = objects_of(value_set)
            accounts = {each["metadata"]["name"] for each in of_kind(objects, "ServiceAccount")}
            for name, pod in pod_templates(objects).items():
                account = pod["spec"]["serviceAccountName"]
                self.assertIn(account, accounts)
                self.assertEqual(
                    pod["spec"]["automountServiceAccountToken"], account in RIGHTS[value_set], name
                )
            for account in of_kind(objects, "ServiceAccount"):
                self.assertIs(account["automountServiceAccountToken"], False)

    def test_no_secret_is_rendered(self) -> None:
        # What a chart renders it owns: an upgrade would put back old certificates.
        for value_set in VALUE_SETS:
            self.assertEqual(of_kind(objects_of(value_set), "Secret"), [])


class SecurityTest(unittest.TestCase):
    def test_pods_satisfy_the_restricted_standard(self) -> None:
        for value_set in VALUE_SETS:
            for name, pod in pod_templates(objects_of(value_set)).items():
                with self.subTest(values=value_set, deployment=name):
                    spec = pod["spec"]
                    for forbidden in (
                        "hostNetwork",
                        "hostPID",
                        "hostIPC",
                        "hostUsers",
                        "initContainers",
                    ):
                        self.assertNotIn(forbidden, spec)
                    self.assertEqual(
                        spec["securityContext"],
                        {
                            "runAsNonRoot": True,
                            "runAsUser": 9000,
                            "runAsGroup": 9000,
                            "fsGroup": 9000,
                            "seccompProfile": {"type": "RuntimeDefault"},
                        },
                    )
                    self.assertLessEqual(
                        {kind for volume in spec.get("volumes", []) for kind in volume} - {"name"},
                        {"secret", "configMap"},
                    )
                    (container,) = spec["containers"]
                    self.assertEqual(
                        container["securityContext"],
                        {
                            "allowPrivilegeEscalation": False,
                            "readOnlyRootFilesystem": True,
                            "capabilities": {"drop": ["ALL"]},
                        },
                    )
                    self.assertEqual(
                        [port for port in container.get("ports", []) if "hostPort" in port], []
                    )
                    self.assertIn("memory", container["resources"]["limits"])

    def test_the_host_network_is_used_when_asked_for(self) -> None:
        rendered = template("--set", "hostNetwork=true")
        spec = pod_templates(parse(rendered.stdout))["mindgate-webhook"]["spec"]
        self.assertEqual(
            (spec["hostNetwork"], spec["dnsPolicy"]), (True, "ClusterFirstWithHostNet")
        )

    def test_the_key_of_a_ca_stays_outside(self) -> None:
        for value_set in VALUE_SETS:
            volumes = pod_templates(objects_of(value_set))["mindgate-webhook"]["spec"]["volumes"]
            (secret,) = [volume["secret"] for volume in volumes if "secret" in volume]
            self.assertEqual(
                [item["key"] for item in secret["items"]], ["tls.crt", "tls.key", "ca.crt"]
            )
            self.assertEqual((secret["optional"], secret["defaultMode"]), (True, 0o440))
        watcher = pod_templates(objects_of("defaults"))["mindgate-watcher"]["spec"]
        self.assertNotIn("volumes", watcher)


class TogetherTest(unittest.TestCase):
    """Names, labels and numbers that must agree between objects."""

    def test_everything_that_selects_selects_its_pods(self) -> None:
        for value_set in VALUE_SETS:
            objects = objects_of(value_set)
            pods = {name: pod["metadata"]["labels"] for name, pod in pod_templates(objects).items()}
            service = the(objects, "Service", "mindgate-webhook")
            selectors = [("Service", service["spec"]["selector"], "mindgate-webhook")]
            for kind, field in (
                ("PodDisruptionBudget", "selector"),
                ("NetworkPolicy", "podSelector"),
                ("Deployment", "selector"),
            ):
                selectors += [
                    (kind, each["spec"][field]["matchLabels"], each["metadata"]["name"])
                    for each in of_kind(objects, kind)
                ]
            for kind, labels, target in selectors:
                with self.subTest(values=value_set, kind=kind, target=target):
                    selected = [
                        name for name, carried in pods.items() if labels.items() <= carried.items()
                    ]
                    self.assertEqual(selected, [target])
            for monitor in of_kind(objects, "ServiceMonitor"):
                wanted = monitor["spec"]["selector"]["matchLabels"]
                self.assertLessEqual(wanted.items(), service["metadata"]["labels"].items())
                ports = [port["name"] for port in service["spec"]["ports"]]
                self.assertIn(monitor["spec"]["endpoints"][0]["port"], ports)

    def test_replicas_of_one_rollout_are_spread(self) -> None:
        spec = pod_templates(objects_of("defaults"))["mindgate-webhook"]["spec"]
        for constraint in spec["topologySpreadConstraints"]:
            self.assertEqual(constraint["matchLabelKeys"], ["pod-template-hash"])
            self.assertEqual(
                constraint["labelSelector"]["matchLabels"]["app.kubernetes.io/component"], "webhook"
            )
        (own,) = pod_templates(objects_of("everything"))["mindgate-webhook"]["spec"][
            "topologySpreadConstraints"
        ]
        self.assertEqual(own["labelSelector"], {"matchLabels": {"team": "platform"}})

    def test_the_api_server_calls_the_name_that_the_certificate_must_have(self) -> None:
        for value_set in VALUE_SETS:
            objects = objects_of(value_set)
            name = flag(container_of(objects, "mindgate-webhook"), "server-name")
            for _, webhook in webhooks_of(objects):
                service = webhook["clientConfig"]["service"]
                self.assertEqual(f"{service['name']}.{service['namespace']}.svc", name)
                ports = {
                    port["port"]: port["targetPort"]
                    for port in the(objects, "Service", service["name"])["spec"]["ports"]
                }
                self.assertEqual(ports[service["port"]], "https")
        (certificate,) = [
            each
            for each in of_kind(objects_of("cert-manager"), "Certificate")
            if each["spec"]["secretName"] == "mindgate-tls"
        ]
        self.assertIn("mindgate-webhook.mindgate-system.svc", certificate["spec"]["dnsNames"])

    def test_ports_are_those_that_the_program_listens_on(self) -> None:
        for value_set in VALUE_SETS:
            container = container_of(objects_of(value_set), "mindgate-webhook")
            ports = {port["name"]: port["containerPort"] for port in container["ports"]}
            self.assertEqual(
                {
                    "https": int(flag(container, "listen").lstrip(":")),
                    "probe": int(flag(container, "probe-listen").lstrip(":")),
                },
                ports,
            )
            self.assertEqual(
                [container[probe]["httpGet"] for probe in ("readinessProbe", "livenessProbe")],
                [{"path": "/readyz", "port": "probe"}, {"path": "/livez", "port": "probe"}],
            )

    def test_the_watcher_keeps_what_the_webhook_reads(self) -> None:
        for value_set in ("defaults", "everything", "minimal"):
            objects = objects_of(value_set)
            args = container_of(objects, "mindgate-watcher")["args"]
            secret = "webhook-pair" if value_set == "everything" else "mindgate-tls"
            self.assertEqual(
                args,
                [
                    "certs",
                    "manage",
                    f"--namespace={NAMESPACE}",
                    f"--secret={secret}",
                    "--service=mindgate-webhook",
                    "--mutating-webhook=mindgate",
                    "--validating-webhook=mindgate",
                    "--days=365",
                    "--ca-days=3650",
                    "--publish-time=3600",
                    "--overlap=86400",
                    "--leader-elect",
                    "--lease=mindgate-watcher",
                ],
            )
            volumes = pod_templates(objects)["mindgate-webhook"]["spec"]["volumes"]
            self.assertEqual(
                [volume["secret"]["secretName"] for volume in volumes if "secret" in volume],
                [secret],
            )

    def test_names_follow_the_release(self) -> None:
        names = {"mindgate": "mindgate", "prod": "prod-mindgate", "a" * 53: "a" * 50}
        for release, name in names.items():
            with self.subTest(release):
                rendered = run(ROOT / "scripts/helm", "template", release, CHART)
                self.assertEqual(rendered.returncode, 0, rendered.stderr)
                deployments = sorted(
                    each["metadata"]["name"]
                    for each in of_kind(parse(rendered.stdout), "Deployment")
                )
                self.assertEqual(deployments, [f"{name}-watcher", f"{name}-webhook"])

    def test_a_change_of_the_configuration_restarts_nothing(self) -> None:
        changed = template("--set", "config.superPodSize=64")
        self.assertEqual(
            of_kind(parse(changed.stdout), "Deployment"),
            of_kind(objects_of("defaults"), "Deployment"),
        )
        self.assertNotEqual(
            the(parse(changed.stdout), "ConfigMap", "mindgate-config"),
            the(objects_of("defaults"), "ConfigMap", "mindgate-config"),
        )

    def test_a_webhook_without_lookups_reaches_nobody(self) -> None:
        policy = the(objects_of("own-files"), "NetworkPolicy", "mindgate-webhook")
        self.assertEqual(
            (policy["spec"]["policyTypes"], policy["spec"]["egress"]), (["Ingress", "Egress"], [])
        )

    def test_an_issuer_of_the_site_signs(self) -> None:
        issuer = {"name": "site", "kind": "ClusterIssuer", "group": "cert-manager.io"}
        rendered = template(
            "--set",
            "certs.mode=cert-manager",
            "--set-json",
            f"certs.certManager.issuerRef={json.dumps(issuer)}",
        )
        objects = parse(rendered.stdout)
        self.assertEqual(of_kind(objects, "Issuer"), [])
        self.assertEqual(
            [each["spec"]["issuerRef"] for each in of_kind(objects, "Certificate")], [issuer]
        )


class ProgramTest(unittest.TestCase):
    """What the chart hands to the program is what the program takes."""

    def test_the_configuration_is_accepted(self) -> None:
        for value_set in VALUE_SETS:
            text = the(objects_of(value_set), "ConfigMap", "mindgate-config")["data"][
                "mindgate.yaml"
            ]
            checked = run(BINARY, "config", "validate", "-", stdin=text)
            self.assertEqual(
                checked.returncode, 0, f"{value_set}:\n{text}\n{checked.stdout}{checked.stderr}"
            )

    def test_flags_and_variables_exist(self) -> None:
        for value_set, deployment in itertools.product(
            VALUE_SETS, ("mindgate-webhook", "mindgate-watcher")
        ):
            if deployment not in pod_templates(objects_of(value_set)):
                continue
            container = container_of(objects_of(value_set), deployment)
            command = list(
                itertools.takewhile(lambda each: not each.startswith("-"), container["args"])
            )
            described = run(BINARY, *command, "--help").stdout
            # Both come with the parts of mindgate that talk to the API server.
            if (
                command == ["certs", "manage"]
                and "manage" not in run(BINARY, "certs", "--help").stdout
            ):
                continue
            names = [each.partition("=")[0] for each in container["args"] if each.startswith("-")]
            if "lookup" in described:
                names += [each["name"] for each in container.get("env", [])]
            for name in names:
                self.assertRegex(
                    described, re.escape(name) + r"\b", f"{' '.join(command)} has no {name}"
                )

    def test_versions_are_the_projects(self) -> None:
        chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
        version = run(BINARY, "version").stdout.strip().removeprefix("mindgate ")
        self.assertEqual((chart["version"], chart["appVersion"]), (version, version))

    def test_alerts_and_dashboard_use_metrics_that_exist(self) -> None:
        objects = objects_of("everything")
        known = set(re.findall(r'"(mindgate_\w+)"', (ROOT / "webhook/metrics.cc").read_text()))
        alerts = the(objects, "PrometheusRule", "mindgate")["spec"]["groups"][0]["rules"]
        dashboard = json.loads(
            the(objects, "ConfigMap", "mindgate-dashboard")["data"]["mindgate.json"]
        )
        expressions = [alert["expr"] for alert in alerts]
        expressions += [
            target["expr"] for panel in dashboard["panels"] for target in panel["targets"]
        ]
        used = {
            re.sub("_bucket$", "", name)
            for text in expressions
            for name in re.findall(r"mindgate_\w+", text)
        }
        self.assertGreater(len(used), 10)
        self.assertEqual(used - known, set())

    def test_the_dashboard_has_its_panels_side_by_side(self) -> None:
        panels: list[dict[str, Any]] = json.loads((CHART / "dashboards/mindgate.json").read_text())[
            "panels"
        ]
        cells = [
            (x, y)
            for panel in panels
            for place in [panel["gridPos"]]
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        ]
        self.assertEqual(len(cells), len(set(cells)), "panels overlap")
        self.assertEqual(max(x for x, _ in cells), 23)
        self.assertEqual([panel["id"] for panel in panels], list(range(1, len(panels) + 1)))


if __name__ == "__main__":
    unittest.main()
