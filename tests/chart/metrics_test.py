"""What alerts and the dashboard name is there: tests/*/metrics.want, which tests of the program keep, has all series."""

from __future__ import annotations

import json
import re
import unittest
from typing import Any

from rendering import CHART, ROOT, Object, objects_of, the

# What the Prometheus operator attaches to every series of a target. A label of ours with such a name would be renamed to
# exported_... or hide the target's.
OF_TARGETS = {"namespace", "service", "job", "pod", "instance", "container", "endpoint", "node"}


def series() -> dict[str, set[str]]:
    """The labels of each metric of ours."""
    known: dict[str, set[str]] = {}
    for part in ("webhook", "watcher", "audit"):
        for line in (ROOT / f"tests/{part}/metrics.want").read_text().splitlines():
            name, kind, *labels = line.split(" ")
            labels_of = set(labels[0].split(",")) if labels else set()
            if kind == "histogram":
                known |= {f"{name}_{part}": labels_of for part in ("sum", "count")}
                known[f"{name}_bucket"] = labels_of | {"le"}
            else:
                known.setdefault(name, set()).update(labels_of)
    return known


def dashboard() -> Object:
    text = the(objects_of("everything"), "ConfigMap", "mindgate-dashboard")["data"]
    loaded: Object = json.loads(text["mindgate.json"])
    return loaded


def expressions() -> list[tuple[str, str]]:
    """Of each alert and panel, its name and what it asks."""
    (group,) = the(objects_of("everything"), "PrometheusRule", "mindgate")["spec"]["groups"]
    asked = [(rule["alert"], rule["expr"]) for rule in group["rules"]]
    return asked + [
        (panel["title"], f"{target['expr']} {legend_labels(target['legendFormat'])}")
        for panel in dashboard()["panels"]
        for target in panel["targets"]
    ]


def legend_labels(legend: str) -> str:
    names = ", ".join(re.findall(r"{{(\w+)}}", legend))
    return f"by ({names})"


class MetricsTest(unittest.TestCase):
    def test_alerts_and_dashboard_use_series_that_exist_with_labels_that_they_have(self) -> None:
        known = series()
        used = set()
        for where, text in expressions():
            with self.subTest(where):
                ours = set(re.findall(r"mindgate_\w+", text))
                self.assertEqual(ours - known.keys(), set())
                used |= ours
                if "apiserver_" in text:
                    continue
                labels = set(re.findall(r"(\w+)=~?\"", text))
                for group in re.findall(r"\bby \(([^)]*)\)", text):
                    labels |= set(group.split(", ")) - {""}
                had = OF_TARGETS.union(*(known[name] for name in ours))
                self.assertEqual(labels - had, set())
        self.assertGreater(len(used), 20)

    def test_no_series_has_a_label_that_belongs_to_its_target(self) -> None:
        for name, labels in series().items():
            self.assertEqual(labels & OF_TARGETS, set(), name)

    def test_all_series_are_documented(self) -> None:
        text = (ROOT / "docs/metrics.md").read_text()
        for name in series():
            base = re.sub("_(bucket|sum|count)$", "", name)
            # In a row of several: `mindgate_webhook_queue_length`, `_capacity`.
            ends = [base[place.start() :] for place in re.finditer("_", base)]
            self.assertTrue(any(f"`{name}`" in text for name in [base, *ends]), base)

    def test_the_table_of_services_has_a_column_for_each_question(self) -> None:
        (table,) = [panel for panel in dashboard()["panels"] if panel["type"] == "table"]
        organize = table["transformations"][1]["options"]["renameByName"]
        asked = {f"Value #{target['refId']}" for target in table["targets"]}
        self.assertLessEqual(asked, organize.keys())
        for target in table["targets"]:
            self.assertEqual((target["format"], target["instant"]), ("table", True))

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
