"""The files of a release, and commands that tests run."""

from __future__ import annotations

import functools
import json
import os
import pathlib
import re
import subprocess
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build/release-test"
DIST = pathlib.Path(os.environ.get("RELEASE_DIST", FOLDER / "dist"))
PUBLIC_KEY = pathlib.Path(os.environ.get("RELEASE_PUBLIC_KEY", FOLDER / "minisign.pub"))
ARCHITECTURES = ("amd64", "arm64")
EMULATOR = {"amd64": [], "arm64": ["qemu-aarch64-static"]}
RPM_NAMES = {"amd64": "x86_64", "arm64": "aarch64"}


def run(*words: str | os.PathLike[str], code: int = 0, **options: object) -> str:
    """The output of a command that must end with `code`."""
    done = subprocess.run(words, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    assert done.returncode == code, (
        f"{words} ended with {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    )
    return str(done.stdout)


class Release:
    """What is in dist/, with the program of each architecture unpacked."""

    def __init__(self, dist: pathlib.Path, unpacked: pathlib.Path) -> None:
        self.dist = dist
        self.unpacked = unpacked
        found = re.search(r"project\(mindgate VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())
        assert found
        self.version = found.group(1)

    def file(self, name: str) -> pathlib.Path:
        """A file of dist/, of which VERSION stands for the version."""
        path = self.dist / name.replace("VERSION", self.version)
        assert path.exists(), f"the release lacks {path.name}; it has {sorted(p.name for p in self.dist.iterdir())}"
        return path

    def json(self, name: str) -> dict:
        return dict(json.loads(self.file(name).read_text()))

    @functools.cache
    def prefix(self, architecture: str) -> pathlib.Path:
        """What the tar of an architecture holds."""
        archive = self.file(f"mindgate-VERSION-linux-{architecture}.tar.gz")
        with tarfile.open(archive) as tar:
            tar.extractall(self.unpacked, filter="data")
        return self.unpacked / archive.name.removesuffix(".tar.gz")

    def program(self, architecture: str) -> pathlib.Path:
        return self.prefix(architecture) / "bin/mindgate"

    def run(self, architecture: str, *words: str | os.PathLike[str], **options: object) -> str:
        return run(*EMULATOR[architecture], self.program(architecture), *words, **options)  # type: ignore[arg-type]
