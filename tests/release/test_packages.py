"""The tar, the package of Debian and the RPM: what is in them, and that they install and go without a trace."""

from __future__ import annotations

import os
import pathlib
import subprocess
import tarfile

import pytest
from released import ARCHITECTURES, RPM_NAMES, ROOT, Release, run

COMMANDS = 20  # at least so many man pages: every command has one
INSTALLED = (
    "usr/bin/mindgate",
    "usr/bin/kubectl-mindgate",
    "usr/bin/kubectl_complete-mindgate",
    "usr/share/bash-completion/completions/mindgate",
    "usr/share/doc/mindgate/NOTICE",
    "usr/share/doc/mindgate/SECURITY.md",
    "usr/share/doc/mindgate/copyright",
    "usr/share/fish/vendor_completions.d/mindgate.fish",
    "usr/share/man/man1/mindgate-apply.1.gz",
    "usr/share/man/man1/mindgate.1.gz",
    "usr/share/zsh/site-functions/_mindgate",
)
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="a root file system of its own needs root")


def files_in(root: pathlib.Path, *besides: str) -> set[str]:
    """Files and links below root, but not those of the package manager."""
    found = (path for path in root.rglob("*") if path.is_symlink() or path.is_file())
    names = {str(path.relative_to(root)) for path in found}
    return {name for name in names if not name.startswith(besides)}


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_tar_has_program_plugin_completions_manual_and_licences(release: Release, architecture: str) -> None:
    prefix = release.prefix(architecture)
    names = files_in(prefix)
    expected = {name.removeprefix("usr/").removesuffix(".gz") for name in INSTALLED if "/doc/" not in name}
    assert expected | {"LICENSE", "NOTICE", "SECURITY.md", "CHANGELOG.md"} <= names
    assert len([name for name in names if name.startswith("share/man/man1/")]) >= COMMANDS
    assert (prefix / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    assert "mailto:security@example.com" in (prefix / "SECURITY.md").read_text()


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_tar_belongs_to_root(release: Release, architecture: str) -> None:
    with tarfile.open(release.file(f"mindgate-VERSION-linux-{architecture}.tar.gz")) as tar:
        for entry in tar:
            assert (entry.uid, entry.gid) == (0, 0), entry.name
            assert entry.issym() or entry.mode & 0o022 == 0, entry.name


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_notice_has_the_licence_of_everything_that_is_linked_in(release: Release, architecture: str) -> None:
    notice = (release.prefix(architecture) / "NOTICE").read_text()
    document = release.json("mindgate-VERSION.spdx.json")
    program = f"SPDXRef-Program-{architecture}"
    linked = {r["relatedSpdxElement"] for r in document["relationships"] if r["spdxElementId"] == program}
    packages = {package["SPDXID"]: package for package in document["packages"]}
    assert {
        "SPDXRef-Source-glibc",
        "SPDXRef-Source-openssl",
        "SPDXRef-Source-curl",
        "SPDXRef-Source-nlohmann-json3",
    } <= linked
    for identifier in linked:
        package = packages[identifier]
        assert f"\n{package['name']} {package['versionInfo']}\n" in notice
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in notice


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_manual_is_set_without_a_warning(release: Release, architecture: str) -> None:
    for page in sorted((release.prefix(architecture) / "share/man/man1").glob("*.1")):
        done = subprocess.run(
            ["groff", "-man", "-ww", "-Tutf8", "-z", page],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "LC_ALL": "C.UTF-8"},
        )
        assert (done.returncode, done.stderr) == (0, ""), page.name


def dpkg(root: pathlib.Path, *words: str | os.PathLike[str]) -> str:
    return run("dpkg", f"--root={root}", "--force-not-root", "--force-architecture", "--log=/dev/null", *words)


@as_root
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_deb_installs_alone_and_goes_without_a_trace(
    release: Release, architecture: str, empty_root: pathlib.Path
) -> None:
    package = release.file(f"mindgate_VERSION_{architecture}.deb")
    shown = run("dpkg-deb", "--field", package)
    assert f"Architecture: {architecture}\n" in shown
    assert "Depends:" not in shown
    database = empty_root / "var/lib/dpkg"
    (database / "info").mkdir(parents=True)
    (database / "updates").mkdir()
    (database / "status").touch()
    dpkg(empty_root, "--install", package)
    assert set(INSTALLED) <= files_in(empty_root)
    assert not run("dpkg", f"--root={empty_root}", "--verify", "mindgate")
    if architecture == "amd64":
        assert run("chroot", empty_root, "/usr/bin/mindgate", "--version") == f"mindgate {release.version}\n"
    dpkg(empty_root, "--purge", "mindgate")
    assert files_in(empty_root, "var/lib/dpkg") == set()


@as_root
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_rpm_installs_alone_and_goes_without_a_trace(
    release: Release, architecture: str, empty_root: pathlib.Path
) -> None:
    package = release.file(f"mindgate-VERSION-1.{RPM_NAMES[architecture]}.rpm")
    wants = run("rpm", "--query", "--requires", "--package", package).split("\n")
    assert [line for line in wants if line and not line.startswith("rpmlib(")] == []
    rpm = ["rpm", f"--root={empty_root}", "--dbpath=/var/lib/rpm"]
    (empty_root / "var/lib/rpm").mkdir(parents=True)
    run(*rpm, "--install", "--ignorearch", package)
    assert set(INSTALLED) <= files_in(empty_root)
    assert run(*rpm, "--verify", "--nodeps", "mindgate") == ""
    if architecture == "amd64":
        assert run("chroot", empty_root, "/usr/bin/mindgate", "--version") == f"mindgate {release.version}\n"
    run(*rpm, "--erase", "mindgate")
    assert files_in(empty_root, "var/lib/rpm") == set()
