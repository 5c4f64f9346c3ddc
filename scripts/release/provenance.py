"""What was built, from which commit, with which packages: an in-toto statement with SLSA's predicate of a build."""

from __future__ import annotations

import json
import pathlib

from common import sha256, write
from program import Program
from settings import Settings
from sysroot import Sysroot

PAGE = "https://github.com/mindgate/mindgate"


def _materials(settings: Settings, sysroots: list[Sysroot]) -> list[dict[str, object]]:
    materials: list[dict[str, object]] = [{"uri": f"git+{PAGE}", "digest": {"gitCommit": settings.commit}}]
    seen = set()
    for sysroot in sysroots:
        for package in sysroot.packages:
            name = f"{package['package']}@{package['version']}?arch={package['architecture']}&distro=debian-12"
            if name not in seen:
                seen.add(name)
                materials.append({"uri": f"pkg:deb/debian/{name}", "digest": {"sha256": package["sha256"]}})
        for source, version in sysroot.sources.items():
            name = f"{source}@{version}?arch=source&distro=debian-12"
            if name not in seen:
                seen.add(name)
                materials.append({"uri": f"pkg:deb/debian/{name}"})
    return materials


def provenance(
    settings: Settings, files: list[pathlib.Path], sysroots: list[Sysroot], programs: list[Program]
) -> pathlib.Path:
    subjects = [{"name": file.name, "digest": {"sha256": sha256(file)}} for file in files]
    subjects += [
        {"name": f"mindgate (linux/{program.architecture})", "digest": {"sha256": sha256(program.path)}}
        for program in programs
    ]
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": subjects,
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": f"{PAGE}/blob/main/docs/install.md#make-release",
                "externalParameters": {
                    "version": settings.version,
                    "commit": settings.commit_stamp,
                    "securityContact": settings.security_contact,
                },
                "internalParameters": {
                    "sourceDateEpoch": settings.epoch,
                    "compilers": {sysroot.architecture: sysroot.compiler for sysroot in sysroots},
                },
                "resolvedDependencies": _materials(settings, sysroots),
            },
            "runDetails": {"builder": {"id": settings.builder}},
        },
    }
    return write(settings.dist / f"mindgate-{settings.version}.provenance.json", json.dumps(statement, indent=1) + "\n")
