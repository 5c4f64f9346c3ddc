#!/usr/bin/env python3
"""Asks python3-jsonschema (Debian) which configurations of `mindgate deploy` are faulty, for config_schema_test.cc in
tests/deploy.

Reads the schemas that `mindgate deploy --schema` prints (tests/golden/deploy/schema-*.json), checks that they are valid
draft 7, and writes deploy_schema_answers.json: each configuration below with the JSON pointers of the places at which
jsonschema reports a fault. Rules between keys are not part of a schema.
"""

import json
import pathlib

import jsonschema

HERE = pathlib.Path(__file__).parent
GOLDEN = HERE.parent / "golden" / "deploy"

OME = {"app_name": "chat", "inference_service": {"model_name": "m", "engine": {}}}
AIBRIX = {
    "app_name": "q",
    "storm_service": {
        "model_name": "m",
        "model_path": "/mnt/m",
        "distributed_dp": "false",
        "prefill": {"image": "i:1"},
        "decode": {"image": "i:1"},
    },
}
MINDIE = {"app_name": "motor", "mindie_service": {"image": "i:1", "model_path": "/data/m", "prefill": {}, "decode": {}}}


def changed(value, path, leaf):
    """A copy with `leaf` at the path; without the key where it is None."""
    value = json.loads(json.dumps(value))
    at = value
    for key in path[:-1]:
        at = at[key]
    if leaf is None:
        del at[path[-1]]
    else:
        at[path[-1]] = leaf
    return value


CASES = (
    [("ome", v) for v in (OME, [], "text", {})]
    + [("ome", changed(OME, p, leaf)) for p, leaf in (
        (["app_name"], 3), (["app_name"], None), (["app_nam"], "x"), (["framework"], "vllm"), (["framework"], "ome"),
        (["inference_service", "engine"], None), (["inference_service", "engine"], []),
        (["inference_service", "engine", "npu_num"], 16), (["inference_service", "engine", "npu_num"], 17),
        (["inference_service", "engine", "npu_num"], "8"), (["inference_service", "engine", "npu_num"], True),
        (["inference_service", "engine", "npu_nums"], 8), (["inference_service", "engine", "pod_num"], 0),
        (["inference_service", "engine", "labels"], {"a": "b"}), (["inference_service", "engine", "labels"], {"a": 1}),
        (["inference_service", "engine", "labels"], []), (["mf_store"], {"image": "s:1", "replicas": 2}),
        (["inference_service", "engine", "tolerations"], [{"key": "a", "operator": "Exists"}]),
        (["inference_service", "engine", "tolerations"], [{"key": "a", "operator": "In"}]),
        (["inference_service", "engine", "tolerations"], {"key": "a"}),
        (["inference_service", "engine", "image_pull_secrets"], ["hub"]),
        (["inference_service", "engine", "image_pull_secrets"], [{"name": "hub"}]),
        (["inference_service", "engine", "volumes"], [{"name": "a", "claim": "c", "mount_path": "/a"}]),
        (["inference_service", "engine", "volumes"], [{"claim": "c", "mount_path": "/a"}]),
        (["inference_service", "engine", "resources"], {"requests": {"cpu": "8"}}),
        (["inference_service", "engine", "resources"], {"requests": {"cpu": 8}}),
        (["patches"], [{"kind": "InferenceService", "patch": {"spec": {}}}]),
        (["patches"], [{"kind": "InferenceService", "patch": "text"}]), (["patches"], [{"patch": {}}]),
    )]
    + [("aibrix", AIBRIX)]
    + [("aibrix", changed(AIBRIX, ["storm_service", *p], leaf)) for p, leaf in (
        (["distributed_dp"], False), (["distributed_dp"], "maybe"), (["model_path"], None), (["decode", "image"], None),
        (["decode", "podGroupSize"], 1.5), (["decode", "pod_group_size"], 1), (["host_paths"], {"models": "/m"}),
        (["host_paths"], {"model": "/m"}), (["server_port"], 65536),
    )]
    + [("mindie", MINDIE)]
    + [("mindie", changed(MINDIE, ["mindie_service", *p], leaf)) for p, leaf in (
        (["hardware_type"], "800I_A3"), (["hardware_type"], "a4"), (["prefill", "instances"], 21), (["prefill", "pod_num"], 2),
        (["scaling_rule"], "yes"), (["service"], {"port": 0}), (["config_maps"], {"boot": "b", "server": "s"}),
        (["controller"], {"standby": True}), (["image"], ""),
    )]
)


def pointer(path):
    return "".join("/" + str(p).replace("~", "~0").replace("/", "~1") for p in path)


def main():
    validators = {}
    for framework in ("ome", "aibrix", "mindie"):
        schema = json.loads((GOLDEN / f"schema-{framework}.json").read_text())
        jsonschema.Draft7Validator.check_schema(schema)
        validators[framework] = jsonschema.Draft7Validator(schema)
    answers = [
        {
            "framework": framework,
            "value": value,
            "faults": sorted({pointer(e.absolute_path) for e in validators[framework].iter_errors(value)}),
        }
        for framework, value in CASES
    ]
    lines = ",\n".join(json.dumps(a, sort_keys=True) for a in answers)
    (HERE / "deploy_schema_answers.json").write_text("[\n" + lines + "\n]\n")


if __name__ == "__main__":
    main()
