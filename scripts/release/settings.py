"""What a release is made of and for whom: the source's version and commit, and what its publisher gives."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re

from common import ROOT, Fault, run

ARCHITECTURES = ("amd64", "arm64")
# Value, what it is, and an example.
GIVEN = (
    ("RELEASE_SECURITY_CONTACT", "where to report a vulnerability", "mailto:security@example.com"),
    ("MINISIGN_KEY", "the file of the secret key that signs the checksums", "~/.minisign/minisign.key"),
)
# Where the files of a release are published, for the manifest of krew.
DOWNLOADS = "https://github.com/mindgate/mindgate/releases/download"
# Who ran the build, for the provenance; a publisher sets their own.
BUILDER = "https://github.com/mindgate/mindgate/blob/main/scripts/release"


@dataclasses.dataclass(frozen=True)
class Settings:
    version: str
    commit: str
    changed: bool  # the source differs from the commit
    epoch: int  # time of the commit
    security_contact: str
    minisign_key: pathlib.Path
    downloads: str
    builder: str
    dist: pathlib.Path
    work: pathlib.Path
    keep_packages: bool

    @property
    def commit_stamp(self) -> str:
        return self.commit[:12] + ("+changes" if self.changed else "")


def project_version() -> str:
    found = re.search(r"project\(mindgate VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())
    if not found:
        raise Fault("CMakeLists.txt names no version: it needs `project(mindgate VERSION ...`")
    return found.group(1)


def read_settings(dist: pathlib.Path, work: pathlib.Path, keep_packages: bool) -> Settings:
    missing = [(name, what, example) for name, what, example in GIVEN if not os.environ.get(name)]
    if missing:
        lines = [f"  {name}: {what}, such as {name}={example}" for name, what, example in missing]
        raise Fault("a release needs values that only its publisher knows; set\n" + "\n".join(lines))
    key = pathlib.Path(os.environ["MINISIGN_KEY"]).expanduser()
    if not key.is_file():
        raise Fault(
            f"MINISIGN_KEY names {key}, which does not exist: make a key with `minisign -G`, or set another path"
        )
    git = ["git", "-C", str(ROOT)]
    return Settings(
        version=project_version(),
        commit=run([*git, "rev-parse", "HEAD"]).strip(),
        changed=bool(run([*git, "status", "--porcelain"]).strip()),
        epoch=int(run([*git, "log", "-1", "--format=%ct"])),
        security_contact=_contact(os.environ["RELEASE_SECURITY_CONTACT"]),
        minisign_key=key.resolve(),
        downloads=os.environ.get("RELEASE_DOWNLOADS", DOWNLOADS).rstrip("/"),
        builder=os.environ.get("RELEASE_BUILDER", BUILDER),
        dist=dist.resolve(),
        work=work.resolve(),
        keep_packages=keep_packages,
    )


def _contact(value: str) -> str:
    """An address of mail or a page."""
    if not re.fullmatch(r"mailto:[^\s@<>]+@[^\s@<>]+|https://[^\s<>]+", value):
        raise Fault(
            f"RELEASE_SECURITY_CONTACT is `{value}`, which nobody can write to: set mailto:ADDRESS or https://PAGE"
        )
    return value
