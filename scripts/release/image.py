"""The image of a release: one OCI index, for both architectures, of nothing but the program and what it reads."""

from __future__ import annotations

import pathlib
import shutil

from common import Fault, gzipped, write
from imaging.archives import oci_archive
from imaging.layer import PACKAGES, config_of, fill, layer_of, put
from linked import Component, certificates_of, components_of
from program import Program
from settings import Settings
from sysroot import Sysroot

NAME = "localhost/mindgate"  # what charts/mindgate/values.yaml has
LIMIT_MB = 9  # an architecture, compressed


def certificates(sysroot: Sysroot) -> str:
    """The bundle that Debian's package makes when it is installed: all of its certificates, one after the other."""
    folder = sysroot.root / "usr/share/ca-certificates/mozilla"
    parts = [path.read_text().strip() + "\n" for path in sorted(folder.glob("*.crt"))]
    if not parts:
        raise Fault(f"{folder} has no certificate: remove {sysroot.root} and run it again")
    return "".join(parts)


def image(settings: Settings, parts: list[tuple[Program, Sysroot, pathlib.Path]]) -> tuple[pathlib.Path, str]:
    """The archive and the digest of its index; `parts` are a program, its sysroot and its tree of files for each architecture."""
    images = {}
    for program, sysroot, tree in parts:
        architecture = program.architecture
        components = [*components_of(program, sysroot), certificates_of(sysroot)]
        root = settings.work / "image" / architecture
        layer = _layer(root, tree, sysroot, components)
        listed = " ".join(f"{component.source}={component.version}" for component in components)
        config = config_of(layer, architecture, settings.version, listed, "scripts/release")
        images[architecture] = (layer, config)
    archive, digest = oci_archive(images, NAME, settings.version, gzipped)
    size_mb = len(archive) / len(images) / 1e6
    if size_mb > LIMIT_MB:
        raise Fault(
            f"the image has {size_mb:.1f} MB an architecture, and {LIMIT_MB} are the limit: see what is in"
            f" {settings.work / 'image'}"
        )
    return write(settings.dist / f"mindgate-image-{settings.version}.oci.tar", archive), digest


def _layer(root: pathlib.Path, tree: pathlib.Path, sysroot: Sysroot, components: list[Component]) -> bytes:
    shutil.rmtree(root, ignore_errors=True)
    documents = tree / "usr/share/doc/mindgate"
    bundle = write(root.with_suffix(".crt"), certificates(sysroot))
    fill(root, tree / "usr/bin/mindgate", documents / "copyright", bundle)
    put(root, "usr/share/doc/mindgate/NOTICE", documents / "NOTICE")
    put(root, "usr/share/doc/ca-certificates/copyright", certificates_of(sysroot).copyright)
    write(root / PACKAGES, "".join(f"{component.source}={component.version}\n" for component in components))
    return layer_of(root)
