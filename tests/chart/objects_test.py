"""The other objects: rights, security, what belongs together, what the program accepts."""

from __future__ import annotations

import json
import re
import unittest
from typing import Any

import yaml

from rendering import (
    BINARY,
    CHART,
    GOLDEN_SETS,
    HERE,
    NAMESPACE,
    ROOT,
    VALUE_SETS,
    Object,
    kinds_of_the_engine,
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


def rule(group: str, resources: str, verbs: str, **more: Any) -> Object:
    return {
        "apiGroups": [group],
        "resources": resources.split(),
        **more,
        "verbs": verbs.split(),
    }


LEASE = rule(
    "coordination.k8s.io", "leases", "get update patch", resourceNames=["mindgate-watcher"]
)
# `mindgate status` in its Pod reports what the configuration does.
CONFIG = rule("", "configmaps", "get", resourceNames=["mindgate-config"])
REGISTRATIONS = rule(
    "admissionregistration.k8s.io",
    "mutatingwebhookconfigurations validatingwebhookconfigurations",
    "get list watch patch",
    resourceNames=["mindgate"],
)
RULES_OF_SCALING = rule("", "configmaps", "list watch")
GANGS = [
    rule("apps", "deployments replicasets", "list watch"),
    rule("orchestration.aibrix.ai", "rolesets", "list watch"),
    rule("scheduling.volcano.sh", "podgroups", "list watch patch"),
]
EVENTS = rule("events.k8s.io", "events", "create patch")
NODES = rule("", "nodes", "list watch")
QUEUED = rule("scheduling.volcano.sh", "podgroups", "get list watch")
EVICTIONS = rule("", "pods/eviction", "create")
RECORDS = rule("", "configmaps", "get", resourceNames=["job-reschedule-reason"])
OBSERVE = [rule("", "pods", "get list watch"), RULES_OF_SCALING, NODES, QUEUED, RECORDS]
OWNERS = {
    ("", "replicationcontrollers"),
    *(("apps", name) for name in ("daemonsets", "deployments", "replicasets", "statefulsets")),
    ("batch.volcano.sh", "jobs"),
    ("leaderworkerset.x-k8s.io", "leaderworkersets"),
    ("mindxdl.gitee.com", "ascendjobs"),
    *(("orchestration.aibrix.ai", name) for name in ("podsets", "rolesets", "stormservices")),
}
# Owners of pods that may opt out; new kinds may follow.
OWNERS_OF_THE_ENGINE = {
    (kind["apiVersion"].rpartition("/")[0], kind["resource"])
    for kind in kinds_of_the_engine()
    if kind["mayDisableRescheduling"] and kind["kind"] != "Pod"
}
OPT_OUTS = [
    rule("", "namespaces", "get"),
    *(
        rule(group, " ".join(sorted(name for each, name in OWNERS_OF_THE_ENGINE if each == group)), "get")
        for group in sorted({group for group, _ in OWNERS_OF_THE_ENGINE})
    ),
]
RESTARTS = [*OPT_OUTS, RECORDS]

ALL_KINDS = {(kind["apiVersion"].rpartition("/")[0], kind["resource"]) for kind in kinds_of_the_engine()}
AUDIT = [
    rule("", "namespaces", "list watch"),
    *(
        rule(group, " ".join(sorted(name for each, name in ALL_KINDS if each == group)), "list watch")
        for group in sorted({group for group, _ in ALL_KINDS})
    ),
    rule("autoscaling", "horizontalpodautoscalers", "list"),
    rule("keda.sh", "scaledobjects", "list"),
    rule("autoscaling.aibrix.ai", "podautoscalers", "list"),
    rule("scheduling.volcano.sh", "queues", "list"),
    rule("openreports.io", "reports clusterreports", "list create patch delete"),
    rule("wgpolicyk8s.io", "policyreports clusterpolicyreports", "list create patch delete"),
]

STATE_OF_RESTARTS = [
    rule("", "configmaps", "create"),
    rule("", "configmaps", "get patch", resourceNames=["mindgate-rescheduling"]),
]
RELEASE_PODS = rule("", "pods", "get list patch")
RELEASE_NODES = rule("", "nodes", "get list patch")

# The watcher's own, which becomes the owner of the registrations.
OWN_NAMESPACE = rule("", "namespaces", "get", resourceNames=[NAMESPACE])


# config.policies.configMaps
POLICIES = rule("", "configmaps", "get list watch")
# Policies may select namespaces by labels.
NAMESPACES = rule("", "namespaces", "get list watch")


def doctor(probe_namespace: str = "default", *more: Object) -> list[tuple[str, list[Object]]]:
    """What `helm test` may do."""
    return [
        (
            NAMESPACE,
            [
                rule("", "services", "get", resourceNames=["mindgate-webhook"]),
                CONFIG,
                *more,
                rule("coordination.k8s.io", "leases", "get", resourceNames=["mindgate-watcher"]),
                rule("discovery.k8s.io", "endpointslices", "list"),
            ],
        ),
        (probe_namespace, [rule("", "pods configmaps", "create")]),
        (
            "",
            [
                rule(
                    "admissionregistration.k8s.io",
                    "mutatingwebhookconfigurations validatingwebhookconfigurations",
                    "get",
                    resourceNames=["mindgate"],
                ),
                rule("", "namespaces nodes pods", "list"),
                rule("mindxdl.gitee.com", "ascendjobs", "list"),
                rule("apps", "deployments", "list"),
                rule("rbac.authorization.k8s.io", "clusterroles clusterrolebindings", "list"),
                rule("authorization.k8s.io", "subjectaccessreviews", "create"),
            ],
        ),
    ]


# The dry run that asks the webhook.
PROBE = rule("", "configmaps", "create")


def certificates(secret: str) -> list[Object]:
    return [
        rule("", "secrets", "create"),
        rule("", "secrets", "get list watch update patch", resourceNames=[secret]),
    ]


# Of each ServiceAccount: namespace ("" is everywhere) and rules of each of its bindings.
RIGHTS: dict[str, dict[str, list[tuple[str, list[Object]]]]] = {
    "defaults": {
        "mindgate-webhook": [READ_RUNTIMES],
        "mindgate-watcher": [
            (NAMESPACE, [LEASE, CONFIG, PROBE, *certificates("mindgate-tls")]),
            ("", [REGISTRATIONS, OWN_NAMESPACE, *OBSERVE, *GANGS, EVENTS]),
        ],
        "mindgate-test": doctor(),
    },
    "cert-manager": {"mindgate-webhook": [READ_RUNTIMES], "mindgate-test": doctor()},
    "own-files": {
        "mindgate-test": doctor(),
        "mindgate-watcher": [(NAMESPACE, [LEASE, CONFIG, PROBE]), ("", [REGISTRATIONS, *OBSERVE, *GANGS, EVENTS])],
    },
    "everything": {
        "reader": [(NAMESPACE, [POLICIES]), READ_RUNTIMES, ("", [NAMESPACES])],
        "keeper": [
            (NAMESPACE, [LEASE, CONFIG, *STATE_OF_RESTARTS, POLICIES, *certificates("webhook-pair")]),
            (
                "",
                [
                    REGISTRATIONS,
                    OWN_NAMESPACE,
                    rule("", "pods", "get list watch patch delete"),
                    RULES_OF_SCALING,
                    rule("", "nodes", "list watch get patch"),
                    QUEUED,
                    EVICTIONS,
                    *RESTARTS,
                    rule("", "configmaps", "get patch"),
                    *GANGS,
                    *AUDIT,
                    EVENTS,
                ],
            ),
        ],
        "mindgate-uninstall": [("", [RELEASE_PODS, RELEASE_NODES])],
        "mindgate-test": doctor("serving", rule("", "configmaps", "list")),
    },
    "minimal": {
        "mindgate-webhook": [READ_RUNTIMES],
        "mindgate-watcher": [
            (NAMESPACE, [LEASE, CONFIG, PROBE, *certificates("mindgate-tls")]),
            ("", [REGISTRATIONS, OWN_NAMESPACE]),
        ],
    },
}

# What the configuration switches on, and what the watcher may do everywhere for it. YAML 1.1 makes
# booleans of off and on.
SWITCHES: list[tuple[Object, list[Object]]] = [
    ({}, [*OBSERVE, *GANGS, EVENTS]),
    ({"elasticScaling": None, "gangRepair": True}, [*OBSERVE, *GANGS, EVENTS]),
    ({"elasticScaling": {}, "gangRepair": "on"}, [*OBSERVE, *GANGS, EVENTS]),
    ({"elasticScaling": {"reservation": "9s"}, "gangRepair": False}, [*OBSERVE, EVENTS]),
    ({"elasticScaling": {"mode": "observe"}, "gangRepair": "off"}, [*OBSERVE, EVENTS]),
    # Nothing is given up while mode says to look only.
    (
        {"elasticScaling": {"mode": "observe", "rebalance": "enforce"}, "gangRepair": False},
        [*OBSERVE, EVENTS],
    ),
    (
        {"elasticScaling": {"mode": "enforce"}, "gangRepair": False},
        [rule("", "pods", "get list watch patch delete"), RULES_OF_SCALING, NODES, QUEUED, *RESTARTS, EVENTS],
    ),
    (
        {
            "elasticScaling": {"mode": "enforce", "rebalance": False},
            "gangRepair": False,
            "rescheduling": {"mode": False},
        },
        [rule("", "pods", "get list watch patch delete"), RULES_OF_SCALING, QUEUED, *OPT_OUTS, EVENTS],
    ),
    (
        {"elasticScaling": {"mode": "enforce", "rebalance": "enforce"}, "gangRepair": False},
        [
            rule("", "pods", "get list watch patch delete"),
            RULES_OF_SCALING,
            NODES,
            QUEUED,
            EVICTIONS,
            *RESTARTS,
            EVENTS,
        ],
    ),
    (
        {"elasticScaling": {"mode": False}, "rescheduling": {"mode": False}},
        [*GANGS[:2], rule("", "pods", "list watch"), GANGS[2], EVENTS],
    ),
    ({"elasticScaling": {"mode": False}, "gangRepair": False}, [*OBSERVE, EVENTS]),
    (
        {
            "elasticScaling": {"mode": False},
            "gangRepair": False,
            "rescheduling": {"mode": "takeover"},
        },
        [
            rule("", "pods", "get list watch patch delete"),
            OBSERVE[1],
            rule("", "nodes", "list watch get"),
            QUEUED,
            *RESTARTS,
            EVENTS,
        ],
    ),
    (
        {
            "elasticScaling": {"mode": False},
            "gangRepair": False,
            "rescheduling": {"mode": "enforce", "isolateNodes": True},
        },
        [
            rule("", "pods", "get list watch patch delete"),
            OBSERVE[1],
            rule("", "nodes", "list watch get patch"),
            QUEUED,
            *RESTARTS,
            EVENTS,
        ],
    ),
    (
        {
            "elasticScaling": {"mode": False},
            "gangRepair": False,
            "rescheduling": {"mode": "takeover", "gracefulExit": "on", "isolateNodes": "off"},
        },
        [
            rule("", "pods", "get list watch patch delete"),
            OBSERVE[1],
            rule("", "nodes", "list watch get"),
            QUEUED,
            *RESTARTS,
            rule("", "configmaps", "get patch"),
            EVENTS,
        ],
    ),
    (
        {
            "elasticScaling": {"mode": False},
            "gangRepair": False,
            "rescheduling": {"mode": False, "isolateNodes": True, "gracefulExit": True},
        },
        [],
    ),
    # A string, as the program takes it too.
    (
        {
            "elasticScaling": {"mode": False},
            "gangRepair": False,
            "rescheduling": {"mode": "enforce", "isolateNodes": "off"},
        },
        [
            rule("", "pods", "get list watch patch delete"),
            OBSERVE[1],
            rule("", "nodes", "list watch get"),
            QUEUED,
            *RESTARTS,
            EVENTS,
        ],
    ),
    (
        {
            "elasticScaling": {"mode": "off"},
            "gangRepair": "off",
            "rescheduling": {"mode": "off"},
        },
        [],
    ),
    (
        {
            "elasticScaling": {"mode": "off"},
            "gangRepair": "off",
            "rescheduling": {"mode": "off"},
            "audit": {"mode": True},
        },
        AUDIT,
    ),
    ({"gangRepair": False, "audit": {"mode": "on"}}, [*OBSERVE, *AUDIT, EVENTS]),
    ({"gangRepair": False, "audit": {"mode": False}}, [*OBSERVE, EVENTS]),
]

HOOK = "helm.sh/hook"
FILES = {
    "mode": "files",
    "secretName": "pair",
    "caBundle": "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n",
}


def pod_templates(objects: list[Object]) -> dict[str, Object]:
    owners = {
        each["metadata"]["name"]: each["spec"]["template"]
        for kind in ("Deployment", "Job")
        for each in of_kind(objects, kind)
    }
    return owners | {each["metadata"]["name"]: each for each in of_kind(objects, "Pod")}


def container_of(objects: list[Object], owner: str) -> Object:
    container: Object = pod_templates(objects)[owner]["spec"]["containers"][0]
    return container


def flag(container: Object, name: str) -> str:
    """The value of --name=value among the arguments."""
    (value,) = [
        each.partition("=")[2] for each in container["args"] if each.startswith(f"--{name}=")
    ]
    return str(value)


class RightsTest(unittest.TestCase):
    maxDiff = None

    def test_owners_that_may_opt_out_stay_so(self) -> None:
        self.assertLessEqual(OWNERS, OWNERS_OF_THE_ENGINE)

    def test_each_service_account_may_do_what_it_needs_and_nothing_more(self) -> None:
        for value_set in VALUE_SETS:
            objects = objects_of(value_set)
            rules = {
                (
                    each["kind"],
                    each["metadata"].get("namespace", ""),
                    each["metadata"]["name"],
                ): each["rules"]
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
                place = binding["metadata"].get("namespace", "")
                role = binding["roleRef"]
                granted = rules.pop((role["kind"], place, role["name"]))
                rights.setdefault(subject["name"], []).append((place, granted))
            self.assertEqual(rules, {}, f"{value_set}: roles that nobody has")
            self.assertEqual(rights, RIGHTS[value_set], value_set)

    def test_the_watcher_may_do_what_the_configuration_switches_on(self) -> None:
        files = ["--values", str(HERE / "values/own-files.yaml"), "--set", "webhook.failOpenUntilAnswered=false"]
        for config, wanted in SWITCHES:
            with self.subTest(config=config):
                rendered = template(*files, "--set-json", f"config={json.dumps(config)}")
                self.assertEqual(rendered.returncode, 0, rendered.stderr)
                objects = parse(rendered.stdout)
                rules = [
                    each["rules"]
                    for each in of_kind(objects, "ClusterRole")
                    if each["metadata"]["name"] == "mindgate-watcher"
                ]
                self.assertEqual(rules, [wanted] if wanted else [])
                bound = [
                    each["roleRef"]["name"]
                    for each in of_kind(objects, "ClusterRoleBinding")
                    if each["metadata"]["name"] == "mindgate-watcher"
                ]
                self.assertEqual(bound, ["mindgate-watcher"] if wanted else [])

    def test_defaults_are_those_of_the_program(self) -> None:
        defaults = yaml.safe_load(run(BINARY, "config", "defaults").stdout)
        scaling = defaults["elasticScaling"]
        self.assertEqual(
            (
                scaling["mode"],
                scaling["rebalance"],
                defaults["rescheduling"]["mode"],
                defaults["rescheduling"]["isolateNodes"],
                defaults["rescheduling"]["gracefulExit"],
                defaults["gangRepair"],
                defaults["audit"]["mode"],
            ),
            ("observe", "observe", "observe", False, False, True, False),
            "templates/_helpers.tpl has them too",
        )

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
                with self.subTest(values=value_set, owner=name):
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
                    for container in spec["containers"]:
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

    def test_an_upgrade_needs_no_node_that_it_may_not_have(self) -> None:
        """Two Pods of the host network cannot share a node; elsewhere a new one comes first."""
        for values, unavailable, surge in (
            ("hostNetwork=false", 0, 1),
            ("hostNetwork=true", 1, 0),
            ("hostNetwork=true,replicaCount=1", 0, 1),
        ):
            deployment = the(parse(template("--set", values).stdout), "Deployment", "mindgate-webhook")
            self.assertEqual(
                deployment["spec"]["strategy"],
                {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": unavailable, "maxSurge": surge}},
                values,
            )

    def test_the_key_of_a_ca_stays_outside(self) -> None:
        for value_set in VALUE_SETS:
            volumes = pod_templates(objects_of(value_set))["mindgate-webhook"]["spec"]["volumes"]
            (secret,) = [volume["secret"] for volume in volumes if "secret" in volume]
            self.assertEqual(
                [item["key"] for item in secret["items"]], ["tls.crt", "tls.key", "ca.crt"]
            )
            self.assertEqual((secret["optional"], secret["defaultMode"]), (True, 0o440))
        # The others read no certificate, and the API server alone gives the watcher its Secret.
        for value_set in VALUE_SETS:
            for name, pod in pod_templates(objects_of(value_set)).items():
                if name != "mindgate-webhook":
                    self.assertNotIn("secret", str(pod["spec"].get("volumes", [])), name)


class TogetherTest(unittest.TestCase):
    """Names, labels and numbers that must agree between objects."""

    def test_everything_that_selects_selects_its_pods(self) -> None:
        for value_set in VALUE_SETS:
            objects = objects_of(value_set)
            pods = {name: pod["metadata"]["labels"] for name, pod in pod_templates(objects).items()}
            services = of_kind(objects, "Service")
            selectors = [
                ("Service", each["spec"]["selector"], each["metadata"]["name"]) for each in services
            ]
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
                (service,) = [
                    each
                    for each in services
                    if wanted.items() <= each["metadata"]["labels"].items()
                ]
                # The alerts name the series by it.
                self.assertEqual(service["metadata"]["name"], monitor["metadata"]["name"])
                ports = {port["name"]: port["targetPort"] for port in service["spec"]["ports"]}
                self.assertEqual(ports[monitor["spec"]["endpoints"][0]["port"]], "probe")

    def test_what_has_metrics_is_monitored_and_reached(self) -> None:
        objects = objects_of("everything")
        watched = [each["metadata"]["name"] for each in of_kind(objects, "ServiceMonitor")]
        self.assertEqual(watched, ["mindgate-webhook", "mindgate-watcher"])
        for name in watched:
            policy = the(objects, "NetworkPolicy", name)["spec"]
            (peers,) = [
                each["from"] for each in policy["ingress"] if each["ports"] == [{"port": "probe"}]
            ]
            self.assertIn("monitoring", str(peers))
        for name in ("mindgate-uninstall", "mindgate-test"):
            self.assertEqual(the(objects, "NetworkPolicy", name)["spec"]["ingress"], [])

    def test_metrics_are_read_by_those_named_alone(self) -> None:
        def peers(name: str, *arguments: str) -> list[Object]:
            """Who may reach the probe port."""
            policy = the(parse(template(*arguments).stdout), "NetworkPolicy", name)["spec"]
            self.assertIn("Ingress", policy["policyTypes"])
            for each in policy["ingress"]:
                # Without ports or peers a rule is about all of them.
                self.assertEqual(len(each["ports"]), 1)
                self.assertNotEqual(each.get("from"), [])
            return [
                each["from"] for each in policy["ingress"] if each["ports"] == [{"port": "probe"}]
            ]

        everyone = [{"namespaceSelector": {}}]
        for name in ("mindgate-webhook", "mindgate-watcher"):
            self.assertEqual(peers(name), [])
            named = f"networkPolicy.metricsFrom={json.dumps(everyone)}"
            self.assertEqual(peers(name, "--set-json", named), [everyone])

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

    def test_the_watcher_gets_where_and_what(self) -> None:
        for value_set, secret in (
            ("defaults", "mindgate-tls"),
            ("everything", "webhook-pair"),
            ("minimal", "mindgate-tls"),
            ("own-files", ""),
        ):
            objects = objects_of(value_set)
            everything = value_set == "everything"
            self.assertEqual(
                container_of(objects, "mindgate-watcher")["args"],
                [
                    "watch",
                    f"--namespace={NAMESPACE}",
                    "--config=/etc/mindgate/config/mindgate.yaml",
                    "--leader-elect",
                    "--lease=mindgate-watcher",
                    *(["--without-rules=kube-system,legacy"] if everything else []),
                    "--log-level=debug" if everything else "--log-level=info",
                    "--log-format=text" if everything else "--log-format=json",
                    *(
                        [
                            "--manage-certs",
                            f"--secret={secret}",
                            "--service=mindgate-webhook",
                            "--days=365",
                            "--ca-days=3650",
                            "--publish-time=3600",
                            "--overlap=86400",
                        ]
                        if secret
                        else []
                    ),
                    "--fail-closed",
                    "--mutating-webhook=mindgate",
                    "--validating-webhook=mindgate",
                    *(["--watch-namespace=serving"] if everything else []),
                ],
                value_set,
            )
            self.assertEqual(
                the(objects, "Lease", "mindgate-watcher")["metadata"]["namespace"], NAMESPACE
            )
            if not secret:
                continue
            volumes = pod_templates(objects)["mindgate-webhook"]["spec"]["volumes"]
            self.assertEqual(
                [volume["secret"]["secretName"] for volume in volumes if "secret" in volume],
                [secret],
            )

    def test_the_watcher_gets_which_installation_it_belongs_to(self) -> None:
        """For `kubectl exec` of `mindgate status`, with the rights of its account."""
        release = ["template", "prod", CHART, "--namespace", "ops", "--set", "nameOverride=gate"]
        objects = parse(run(ROOT / "scripts/helm", *release).stdout)
        self.assertIn(
            {"name": "MINDGATE_INSTALLATION", "value": "ops/prod-gate"},
            container_of(objects, "prod-gate-watcher")["env"],
        )
        the(objects, "MutatingWebhookConfiguration", "prod-gate")
        # What the program looks for: Pods by these labels, the Lease, and the configuration that they mount.
        labels = pod_templates(objects)["prod-gate-watcher"]["metadata"]["labels"]
        self.assertEqual(labels["app.kubernetes.io/component"], "watcher")
        for each in (the(objects, "Lease", "prod-gate-watcher"), the(objects, "MutatingWebhookConfiguration", "prod-gate")):
            self.assertEqual(
                each["metadata"]["labels"]["app.kubernetes.io/instance"], labels["app.kubernetes.io/instance"]
            )
        rules = the(objects, "Role", "prod-gate-watcher")["rules"]
        self.assertIn(rule("", "configmaps", "get", resourceNames=["prod-gate-config"]), rules)
        the(objects, "ConfigMap", "prod-gate-config")

    def test_webhook_and_watcher_read_one_configuration(self) -> None:
        for value_set in VALUE_SETS:
            objects = objects_of(value_set)
            for deployment in of_kind(objects, "Deployment"):
                spec = deployment["spec"]["template"]["spec"]
                (container,) = spec["containers"]
                (mount,) = [each for each in container["volumeMounts"] if each["name"] == "config"]
                (volume,) = [each for each in spec["volumes"] if each["name"] == "config"]
                self.assertEqual(flag(container, "config"), f"{mount['mountPath']}/mindgate.yaml")
                self.assertIs(mount["readOnly"], True)
                the(objects, "ConfigMap", volume["configMap"]["name"])

    def test_the_watcher_runs_unless_it_is_switched_off(self) -> None:
        files = ["--values", str(HERE / "values/own-files.yaml")]
        for arguments in ([], ["--set", "certs.mode=cert-manager"], files):
            for enabled in (True, False):
                if not (arguments or enabled):
                    continue  # refused
                rendered = template(*arguments, "--set", f"watcher.enabled={str(enabled).lower()}")
                self.assertEqual(rendered.returncode, 0, rendered.stderr)
                named = [
                    each["kind"]
                    for each in parse(rendered.stdout)
                    if each["metadata"]["name"] == "mindgate-watcher"
                ]
                kinds = "ClusterRole ClusterRoleBinding Deployment Lease NetworkPolicy"
                kinds += " PodDisruptionBudget Role RoleBinding ServiceAccount"
                self.assertEqual(sorted(named), kinds.split() if enabled else [])

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

    def test_policies_in_config_maps_are_read_in_the_namespace_of_mindgate_alone(self) -> None:
        values = ("--values", HERE / "values/own-files.yaml")
        rendered = template(*values, "--set", "config.policies.configMaps=true", "--set", "policies.a\\.yaml=x")
        self.assertEqual(rendered.returncode, 0, rendered.stderr)
        objects = parse(rendered.stdout)
        role = the(objects, "Role", "mindgate-policies")
        self.assertEqual((role["metadata"]["namespace"], role["rules"]), (NAMESPACE, [POLICIES]))
        self.assertIn(POLICIES, the(objects, "Role", "mindgate-watcher")["rules"])
        pod = the(objects, "Deployment", "mindgate-webhook")["spec"]["template"]["spec"]
        self.assertIs(pod["automountServiceAccountToken"], True)
        policy = the(objects, "NetworkPolicy", "mindgate-webhook")
        self.assertEqual([list(each) for each in policy["spec"]["egress"]], [["ports"]])
        config = yaml.safe_load(the(objects, "ConfigMap", "mindgate-config")["data"]["mindgate.yaml"])
        self.assertEqual(config["policies"], {"configMaps": True, "files": ["a.yaml"]})

    def test_the_webhook_reads_namespaces_where_there_are_policies(self) -> None:
        switch = {"name": "MINDGATE_LOOKUP_NAMESPACES", "value": "true"}
        own_files = ("--values", HERE / "values/own-files.yaml")
        cases = {
            "policies.a\\.yaml=x": True,
            "config.policies.files[0]=more.yaml": True,
            "config.policies.configMaps=true": True,
            "config.superPodSize=64": False,
        }
        for value, wanted in cases.items():
            with self.subTest(value):
                objects = parse(template(*own_files, "--set", value).stdout)
                roles = {each["metadata"]["name"]: each["rules"] for each in of_kind(objects, "ClusterRole")}
                self.assertEqual(roles.get("mindgate-namespaces"), [NAMESPACES] if wanted else None)
                pod = the(objects, "Deployment", "mindgate-webhook")["spec"]["template"]["spec"]
                self.assertIs(pod["automountServiceAccountToken"], wanted)
                self.assertEqual(switch in pod["containers"][0].get("env", []), wanted)

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


class UninstallTest(unittest.TestCase):
    """The hook that releases pods and nodes which would wait forever."""

    maxDiff = None

    def test_only_what_enforces_has_hooks(self) -> None:
        for value_set in VALUE_SETS:
            hooks = [
                (each["kind"], each["metadata"]["name"])
                for each in objects_of(value_set)
                if each["metadata"].get("annotations", {}).get(HOOK) == "post-delete"
            ]
            wanted = [
                (kind, "mindgate-uninstall")
                for kind in "NetworkPolicy ServiceAccount ClusterRole ClusterRoleBinding Job".split()
            ] + [
                (f"ValidatingAdmissionPolicy{binding}", f"mindgate-uninstall-{resource}")
                for binding in ("", "Binding")
                for resource in ("pods", "nodes")
            ]
            self.assertEqual(
                sorted(hooks), sorted(wanted) if value_set == "everything" else [], value_set
            )

    def hooks(self) -> dict[str, Object]:
        return {
            each["kind"]: each
            for each in objects_of("everything")
            if each["metadata"].get("annotations", {}).get(HOOK) == "post-delete"
        }

    def test_they_come_in_order_and_go(self) -> None:
        hooks = {kind: each["metadata"]["annotations"] for kind, each in self.hooks().items()}
        self.assertEqual({each[HOOK] for each in hooks.values()}, {"post-delete"})
        weights = {kind: int(each["helm.sh/hook-weight"]) for kind, each in hooks.items()}
        self.assertLess(weights["ClusterRole"], weights["ClusterRoleBinding"])
        self.assertLess(weights["ServiceAccount"], weights["ClusterRoleBinding"])
        # No right without the policy that restricts it.
        for kind in ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"):
            self.assertLess(weights[kind], weights["ClusterRoleBinding"])
        self.assertEqual(
            [kind for kind, weight in weights.items() if weight == max(weights.values())], ["Job"]
        )
        for kind, annotations in hooks.items():
            policies = ["before-hook-creation", "hook-succeeded"]
            policies += ["hook-failed"] if kind != "Job" else []
            self.assertEqual(annotations["helm.sh/hook-delete-policy"].split(","), policies, kind)

    def test_it_ends_before_helm_gives_up(self) -> None:
        spec = self.hooks()["Job"]["spec"]
        self.assertEqual(
            (spec["backoffLimit"], spec["template"]["spec"]["restartPolicy"]), (3, "Never")
        )
        self.assertLess(spec["activeDeadlineSeconds"], 300)
        self.assertGreater(spec["ttlSecondsAfterFinished"], 0)

    def test_its_pod_is_like_the_watchers(self) -> None:
        objects = objects_of("everything")
        pod, watcher = (
            pod_templates(objects)[name]["spec"]
            for name in ("mindgate-uninstall", "mindgate-watcher")
        )
        same = (
            "securityContext imagePullSecrets nodeSelector tolerations affinity enableServiceLinks"
        )
        for key in same.split():
            self.assertEqual(pod[key], watcher[key], key)
        self.assertNotIn("priorityClassName", pod)
        self.assertEqual(self.pod_by_default()["priorityClassName"], "system-cluster-critical")
        (other,) = watcher["containers"]
        for container in pod["containers"]:
            for key in ("image", "imagePullPolicy", "securityContext", "resources"):
                self.assertEqual(container[key], other[key], key)
        self.assertEqual(
            [each["args"] for each in pod["containers"]],
            [
                ["release-gates", "--all-namespaces", "--all", "--yes"],
                ["release-nodes", "--all", "--yes"],
            ],
        )

    def test_it_releases_what_the_watcher_held(self) -> None:
        """What it runs, and what it may do for that, by the values."""
        gates = ("release-gates", RELEASE_PODS)
        nodes = ("release-nodes", RELEASE_NODES)
        enforces: Object = {"elasticScaling": {"mode": "enforce"}}
        isolates = {"rescheduling": {"mode": "takeover", "isolateNodes": True}}
        cases: list[tuple[Object, list[tuple[str, Object]]]] = [
            ({}, []),
            ({"config": enforces}, [gates]),
            ({"config": isolates}, [nodes]),
            ({"config": enforces | isolates}, [gates, nodes]),
            ({"config": {"rescheduling": {"mode": "enforce", "isolateNodes": "on"}}}, [nodes]),
            ({"config": {"rescheduling": {"mode": "enforce", "isolateNodes": "off"}}}, []),
            ({"config": {"rescheduling": {"mode": "enforce"}}}, []),
            ({"config": {"rescheduling": {"mode": "observe", "isolateNodes": True}}}, []),
            ({"config": {"rescheduling": {"isolateNodes": True}}}, []),
            ({"config": enforces | isolates, "rolloutPhase": "observe"}, []),
            ({"config": isolates, "watcher": {"enabled": False}, "certs": FILES}, []),
        ]
        for values, wanted in cases:
            with self.subTest(values=values):
                sets = [
                    word for key, value in values.items()
                    for word in ("--set-json", f"{key}={json.dumps(value)}")
                ]
                rendered = template(*sets)
                self.assertEqual(rendered.returncode, 0, rendered.stderr)
                hooks = [
                    each
                    for each in parse(rendered.stdout)
                    if each["metadata"].get("annotations", {}).get(HOOK) == "post-delete"
                ]
                runs = [
                    container["args"][0]
                    for job in of_kind(hooks, "Job")
                    for container in job["spec"]["template"]["spec"]["containers"]
                ]
                may = [each for role in of_kind(hooks, "ClusterRole") for each in role["rules"]]
                self.assertEqual((runs, may), ([w for w, _ in wanted], [r for _, r in wanted]))

    def pod_by_default(self) -> Object:
        rendered = template("--set", "config.elasticScaling.mode=enforce")
        spec: Object = pod_templates(parse(rendered.stdout))["mindgate-uninstall"]["spec"]
        return spec

    def test_names_fit_a_label(self) -> None:
        rendered = run(
            ROOT / "scripts/helm",
            "template",
            "a" * 53,
            CHART,
            "--set",
            "config.elasticScaling.mode=enforce",
        )
        for each in parse(rendered.stdout):
            # Those of policies are no label of anything.
            longest = 253 if each["kind"].startswith("ValidatingAdmissionPolicy") else 63
            self.assertLessEqual(len(each["metadata"]["name"]), longest, each["kind"])


class ProgramTest(unittest.TestCase):
    """What the chart hands to the program is what the program takes."""

    def test_the_configuration_is_accepted(self) -> None:
        for value_set in GOLDEN_SETS:
            text = the(objects_of(value_set), "ConfigMap", "mindgate-config")["data"][
                "mindgate.yaml"
            ]
            checked = run(BINARY, "config", "validate", "-", stdin=text)
            self.assertEqual(
                checked.returncode, 0, f"{value_set}:\n{text}\n{checked.stdout}{checked.stderr}"
            )

    def test_flags_and_variables_exist(self) -> None:
        seen = set()
        for value_set in VALUE_SETS:
            for owner in pod_templates(objects_of(value_set)):
                for container in pod_templates(objects_of(value_set))[owner]["spec"]["containers"]:
                    command, *flags = container["args"]
                    seen.add(command)
                    described = run(BINARY, command, "--help").stdout
                    names = [each.partition("=")[0] for each in flags]
                    # The one that no flag has is for commands that are run beside the watcher.
                    names += [
                        each["name"]
                        for each in container.get("env", [])
                        if (command, each["name"]) != ("watch", "MINDGATE_INSTALLATION")
                    ]
                    for name in names:
                        self.assertRegex(
                            described, re.escape(name) + r"\b", f"{command} has no {name}"
                        )
        self.assertEqual(seen, {"webhook", "watch", "release-gates", "release-nodes", "doctor"})

    def test_versions_are_the_projects(self) -> None:
        chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
        version = run(BINARY, "--version").stdout.strip().removeprefix("mindgate ")
        self.assertEqual((chart["version"], chart["appVersion"]), (version, version))


if __name__ == "__main__":
    unittest.main()
