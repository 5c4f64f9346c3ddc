"""Values that platforms set: images and registries, labels, probes, volumes, budgets, rights, client certificates."""

from __future__ import annotations

import unittest

import yaml

from rendering import ROOT, Object, objects_of, of_kind, parse, template, the

REGISTRIES = [
    # Arguments of --set, and the image.
    ("", "localhost/mindgate:0.2.0"),
    ("image.tag=dev", "localhost/mindgate:dev"),
    ("image.registry=registry.example", "registry.example/mindgate:0.2.0"),
    ("image.repository=npu/mindgate", "npu/mindgate:0.2.0"),
    (
        "image.repository=npu/mindgate,image.registry=registry.example/",
        "registry.example/npu/mindgate:0.2.0",
    ),
    ("image.repository=registry.example/npu/mindgate", "registry.example/npu/mindgate:0.2.0"),
    (
        "image.repository=registry.example/npu/mindgate,image.registry=other:5000",
        "other:5000/npu/mindgate:0.2.0",
    ),
    (
        "image.registry=a.example,global.imageRegistry=b.example/mirror",
        "b.example/mirror/mindgate:0.2.0",
    ),
    (
        f"image.tag=dev,image.digest=sha256:{'0' * 64}",
        f"localhost/mindgate@sha256:{'0' * 64}",
    ),
]
MONITORING = "monitoring.coreos.com/v1"


def rendered(*arguments: str) -> list[Object]:
    text = template(*arguments)
    if text.returncode != 0:
        raise AssertionError(text.stderr)
    return parse(text.stdout)


def pod_of(objects: list[Object], component: str) -> Object:
    spec: Object = the(objects, "Deployment", f"mindgate-{component}")["spec"]["template"]["spec"]
    return spec


class OptionsTest(unittest.TestCase):
    maxDiff = None

    def test_the_image_comes_from_the_registry_of_the_values(self) -> None:
        for values, image in REGISTRIES:
            objects = rendered("--set", f"config.elasticScaling.mode=enforce,{values}".rstrip(","))
            images = {
                container["image"]
                for each in objects
                for spec in (
                    each.get("spec", {}),
                    each.get("spec", {}).get("template", {}).get("spec", {}),
                )
                for container in spec.get("containers", [])
            }
            self.assertEqual(images, {image}, values)

    def test_pull_secrets_of_the_chart_and_of_its_umbrella(self) -> None:
        for component in ("webhook", "watcher"):
            self.assertEqual(
                pod_of(objects_of("everything"), component)["imagePullSecrets"],
                [{"name": "registry"}, {"name": "mirror"}],
            )
            self.assertNotIn("imagePullSecrets", pod_of(objects_of("defaults"), component))

    def test_common_labels_are_on_every_object_and_select_nothing(self) -> None:
        objects = objects_of("everything")
        for each in objects:
            self.assertEqual(each["metadata"]["labels"]["cost-center"], "4711", each["kind"])
            if each["kind"] == "Deployment":
                labels = each["spec"]["template"]["metadata"]["labels"]
                self.assertEqual(labels["cost-center"], "4711")
                self.assertEqual(labels["team"], "platform", "podLabels are more special")
                self.assertNotIn("team", each["spec"]["selector"]["matchLabels"])
        own = rendered("--set-json", 'commonLabels={"app.kubernetes.io/name":"other"}')
        self.assertEqual(
            the(own, "Service", "mindgate-webhook")["metadata"]["labels"]["app.kubernetes.io/name"],
            "mindgate",
        )

    def test_probes_are_merged_over_those_of_the_chart(self) -> None:
        objects = objects_of("everything")
        (webhook,) = pod_of(objects, "webhook")["containers"]
        (watcher,) = pod_of(objects, "watcher")["containers"]
        ready = {"path": "/readyz", "port": "probe"}
        alive = {"path": "/livez", "port": "probe"}
        self.assertEqual(
            [webhook[f"{name}Probe"] for name in ("readiness", "liveness", "startup")],
            [
                {
                    "httpGet": ready,
                    "periodSeconds": 5,
                    "timeoutSeconds": 2,
                    "failureThreshold": 3,
                    "successThreshold": 2,
                },
                {"httpGet": alive, "periodSeconds": 10, "timeoutSeconds": 5, "failureThreshold": 6},
                {"httpGet": alive, "periodSeconds": 2, "failureThreshold": 30},
            ],
        )
        self.assertEqual(
            [watcher[f"{name}Probe"] for name in ("readiness", "liveness", "startup")],
            [
                {"httpGet": ready, "periodSeconds": 6},
                {"httpGet": alive, "periodSeconds": 20, "timeoutSeconds": 5},
                {"httpGet": alive, "failureThreshold": 30},
            ],
        )
        for component in ("webhook", "watcher"):
            (container,) = pod_of(objects_of("defaults"), component)["containers"]
            self.assertNotIn("startupProbe", container)

    def test_what_is_added_stands_beside_what_is_there(self) -> None:
        objects = objects_of("everything")
        for component, argument, volumes in (
            ("webhook", "--queue=128", ["certs", "client-ca", "config", "more"]),
            ("watcher", "--watch-namespace=serving", ["config", "more"]),
        ):
            deployment = the(objects, "Deployment", f"mindgate-{component}")
            self.assertEqual(deployment["metadata"]["annotations"], {"example/reloader": "off"})
            self.assertEqual(deployment["spec"]["revisionHistoryLimit"], 3)
            pod = pod_of(objects, component)
            (container,) = pod["containers"]
            self.assertEqual(container["args"][-1], argument)
            self.assertEqual(sorted(each["name"] for each in pod["volumes"]), volumes)
            self.assertEqual(sorted(each["name"] for each in container["volumeMounts"]), volumes)
        (webhook,) = pod_of(objects, "webhook")["containers"]
        self.assertEqual(
            [each["name"] for each in webhook["env"]],
            [
                "MINDGATE_LOOKUP_RUNTIMES",
                "MINDGATE_LOOKUP_NAMESPACES",
                "MINDGATE_IO_THREADS",
                "MINDGATE_WORK_THREADS",
            ],
        )

    def test_one_replica_has_no_budget_that_would_keep_its_node(self) -> None:
        budgets = {
            "": {"mindgate-webhook": 1, "mindgate-watcher": 1},
            "replicaCount=1": {"mindgate-watcher": 1},
            "watcher.replicaCount=1": {"mindgate-webhook": 1},
            "replicaCount=0,watcher.replicaCount=0": {},
            "podDisruptionBudget.enabled=false,watcher.podDisruptionBudget.enabled=false": {},
            "podDisruptionBudget.maxUnavailable=50%": {
                "mindgate-webhook": "50%",
                "mindgate-watcher": 1,
            },
            "watcher.enabled=false,certs.mode=cert-manager": {"mindgate-webhook": 1},
        }
        for values, wanted in budgets.items():
            objects = rendered(*(["--set", values] if values else []))
            found = {
                each["metadata"]["name"]: each["spec"]["maxUnavailable"]
                for each in of_kind(objects, "PodDisruptionBudget")
            }
            self.assertEqual(found, wanted, values)

    def test_policies_stand_beside_the_configuration_that_names_them(self) -> None:
        values = "policies.b\\.yaml=b: 1,policies.a\\.yaml=a: 1,config.policies.files[0]=more"
        data = dict(the(rendered("--set", values), "ConfigMap", "mindgate-config")["data"])
        config = yaml.safe_load(data.pop("mindgate.yaml"))
        self.assertEqual(config["policies"], {"files": ["more", "a.yaml", "b.yaml"]})
        self.assertEqual(data, {"a.yaml": "a: 1\n", "b.yaml": "b: 1\n"})
        for name in ("mindgate\\.yaml", "notes"):
            with self.subTest(name):
                self.assertNotEqual(template("--set", f"policies.{name}=a: 1").returncode, 0)

    def test_rights_can_be_made_by_others(self) -> None:
        objects = rendered("--set", "rbac.create=false,config.elasticScaling.mode=enforce")
        kinds = {each["kind"] for each in objects}
        self.assertEqual({kind for kind in kinds if "Role" in kind}, set())
        self.assertIn("ServiceAccount", kinds)

    def test_monitoring_follows_the_cluster_unless_set(self) -> None:
        monitors = ["--api-versions", f"{MONITORING}/ServiceMonitor"]
        rules = ["--api-versions", f"{MONITORING}/PrometheusRule"]
        on, off = "metrics.{}.enabled=true", "metrics.{}.enabled=false"
        # Arguments, ServiceMonitors, PrometheusRules.
        for arguments, scraped, alerted in (
            ([], 0, 0),
            (monitors, 2, 0),
            (rules, 0, 0),
            (monitors + rules, 2, 1),
            (["--set", on.format("serviceMonitor")], 2, 0),
            (["--set", on.format("prometheusRule")], 0, 1),
            ([*monitors, *rules, "--set", off.format("prometheusRule")], 2, 0),
            # Alerts on what nobody scrapes would fire forever.
            ([*monitors, *rules, "--set", off.format("serviceMonitor")], 0, 0),
        ):
            objects = rendered(*arguments)
            found = (
                len(of_kind(objects, "ServiceMonitor")),
                len(of_kind(objects, "PrometheusRule")),
            )
            self.assertEqual(found, (scraped, alerted), arguments)
        for monitor in of_kind(objects_of("everything"), "ServiceMonitor"):
            self.assertEqual(
                monitor["spec"]["endpoints"],
                [
                    {
                        "port": "metrics",
                        "path": "/metrics",
                        "interval": "1m",
                        "scrapeTimeout": "20s",
                        "relabelings": [
                            {
                                "sourceLabels": ["__meta_kubernetes_pod_node_name"],
                                "targetLabel": "node",
                            }
                        ],
                        "metricRelabelings": [{"action": "labeldrop", "regex": "endpoint"}],
                    }
                ],
            )

    def test_policies_restrict_every_account_that_writes(self) -> None:
        """Whatever the capabilities are: `helm template` does not know those of the cluster."""
        of_watcher = [
            f"mindgate-watcher-{each}"
            for each in (
                "configmaps",
                "events",
                "evictions",
                "nodes",
                "openreports",
                "podgroups",
                "pods",
                "policyreports",
                "registrations",
                "secrets",
            )
        ]
        off = "watcher.admissionPolicy.enabled=false"
        both = "config.elasticScaling.mode=enforce,config.rescheduling.mode=enforce"
        uninstall = ["mindgate-uninstall-nodes", "mindgate-uninstall-pods"]
        policy = "ValidatingAdmissionPolicy"
        for arguments, names in (
            ((), ["mindgate-test", *of_watcher]),
            (("--kube-version", "1.30.0"), ["mindgate-test", *of_watcher]),
            (
                ("--api-versions", f"admissionregistration.k8s.io/v1/{policy}"),
                ["mindgate-test", *of_watcher],
            ),
            (("--set", "watcher.admissionPolicy.enabled=auto"), ["mindgate-test", *of_watcher]),
            (
                ("--set", f"{both},config.rescheduling.isolateNodes=true"),
                ["mindgate-test", *uninstall, *of_watcher],
            ),
            (("--set", "tests.enabled=false"), of_watcher),
            (("--set", "watcher.enabled=false,certs.mode=cert-manager"), ["mindgate-test"]),
            (("--set", f"{off},certs.mode=cert-manager"), []),
            (("--set", f"{off},watcher.admissionPolicy.allowUnrestricted=true"), []),
        ):
            with self.subTest(arguments):
                objects = rendered(*arguments)
                for kind in (policy, f"{policy}Binding"):
                    found = [each["metadata"]["name"] for each in of_kind(objects, kind)]
                    self.assertEqual(sorted(found), names)

    def test_a_policy_is_about_one_account(self) -> None:
        modes = (
            "config.elasticScaling.mode=enforce,config.rescheduling.mode=enforce,"
            "config.rescheduling.isolateNodes=true"
        )
        for values, account in (
            (modes, "mindgate-watcher"),
            (f"{modes},watcher.serviceAccount.name=keeper", "keeper"),
            (f"{modes},watcher.serviceAccount.create=false", "default"),
        ):
            accounts = {"watcher": account, "uninstall": "mindgate-uninstall", "test": "mindgate-test"}
            found = set()
            for policy in of_kind(rendered("--set", values), "ValidatingAdmissionPolicy"):
                component = policy["metadata"]["labels"]["app.kubernetes.io/component"]
                found.add(component)
                (condition,) = policy["spec"]["matchConditions"]
                user = f"system:serviceaccount:mindgate-system:{accounts[component]}"
                self.assertEqual(
                    condition["expression"],
                    f"has(request.userInfo.username) && request.userInfo.username == '{user}'",
                )
                # Nobody else may be held up by it, whatever it says.
                self.assertEqual(policy["spec"]["failurePolicy"], "Fail")
            self.assertEqual(found, set(accounts))

    def test_the_owner_of_the_registrations_has_the_uid_of_the_namespace(self) -> None:
        objects = rendered()
        policy = the(objects, "ValidatingAdmissionPolicy", "mindgate-watcher-registrations")
        binding = the(objects, "ValidatingAdmissionPolicyBinding", "mindgate-watcher-registrations")
        self.assertEqual(policy["spec"]["paramKind"], {"apiVersion": "v1", "kind": "Namespace"})
        self.assertEqual(
            binding["spec"]["paramRef"],
            {"name": "mindgate-system", "parameterNotFoundAction": "Deny"},
        )
        self.assertIn("owner.uid == params.metadata.uid", str(policy["spec"]["validations"]))

    def test_a_policy_names_what_the_watcher_writes(self) -> None:
        """tests/e2e asks a real API server what they say."""
        values = "certs.secretName=pair"
        texts = {
            policy["metadata"]["name"]: str(policy["spec"]["validations"])
            for policy in of_kind(rendered("--set", values), "ValidatingAdmissionPolicy")
        }
        names = (ROOT / "schemas/names.h").read_text()
        for policy, key in (
            ("pods", "mindgate.io/elastic-scaling"),
            ("pods", "mind-cluster/scaling-rule"),
            ("podgroups", "huawei.com/schedule_minAvailable"),
            ("podgroups", "mindgate.io/gang-repair"),
            ("nodes", "mindgate.io/faulty"),
            ("events", "mindgate.io/watcher"),
        ):
            self.assertIn(key, texts[f"mindgate-watcher-{policy}"])
            self.assertIn(f'"{key}"', names)
        self.assertIn("'pair'", texts["mindgate-watcher-secrets"])

    def test_client_certificates_are_asked_for(self) -> None:
        (container,) = pod_of(objects_of("everything"), "webhook")["containers"]
        asked = [each for each in container["args"] if each.startswith("--client")]
        self.assertEqual(
            asked,
            [
                "--client-ca=/etc/mindgate/client-ca/ca.crt",
                "--client-name=kube-apiserver,front",
                "--client-optional",
            ],
        )
        sources = {
            "configMap=front": {
                "configMap": {"name": "front", "items": [{"key": "ca.crt", "path": "ca.crt"}]}
            },
            "secret=front,webhook.clientCA.key=x.pem": {
                "secret": {
                    "secretName": "front",
                    "defaultMode": 0o440,
                    "items": [{"key": "x.pem", "path": "ca.crt"}],
                }
            },
        }
        for values, source in sources.items():
            pod = pod_of(rendered("--set", f"webhook.clientCA.{values}"), "webhook")
            (volume,) = [each for each in pod["volumes"] if each["name"] == "client-ca"]
            self.assertEqual(volume, {"name": "client-ca", **source})
            (mount,) = [
                each for each in pod["containers"][0]["volumeMounts"] if each["name"] == "client-ca"
            ]
            self.assertEqual(
                mount,
                {"name": "client-ca", "mountPath": "/etc/mindgate/client-ca", "readOnly": True},
            )
            self.assertEqual(
                [each for each in pod["containers"][0]["args"] if each.startswith("--client")],
                asked[:1],
            )

    def test_calls_get_a_level_of_their_own_when_asked_for(self) -> None:
        self.assertEqual(of_kind(objects_of("defaults"), "FlowSchema"), [])
        objects = objects_of("everything")
        level = the(objects, "PriorityLevelConfiguration", "mindgate")
        self.assertEqual(level["spec"]["limited"]["nominalConcurrencyShares"], 20)
        schemas = {
            each["metadata"]["name"]: each["spec"] for each in of_kind(objects, "FlowSchema")
        }
        self.assertEqual(
            {name: spec["matchingPrecedence"] for name, spec in schemas.items()},
            {"mindgate-leases": 500, "mindgate": 501},
        )
        accounts = {each["metadata"]["name"] for each in of_kind(objects, "ServiceAccount")}
        for name, spec in schemas.items():
            self.assertEqual(spec["priorityLevelConfiguration"], {"name": "mindgate"}, name)
            (rule,) = spec["rules"]
            subjects = [each["serviceAccount"] for each in rule["subjects"]]
            self.assertEqual([each["name"] for each in subjects], ["reader", "keeper"])
            self.assertLessEqual({each["name"] for each in subjects}, accounts)


class HelmTestTest(unittest.TestCase):
    """`helm test`: its rights go when it ends, its Pod stays for those who read its log."""

    def test_it_comes_in_order_and_leaves_no_rights(self) -> None:
        hooks = [
            each
            for each in objects_of("defaults")
            if each["metadata"].get("annotations", {}).get("helm.sh/hook") == "test"
        ]
        kinds = "ServiceAccount Role RoleBinding Role RoleBinding ClusterRole ClusterRoleBinding NetworkPolicy Pod"
        kinds += " ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding"
        self.assertEqual(sorted(each["kind"] for each in hooks), sorted(kinds.split()))
        for each in hooks:
            annotations = each["metadata"]["annotations"]
            pod = each["kind"] == "Pod"
            later = "RoleBinding" in each["kind"] or each["kind"] == "NetworkPolicy"
            # No right without the policy that restricts it.
            first = each["kind"].startswith("ValidatingAdmissionPolicy")
            self.assertEqual(
                annotations["helm.sh/hook-weight"],
                "3" if pod else "2" if later else "0" if first else "1",
            )
            policies = annotations["helm.sh/hook-delete-policy"].split(",")
            self.assertEqual(
                policies,
                ["before-hook-creation", *([] if pod else ["hook-succeeded", "hook-failed"])],
            )

    def test_doctor_looks_at_this_release(self) -> None:
        pod = the(objects_of("everything"), "Pod", "mindgate-test")["spec"]
        self.assertEqual(
            pod["containers"][0]["args"],
            [
                "doctor",
                "--namespace=mindgate-system",
                "--name=mindgate",
                "--lease=mindgate-watcher",
                "--probe-namespace=serving",
            ],
        )
        self.assertLess(pod["activeDeadlineSeconds"], 300)
        self.assertEqual(pod["restartPolicy"], "Never")

    def test_it_can_be_left_out(self) -> None:
        self.assertEqual(of_kind(objects_of("minimal"), "Pod"), [])
        # The webhook is not asked about its own namespace.
        own = rendered("--set", "tests.probeNamespace=mindgate-system")
        self.assertNotIn("mindgate-test", {each["metadata"]["name"] for each in own})


if __name__ == "__main__":
    unittest.main()
