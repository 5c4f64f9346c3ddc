"""Builds a release of mindgate for amd64 and arm64 on Debian 12: `make release`.

  RELEASE_SECURITY_CONTACT=mailto:... MINISIGN_KEY=FILE python3 scripts/release [--dist FOLDER] [--keep-packages]

Nothing of the machine is changed; packages and libraries are kept in ~/.cache/mindgate/release. docs/install.md lists what
is in dist/.
"""

from __future__ import annotations

import argparse
import pathlib
import shutil
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))  # what other scripts share

from chart import chart
from common import ROOT, Fault, step
from image import image
from krew import krew
from offline import offline
from packages import deb, rpm, tar
from program import build_program
from provenance import provenance
from sbom import sbom
from settings import ARCHITECTURES, Settings, read_settings
from signing import sign
from sysroot import prepare
from tree import build_tree
from vex import vex


def make(settings: Settings) -> None:
    sysroots = [prepare(architecture, settings.keep_packages) for architecture in ARCHITECTURES]
    programs = [build_program(settings, sysroot) for sysroot in sysroots]
    parts = list(zip(programs, sysroots, strict=True))
    shutil.rmtree(settings.dist, ignore_errors=True)
    settings.dist.mkdir(parents=True)
    files = []
    with step("man pages, completions, licences"):
        trees = [build_tree(settings, program, programs[0], sysroot) for program, sysroot in parts]
    for maker in (tar, deb, rpm):
        with step(f"{maker.__name__} for {' and '.join(ARCHITECTURES)}"):
            files += [
                maker(settings, program.architecture, tree) for program, tree in zip(programs, trees, strict=True)
            ]
    with step("image"):
        archive, digest = image(settings, [(*part, tree) for part, tree in zip(parts, trees, strict=True)])
    with step("chart"):
        files += [archive, chart(settings, digest)]
    with step("lists: SPDX, OpenVEX, krew, provenance"):
        files += [sbom(settings, parts), vex(settings), krew(settings)]
        files.append(provenance(settings, files, sysroots, programs))
    with step("offline archive, checksums, signature"):
        files.append(offline(settings, files, digest))
        sign(settings, files, settings.dist)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--dist", type=pathlib.Path, default=ROOT / "dist", help="where the release goes (default: dist)"
    )
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/release-files", help="where it is built")
    parser.add_argument(
        "--keep-packages", action="store_true", help="take the packages of the last release, not the newest"
    )
    options = parser.parse_args()
    start = time.monotonic()
    try:
        settings = read_settings(options.dist, options.work, options.keep_packages)
        make(settings)
    except Fault as fault:
        print(f"scripts/release: {fault}", file=sys.stderr)
        return 1
    print(f"{settings.dist}: mindgate {settings.version}, {time.monotonic() - start:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
