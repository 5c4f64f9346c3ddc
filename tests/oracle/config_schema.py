#!/usr/bin/env python3
"""Asks python3-jsonschema (Debian) what it finds wrong in configurations, for config_schema_test.cc.

Reads config_schema.json (the schema of mindgate.yaml, as the test wants it), checks that it is valid
draft 7, and writes config_schema_answers.json: each value below with the JSON pointers of the places
at which jsonschema reports a fault.
"""

import json
import pathlib

import jsonschema

HERE = pathlib.Path(__file__).parent

PROFILE = [
    {}, None, [], "force",
    {"faultScheduling": "force"}, {"faultScheduling": ""}, {"faultScheduling": False},
    {"faultScheduling": True}, {"faultScheduling": "Force"}, {"faultScheduling": None},
    {"podRescheduling": True}, {"podRescheduling": "yes"}, {"podRescheduling": 0},
    {"faultRetryTimes": 3}, {"faultRetryTimes": 3.0}, {"faultRetryTimes": 3.5},
    {"faultRetryTimes": "3"}, {"faultRetryTimes": -1}, {"faultRetryTimes": True},
    {"faultRetryTimes": []}, {"unknown": 1, "other": 2},
]
EXCEPTION = {"rules": ["MG001"], "owner": "o", "reason": "r", "expires": "2026-12-31"}
ROW = {"acceleratorType": "a", "nodeChips": 8, "podChips": [1, 8]}


def without(value, key):
    return {k: v for k, v in value.items() if k != key}


VALUES = (
    [{}, None, [], "text", 3, True]
    + [{"profiles": {"ome": p}} for p in PROFILE]
    + [{"profiles": p} for p in (None, {}, [], {"sglang": {}}, {"ome": {}, "aibrix": 1, "x": 2})]
    + [{"scheduler": v} for v in ("volcano", "", None, 3, ["volcano"])]
    + [{"mutators": v} for v in (None, {}, [], {"scheduler-name": False}, {"scheduler-name": "off"},
                                 {"scheduler-name": 0}, {"other": True})]
    + [{"gangRepair": v} for v in (True, False, "on", "off", 1, 0, None, "ON")]
    + [{"rules": v} for v in (None, {}, {"MG001": "warn"}, {"wrong-type": False}, {"MG001": True},
                              {"MG002": "warn"}, {"MG001": "deny", "x": 1}, ["MG001"])]
    + [{"namespaces": v} for v in (None, [], [{}], [{"name": ""}], [{"name": "a", "inject": True}],
                                   [{"name": "a", "inject": "disabled", "rules": {"MG001": "off"}}],
                                   [{"name": "a", "rules": None}, 3, {"name": 4, "nam": 5}], {})]
    + [{"exceptions": v} for v in (
        [EXCEPTION], [without(EXCEPTION, "owner")], [without(EXCEPTION, "rules")],
        [dict(EXCEPTION, rules=[])], [dict(EXCEPTION, rules=[1, "wrong-type"])],
        [dict(EXCEPTION, reason="")], [dict(EXCEPTION, kind=None, who="me")], [[]])]
    + [{"graceOverTime": v} for v in (1, 2, 3600, 3601, 900.0, 900.5, "900", "15m", "1m30s", "",
                                      "15 m", "m", "1.5h", "1d", None, True, [], 1e300,
                                      18446744073709551615, -9223372036854775808)]
    + [{"superPodSize": v} for v in (0, 1, 1024, 1025)]
    + [{"accelerators": v} for v in (
        [ROW], [dict(ROW, podChips=[])], [dict(ROW, podChips=[0, 1025, "1"])],
        [without(ROW, "nodeChips")], [dict(ROW, superPod="yes", schedulePolicy="")],
        [dict(ROW, superPod="on", wholeNodesWhenDistributed=False)], [dict(ROW, superPod=0)], [None])]
    + [{"rescheduling": v} for v in (
        {}, None, {"mode": "takeover"}, {"mode": False}, {"mode": "on"}, {"takeoverAfter": "90s"},
        {"takeoverAfter": 0}, {"escalateAfter": "6"}, {"restartsPerMinute": 0},
        {"maxFaultyNodes": 101}, {"isolateNodes": "on"}, {"faultSource": "volcano"}, {"what": 1},
    )]
    + [{"elasticScaling": v} for v in (
        None, {}, [], {"mode": "enforce", "rebalance": False, "upstreamCounts": True},
        {"mode": "on"}, {"mode": None}, {"reservation": 0}, {"coolDown": 86401, "rebalanceAfter": 1.5},
        {"rebalanceAfter": 60.0, "unknown": 1}, {"reservation": "20s", "coolDown": "5m", "rebalance": "of"},
    )]
    + [{"scheduler": 1, "gangRepair": 2, "graceOverTime": 3.5, "a/b~c": 4}]
)


def pointer(path):
    return "".join("/" + str(p).replace("~", "~0").replace("/", "~1") for p in path)


def main():
    schema = json.loads((HERE / "config_schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    answers = [
        {"value": value,
         "faults": sorted({pointer(e.absolute_path) for e in validator.iter_errors(value)})}
        for value in VALUES
    ]
    lines = ",\n".join(json.dumps(a, sort_keys=True) for a in answers)
    (HERE / "config_schema_answers.json").write_text("[\n" + lines + "\n]\n")


if __name__ == "__main__":
    main()
