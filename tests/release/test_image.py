"""The image: one index for both architectures, as skopeo reads it, and what is in each layer."""

from __future__ import annotations

import hashlib
import io
import json
import pathlib
import tarfile

import pytest
from released import ARCHITECTURES, ROOT, Release, run

CONTENT = {
    "etc/group",
    "etc/nsswitch.conf",
    "etc/passwd",
    "etc/ssl/certs/ca-certificates.crt",
    "usr/bin/kubectl-mindgate",
    "usr/bin/mindgate",
    "usr/share/doc/ca-certificates/copyright",
    "usr/share/doc/mindgate/NOTICE",
    "usr/share/doc/mindgate/copyright",
    "usr/share/doc/mindgate/packages",
}
LIMIT_MB = 9


@pytest.fixture
def archive(release: Release) -> pathlib.Path:
    return release.file("mindgate-image-VERSION.oci.tar")


def copied(archive: pathlib.Path, architecture: str, target: pathlib.Path) -> tuple[dict, bytes, int]:
    """Configuration, layer and compressed size of the image that skopeo finds for an architecture."""
    run("skopeo", f"--override-arch={architecture}", "copy", f"oci-archive:{archive}", f"dir:{target}")
    manifest = json.loads((target / "manifest.json").read_text())
    config = json.loads((target / manifest["config"]["digest"].removeprefix("sha256:")).read_text())
    assert len(manifest["layers"]) == 1
    layer = target / manifest["layers"][0]["digest"].removeprefix("sha256:")
    return config, layer.read_bytes(), layer.stat().st_size


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_skopeo_finds_the_image_of_an_architecture(archive: pathlib.Path, release: Release, architecture: str) -> None:
    seen = json.loads(run("skopeo", f"--override-arch={architecture}", "inspect", f"oci-archive:{archive}"))
    assert (seen["Architecture"], seen["Os"]) == (architecture, "linux")
    assert seen["Labels"]["org.opencontainers.image.version"] == release.version
    assert "openssl=" in seen["Labels"]["io.mindgate.packages"]


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_holds_only_what_the_program_needs(
    archive: pathlib.Path, release: Release, architecture: str, tmp_path: pathlib.Path
) -> None:
    config, layer, size = copied(archive, architecture, tmp_path / "image")
    assert config["config"]["User"] == "9000:9000"
    assert config["config"]["Entrypoint"] == ["/usr/bin/mindgate"]
    assert size / 1e6 <= LIMIT_MB
    with tarfile.open(fileobj=io.BytesIO(layer)) as tar:
        files = {entry.name for entry in tar if not entry.isdir()}
        assert files == CONTENT
        program = tar.extractfile("usr/bin/mindgate")
        assert program and program.read() == release.program(architecture).read_bytes()
        bundle = tar.extractfile("etc/ssl/certs/ca-certificates.crt")
        assert bundle and bundle.read().count(b"BEGIN CERTIFICATE") > 100
        assert all((entry.uid, entry.gid) == (0, 0) for entry in tar)


def test_the_chart_installs_the_image_by_the_digest_of_its_index(archive: pathlib.Path, release: Release) -> None:
    with tarfile.open(archive) as tar:
        index = json.loads(tar.extractfile("index.json").read())  # type: ignore[union-attr]
        digest = index["manifests"][0]["digest"]
        blob = tar.extractfile("blobs/sha256/" + digest.removeprefix("sha256:")).read()  # type: ignore[union-attr]
    assert digest == "sha256:" + hashlib.sha256(blob).hexdigest()
    assert [entry["platform"]["architecture"] for entry in json.loads(blob)["manifests"]] == list(ARCHITECTURES)
    chart = release.file("mindgate-VERSION.tgz")
    rendered = run(ROOT / "scripts/helm", "template", "mindgate", chart)
    assert f"localhost/mindgate@{digest}" in rendered
    assert f"architectures: [{', '.join(ARCHITECTURES)}]" in run(ROOT / "scripts/helm", "show", "values", chart)


def test_an_older_docker_reads_an_image_of_each_architecture(archive: pathlib.Path, release: Release) -> None:
    with tarfile.open(archive) as tar:
        listed = json.loads(tar.extractfile("manifest.json").read())  # type: ignore[union-attr]
        for image in listed:
            assert set(image["Layers"]) | {image["Config"]} <= set(tar.getnames())
    tags = [image["RepoTags"] for image in listed]
    assert tags == [[f"localhost/mindgate:{release.version}-{architecture}"] for architecture in ARCHITECTURES]
