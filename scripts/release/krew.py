"""The manifest by which krew installs the plugin of kubectl."""

from __future__ import annotations

import pathlib

from common import sha256, write
from settings import ARCHITECTURES, Settings

HEAD = """\
apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: mindgate
spec:
  version: v{version}
  homepage: https://github.com/mindgate/mindgate
  shortDescription: Explain, simulate and deploy Ascend NPU jobs
  description: |
    Checks and completes manifests of Ascend NPU jobs, explains each mistake with its place and fix, shows services
    under scaling rules and the faults of nodes and chips, and simulates what a fault or maintenance would do.
  platforms:
"""
PLATFORM = """\
    - selector:
        matchLabels: {{os: linux, arch: {architecture}}}
      uri: {uri}
      sha256: {digest}
      files:
        - {{from: {folder}/bin/mindgate, to: .}}
        - {{from: {folder}/LICENSE, to: .}}
      bin: mindgate
"""


def krew(settings: Settings) -> pathlib.Path:
    text = HEAD.format(version=settings.version)
    for architecture in ARCHITECTURES:
        folder = f"mindgate-{settings.version}-linux-{architecture}"
        archive = settings.dist / f"{folder}.tar.gz"
        uri = f"{settings.downloads}/v{settings.version}/{archive.name}"
        text += PLATFORM.format(architecture=architecture, uri=uri, digest=sha256(archive), folder=folder)
    return write(settings.dist / f"mindgate-{settings.version}.krew.yaml", text)
