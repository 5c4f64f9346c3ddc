"""What is linked into the programs, as SPDX 2.3."""

from __future__ import annotations

import json
import pathlib
import time
import urllib.parse

from common import Fault, sha256, write
from linked import Component, certificates_of, components_of
from program import Program
from settings import Settings
from sysroot import Sysroot

# By source package. One that is not here ends the release, so that no licence is overlooked.
LICENCES = {
    "ca-certificates": "MPL-2.0",
    "cli11": "BSD-3-Clause",
    "curl": "curl",
    "fmtlib": "MIT",
    "gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "glibc": "LGPL-2.1-or-later",
    "libyaml": "MIT",
    "mimalloc": "MIT",
    "nlohmann-json3": "MIT",
    "openssl": "Apache-2.0",
    "prometheus-cpp": "MIT",
    "re2": "BSD-3-Clause",
    "simdjson": "Apache-2.0",
    "spdlog": "MIT",
    "tl-expected": "CC0-1.0",
}
PAGE = "https://github.com/mindgate/mindgate"


def purl(component: Component) -> str:
    version = urllib.parse.quote(component.version, safe="")
    return f"pkg:deb/debian/{component.source}@{version}?arch=source&distro=debian-12"


def licence_of(component: Component) -> str:
    if component.source not in LICENCES:
        raise Fault(f"no licence is known of {component.source}, which is linked in: add it to scripts/release/sbom.py")
    return LICENCES[component.source]


def _package(identifier: str, name: str, version: str, licence: str) -> dict[str, object]:
    return {
        "SPDXID": f"SPDXRef-{identifier}",
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": licence,
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
    }


def _component(component: Component) -> dict[str, object]:
    return {
        **_package(f"Source-{component.source}", component.source, component.version, licence_of(component)),
        "supplier": "Organization: Debian",
        "externalRefs": [
            {
                "referenceCategory": "PACKAGE-MANAGER",
                "referenceType": "purl",
                "referenceLocator": purl(component),
            }
        ],
    }


def sbom(settings: Settings, parts: list[tuple[Program, Sysroot]]) -> pathlib.Path:
    name = f"mindgate-{settings.version}"
    packages: dict[str, dict[str, object]] = {}
    relations = []

    def relate(one: str, kind: str, other: str) -> None:
        relations.append({"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other})

    for program, sysroot in parts:
        identifier = f"SPDXRef-Program-{program.architecture}"
        packages[identifier] = {
            **_package(identifier.removeprefix("SPDXRef-"), "mindgate", settings.version, "Apache-2.0"),
            "primaryPackagePurpose": "APPLICATION",
            "comment": f"the program for linux/{program.architecture}",
            "checksums": [{"algorithm": "SHA256", "checksumValue": sha256(program.path)}],
        }
        relate("SPDXRef-DOCUMENT", "DESCRIBES", identifier)
        for component in components_of(program, sysroot):
            packages[f"SPDXRef-Source-{component.source}"] = _component(component)
            relate(identifier, "STATIC_LINK", f"SPDXRef-Source-{component.source}")
    bundle = certificates_of(parts[0][1])
    packages["SPDXRef-Source-ca-certificates"] = _component(bundle)
    relate("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-Source-ca-certificates")
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": name,
        "documentNamespace": f"{PAGE}/spdx/{name}-{settings.commit_stamp}",
        "creationInfo": {
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(settings.epoch)),
            "creators": [f"Tool: mindgate-release-{settings.version}"],
        },
        "packages": list(packages.values()),
        "relationships": relations,
    }
    return write(settings.dist / f"{name}.spdx.json", json.dumps(document, indent=1) + "\n")
