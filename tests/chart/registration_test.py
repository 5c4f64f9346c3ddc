"""What reaches the webhook: kinds, namespaces and conditions, in every set of values."""

from __future__ import annotations

import json
import re
import unittest
from typing import Iterator

from rendering import (
    HERE,
    NAMESPACE,
    ROOT,
    VALUE_SETS,
    Object,
    configurations_of,
    kinds_of_the_engine,
    objects_of,
    parse,
    template,
    the,
    webhooks_of,
)

# The names are forever: one that an upgrade takes away or renames can stay behind, kept by the CA
# that was applied to it, and the API server then refuses the whole configuration. New ones follow.
REGISTRATIONS = [
    "pods",
    "workloads",
    "daemonsets",
    "cronjobs",
    "mindcluster",
    "volcano",
    "leaderworkersets",
    "ome",
    "aibrix",
]
JUDGED_ONLY = ["configmaps", "services", "podgroups", "pod-subresources"]
NEW = sorted({"kinds", *(kind["webhook"] for kind in kinds_of_the_engine())} - {*REGISTRATIONS, *JUDGED_ONLY})
NAMES = {
    "mutate": [f"{name}.mutate.mindgate.io" for name in [*REGISTRATIONS, *NEW, "opted-in", "gates"]],
    "validate": [f"{name}.validate.mindgate.io" for name in [*REGISTRATIONS, *JUDGED_ONLY, *NEW]],
}
SYSTEM_NAMESPACES = [
    "kube-system",
    "kube-public",
    "kube-node-lease",
    "mindx-dl",
    "cluster-system",
    "npu-exporter",
    "volcano-system",
    "volcano-monitoring",
    "lws-system",
    "ome",
    "aibrix-system",
    "cert-manager",
]
# What no webhook may be able to hold up: a cluster could not be repaired.
CRITICAL = {
    "": "bindings componentstatuses endpoints events limitranges namespaces nodes"
    " persistentvolumeclaims persistentvolumes podtemplates replicationcontrollers"
    " resourcequotas secrets serviceaccounts services",
    "admissionregistration.k8s.io": "mutatingwebhookconfigurations validatingwebhookconfigurations"
    " validatingadmissionpolicies mutatingadmissionpolicies",
    "apiextensions.k8s.io": "customresourcedefinitions",
    "apiregistration.k8s.io": "apiservices",
    # Of ReplicaSets, those that the deployment controller makes are not sent.
    "apps": "daemonsets controllerrevisions",
    "authentication.k8s.io": "tokenreviews",
    "authorization.k8s.io": "subjectaccessreviews",
    "certificates.k8s.io": "certificatesigningrequests",
    "coordination.k8s.io": "leases",
    "discovery.k8s.io": "endpointslices",
    "events.k8s.io": "events",
    "networking.k8s.io": "networkpolicies ingresses",
    "policy": "poddisruptionbudgets",
    "rbac.authorization.k8s.io": "roles rolebindings clusterroles clusterrolebindings",
    "scheduling.k8s.io": "priorityclasses",
    "scheduling.volcano.sh": "podgroups queues",
    "storage.k8s.io": "storageclasses volumeattachments csinodes csidrivers",
}


def selects(selector: Object, labels: dict[str, str]) -> bool:
    """A label selector as Kubernetes reads it."""
    if any(labels.get(key) != value for key, value in selector.get("matchLabels", {}).items()):
        return False
    for part in selector.get("matchExpressions", []):
        has, listed = part["key"] in labels, labels.get(part["key"]) in part.get("values", [])
        holds = {"In": listed, "NotIn": not listed, "Exists": has, "DoesNotExist": not has}
        if not holds[part["operator"]]:
            return False
    return True


def registered(webhook: Object) -> list[tuple[str, str, str, str]]:
    """Group, version, resource and scope of all that a webhook has rules for."""
    return [
        (group, version, resource, rule["scope"])
        for rule in webhook["rules"]
        for group in rule["apiGroups"]
        for version in rule["apiVersions"]
        for resource in rule["resources"]
    ]


def kinds(left_out: set[str] = frozenset(), injected: bool = False) -> list[tuple[str, str, str, str]]:
    """The kinds of the engine, all or those that are injected, but those named, as they are registered."""
    return sorted(
        (*group_and_version(kind), kind["resource"], kind["scope"])
        for kind in kinds_of_the_engine()
        if kind["kind"] not in left_out and (kind["injected"] or not injected)
    )


def is_made(webhook: str) -> bool:
    """Whether a controller makes objects of one of the webhook's kinds."""
    made = [each for kind in kinds_of_the_engine() for each in kind["makes"]]
    return any(
        {"apiVersion": kind["apiVersion"], "kind": kind["kind"]} in made
        for kind in kinds_of_the_engine()
        if kind["webhook"] == webhook
    )


def group_and_version(kind: Object) -> tuple[str, str]:
    group, _, version = kind["apiVersion"].rpartition("/")
    return group, version


def every() -> Iterator[tuple[str, str, Object]]:
    """Each webhook in each set of values, with "mutate" or "validate"."""
    for value_set in VALUE_SETS:
        for hook, webhook in webhooks_of(objects_of(value_set)):
            yield value_set, hook, webhook


class RegistrationTest(unittest.TestCase):
    maxDiff = None

    def test_names_stay_as_they_are(self) -> None:
        for value_set in VALUE_SETS:
            names: dict[str, list[str]] = {"mutate": [], "validate": []}
            for hook, webhook in webhooks_of(objects_of(value_set)):
                names[hook].append(webhook["name"])
            self.assertEqual(names, NAMES, value_set)

    def test_every_kind_of_the_engine_is_validated_and_nothing_more(self) -> None:
        for value_set in VALUE_SETS:
            found = [
                each
                for hook, webhook in webhooks_of(objects_of(value_set))
                if hook == "validate"
                for each in registered(webhook)
            ]
            self.assertEqual(sorted(found), kinds(), value_set)

    def test_every_kind_with_pods_is_mutated_and_nothing_more(self) -> None:
        for value_set in VALUE_SETS:
            hooks = [
                webhook for hook, webhook in webhooks_of(objects_of(value_set)) if hook == "mutate"
            ]
            *others, opted_in, gates = hooks
            found = [each for webhook in others for each in registered(webhook)]
            self.assertEqual(sorted(found), kinds(injected=True), value_set)
            # What has no namespace matches every namespaceSelector: it would be asked about twice.
            self.assertEqual(
                sorted(registered(opted_in)),
                kinds({"ClusterServingRuntime"}, injected=True),
                value_set,
            )
            # The API server takes gates at the creation of a pod and never later.
            self.assertEqual(registered(gates), [("", "v1", "pods", "Namespaced")], value_set)

    def test_no_rule_has_a_wildcard_or_another_operation(self) -> None:
        for value_set, _, webhook in every():
            with self.subTest(values=value_set, webhook=webhook["name"]):
                gates = webhook["name"].startswith("gates.")
                for rule in webhook["rules"]:
                    self.assertEqual(
                        rule["operations"], ["CREATE"] if gates else ["CREATE", "UPDATE"]
                    )
                    self.assertNotIn("*", str(rule))

    def test_nothing_that_a_cluster_needs_to_heal_is_registered(self) -> None:
        for value_set, _, webhook in every():
            with self.subTest(values=value_set, webhook=webhook["name"]):
                for group, _, resource, _ in registered(webhook):
                    # Only those of MindIE, or of users, are sent, and they do not wait for an answer.
                    condition = {
                        "services": "service-of-mindie",
                        "podgroups": "not-of-a-controller",
                    }.get(resource)
                    if condition:
                        self.assertEqual(webhook["failurePolicy"], "Ignore")
                        self.assertIn(
                            condition, [each["name"] for each in webhook["matchConditions"]]
                        )
                        continue
                    if resource in ("daemonsets", "replicationcontrollers"):
                        # Only those with NPUs are sent, and they do not wait for an answer, unless they opt in.
                        if not webhook["name"].startswith("opted-in."):
                            self.assertEqual(webhook["failurePolicy"], "Ignore")
                            self.assertIn("concerns-npus", [each["name"] for each in webhook["matchConditions"]])
                        continue
                    self.assertNotIn(resource, CRITICAL.get(group, "").split())

    def test_no_system_namespace_matches(self) -> None:
        for value_set, _, webhook in every():
            with self.subTest(values=value_set, webhook=webhook["name"]):
                named = (
                    SYSTEM_NAMESPACES if value_set != "everything" else ["kube-system", "legacy"]
                )
                for name in [*named, NAMESPACE]:
                    # Whatever other labels it may have.
                    labels = {
                        "kubernetes.io/metadata.name": name,
                        "mindgate.io/inject": "disabled",
                        "npu": "yes",
                        "team": "a",
                    }
                    for extra in (labels, {**labels, "mindgate.io/inject": "enabled"}):
                        self.assertFalse(selects(webhook["namespaceSelector"], extra), name)

    def test_other_namespaces_match(self) -> None:
        for value_set, hook, webhook in every():
            with self.subTest(values=value_set, webhook=webhook["name"]):
                labels = {"kubernetes.io/metadata.name": "serving"}
                if value_set == "everything":
                    self.assertFalse(
                        selects(webhook["namespaceSelector"], labels),
                        "without what namespaceSelector asks for",
                    )
                    labels |= {"npu": "yes", "team": "a"}
                opted_in = webhook["name"].startswith("opted-in.")
                self.assertEqual(selects(webhook["namespaceSelector"], labels), not opted_in)
                disabled = {**labels, "mindgate.io/inject": "disabled"}
                self.assertEqual(
                    selects(webhook["namespaceSelector"], disabled), hook == "validate" or opted_in
                )

    def test_objects_that_opt_out_are_not_mutated(self) -> None:
        for value_set, hook, webhook in every():
            with self.subTest(values=value_set, webhook=webhook["name"]):
                if webhook["name"].startswith("gates."):
                    continue  # see below
                selector = webhook.get("objectSelector", {})
                self.assertEqual(
                    selects(selector, {"mindgate.io/inject": "disabled"}), hook == "validate"
                )
                self.assertTrue(selects(selector, {"mindgate.io/inject": "enabled"}))
                self.assertEqual(selects(selector, {}), not webhook["name"].startswith("opted-in."))

    def test_pods_under_a_rule_get_gates_only_where_they_are_enforced(self) -> None:
        modes = {"observe": False, "off": False, "enforce": True}
        rendered = [(value_set, objects_of(value_set)) for value_set in VALUE_SETS]
        for mode in modes:
            text = template("--set", f"config.elasticScaling.mode={mode}").stdout
            rendered.append((mode, parse(text)))
        for name, objects in rendered:
            with self.subTest(name):
                (selector,) = [
                    webhook["objectSelector"]
                    for _, webhook in webhooks_of(objects)
                    if webhook["name"] == "gates.mutate.mindgate.io"
                ]
                enforced = modes.get(name, name == "everything")
                under_a_rule = {"mind-cluster/scaling-rule": "scaling-rule", "app": "x"}
                self.assertEqual(selects(selector, under_a_rule), enforced)
                opted_in = {**under_a_rule, "mindgate.io/inject": "enabled"}
                self.assertEqual(selects(selector, opted_in), enforced)
                for nobody in (
                    {},
                    {"app": "x"},
                    {"mindgate.io/inject": "enabled"},
                    {**under_a_rule, "mindgate.io/inject": "disabled"},
                ):
                    self.assertFalse(selects(selector, nobody), nobody)

    def test_how_it_is_called(self) -> None:
        settings = {
            "everything": {"mutate": ("Ignore", 5), "validate": ("Ignore", 10)},
            # Where no watcher runs, nothing sets Fail later.
            "cert-manager": {"mutate": ("Ignore", 2), "validate": ("Fail", 3)},
            "others": {"mutate": ("Ignore", 2), "validate": ("Ignore", 3)},
        }
        for value_set, hook, webhook in every():
            with self.subTest(values=value_set, webhook=webhook["name"]):
                policy, seconds = settings.get(value_set, settings["others"])[hook]
                if webhook["name"].startswith(("daemonsets.", "services.", "podgroups.", "pod-subresources.")):
                    policy = "Ignore"
                varying = (
                    "name",
                    "rules",
                    "matchConditions",
                    "namespaceSelector",
                    "objectSelector",
                )
                got = {key: value for key, value in webhook.items() if key not in varying}
                got["clientConfig"] = {**got["clientConfig"], "caBundle": None}
                self.assertEqual(
                    got,
                    {
                        "admissionReviewVersions": ["v1"],
                        "sideEffects": "None",
                        "matchPolicy": "Equivalent",
                        "failurePolicy": policy,
                        "timeoutSeconds": seconds,
                        "clientConfig": {
                            "service": {
                                "name": "mindgate-webhook",
                                "namespace": NAMESPACE,
                                "path": f"/{hook}",
                                "port": 8443 if value_set == "everything" else 443,
                            },
                            "caBundle": None,
                        },
                        **({"reinvocationPolicy": "IfNeeded"} if hook == "mutate" else {}),
                    },
                )

    def test_the_ca_is_written_only_from_own_files(self) -> None:
        for value_set, _, webhook in every():
            with self.subTest(values=value_set, webhook=webhook["name"]):
                self.assertEqual("caBundle" in webhook["clientConfig"], value_set == "own-files")

    def test_cert_manager_is_asked_for_its_ca(self) -> None:
        for value_set in VALUE_SETS:
            for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"):
                annotations = the(objects_of(value_set), kind, "mindgate")["metadata"].get(
                    "annotations", {}
                )
                annotations = {key: value for key, value in annotations.items() if "cert-manager" in key}
                wanted = {"cert-manager.io/inject-ca-from": f"{NAMESPACE}/mindgate-webhook"}
                self.assertEqual(
                    annotations, wanted if value_set == "cert-manager" else {}, value_set
                )

    def test_what_is_to_fail_closed_is_open_first(self) -> None:
        for value_set in VALUE_SETS:
            file = ("--values", HERE / "values" / f"{value_set}.yaml")
            at_once = template(*file, "--set", "webhook.failOpenUntilAnswered=false").stdout
            fails = {
                hook: [each["name"] for each in configuration["webhooks"] if each["failurePolicy"] == "Fail"]
                for hook, configuration in configurations_of(parse(at_once))
            }
            self.assertEqual(fails["mutate"] != [], value_set == "everything")
            self.assertEqual(fails["validate"] != [], value_set != "everything")
            for hook, configuration in configurations_of(objects_of(value_set)):
                listed = configuration["metadata"].get("annotations", {}).get("mindgate.io/fail-closed")
                watched = value_set != "cert-manager" and fails[hook]
                self.assertEqual(listed, ",".join(fails[hook]) if watched else None, (value_set, hook))
        observed = template("--set", "rolloutPhase=warn").stdout
        self.assertNotIn("mindgate.io/fail-closed:", observed)

    def test_the_probe_gets_nothing_but_the_dry_run_of_the_watcher(self) -> None:
        for value_set in VALUE_SETS:
            for hook, configuration in configurations_of(objects_of(value_set)):
                probe = configuration["webhooks"][-1]
                self.assertEqual(probe["name"], f"probe.{hook}.mindgate.io", value_set)
                self.assertEqual(probe["failurePolicy"], "Ignore")
                self.assertEqual(probe["clientConfig"]["service"]["path"], "/probe")
                self.assertEqual(probe["namespaceSelector"], {"matchLabels": {"kubernetes.io/metadata.name": NAMESPACE}})
                self.assertEqual(registered(probe), [("", "v1", "configmaps", "Namespaced")])
                self.assertEqual([rule["operations"] for rule in probe["rules"]], [["CREATE"]])
                self.assertEqual([each["name"] for each in probe["matchConditions"]], ["asked-by-the-watcher"])

    def test_a_webhook_that_is_switched_off_is_not_registered(self) -> None:
        for hook, other in (("mutate", "validate"), ("validate", "mutate")):
            rendered = template("--set", f"webhook.{hook}.enabled=false")
            self.assertEqual(rendered.returncode, 0, rendered.stderr)
            self.assertEqual({each for each, _ in webhooks_of(parse(rendered.stdout))}, {other})


class KindsOfTheSiteTest(unittest.TestCase):
    """config.kinds: what they are registered for, and whose children are left out."""

    maxDiff = None
    KINDS = (
        {"use": "ray"},
        {"use": "jobset"},
        {
            "group": "training.example.com",
            "version": "v1",
            "kind": "ElasticTrainer",
            "plural": "elastictrainers",
            "templates": [{"path": "spec.template"}],
        },
    )

    def rendered(self) -> list[Object]:
        rendered = template("--set-json", f"config={json.dumps({'audit': {'mode': 'on'}, 'kinds': self.KINDS})}")
        self.assertEqual(rendered.returncode, 0, rendered.stderr)
        return parse(rendered.stdout)

    def test_their_webhook_has_their_resources(self) -> None:
        found = {
            webhook["name"]: registered(webhook)
            for _, webhook in webhooks_of(self.rendered())
            if webhook["name"].startswith("kinds.")
        }
        wanted = [
            ("ray.io", "v1", "rayclusters", "Namespaced"),
            ("ray.io", "v1", "rayjobs", "Namespaced"),
            ("ray.io", "v1", "rayservices", "Namespaced"),
            ("jobset.x-k8s.io", "v1alpha2", "jobsets", "Namespaced"),
            ("training.example.com", "v1", "elastictrainers", "Namespaced"),
        ]
        self.assertEqual(found, {f"kinds.{hook}.mindgate.io": wanted for hook in ("mutate", "validate")})

    def test_what_their_operators_make_is_not_sent(self) -> None:
        def owners(objects: list[Object]) -> set[tuple[str, str]]:
            return {
                (webhook["name"], pair)
                for _, webhook in webhooks_of(objects)
                for condition in webhook["matchConditions"]
                for pair in re.findall(r"'([\w./-]+ \w+ makes \w+)'", condition["expression"])
                if not webhook["name"].startswith("opted-in.")
            }

        added = owners(self.rendered()) - owners(objects_of("defaults"))
        self.assertEqual(
            added,
            {
                (f"{name}.{hook}.mindgate.io", pair)
                for hook in ("mutate", "validate")
                for name, pair in (
                    ("pods", "ray.io/v1 RayCluster makes Pod"),
                    ("pods", "training.example.com/v1 ElasticTrainer makes Pod"),
                    ("workloads", "ray.io/v1 RayJob makes Job"),
                    ("workloads", "jobset.x-k8s.io/v1alpha2 JobSet makes Job"),
                    ("kinds", "ray.io/v1 RayJob makes RayCluster"),
                    ("kinds", "ray.io/v1 RayService makes RayCluster"),
                )
            },
        )

    def test_the_watcher_may_read_them_where_it_audits(self) -> None:
        rights = {
            (group, resource, verb)
            for role in self.rendered()
            if role["kind"] == "ClusterRole"
            for rule in role["rules"]
            for group in rule.get("apiGroups", [])
            for resource in rule.get("resources", [])
            for verb in rule["verbs"]
        }
        for group, resource in (("ray.io", "rayjobs"), ("jobset.x-k8s.io", "jobsets")):
            self.assertLessEqual({(group, resource, "list"), (group, resource, "watch")}, rights)

    def test_without_any_their_webhook_has_no_rules(self) -> None:
        found = {
            webhook["name"]: webhook["rules"]
            for _, webhook in webhooks_of(objects_of("defaults"))
            if webhook["name"].startswith("kinds.")
        }
        self.assertEqual(set(map(len, found.values())), {0})


class ConditionsTest(unittest.TestCase):
    """That each webhook has the right ones; what they say, tests/e2e asks real API servers."""

    maxDiff = None

    def test_each_webhook_has_its_conditions(self) -> None:
        always = ["not-being-deleted", "not-made-by-an-admitted-object"]
        workload = [*always, "new-or-changed", "concerns-npus"]
        framework = [*always, "new-or-changed"]
        # No controller makes these.
        original = {
            "cronjobs": ["not-being-deleted", "new-or-changed", "concerns-npus"],
            "daemonsets": ["not-being-deleted", "new-or-changed", "concerns-npus"],
            "ome": ["not-being-deleted", "new-or-changed"],
        }
        wanted = {
            "pods.mutate": [*always, "new", "concerns-npus"],
            "pods.validate": [*always, "new-or-relabelled", "concerns-npus"],
            "opted-in.mutate": framework,
            # Pods that controllers make of what was admitted are just those that need gates.
            "gates.mutate": ["not-being-deleted"],
            "configmaps.validate": [*always, "scaling-rule-or-rank-table"],
            "services.validate": ["not-being-deleted", "new-or-changed", "service-of-mindie"],
            "podgroups.validate": ["not-being-deleted", "new-or-changed", "not-of-a-controller"],
            "pod-subresources.validate": ["not-being-deleted"],
        }
        for hook in ("mutate", "validate"):
            wanted |= {f"{name}.{hook}": workload for name in ("workloads", "cronjobs")}
            wanted |= {f"{name}.{hook}": framework for name in REGISTRATIONS[4:]}
            wanted |= {f"{name}.{hook}": framework if is_made(name) else original["ome"] for name in NEW}
            wanted |= {f"{name}.{hook}": conditions for name, conditions in original.items()}
        for value_set in VALUE_SETS:
            got = {
                webhook["name"].removesuffix(".mindgate.io"): [
                    each["name"] for each in webhook["matchConditions"]
                ]
                for _, webhook in webhooks_of(objects_of(value_set))
            }
            self.assertEqual(got, wanted, value_set)

    def expression(self, webhook_name: str, condition_name: str) -> str:
        for _, webhook in webhooks_of(objects_of("defaults")):
            for condition in webhook["matchConditions"]:
                if (webhook["name"], condition["name"]) == (
                    f"{webhook_name}.mindgate.io",
                    condition_name,
                ):
                    return str(condition["expression"])
        raise AssertionError(f"no {condition_name} in {webhook_name}")

    def test_templates_are_looked_for_where_they_are(self) -> None:
        for name, path in (
            ("pods", "object"),
            ("workloads", "object.spec.template"),
            ("daemonsets", "object.spec.template"),
            ("cronjobs", "object.spec.jobTemplate.spec.template"),
        ):
            for hook in ("mutate", "validate"):
                self.assertTrue(
                    self.expression(f"{name}.{hook}", "concerns-npus").startswith(
                        f"[{path}].exists("
                    )
                )

    def test_labels_are_those_that_the_engine_knows(self) -> None:
        names = (ROOT / "schemas/names.h").read_text() + "".join(
            path.read_text() for path in (ROOT / "policies").rglob("*.cc")
        )
        text = self.expression("pods.validate", "concerns-npus")
        keys = re.findall(r"'([\w./-]+)'", text[text.index("key in [") :])
        self.assertEqual(len(keys), 10)
        for key in keys + re.findall(r"startsWith\('([\w./-]+)'\)", text):
            self.assertIn(f'"{key}', names)

    def test_owners_count_for_what_their_controllers_make(self) -> None:
        of_the_engine = {
            (owner["apiVersion"], owner["kind"], made["apiVersion"], made["kind"])
            for owner in kinds_of_the_engine()
            for made in owner["makes"]
        }
        # A condition has the kind's name alone; the rules of its webhook have the group.
        of_the_chart = {"validate": set(), "mutate": set()}
        for hook, webhook in webhooks_of(objects_of("defaults")):
            if webhook["name"].startswith("opted-in."):
                continue
            sent = {
                kind["kind"]: kind["apiVersion"]
                for kind in kinds_of_the_engine()
                if kind["webhook"] == webhook["name"].partition(".")[0]
            }
            for condition in webhook["matchConditions"]:
                for version, owner, made in re.findall(
                    r"'([\w./-]+) (\w+) makes (\w+)'", condition["expression"]
                ):
                    of_the_chart[hook].add((version, owner, sent[made], made))
        self.assertEqual(of_the_chart["validate"], of_the_engine)
        self.assertEqual(
            of_the_chart["mutate"], {each for each in of_the_engine if each[3] != "ConfigMap"}
        )

    def test_an_owner_counts_only_if_a_controller_names_it(self) -> None:
        for values, users, namespaces in (
            (
                [],
                '["system:kube-controller-manager"]',
                '["kube-system","mindx-dl","volcano-system","volcano-monitoring","lws-system","ome",'
                '"aibrix-system"]',
            ),
            (
                ["--set", "controllers.namespaces={ops},controllers.users={a\"b,c}"],
                '["a\\"b","c"]',
                '["ops"]',
            ),
            (["--set", "controllers.namespaces=null,controllers.users=null"], "[]", "[]"),
        ):
            rendered = template(*values)
            self.assertEqual(rendered.returncode, 0, rendered.stderr)
            for _, webhook in webhooks_of(parse(rendered.stdout)):
                for condition in webhook["matchConditions"]:
                    if condition["name"] != "not-made-by-an-admitted-object":
                        continue
                    self.assertIn(f"request.userInfo.username in {users} ||", condition["expression"])
                    self.assertIn(f"{namespaces}.exists(trusted,", condition["expression"])


if __name__ == "__main__":
    unittest.main()
