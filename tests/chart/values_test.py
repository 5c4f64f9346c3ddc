"""Values that cannot work are refused before anything is installed, with place and reason."""

from __future__ import annotations

import json
import unittest
from typing import Any

import yaml

from rendering import CHART, ROOT, run, template

UNBOUND = "watcher.admissionPolicy.enabled=false,certs.mode=cert-manager"

# Arguments of helm, and what it must say.
REFUSED = [
    # The schema: spelling, types and ranges.
    (["--set", "replicas=3"], "at '': additional properties 'replicas' not allowed"),
    (["--set", "image.repo=x"], "at '/image': additional properties 'repo' not allowed"),
    (["--set", "image.repository="], "at '/image/repository': minLength: got 0, want 1"),
    (
        ["--set", "image.pullPolicy=always"],
        "at '/image/pullPolicy': value must be one of 'Always', 'IfNotPresent', 'Never'",
    ),
    (["--set", "replicaCount=two"], "at '/replicaCount': got string, want integer"),
    (
        ["--set", "webhook.mutate.failurePolicy=Warn"],
        "at '/webhook/mutate/failurePolicy': value must be one of 'Fail', 'Ignore'",
    ),
    (
        ["--set", "webhook.validate.timeoutSeconds=31"],
        "at '/webhook/validate/timeoutSeconds': maximum: got 31, want 30",
    ),
    (
        ["--set", "webhook.validate.timeoutSeconds=0"],
        "at '/webhook/validate/timeoutSeconds': minimum: got 0, want 1",
    ),
    (["--set-json", 'excludedNamespaces=["legacy"]'], "at '/excludedNamespaces'"),
    (
        ["--set-json", 'excludedNamespaces=["kube-system","a/b"]'],
        "at '/excludedNamespaces/1': 'a/b' does not match pattern",
    ),
    (
        ["--set-json", 'namespaceSelector={"team":"a"}'],
        "at '/namespaceSelector': additional properties 'team' not allowed",
    ),
    (
        ["--set", "certs.mode=self"],
        "at '/certs/mode': value must be one of 'managed', 'cert-manager', 'files'",
    ),
    (
        ["--set", "certs.certManager.duration=90d"],
        "at '/certs/certManager/duration': '90d' does not match pattern",
    ),
    (["--set", "lookups.runtimes=maybe"], "at '/lookups/runtimes': got string, want boolean"),
    (
        ["--set", "log.level=trace"],
        "at '/log/level': value must be one of 'debug', 'info', 'warning', 'error'",
    ),
    (["--set", "service.port=70000"], "at '/service/port': maximum: got 70,000, want 65,535"),
    (["--set", "podAnnotations.a=1"], "at '/podAnnotations/a': got number, want string"),
    (
        ["--set", "podDisruptionBudget.maxUnavailable=0"],
        "at '/podDisruptionBudget/maxUnavailable': minimum: got 0, want 1",
    ),
    (
        ["--set", "podDisruptionBudget.maxUnavailable=0%"],
        "at '/podDisruptionBudget/maxUnavailable': '0%' does not match pattern",
    ),
    (
        ["--set", "networkPolicy.controlPlaneCIDRs={10.0.0.1}"],
        "at '/networkPolicy/controlPlaneCIDRs/0': '10.0.0.1' does not match pattern",
    ),
    (
        ["--set", "watcher.replicas=1"],
        "at '/watcher': additional properties 'replicas' not allowed",
    ),
    (
        ["--set", "image.digest=sha256:12"],
        "at '/image/digest': 'sha256:12' does not match pattern",
    ),
    (
        ["--set", "rolloutPhase=audit"],
        "at '/rolloutPhase': value must be one of 'observe', 'warn', 'enforce'",
    ),
    (
        ["--set", "metrics.prometheusRule.enabled=yes"],
        "at '/metrics/prometheusRule/enabled': value must be one of 'auto', true, false",
    ),
    (
        ["--set", "metrics.prometheusRule.runbookBaseUrl=https://wiki/"],
        "at '/metrics/prometheusRule/runbookBaseUrl': 'https://wiki/' does not match pattern",
    ),
    (["--set", "extraArgs={queue}"], "at '/extraArgs/0': 'queue' does not match pattern"),
    (["--set", "extraEnv[0].value=x"], "at '/extraEnv/0': missing property 'name'"),
    (
        ["--set", "probes.ready.periodSeconds=1"],
        "at '/probes': additional properties 'ready' not allowed",
    ),
    (["--set", "watcher.podDisruptionBudget.maxUnavailable=0"], "minimum: got 0, want 1"),
    # The content of mindgate.yaml, by its own schema.
    (
        ["--set", "config.maxMode=off"],
        "at '/config/maxMode': value must be one of 'audit', 'warn', 'enforce'",
    ),
    (
        ["--set", "config.profiles.ome.faultRetryTime=5"],
        "at '/config/profiles/ome': additional properties 'faultRetryTime' not allowed",
    ),
    (
        ["--set", "config.rules.MG999=off"],
        "at '/config/rules': additional properties 'MG999' not allowed",
    ),
    (
        ["--set", "config.elasticScaling.mode=on"],
        "at '/config/elasticScaling/mode': value must be one of 'off', 'observe', 'enforce', false",
    ),
    (
        ["--set", "watcher.namespacesWithoutRules={a b}"],
        "at '/watcher/namespacesWithoutRules/0': 'a b' does not match pattern",
    ),
    (["--set", "config.superPodSize=0"], "at '/config/superPodSize': minimum: got 0, want 1"),
    # Values that do not go together.
    (
        ["--set", "watcher.enabled=false"],
        "certs.mode is managed, but watcher.enabled is false, so no certificate would be created."
        " Enable the watcher, or set certs.mode to cert-manager or files",
    ),
    (
        [
            "--set",
            "certs.mode=cert-manager,watcher.enabled=false,config.elasticScaling.mode=enforce",
        ],
        "config.elasticScaling.mode is enforce, but watcher.enabled is false, so the"
        " gates of waiting pods would never open. Enable the watcher, or set the mode to observe or off",
    ),
    (
        ["--set", "certs.mode=files"],
        "certs.mode is files, but certs.secretName is empty: set it to the Secret with tls.crt and"
        " tls.key",
    ),
    (
        ["--set", "certs.mode=files,certs.secretName=pair"],
        "certs.mode is files, but certs.caBundle is not a PEM certificate: the API"
        " server needs it to trust the webhook. Use --set-file certs.caBundle=ca.crt",
    ),
    (
        ["--set", "certs.caBundle=x"],
        "certs.caBundle is set, but certs.mode is managed, which publishes its own CA: remove"
        " certs.caBundle, or set certs.mode to files",
    ),
    (
        ["--set", "webhook.clientCA.configMap=a,webhook.clientCA.secret=b"],
        "webhook.clientCA has both configMap and secret: set only the one with the CA of"
        " client certificates",
    ),
    (
        ["--set", "webhook.clientCA.allowedNames={kube-apiserver}"],
        "webhook.clientCA has allowedNames or optional, but neither configMap nor secret: client"
        " certificates cannot be verified without a CA.",
    ),
    (
        ["--set", "tests.probeNamespace=kube-system"],
        "tests.probeNamespace is kube-system, whose objects are never sent to the webhook: use"
        " a namespace with jobs, or set tests.enabled to false",
    ),
    # What the watcher's token could do without the policies.
    (
        ["--set", "watcher.admissionPolicy.enabled=false"],
        "certs.mode is managed, but watcher.admissionPolicy.enabled is false, so with the watcher's token"
        " the webhook configurations can be changed to send all objects of the cluster elsewhere, and a"
        " Secret with the token of any ServiceAccount of namespace mindgate-system can be made. Set"
        " certs.mode to cert-manager or files, set watcher.admissionPolicy.enabled to true, or"
        " watcher.admissionPolicy.allowUnrestricted to true if you accept this",
    ),
    (
        ["--set", f"{UNBOUND},config.rescheduling.mode=enforce,config.rescheduling.isolateNodes=true"],
        "config.rescheduling.isolateNodes is on, but watcher.admissionPolicy.enabled is false, so with"
        " the watcher's token every node can be cordoned, relabelled, and emptied by a taint NoExecute."
        " Set isolateNodes to false, set watcher.admissionPolicy.enabled to true, or",
    ),
    (
        ["--set", f"{UNBOUND},config.rescheduling.mode=takeover,config.rescheduling.gracefulExit=true"],
        "config.rescheduling.gracefulExit is on, but watcher.admissionPolicy.enabled is false, so with"
        " the watcher's token every ConfigMap of the cluster can be changed. Set gracefulExit to false,",
    ),
    (
        ["--set", "drain.timeSeconds=40"],
        "drain.timeSeconds is 40, but Kubernetes kills a replica after"
        " terminationGracePeriodSeconds, 40: increase terminationGracePeriodSeconds",
    ),
    (
        ["--set", "drain.delaySeconds=30"],
        "drain.delaySeconds is 30, but drain.timeSeconds, which includes it, is 30:"
        " increase drain.timeSeconds",
    ),
]


class ValuesTest(unittest.TestCase):
    def test_what_cannot_work_is_refused_with_its_place_and_reason(self) -> None:
        for arguments, message in REFUSED:
            with self.subTest(" ".join(arguments)):
                rendered = template(*arguments)
                self.assertEqual((rendered.returncode, rendered.stdout), (1, ""))
                self.assertIn(message, " ".join(rendered.stderr.split()))

    def test_what_is_safe_or_accepted_is_not_refused(self) -> None:
        isolate = "config.rescheduling.isolateNodes=true,config.rescheduling.gracefulExit=true"
        enforce = f"config.rescheduling.mode=enforce,{isolate}"
        for values in (
            UNBOUND,
            f"{UNBOUND},config.rescheduling.mode=enforce,config.elasticScaling.mode=enforce",
            # These modes do not act.
            f"{UNBOUND},{isolate}",
            f"{UNBOUND},{enforce},rolloutPhase=observe",
            f"watcher.admissionPolicy.enabled=false,watcher.admissionPolicy.allowUnrestricted=true,{enforce}",
            enforce,
        ):
            with self.subTest(values):
                accepted = template("--set", values)
                self.assertEqual((accepted.returncode, accepted.stderr), (0, ""))

    def test_the_configuration_has_the_schema_of_the_program(self) -> None:
        checked = run(ROOT / "scripts/chart-schema", "--check")
        self.assertEqual((checked.returncode, checked.stdout), (0, ""))

    def test_the_schema_can_be_read(self) -> None:
        for line in (CHART / "values.schema.json").read_text().splitlines():
            self.assertLessEqual(len(line), 120)

    def test_every_value_has_its_type_and_every_type_its_value(self) -> None:
        schema = json.loads((CHART / "values.schema.json").read_text())

        def compare(values: Any, types: Any, path: str) -> None:
            if "$ref" in types:
                types = schema["definitions"][types["$ref"].rsplit("/", 1)[1]]
            if isinstance(values, dict) and values and "properties" in types:
                self.assertEqual(set(values), set(types["properties"]), path)
                for key, value in values.items():
                    compare(value, types["properties"][key], f"{path}.{key}")

        values = yaml.safe_load((CHART / "values.yaml").read_text())
        # Not all keys of these are given.
        for key in ("resources", "topologySpreadConstraints"):
            del values[key], schema["properties"][key]
        del (
            values["watcher"]["resources"],
            schema["properties"]["watcher"]["properties"]["resources"],
        )
        compare(values, schema, "")


if __name__ == "__main__":
    unittest.main()
