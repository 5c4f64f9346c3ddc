"""Findings of scanners that do not apply, as OpenVEX. They are written by hand, in vex.json."""

from __future__ import annotations

import json
import pathlib
import time

from common import ROOT, Fault, write
from settings import Settings

LIST = ROOT / "scripts/release/vex.json"
# Why something is not affected, as OpenVEX names it.
JUSTIFICATIONS = (
    "component_not_present",
    "inline_mitigations_already_exist",
    "vulnerable_code_cannot_be_controlled_by_adversary",
    "vulnerable_code_not_in_execute_path",
    "vulnerable_code_not_present",
)


def vex(settings: Settings) -> pathlib.Path:
    listed = json.loads(LIST.read_text())
    product = f"pkg:generic/mindgate@{settings.version}"
    statements = []
    for statement in listed["statements"]:
        if statement.get("justification") not in JUSTIFICATIONS or not statement.get("impact_statement"):
            raise Fault(
                f"{LIST}: {statement.get('vulnerability')} needs an impact_statement, which says why it does not apply, and a"
                f" justification, one of {', '.join(JUSTIFICATIONS)}"
            )
        statements.append(
            {
                "vulnerability": {"name": statement["vulnerability"]},
                "products": [{"@id": product}],
                "status": "not_affected",
                "justification": statement["justification"],
                "impact_statement": statement["impact_statement"],
            }
        )
    document = {
        "@context": "https://openvex.dev/ns/v0.2.0",
        "@id": f"https://github.com/mindgate/mindgate/vex/{settings.version}",
        "author": settings.security_contact,
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(settings.epoch)),
        "version": 1,
        "tooling": "scripts/release",
        "statements": statements,
    }
    return write(settings.dist / f"mindgate-{settings.version}.openvex.json", json.dumps(document, indent=1) + "\n")
