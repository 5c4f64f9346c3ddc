"""Debian's packages and sources, fetched beside the machine's own: nothing here needs root or changes what is installed.

apt runs with lists, cache and architecture of its own and checks Debian's signatures with the machine's keys.
"""

from __future__ import annotations

import functools
import os
import pathlib
import re
import shutil
import subprocess

from common import Fault, run, sha256, write

SUITES = (("debian", "bookworm"), ("debian", "bookworm-updates"), ("debian-security", "bookworm-security"))
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
# What `apt-get --print-uris` prints: address, file, size, digest.
LISTED = re.compile(r"'([^']+)' (\S+) (\d+) (?:SHA256:([0-9a-f]{64})|SHA512:[0-9a-f]{128}|MD5Sum:[0-9a-f]{32})?")


class Archive:
    """Debian 12 with its updates, for one architecture."""

    def __init__(self, cache: pathlib.Path, architecture: str) -> None:
        self.architecture = architecture
        self.folder = cache / "apt" / architecture
        mirror = os.environ.get("DEBIAN_MIRROR", "http://deb.debian.org").rstrip("/")
        lines = []
        for path, suite in SUITES:
            for kind in ("deb", "deb-src"):
                lines.append(f"{kind} [signed-by={KEYRING}] {mirror}/{path} {suite} main\n")
        write(self.folder / "sources.list", "".join(lines))
        for name in ("lists/partial", "cache/archives/partial"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        write(self.folder / "status", "")  # nothing counts as installed
        config = write(self.folder / "apt.conf", self._settings())
        self.environment = {"APT_CONFIG": str(config), "LC_ALL": "C"}

    def _settings(self) -> str:
        folder = self.folder
        return "".join(
            f'{key} "{value}";\n'
            for key, value in {
                "APT::Architecture": self.architecture,
                "APT::Architectures": self.architecture,
                "APT::Install-Recommends": "false",
                "APT::Sandbox::User": "",
                "Acquire::Languages": "none",
                "Acquire::Retries": "3",
                "Dir::Cache": folder / "cache",
                "Dir::Etc::sourcelist": folder / "sources.list",
                "Dir::Etc::sourceparts": "-",
                "Dir::State::lists": folder / "lists",
                "Dir::State::status": folder / "status",
            }.items()
        )

    def apt(self, *words: str, cwd: pathlib.Path | None = None) -> str:
        return run(["apt-get", "-qq", *words], cwd=cwd, env=self.environment)

    def update(self) -> None:
        """Fetches the lists of packages."""
        self.apt("update")

    def download(self, names: tuple[str, ...]) -> list[pathlib.Path]:
        """These packages and all that they depend on, as files."""
        words = ("install", "--yes", *names)
        none = self.folder / "none"  # apt does not list what it has already
        (none / "partial").mkdir(parents=True, exist_ok=True)
        listed = LISTED.findall(self.apt("-o", f"Dir::Cache::archives={none}", *words, "--print-uris"))
        if not listed:
            raise Fault(f"apt lists no package for {' '.join(names)}: remove {self.folder} and run it again")
        archives = self.folder / "cache/archives"
        self.apt(*words, "--download-only")
        files = sorted(archives / name for _, name, _, _ in listed)
        wanted = {file.name for file in files}
        for file in archives.glob("*.deb"):
            if file.name not in wanted:
                file.unlink()
        return files

    def source_version(self, source: str) -> str:
        """The newest version of a source package."""
        records = run(["apt-cache", "showsrc", "--only-source", source], env=self.environment)
        versions = set(re.findall(r"(?m)^Version: (\S+)$", records))
        if not versions:
            raise Fault(f"Debian 12 has no source package {source}: check its name in scripts/release/libraries.py")
        return max(versions, key=functools.cmp_to_key(compare_versions))

    def unpack_source(self, source: str, version: str, target: pathlib.Path) -> pathlib.Path:
        """The source with Debian's patches, in target/source."""
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        self.apt("--download-only", "source", "--only-source", f"{source}={version}", cwd=target)
        described = next(target.glob("*.dsc"))
        run(["dpkg-source", "--no-check", "-x", described.name, "source"], cwd=target)
        return target / "source"


def extract(packages: list[pathlib.Path], root: pathlib.Path) -> None:
    """Lays the files of packages under `root`, as they would be installed, without running any of their scripts."""
    for package in packages:
        run(["dpkg-deb", "-x", package, root])


def records_of(packages: list[pathlib.Path]) -> list[dict[str, str]]:
    """Name, version, source and source version of packages, with the digest of the file."""
    form = "${Package}\t${Version}\t${source:Package}\t${source:Version}\t${Architecture}\n"
    records = []
    for package in packages:
        fields = run(["dpkg-deb", f"--showformat={form}", "--show", package]).strip().split("\t")
        names = ("package", "version", "source", "source_version", "architecture")
        records.append({**dict(zip(names, fields, strict=True)), "sha256": sha256(package), "file": package.name})
    return records


def compare_versions(one: str, other: str) -> int:
    """Below, equal to or above 0, as dpkg orders versions."""
    if one == other:
        return 0
    return -1 if subprocess.run(["dpkg", "--compare-versions", one, "lt", other], check=False).returncode == 0 else 1
