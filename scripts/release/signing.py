"""Checksums of the files of a release, signed with the publisher's key."""

from __future__ import annotations

import pathlib

from common import run, sha256, write
from settings import Settings


def sign(settings: Settings, files: list[pathlib.Path], folder: pathlib.Path) -> list[pathlib.Path]:
    """SHA256SUMS of these files, and its signature. Neither depends on the time of day."""
    lines = [f"{sha256(file)}  {file.name}\n" for file in sorted(files, key=lambda file: file.name)]
    sums = write(folder / "SHA256SUMS", "".join(lines))
    signature = folder / "SHA256SUMS.minisig"
    signature.unlink(missing_ok=True)
    comment = f"mindgate {settings.version}, commit {settings.commit_stamp}"
    command = ["minisign", "-S", "-s", settings.minisign_key, "-m", sums, "-x", signature, "-t", comment, "-c", comment]
    run(command)
    return [sums, signature]
