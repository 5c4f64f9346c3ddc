"""What MindCluster's components write about hardware: ClusterD for all nodes, Ascend Device Plugin and NodeD for one."""

from __future__ import annotations

import json
import time

from store import CONFIGMAPS, Object

CLUSTERD_NAMESPACE = "mindx-dl"
DEVICE = "mindx-dl-deviceinfo-"
MACHINE = "mindx-dl-nodeinfo-"


def _fault(chip: str, level: str, code: str) -> Object:
    return {
        "fault_type": "CardUnhealthy",
        "npu_name": chip,
        "large_model_fault_level": level,
        "fault_level": level,
        "fault_handling": level,
        "fault_code": code,
        "fault_time_and_level_map": {code: {"fault_time": int(time.time() * 1000), "fault_level": level}},
    }


def device_report(broken: list[str], sub_healthy: list[str], at: float | None = None) -> Object:
    """The state of the chips of one node. `at` is the time of the writer, in seconds since 1970."""
    faults = [_fault(chip, "RestartNPU", "80E18005") for chip in broken]
    faults += [_fault(chip, "SubHealthFault", "80DE0207") for chip in sub_healthy]
    kind = (broken + sub_healthy + ["Ascend910-"])[0].split("-")[0]
    return {
        "DeviceList": {
            f"huawei.com/{kind}": "",
            f"huawei.com/{kind}-Unhealthy": ",".join(broken),
            f"huawei.com/{kind}-NetworkUnhealthy": "",
            f"huawei.com/{kind}-Fault": json.dumps(faults),
        },
        "UpdateTime": int(time.time() if at is None else at),
    }


def config_map(ns: str, name: str, label: str, data: dict[str, str]) -> tuple[str, Object]:
    return CONFIGMAPS, {"metadata": {"namespace": ns, "name": name, "labels": {label: "true"}}, "data": data}


def of_clusterd(devices: dict[str, Object], part: int = 0) -> tuple[str, Object]:
    """One of ClusterD's ConfigMaps; a large cluster has several."""
    name = f"cluster-info-device-{part}"
    text = json.dumps({DEVICE + node: report for node, report in devices.items()})
    return config_map(CLUSTERD_NAMESPACE, name, "mx-consumer-volcano", {name: text})


def of_machines(states: dict[str, str]) -> tuple[str, Object]:
    """What ClusterD passes on of NodeD: Healthy, PreSeparate or UnHealthy."""
    text = json.dumps({MACHINE + node: {"FaultDevList": [], "NodeStatus": state} for node, state in states.items()})
    return config_map(CLUSTERD_NAMESPACE, "cluster-info-node-cm", "mx-consumer-volcano", {"cluster-info-node-cm": text})


def of_device_plugin(node: str, report: Object) -> tuple[str, Object]:
    text = json.dumps({"DeviceInfo": report, "CheckCode": ""})
    return config_map("kube-system", DEVICE + node, "mx-consumer-cim", {"DeviceInfoCfg": text})
