"""SBOM, VEX, provenance, krew's manifest, checksums and their signature."""

from __future__ import annotations

import functools
import hashlib
import os
import pathlib
import shutil
import tarfile

import yaml
from released import ARCHITECTURES, PUBLIC_KEY, ROOT, Release, run

REQUIREMENTS = pathlib.Path(__file__).with_name("requirements.txt")


def digest_of(path: pathlib.Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@functools.cache
def checker() -> pathlib.Path:
    """pyspdxtools, in an environment of its own that is kept."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "mindgate"
    folder = cache / f"spdx-tools-{digest_of(REQUIREMENTS)[:12]}"
    if not (folder / "bin/pyspdxtools").exists():
        shutil.rmtree(folder, ignore_errors=True)
        run("python3", "-m", "venv", folder)
        run(folder / "bin/pip", "install", "--quiet", "--require-hashes", "--requirement", REQUIREMENTS)
    return folder / "bin/pyspdxtools"


def test_the_sbom_is_valid(release: Release) -> None:
    run(checker(), "--infile", release.file("mindgate-VERSION.spdx.json"))


def test_the_sbom_names_both_programs_and_debians_sources(release: Release) -> None:
    packages = release.json("mindgate-VERSION.spdx.json")["packages"]
    sums = {c["checksumValue"] for package in packages for c in package.get("checksums", ())}
    assert sums == {digest_of(release.program(architecture)) for architecture in ARCHITECTURES}
    addresses = [r["referenceLocator"] for package in packages for r in package.get("externalRefs", ())]
    assert any(address.startswith("pkg:deb/debian/openssl@3.0.") for address in addresses)
    assert len(addresses) == len(packages) - len(ARCHITECTURES)


def test_the_vex_is_of_this_release(release: Release) -> None:
    document = release.json("mindgate-VERSION.openvex.json")
    assert document["@context"] == "https://openvex.dev/ns/v0.2.0"
    assert document["author"] == "mailto:security@example.com"
    assert isinstance(document["statements"], list)


def test_the_provenance_names_commit_packages_and_files(release: Release) -> None:
    document = release.json("mindgate-VERSION.provenance.json")
    materials = document["predicate"]["buildDefinition"]["resolvedDependencies"]
    commit = run("git", "-C", ROOT, "rev-parse", "HEAD").strip()
    assert materials[0]["digest"] == {"gitCommit": commit}
    assert any("libc6-dev@" in material["uri"] and len(material["digest"]["sha256"]) == 64 for material in materials)
    for subject in document["subject"]:
        if "(" not in subject["name"]:
            assert digest_of(release.file(subject["name"])) == subject["digest"]["sha256"]


def test_krew_finds_a_program_in_the_tar_of_each_architecture(release: Release) -> None:
    platforms = yaml.safe_load(release.file("mindgate-VERSION.krew.yaml").read_text())["spec"]["platforms"]
    assert [platform["selector"]["matchLabels"]["arch"] for platform in platforms] == list(ARCHITECTURES)
    for platform in platforms:
        archive = release.file(platform["uri"].rsplit("/", 1)[1])
        assert digest_of(archive) == platform["sha256"]
        with tarfile.open(archive) as tar:
            assert {entry["from"] for entry in platform["files"]} <= set(tar.getnames())


def test_every_file_has_a_checksum_and_the_list_is_signed(release: Release) -> None:
    sums = release.file("SHA256SUMS")
    run("sha256sum", "--check", "--quiet", sums, cwd=release.dist)
    listed = {line.split()[1] for line in sums.read_text().splitlines()}
    assert listed == {path.name for path in release.dist.iterdir()} - {"SHA256SUMS", "SHA256SUMS.minisig"}
    run("minisign", "-Vm", sums, "-p", PUBLIC_KEY)


def test_a_changed_list_is_not_signed(release: Release, tmp_path: pathlib.Path) -> None:
    for name in ("SHA256SUMS", "SHA256SUMS.minisig"):
        shutil.copy(release.file(name), tmp_path)
    with (tmp_path / "SHA256SUMS").open("a") as file:
        file.write("\n")
    run("minisign", "-Vm", tmp_path / "SHA256SUMS", "-p", PUBLIC_KEY, code=1)


def test_a_release_without_its_values_ends_at_once() -> None:
    environment = {
        name: value for name, value in os.environ.items() if name not in ("RELEASE_SECURITY_CONTACT", "MINISIGN_KEY")
    }
    done = run("sh", "-c", "python3 scripts/release 2>&1; test $? = 1", cwd=ROOT, env=environment)
    assert "RELEASE_SECURITY_CONTACT" in done and "MINISIGN_KEY" in done
    assert "mailto:" in done
