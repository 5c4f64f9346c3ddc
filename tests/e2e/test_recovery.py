"""What mindgate's own clients do when the API server, its history or a certificate goes: they come back, and without a storm."""

from __future__ import annotations

import base64
import datetime
import itertools
import json
import pathlib
import re
from typing import Any

import pytest
from e2e import Cluster, wait_for
from release import PROGRAM, Release
from test_admission import RUNTIME

pytestmark = pytest.mark.full

RUNTIMES = ("servingruntimes", "clusterservingruntimes")


def known(mindgate: Release) -> list[str]:
    """What each replica says about the runtimes that it knows."""
    lines = []
    for name in mindgate.pod_names():
        path = f"/api/v1/namespaces/{mindgate.cluster.namespace}/pods/{name}:8080/proxy/readyz?verbose"
        text = mindgate.cluster.kubectl("get", "--raw", path).stdout
        lines += re.findall(r"^\[ \]lookups (.*)$", text, re.MULTILINE)
    return lines


def await_known(mindgate: Release, count: int, seconds: float = 90) -> None:
    """Both replicas know so many, and follow what happens to them."""
    pattern = re.compile(rf"{count} ServingRuntimes \(lists \d+\), 0 ClusterServingRuntimes \(lists \d+\)")

    def all_know() -> bool:
        lines = known(mindgate)
        assert len(lines) == 2 and all(pattern.fullmatch(line) for line in lines), lines
        return True

    wait_for(all_know, f"both replicas to know {count}", seconds)


def lists(mindgate: Release) -> list[int]:
    """How often each replica has listed each of the two collections so far."""
    return [int(count) for line in known(mindgate) for count in re.findall(r"lists (\d+)", line)]


def all_of(*values: int) -> list[list[int]]:
    """Every way to have one of these four times."""
    return [list(each) for each in itertools.product(values, repeat=4)]


def runtime(name: str) -> dict[str, Any]:
    return RUNTIME | {"metadata": {"name": name}}


def test_cut_connections_are_resumed_and_not_relisted(cluster: Cluster, mindgate: Release) -> None:
    cluster.create(runtime("first"))
    await_known(mindgate, 1)
    before = lists(mindgate)
    for number in range(2, 4):
        cluster.control("cut")
        cluster.create(runtime(f"runtime-{number}"))
        await_known(mindgate, number)
    assert lists(mindgate) == before


def test_restarted_api_server(cluster: Cluster, mindgate: Release) -> None:
    cluster.create(runtime("before"))
    await_known(mindgate, 1)
    before = lists(mindgate)
    cluster.control("restart", "apiserver")
    cluster.create(runtime("after"))
    await_known(mindgate, 2)
    # It has forgotten what it had cached: at most one list more of each.
    assert [after - count for after, count in zip(lists(mindgate), before)] in all_of(0, 1)


def test_compacted_history(cluster: Cluster, mindgate: Release) -> None:
    """What they saw last is gone when they come back: 410, and one new list each."""
    cluster.create(runtime("kept"))
    cluster.create(runtime("gone"))
    await_known(mindgate, 2)
    before = lists(mindgate)
    cluster.kubectl("delete", "servingruntime", "gone")
    cluster.control("compact")
    cluster.control("restart", "apiserver")
    await_known(mindgate, 1)
    assert [after - count for after, count in zip(lists(mindgate), before)] in all_of(0, 1)
    wait_for(mindgate.serves, "mindgate to serve")


def test_another_watcher_takes_over(cluster: Cluster, mindgate: Release) -> None:
    def holder() -> str:
        return mindgate.cluster.get("lease", "mindgate-watcher")["spec"].get("holderIdentity", "")

    leader = wait_for(holder, "a leader")
    mindgate.cluster.kubectl("delete", "pod", leader.rsplit("_", 1)[0], "--wait=false")
    wait_for(lambda: holder() not in ("", leader), "another leader, well before a lease of 60 s is over", 40)
    mindgate.cluster.kubectl("annotate", "secret", "mindgate-tls", "mindgate.io/rotate=serving", "--overwrite")
    wait_for(lambda: not rotation_asked(mindgate), "the new leader to do its work", 40)


def rotation_asked(mindgate: Release) -> bool:
    annotations = mindgate.cluster.get("secret", "mindgate-tls")["metadata"].get("annotations", {})
    return "mindgate.io/rotate" in annotations


def leaf_near_its_end(mindgate: Release, folder: pathlib.Path) -> dict[str, str]:
    """A serving pair of the CA in the Secret that ends in an hour, in base64."""
    data = mindgate.cluster.get("secret", "mindgate-tls")["data"]
    for name in ("ca.crt", "ca.key"):
        (folder / name).write_bytes(base64.b64decode(data[name]))
    names = ",".join(
        f"DNS:mindgate-webhook{end}"
        for end in ("", ".mindgate-system", ".mindgate-system.svc", ".mindgate-system.svc.cluster.local")
    )
    (folder / "index.txt").touch()
    (folder / "ca.cnf").write_text(
        "[ca]\ndefault_ca=it\n[it]\ndatabase=index.txt\nnew_certs_dir=.\nrand_serial=yes\ndefault_md=sha256\n"
        "policy=any\nx509_extensions=leaf\n[any]\ncommonName=optional\n"
        f"[leaf]\nsubjectAltName={names}\nextendedKeyUsage=serverAuth\n"
    )
    now = datetime.datetime.now(datetime.timezone.utc)
    begin, end = (f"{now + datetime.timedelta(hours=hours):%Y%m%d%H%M%SZ}" for hours in (-24 * 300, 1))
    script = (
        "openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=mindgate-webhook "
        "-keyout tls.key -out tls.csr && "
        f"openssl ca -batch -notext -config ca.cnf -cert ca.crt -keyfile ca.key -in tls.csr -out tls.crt "
        f"-startdate {begin} -enddate {end}"
    )
    mindgate.cluster.run("bash", "-c", f"cd {folder} && {script}")
    return {name: base64.b64encode((folder / name).read_bytes()).decode() for name in ("tls.crt", "tls.key")}


def test_certificate_near_its_end_is_replaced(cluster: Cluster, mindgate: Release, tmp_path: pathlib.Path) -> None:
    old = leaf_near_its_end(mindgate, tmp_path)
    mindgate.cluster.kubectl("patch", "secret", "mindgate-tls", "--type=merge", "-p", json.dumps({"data": old}))

    def replaced() -> bool:
        return mindgate.cluster.get("secret", "mindgate-tls")["data"]["tls.crt"] != old["tls.crt"]

    wait_for(replaced, "the watcher to renew it", 60)
    assert mindgate.serves()
    answer = mindgate.cluster.run(PROGRAM, "doctor", "-o", "json")
    good = [f for f in json.loads(answer.stdout)["findings"] if f["check"] == "certificate"]
    assert [finding["status"] for finding in good] == ["ok"]
