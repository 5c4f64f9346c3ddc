"""The chart as a package that installs the image of this release, by its digest."""

from __future__ import annotations

import io
import pathlib
import re
import shutil
import tarfile

from common import ROOT, Fault, run, write
from packages import tar_gz
from settings import ARCHITECTURES, Settings


def chart(settings: Settings, digest: str) -> pathlib.Path:
    work = settings.work / "chart"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(ROOT / "charts/mindgate", work / "mindgate")
    values = work / "mindgate/values.yaml"
    text = values.read_text()
    architectures = ", ".join(ARCHITECTURES)
    for line, value in (('  digest: ""', f'  digest: "{digest}"'), ("  architectures: []", f"  architectures: [{architectures}]")):
        text, changes = re.subn(f"(?m)^{re.escape(line)}$", value, text)
        if changes != 1:
            raise Fault(f"charts/mindgate/values.yaml must have one line `{line}`, under image")
    values.write_text(text)
    helm = ROOT / "scripts/helm"
    run([helm, "package", work / "mindgate", "--destination", work])
    name = f"mindgate-{settings.version}.tgz"
    rendered = run([helm, "template", "mindgate", work / name])
    if f"image: localhost/mindgate@{digest}" not in rendered.replace('"', ""):
        raise Fault(f"{work / name} does not install the image {digest}: see what `mindgate.image` of the chart says")
    return write(settings.dist / name, _settled(work / name, settings.epoch))


def _settled(package: pathlib.Path, epoch: int) -> bytes:
    """Its files in order and with the time of the commit; helm writes the time of day."""
    unpacked = package.with_suffix(".files")
    with tarfile.open(fileobj=io.BytesIO(package.read_bytes())) as tar:
        tar.extractall(unpacked, filter="data")
    files = [(str(path.relative_to(unpacked)), path) for path in unpacked.rglob("*") if path.is_file()]
    # Helm reads Chart.yaml wherever it stands; first is where it is expected.
    return tar_gz(sorted(files, key=lambda file: (file[0] != "mindgate/Chart.yaml", file[0])), epoch)
