"""The phases of a rollout: what is registered, what rules may lead to, what the watcher does, what the notes say."""

from __future__ import annotations

import json
import re
import shlex
import unittest

import yaml

from rendering import (
    BINARY,
    CHART,
    NAMESPACE,
    ROOT,
    Object,
    configurations_of,
    helm,
    objects_of,
    of_kind,
    parse,
    run,
    template,
    the,
    webhooks_of,
)

from registration_test import selects

HANDED_OVER = {
    "elasticScaling": {"mode": "enforce", "rebalance": "enforce"},
    "rescheduling": {"mode": "takeover", "takeoverAfter": "1m"},
    "rules": {"MG105": "off"},
}


def rendered(phase: str, **config: object) -> list[Object]:
    text = template("--set", f"rolloutPhase={phase}", "--set-json", f"config={json.dumps(config)}")
    if text.returncode != 0:
        raise AssertionError(text.stderr)
    return parse(text.stdout)


def configuration(objects: list[Object]) -> Object:
    text = the(objects, "ConfigMap", "mindgate-config")["data"]["mindgate.yaml"]
    checked = run(BINARY, "config", "validate", "-", stdin=text)
    if checked.returncode != 0:
        raise AssertionError(f"{text}\n{checked.stdout}{checked.stderr}")
    loaded: Object = yaml.safe_load(text) or {}
    return loaded


def notes(*arguments: str) -> str:
    installed = helm(
        "install", "mindgate", CHART, "--namespace", NAMESPACE, "--dry-run=client", *arguments
    )
    if installed.returncode != 0:
        raise AssertionError(installed.stderr)
    return installed.stdout.partition("\nNOTES:\n")[2]


class SwitchesTest(unittest.TestCase):
    """The commands of docs/rollout.md, "Switch something off"."""

    maxDiff = None

    def commands(self) -> list[list[str]]:
        """The arguments of each `helm upgrade` after those that all have in common."""
        text = (ROOT / "docs/rollout.md").read_text()
        (block,) = re.findall(r"(?ms)^## Switch something off\n.*?^```sh\n(.*?)^```$", text)
        words = [shlex.split(command) for command in re.sub(r"(?m)^#.*\n|\\\n", "", block).splitlines()]
        common = "helm upgrade mindgate charts/mindgate -n mindgate-system --reset-then-reuse-values".split()
        for each in words:
            self.assertEqual(each[: len(common)], common)
        return [each[len(common) :] for each in words]

    def test_each_does_what_its_name_promises(self) -> None:
        exception = {
            "rules": ["MG080"],
            "namespace": "legacy",
            "name": "llama-*",
            "owner": "serving team",
            "reason": "moves to OME",
            "expires": "2030-12-31",
        }
        rendered = [template(*arguments) for arguments in self.commands()]
        self.assertEqual([each.stderr for each in rendered if each.returncode], [])
        objects = [parse(each.stdout) for each in rendered]
        self.assertEqual(
            [configuration(each) for each in objects],
            [
                {"rules": {"MG080": "off"}},
                {"namespaces": [{"name": "team-*", "rules": {"MG080": "off"}}]},
                {"exceptions": [exception]},
                {"namespaces": [{"name": "legacy", "inject": "disabled"}]},
                {},
            ],
        )
        for _, webhook in webhooks_of(objects[-1]):
            for name, sent in (("legacy", False), ("serving", not webhook["name"].startswith("opted-in."))):
                labels = {"kubernetes.io/metadata.name": name}
                self.assertEqual(selects(webhook["namespaceSelector"], labels), sent, webhook["name"])


class PhasesTest(unittest.TestCase):
    maxDiff = None

    def test_what_is_registered_and_what_happens_while_it_is_away(self) -> None:
        wanted = {
            "observe": {"validate": {"Ignore"}},
            "warn": {"mutate": {"Ignore"}, "validate": {"Ignore"}},
            "enforce": {"mutate": {"Ignore"}, "validate": {"Fail", "Ignore"}},
        }
        for phase, policies in wanted.items():
            found: dict[str, set[str]] = {}
            at_once = template("--set", f"rolloutPhase={phase},webhook.failOpenUntilAnswered=false")
            for hook, webhook in webhooks_of(parse(at_once.stdout)):
                found.setdefault(hook, set()).add(webhook["failurePolicy"])
            self.assertEqual(found, policies, phase)

    def test_even_where_the_values_ask_for_more(self) -> None:
        for phase in ("observe", "warn"):
            text = template("--set", f"rolloutPhase={phase},webhook.mutate.failurePolicy=Fail")
            policies = {webhook["failurePolicy"] for _, webhook in webhooks_of(parse(text.stdout))}
            self.assertEqual(policies, {"Ignore"}, phase)

    def test_the_configuration_leads_to_no_more_than_the_phase_allows(self) -> None:
        observed = {
            "elasticScaling": {"mode": "observe", "rebalance": "enforce"},
            "rescheduling": {"mode": "observe", "takeoverAfter": "1m"},
            "rules": {"MG105": "off"},
            "maxMode": "audit",
            "gangRepair": False,
        }
        self.assertEqual(configuration(rendered("observe", **HANDED_OVER)), observed)
        self.assertEqual(
            configuration(rendered("warn", **HANDED_OVER)), {**HANDED_OVER, "maxMode": "warn"}
        )
        self.assertEqual(configuration(rendered("enforce", **HANDED_OVER)), HANDED_OVER)
        self.assertEqual(configuration(rendered("enforce")), {})

    def test_a_maximum_in_the_values_counts(self) -> None:
        for phase in ("observe", "warn", "enforce"):
            for most in ("audit", "warn", "enforce"):
                self.assertEqual(configuration(rendered(phase, maxMode=most))["maxMode"], most)

    def test_who_observes_writes_nothing(self) -> None:
        objects = rendered("observe", **HANDED_OVER)
        (watcher,) = [
            each["rules"]
            for each in of_kind(objects, "ClusterRole")
            if each["metadata"]["name"] == "mindgate-watcher"
        ]
        writes = {
            (resource, verb)
            for rule in watcher
            for resource in rule["resources"]
            for verb in rule["verbs"]
            if verb not in ("get", "list", "watch")
        }
        # The CA, and Events.
        self.assertEqual(
            writes,
            {
                ("mutatingwebhookconfigurations", "patch"),
                ("validatingwebhookconfigurations", "patch"),
                ("events", "create"),
                ("events", "patch"),
            },
        )
        self.assertEqual(of_kind(objects, "Job"), [])

    def test_the_watcher_publishes_its_ca_where_there_is_a_registration(self) -> None:
        for phase, named in (("observe", False), ("warn", True), ("enforce", True)):
            (watcher,) = the(rendered(phase), "Deployment", "mindgate-watcher")["spec"]["template"][
                "spec"
            ]["containers"]
            self.assertEqual("--mutating-webhook=mindgate" in watcher["args"], named, phase)
            self.assertIn("--validating-webhook=mindgate", watcher["args"])

    def test_doctor_gets_the_phase(self) -> None:
        for phase in ("observe", "warn", "enforce"):
            annotations = the(rendered(phase), "ValidatingWebhookConfiguration", "mindgate")[
                "metadata"
            ].get("annotations", {})
            self.assertEqual(
                annotations.get("mindgate.io/rollout-phase"), None if phase == "enforce" else phase
            )

    def test_doctor_gets_what_is_left_out(self) -> None:
        for off, kind in (("mutate", "ValidatingWebhookConfiguration"), ("validate", "MutatingWebhookConfiguration")):
            objects = parse(template("--set", f"webhook.{off}.enabled=false").stdout)
            (hook,) = [configuration for _, configuration in configurations_of(objects)]
            self.assertEqual(hook["kind"], kind)
            self.assertEqual(hook["metadata"]["annotations"]["mindgate.io/left-out"], off)
        for _, configuration in configurations_of(objects_of("defaults")):
            self.assertNotIn("mindgate.io/left-out", configuration["metadata"].get("annotations", {}))

    def test_owners_are_set_by_the_watcher_or_by_helm_on_a_cluster(self) -> None:
        # Without a cluster nobody knows the uid of the namespace.
        for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"):
            for value_set in ("defaults", "own-files"):
                self.assertNotIn(
                    "ownerReferences", the(objects_of(value_set), kind, "mindgate")["metadata"]
                )


class NotesTest(unittest.TestCase):
    def test_without_policies_the_notes_warn(self) -> None:
        warning = "WARNING: watcher.admissionPolicy.enabled is false."
        off = "watcher.admissionPolicy.enabled=false,watcher.admissionPolicy.allowUnrestricted=true"
        self.assertIn(warning, notes("--set", off))
        self.assertNotIn(warning, notes())

    def test_they_have_the_phase_and_how_to_go_on(self) -> None:
        for phase, next_phase in (("observe", "warn"), ("warn", "enforce"), ("enforce", "")):
            text = notes("--set", f"rolloutPhase={phase}")
            self.assertIn(f"\nRollout phase: {phase}. ", text)
            self.assertEqual(
                re.findall(r"--set rolloutPhase=(\w+)", text), [next_phase] if next_phase else []
            )
            self.assertEqual("kubectl create --dry-run=server" in text, phase != "observe")
        text = notes("--set", "rolloutPhase=warn,config.maxMode=enforce")
        self.assertIn("However, config.maxMode is enforce, which takes precedence", text)
        self.assertNotIn("However, config", notes("--set", "rolloutPhase=warn,config.maxMode=warn"))

    def test_they_name_who_may_read_metrics(self) -> None:
        monitored = "metrics.serviceMonitor.enabled=true"
        text = notes("--set", monitored)
        self.assertIn("no Pod may read metrics until networkPolicy.metricsFrom names", text)
        found = re.search(r"--set-json '(networkPolicy.metricsFrom=.*)'", text)
        assert found is not None
        self.assertNotIn("metricsFrom", notes("--set", monitored, "--set-json", found.group(1)))
        self.assertNotIn("metricsFrom", notes("--set", f"{monitored},networkPolicy.enabled=false"))
        self.assertNotIn("metricsFrom", notes())

    def test_they_warn_when_any_pod_may_call_the_webhook(self) -> None:
        cidrs = "networkPolicy.controlPlaneCIDRs={10.0.0.0/24}"
        for values, is_open in (
            ("", True),
            (cidrs, False),
            (f"{cidrs},networkPolicy.enabled=false", True),
            ("webhook.clientCA.secret=ca", False),
            ("webhook.clientCA.secret=ca,webhook.clientCA.optional=true", True),
        ):
            text = notes(*(["--set", values] if values else []))
            self.assertEqual("Any Pod may call the webhook," in text, is_open, values)

    def test_commands_need_no_files(self) -> None:
        for arguments in (
            [],
            ["--set", "config.elasticScaling.mode=enforce"],
            ["--set", "rolloutPhase=observe"],
        ):
            text = notes(*arguments)
            for word in ("examples/", "./", ".yaml"):
                self.assertNotIn(word, text)

    def test_the_object_to_try_is_injected(self) -> None:
        found = re.search(r"<<'END'\n(.*?)\nEND\n", notes(), re.DOTALL)
        assert found is not None
        manifest = found.group(1)
        self.assertEqual(yaml.safe_load(manifest)["metadata"]["namespace"], "default")
        applied = run(BINARY, "apply", "-f", "-", stdin=manifest)
        self.assertEqual(applied.returncode, 0, applied.stderr)
        template = yaml.safe_load(applied.stdout)["spec"]["template"]
        self.assertEqual(template["spec"]["schedulerName"], "volcano")
        self.assertIn("fault-scheduling", template["metadata"]["labels"])
        self.assertIn("has schedulerName volcano and", notes())
        self.assertIn("has schedulerName next and", notes("--set", "config.scheduler=next"))


if __name__ == "__main__":
    unittest.main()
