"""What the steps of a release share: commands, files and the fault that ends it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence

ROOT = pathlib.Path(__file__).resolve().parents[2]
Word = str | os.PathLike[str]


class Fault(Exception):
    """Ends the release; its text names what, why and what to do instead."""


def run(
    command: Sequence[Word],
    *,
    cwd: pathlib.Path | None = None,
    env: Mapping[str, str] | None = None,
    log: pathlib.Path | None = None,
) -> str:
    """The output of a command. With `log`, its output goes there, and the end of it into the fault."""
    words = " ".join(map(str, command))
    environment = {**os.environ, **(env or {})}
    try:
        if log is None:
            done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
            shown = done.stderr
        else:
            log.parent.mkdir(parents=True, exist_ok=True)
            with log.open("a") as file:
                print(f"+ {words}", file=file, flush=True)
                done = subprocess.run(
                    command, cwd=cwd, env=environment, stdout=file, stderr=subprocess.STDOUT, text=True, check=False
                )
            shown = "".join(log.read_text(errors="replace").splitlines(keepends=True)[-20:]) if done.returncode else ""
    except FileNotFoundError as fault:
        raise Fault(f"{fault.filename} is missing, which `{words}` needs: run scripts/bootstrap --release") from fault
    if done.returncode:
        place = f"; all of it is in {log}" if log else ""
        raise Fault(f"`{words}` ended with {done.returncode}{place}\n{shown.rstrip()}")
    return done.stdout or ""


def write(path: pathlib.Path, content: str | bytes, mode: int = 0o644) -> pathlib.Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    path.chmod(mode)
    return path


def gzipped(content: bytes) -> bytes:
    """As gzip, 3 % smaller than zlib's best, and without name and time."""
    return subprocess.run(["libdeflate-gzip", "-12", "-c"], input=content, stdout=subprocess.PIPE, check=True).stdout


def sha256(path: pathlib.Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def key_of(*parts: object) -> str:
    """A short name for a cache folder: other parts, other name."""
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:16]


def jobs() -> int:
    return int(os.environ.get("JOBS") or os.cpu_count() or 1)


@contextlib.contextmanager
def step(name: str) -> Iterator[None]:
    """Prints what is done and, afterwards, the seconds that it took."""
    start = time.monotonic()
    print(f"{name} ...", file=sys.stderr, flush=True)
    yield
    print(f"{name}: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
