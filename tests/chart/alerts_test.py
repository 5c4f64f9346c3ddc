"""Alerts: each fires when it should and not before, and has a page that says what to do."""

from __future__ import annotations

import dataclasses
import functools
import os
import pathlib
import re
import tempfile
import unittest
from typing import Any

import yaml

from rendering import NAMESPACE, ROOT, Object, objects_of, of_kind, run, the

RUNBOOKS = ROOT / "docs/runbooks"
WEBHOOK = f'namespace="{NAMESPACE}",service="mindgate-webhook"'
WATCHER = f'namespace="{NAMESPACE}",service="mindgate-watcher"'
SERVICE = {"service_namespace": "serving", "rule": "scaling-rule", "job_id": "chat"}
SHAPE = 'mindgate_scaling_shape{%s,pod="a",service_namespace="serving",rule="scaling-rule",job_id="chat"}'
BUCKET = "mindgate_webhook_stage_seconds_bucket{%s,stage=%s,le=%s}"


def days(count: float) -> int:
    return int(count * 86400)


@dataclasses.dataclass
class Case:
    """Series as promtool writes them, by the minute, and whether the alert fires at a minute."""

    alert: str
    what: str
    series: dict[str, str]
    minute: int
    # Of each alert that fires: its labels besides the alert's own, and its value.
    fires: list[tuple[dict[str, str], float]] = dataclasses.field(default_factory=list)


def webhook(name: str, more: str = "") -> str:
    return f"{name}{{{WEBHOOK}{more}}}"


def watcher(name: str, more: str = "") -> str:
    return f"{name}{{{WATCHER}{more}}}"


def of(name: str, **more: str) -> dict[str, str]:
    return {"namespace": NAMESPACE, "service": f"mindgate-{name}", **more}


def counter(alert: str, series: str, minute: int, labels: dict[str, str]) -> list[Case]:
    """A counter that stands does not fire, one that rises does."""
    return [
        Case(alert, "stands", {series: "7+0x120"}, minute),
        Case(alert, "rises", {series: "7+1x120"}, minute, [(labels, -1)]),
    ]


UP_A, UP_B = webhook("up", ',pod="a"'), webhook("up", ',pod="b"')
EXPIRY = webhook("mindgate_certificate_expiry_timestamp_seconds", ',pod="a"')
CONFIG = "mindgate_config_info"
LEADING = "mindgate_watcher_leading"
BUILD = "mindgate_build_info"
HANGING = "mindgate_webhook_hanging_decisions"
OF_WEBHOOK = of("webhook")
REJECTED = (
    'apiserver_admission_webhook_rejection_count{name="pods.validate.mindgate.io",error_type="%s"}'
)
CASES = [
    Case("MindgateWebhookDown", "one of two is up", {UP_A: "1x9", UP_B: "0x9"}, 5),
    Case("MindgateWebhookDown", "not for long", {UP_A: "1x4 0x5", UP_B: "1x4 0x5"}, 6),
    Case("MindgateWebhookDown", "none", {UP_A: "1x2 0x7", UP_B: "0x9"}, 6, [({}, 1)]),
    Case("MindgateWebhookDown", "nothing is scraped", {}, 5, [({}, 1)]),
    Case("MindgateCertificateExpires", "a month", {EXPIRY: f"{days(30)}x120"}, 90),
    Case("MindgateCertificateExpires", "there is none yet", {EXPIRY: "0x120"}, 90),
    Case(
        "MindgateCertificateExpires",
        "ten days",
        {EXPIRY: f"{days(10)}x120"},
        90,
        [({**OF_WEBHOOK, "pod": "a"}, days(10) - 90 * 60)],
    ),
    *counter(
        "MindgateCertificateRefused",
        webhook("mindgate_certificate_reload_failures_total"),
        60,
        OF_WEBHOOK,
    ),
    *counter(
        "MindgateConfigurationRefused",
        webhook("mindgate_config_reload_failures_total"),
        60,
        OF_WEBHOOK,
    ),
    Case(
        "MindgateConfigurationsDiffer",
        "during a change",
        {
            webhook(CONFIG, ',pod="a",generation="1"'): "1x20 _x20",
            webhook(CONFIG, ',pod="a",generation="2"'): "_x20 1x20",
            webhook(CONFIG, ',pod="b",generation="1"'): "1x22 _x20",
            webhook(CONFIG, ',pod="b",generation="2"'): "_x22 1x20",
        },
        40,
    ),
    Case(
        "MindgateConfigurationsDiffer",
        "for good",
        {
            webhook(CONFIG, ',pod="a",generation="1"'): "1x40",
            webhook(CONFIG, ',pod="b",generation="2"'): "1x40",
        },
        30,
        [({}, 2)],
    ),
    *counter("MindgateInternalError", webhook("mindgate_webhook_bugs_total"), 30, OF_WEBHOOK),
    Case("MindgateDecisionHangs", "none", {webhook(HANGING, ',pod="a",kind="Pod"'): "0x40"}, 30),
    Case(
        "MindgateDecisionHangs",
        "once, long ago",
        {webhook(HANGING, ',pod="a",kind="Pod"'): "0x5 1x1 0x40"},
        30,
    ),
    Case(
        "MindgateDecisionHangs",
        "seen once, and the replica was restarted",
        {
            webhook(HANGING, ',pod="a",kind="Deployment"'): "0x5 1 _x40",
            webhook(HANGING, ',pod="a",kind="Pod"'): "0x5 0 _x40",
            webhook(HANGING, ',pod="b",kind="Deployment"'): "0x40",
        },
        15,
        [({"kind": "Deployment"}, 1)],
    ),
    Case(
        "MindgateOverloaded",
        "now and then",
        {webhook("mindgate_webhook_rejects_total", ',reason="queue_full"'): "0+12x60"},
        40,
    ),
    Case(
        "MindgateOverloaded",
        "two a second",
        {webhook("mindgate_webhook_rejects_total", ',reason="queue_full"'): "0+120x60"},
        40,
        [({}, 2)],
    ),
    Case(
        "MindgateSlow",
        "fast",
        {
            BUCKET % (WEBHOOK, '"decide"', '"0.01"'): "0+100x60",
            BUCKET % (WEBHOOK, '"decide"', '"+Inf"'): "0+100x60",
        },
        40,
    ),
    Case(
        "MindgateSlow",
        "a stage",
        {
            BUCKET % (WEBHOOK, '"queue"', '"0.1"'): "0+50x60",
            BUCKET % (WEBHOOK, '"queue"', '"1"'): "0+100x60",
            BUCKET % (WEBHOOK, '"queue"', '"+Inf"'): "0+100x60",
            BUCKET % (WEBHOOK, '"decide"', '"0.1"'): "0+100x60",
            BUCKET % (WEBHOOK, '"decide"', '"+Inf"'): "0+100x60",
        },
        40,
        [({"stage": "queue"}, -1)],
    ),
    Case("MindgateNotReached", "denials", {REJECTED % "no_error": "0+5x30"}, 20),
    Case(
        "MindgateNotReached",
        "refused",
        {REJECTED % "calling_webhook_error": "0+1x30"},
        20,
        [({}, -1)],
    ),
    Case(
        "MindgateNotReached",
        "let through",
        {'apiserver_admission_webhook_fail_open_count{name="pods.mutate.mindgate.io"}': "0+1x30"},
        20,
        [({}, -1)],
    ),
    Case(
        "MindgateNoWatcherLeads",
        "one of two",
        {watcher(LEADING, ',pod="a"'): "0x20", watcher(LEADING, ',pod="b"'): "1x20"},
        15,
    ),
    Case(
        "MindgateNoWatcherLeads",
        "none",
        {watcher(LEADING, ',pod="a"'): "0x20", watcher(LEADING, ',pod="b"'): "0x20"},
        15,
        [({}, 1)],
    ),
    Case(
        "MindgateWatcherCallsFail",
        "once, long ago",
        {watcher("mindgate_scaling_failed_calls_total"): "0 1x90"},
        60,
    ),
    *[
        Case("MindgateWatcherCallsFail", name, {watcher(name): "0+1x90"}, 60, [({}, -1)])
        for name in (
            "mindgate_scaling_failed_calls_total",
            "mindgate_gang_repair_failed_calls_total",
            "mindgate_rescheduling_failed_calls_total",
        )
    ],
    Case(
        "MindgateReschedulingStopped",
        "a minute",
        {watcher("mindgate_rescheduling_stopped"): "0 1 0x60"},
        30,
    ),
    Case(
        "MindgateReschedulingStopped",
        "for a while",
        {watcher("mindgate_rescheduling_stopped"): "0 1x60"},
        30,
        [({}, 1)],
    ),
    Case("MindgateServiceDown", "starts", {SHAPE % WATCHER: "0x10 1x60"}, 60),
    Case("MindgateServiceDown", "a small shape", {SHAPE % WATCHER: "3x60"}, 60),
    Case("MindgateServiceDown", "is gone", {SHAPE % WATCHER: "0x10 stale"}, 60),
    Case("MindgateServiceDown", "none", {SHAPE % WATCHER: "1x10 0x60"}, 60, [(SERVICE, 0)]),
    Case("MindgateServiceReduced", "the first", {SHAPE % WATCHER: "1x120"}, 110),
    Case("MindgateServiceReduced", "none at all", {SHAPE % WATCHER: "0x120"}, 110),
    Case("MindgateServiceReduced", "the third", {SHAPE % WATCHER: "3x120"}, 110, [(SERVICE, 3)]),
    Case(
        "MindgateVersionsDiffer",
        "one",
        {
            webhook(BUILD, ',version="1.2.3"'): "1x60",
            watcher(BUILD, ',version="1.2.3"'): "1x60",
            'mindgate_build_info{namespace="elsewhere",service="mindgate-webhook",version="1"}': "1x60",
        },
        50,
    ),
    Case(
        "MindgateVersionsDiffer",
        "two",
        {
            webhook(BUILD, ',version="1.2.3"'): "1x60",
            watcher(BUILD, ',version="1.2.4"'): "1x60",
        },
        50,
        [({}, 2)],
    ),
    Case(
        "MindgateVersionsDiffer",
        "two commits of one version",
        {
            webhook(BUILD, ',version="1.2.3",commit="aaa"'): "1x60",
            watcher(BUILD, ',version="1.2.3",commit="bbb"'): "1x60",
        },
        50,
        [({}, 2)],
    ),
]


@functools.cache
def require_promtool() -> None:
    """Without promtool no alert is evaluated: an error in CI, else the tests are skipped."""
    found = run(ROOT / "scripts/promtool", "--version")
    if found.returncode == 0:
        return
    if os.environ.get("CI"):
        raise RuntimeError(f"promtool is needed in CI: {found.stderr}")
    raise unittest.SkipTest(f"no promtool: {found.stderr}")


def rules() -> dict[str, Object]:
    (group,) = the(objects_of("everything"), "PrometheusRule", "mindgate")["spec"]["groups"]
    return {rule["alert"]: rule for rule in group["rules"]}


def annotations(rule: Object, labels: dict[str, str], value: float) -> dict[str, str]:
    """As Prometheus fills them in."""
    filled = {}
    for key, text in rule["annotations"].items():
        text = re.sub(r"\{\{ \$labels\.(\w+) \}\}", lambda found: labels[found.group(1)], text)
        filled[key] = text.replace("{{ $value }}", f"{value:g}")
    return filled


class AlertsTest(unittest.TestCase):
    maxDiff = None

    def promtool(self, folder: str, *arguments: str) -> None:
        checked = run(ROOT / "scripts/promtool", *arguments)
        self.assertEqual(checked.returncode, 0, f"{checked.stdout}{checked.stderr} in {folder}")

    def test_each_fires_when_it_should_and_not_before(self) -> None:
        require_promtool()
        known = rules()
        tests: list[Any] = []
        for case in CASES:
            rule = known[case.alert]
            expected = [
                {
                    "exp_labels": {**rule["labels"], **labels},
                    "exp_annotations": annotations(rule, labels, value),
                }
                for labels, value in case.fires
            ]
            tests.append(
                {
                    "name": f"{case.alert}: {case.what}",
                    "interval": "1m",
                    "input_series": [
                        {"series": series, "values": values}
                        for series, values in case.series.items()
                    ],
                    "alert_rule_test": [
                        {
                            "eval_time": f"{case.minute}m",
                            "alertname": case.alert,
                            "exp_alerts": expected,
                        }
                    ],
                }
            )
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder)
            groups = {"groups": [{"name": "mindgate", "rules": list(known.values())}]}
            (place / "rules.yaml").write_text(yaml.safe_dump(groups))
            self.promtool(folder, "check", "rules", str(place / "rules.yaml"))
            suite = {"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": tests}
            (place / "tests.yaml").write_text(yaml.safe_dump(suite))
            self.promtool(folder, "test", "rules", str(place / "tests.yaml"))

    def test_each_is_seen_to_fire_and_not_to_fire(self) -> None:
        for fires in (True, False):
            self.assertEqual(
                {case.alert for case in CASES if bool(case.fires) == fires}, set(rules())
            )

    def test_each_has_a_page_and_each_page_an_alert(self) -> None:
        pages = {path.stem for path in RUNBOOKS.glob("*.md")} - {"README"}
        self.assertEqual(pages, set(rules()))
        index = (RUNBOOKS / "README.md").read_text()
        for alert, rule in rules().items():
            with self.subTest(alert):
                self.assertEqual(
                    rule["annotations"]["runbook_url"],
                    f"https://runbooks.example/mindgate/{alert}.md",
                )
                page = (RUNBOOKS / f"{alert}.md").read_text()
                # What one can type at night on a host that has kubectl and nothing else.
                status = "kubectl -n mindgate-system exec deployment/mindgate-watcher -- mindgate status -A"
                self.assertTrue(page.startswith(f"# {alert}\n\n```sh\n{status}\n```\n\n## Meaning\n"))
                headings = re.findall(r"(?m)^## (.*)$", page)
                self.assertEqual(headings, ["Meaning", "Impact", "Diagnosis", "Mitigation"])
                self.assertIn(f"({alert}.md)", index)

    def test_no_page_takes_a_way_that_the_network_policies_close(self) -> None:
        for page in sorted((ROOT / "docs").rglob("*.md")):
            for block in re.findall(r"(?ms)^```.*?^```", page.read_text()):
                self.assertNotIn("/proxy/", block, f"{page.name}: kubectl port-forward reaches the probe port")

    def test_they_come_with_what_they_rest_on(self) -> None:
        # Nothing that is not scraped can be alerted on: by default both, or none.
        for value_set in ("defaults", "minimal"):
            objects = objects_of(value_set)
            self.assertEqual(
                bool(of_kind(objects, "PrometheusRule")), bool(of_kind(objects, "ServiceMonitor"))
            )


if __name__ == "__main__":
    unittest.main()
