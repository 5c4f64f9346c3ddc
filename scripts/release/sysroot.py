"""What a program is compiled with and linked from: one folder an architecture, of packages and sources of Debian 12.

It is kept in ~/.cache/mindgate/release under a name that changes with every version of what is in it.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import fcntl
import json
import os
import pathlib
import shutil

from common import jobs, key_of, run, step, write
from debian import Archive, extract, records_of
from libraries import LIBRARIES, OPTIMISED, SHARED, TOOLCHAIN, Library, build_library

TRIPLES = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}
PACKAGES = (
    "base-files",  # licences that others refer to
    "ca-certificates",
    "libc6-dev",
    "libcli11-dev",
    "libexpected-dev",
    "libgcc-12-dev",
    "libre2-dev",
    "libssl-dev",
    "libstdc++-12-dev",
    "libyaml-dev",
    "nlohmann-json3-dev",
)
RECORD = "packages.json"


@dataclasses.dataclass(frozen=True)
class Sysroot:
    architecture: str
    root: pathlib.Path
    packages: list[dict[str, str]]  # of Debian's binary packages
    sources: dict[str, str]  # version of each source that is built here
    owners: dict[str, str]  # package of each file that can be linked in
    recipe: str  # key of how they are built
    compiler: str

    @property
    def triple(self) -> str:
        return TRIPLES[self.architecture]


def cache_folder() -> pathlib.Path:
    base = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    return base / "mindgate/release"


def prepare(architecture: str, keep: bool) -> Sysroot:
    """The sysroot of an architecture. With `keep` the packages of last time are used, if they were built as they would be now."""
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one release at a time fills the cache
        last = cache / f"last-{architecture}"
        recipe = _recipe(architecture)
        if keep and last.exists():
            kept = _load(architecture, last.resolve())
            if kept.recipe == recipe:
                return kept
        root = _newest(architecture, cache, recipe)
        partial = last.with_suffix(".partial")
        partial.unlink(missing_ok=True)
        partial.symlink_to(root.name)
        partial.replace(last)
        return _load(architecture, root)


def _newest(architecture: str, cache: pathlib.Path, recipe: str) -> pathlib.Path:
    archive = Archive(cache, architecture)
    with step(f"packages of Debian 12 for {architecture}"):
        archive.update()
        files = archive.download(PACKAGES)
        sources = {library.source: archive.source_version(library.source) for library in LIBRARIES}
    names = [file.name for file in files]
    root = cache / f"sysroot-{architecture}-{key_of(*names, *sources.items(), recipe)}"
    if not (root / RECORD).exists():
        _fill(root, archive, files, sources, recipe)
    return root


def _load(architecture: str, root: pathlib.Path) -> Sysroot:
    record = json.loads((root / RECORD).read_text())
    return Sysroot(architecture, root, compiler=_compiler(TRIPLES[architecture]), **record)


def _recipe(architecture: str) -> str:
    """How libraries are built, as a key."""
    return key_of(LIBRARIES, SHARED, OPTIMISED, PACKAGES, TOOLCHAIN.read_text(), _compiler(TRIPLES[architecture]))


def _compiler(triple: str) -> str:
    return run([f"{triple}-g++-12", "--version"]).splitlines()[0]


def _fill(
    root: pathlib.Path, archive: Archive, files: list[pathlib.Path], sources: dict[str, str], recipe: str
) -> None:
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    with step(f"sysroot for {archive.architecture}"):
        extract(files, root)
        for path in root.rglob("*.so*"):  # nothing can be linked dynamically
            if not path.is_dir():
                path.unlink()
    _build_libraries(root, archive, sources)
    record = {"packages": records_of(files), "sources": sources, "owners": _owners(files), "recipe": recipe}
    write(root / RECORD, json.dumps(record, indent=1))


def _owners(files: list[pathlib.Path]) -> dict[str, str]:
    owners = {}
    for file in files:
        for line in run(["dpkg-deb", "--contents", file]).splitlines():
            path = line.split(maxsplit=5)[5].split(" -> ")[0].removeprefix("./")
            if path.endswith((".a", ".o")):
                owners[path] = file.name.split("_")[0]
    return owners


def _build_libraries(root: pathlib.Path, archive: Archive, sources: dict[str, str]) -> None:
    """fmt, then all others side by side."""
    work = archive.folder / "work"

    def build(library: Library) -> None:
        with step(f"{library.source} {sources[library.source]} for {archive.architecture}"):
            source = archive.unpack_source(library.source, sources[library.source], work / library.source)
            build_library(library, source, TRIPLES[archive.architecture], root)

    build(LIBRARIES[0])
    with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        list(pool.map(build, LIBRARIES[1:]))
    shutil.rmtree(work)
