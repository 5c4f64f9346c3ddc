"""The archive for hosts without Internet: what is in it, and what its install.sh does."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import tarfile
from collections.abc import Iterator

import pytest
from released import PUBLIC_KEY, Release, run


@pytest.fixture
def bundle(release: Release, tmp_path: pathlib.Path) -> pathlib.Path:
    archive = release.file("mindgate-offline-VERSION.tar")
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path, filter="data")
    return tmp_path / archive.name.removesuffix(".tar")


def test_the_offline_archive_has_all_files(release: Release, bundle: pathlib.Path) -> None:
    signed = {"SHA256SUMS", "SHA256SUMS.minisig"}
    published = {path.name for path in release.dist.iterdir()} - {f"{bundle.name}.tar"} - signed
    assert {path.name for path in bundle.iterdir()} == published | signed | {"install.sh"}
    for name in published:
        assert (bundle / name).read_bytes() == (release.dist / name).read_bytes(), name


def test_install_prints_the_helm_command(release: Release, bundle: pathlib.Path) -> None:
    printed = run(bundle / "install.sh", "chart", env={**os.environ, "PUBLIC_KEY": str(PUBLIC_KEY)})
    assert f"helm install mindgate {bundle}/mindgate-{release.version}.tgz --namespace mindgate-system" in printed
    assert "rolloutPhase=observe" in printed


def test_install_puts_the_program_below_a_prefix(
    release: Release, bundle: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    run(bundle / "install.sh", "program", env={**os.environ, "PREFIX": str(tmp_path / "local")})
    assert run(tmp_path / "local/bin/kubectl-mindgate", "--version") == f"mindgate {release.version}\n"


# What stands in for each of the commands that know images: it writes down how it is called.
RECORDER = '#!/bin/sh\necho "${0##*/} $*" >>"$CALLS"\n'


def calls_of(bundle: pathlib.Path, folder: pathlib.Path, *runtimes: str) -> list[str]:
    for name in runtimes:
        (folder / name).write_text(RECORDER)
        (folder / name).chmod(0o755)
    for name in ("sh", "dirname", "sha256sum", "uname", "cat"):
        (folder / name).symlink_to(shutil.which(name) or name)
    calls = folder / "calls"
    run(bundle / "install.sh", "image", env={"PATH": str(folder), "CALLS": str(calls)})
    return calls.read_text().splitlines()


def test_install_imports_the_image_by_tag_and_digest_with_containerd(
    release: Release, bundle: pathlib.Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    calls = calls_of(bundle, tmp_path_factory.mktemp("bin"), "ctr", "docker")
    assert f"ctr --namespace k8s.io images import mindgate-image-{release.version}.oci.tar" in calls
    assert any(f"localhost/mindgate:{release.version} localhost/mindgate@sha256:" in call for call in calls)
    assert not any(call.startswith("docker") for call in calls)


def test_install_loads_the_image_with_docker_where_there_is_no_containerd(
    release: Release, bundle: pathlib.Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    calls = calls_of(bundle, tmp_path_factory.mktemp("bin"), "docker")
    assert calls[0] == f"docker load --input mindgate-image-{release.version}.oci.tar"


def test_install_refuses_changed_files(bundle: pathlib.Path, release: Release) -> None:
    with (bundle / f"mindgate-{release.version}.tgz").open("ab") as file:
        file.write(b"x")
    run(bundle / "install.sh", "chart", code=1)


CONTAINERD = """\
version = 2
root = "{folder}/root"
state = "{folder}/state"
disabled_plugins = ["io.containerd.grpc.v1.cri"]
[grpc]
address = "{folder}/socket"
"""


@pytest.fixture
def containerd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A containerd of its own, as the environment that leads ctr to it."""
    if os.geteuid() != 0 or not shutil.which("containerd"):
        pytest.skip("containerd is not installed, or this is not root")
    folder = tmp_path_factory.mktemp("containerd")
    config = folder / "config.toml"
    config.write_text(CONTAINERD.format(folder=folder))
    environment = {**os.environ, "CONTAINERD_ADDRESS": f"{folder}/socket"}
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(["containerd", "--config", config], stdout=log, stderr=log) as running,
    ):
        # Waits until it answers, ten seconds at most.
        run(
            "sh",
            "-c",
            "for _ in $(seq 100); do ctr version >/dev/null 2>&1 && exit; sleep 0.1; done; exit 1",
            env=environment,
        )
        yield environment
        running.terminate()


def test_a_real_containerd_finds_the_image_by_the_name_that_pods_have(
    release: Release, bundle: pathlib.Path, containerd: dict[str, str]
) -> None:
    run(bundle / "install.sh", env=containerd)
    listed = run("ctr", "--namespace", "k8s.io", "images", "list", env=containerd)
    values = run("tar", "xzOf", bundle / f"mindgate-{release.version}.tgz", "mindgate/values.yaml")
    digest = next(line.split('"')[1] for line in values.splitlines() if line.startswith('  digest: "sha256:'))
    names = {line.split()[0]: line for line in listed.splitlines()[1:]}
    assert set(names) == {f"localhost/mindgate:{release.version}", f"localhost/mindgate@{digest}"}
    for line in names.values():
        assert digest in line and "linux/amd64,linux/arm64" in line
