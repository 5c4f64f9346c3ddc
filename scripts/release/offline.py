"""All files of a release as one, with the script that imports the image where there is no Internet."""

from __future__ import annotations

import pathlib
import shutil
import tarfile

from common import ROOT, write
from settings import Settings
from signing import sign


def offline(settings: Settings, files: list[pathlib.Path], digest: str) -> pathlib.Path:
    name = f"mindgate-offline-{settings.version}"
    folder = settings.work / "offline"
    shutil.rmtree(folder, ignore_errors=True)
    script = (
        (ROOT / "scripts/release/install.sh")
        .read_text()
        .replace("@version@", settings.version)
        .replace("@digest@", digest)
    )
    install = write(folder / "install.sh", script, 0o755)
    members = [*files, install]
    members += sign(settings, members, folder)
    archive = settings.dist / f"{name}.tar"
    with tarfile.open(archive, "w", format=tarfile.USTAR_FORMAT) as tar:
        for path in sorted(members, key=lambda path: path.name):
            entry = tarfile.TarInfo(f"{name}/{path.name}")
            entry.size = path.stat().st_size
            entry.mode = 0o755 if path == install else 0o644
            entry.mtime = settings.epoch
            entry.uname = entry.gname = "root"
            with path.open("rb") as file:
                tar.addfile(entry, file)
    return archive
