"""scripts/check-pins: what it finds, and that this repository has none of it."""

from __future__ import annotations

import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGEST = "@sha256:" + "0123456789abcdef" * 4
SNAPSHOT = "RUN echo http://snapshot.debian.org/archive/debian/20261001T000000Z >/etc/apt/sources.list\n"
NO_DIGEST = "image {0} has no digest, and a tag can be moved: write {0}@sha256:..."
MIRROR = (
    "packages come from whatever the mirror has today: before this line, write a time of"
    " snapshot.debian.org into /etc/apt/sources.list"
)
NO_CHECKSUM = "a download without a checksum: compare it with `sha256sum --check`"
# File, content, findings by line.
CASES: list[tuple[str, str, list[str]]] = [
    ("Containerfile", "FROM debian:12\n", ["1: " + NO_DIGEST.format("debian:12")]),
    ("Containerfile", f"FROM debian:12{DIGEST[:-1]}\n", ["1: " + NO_DIGEST.format("debian:12" + DIGEST[:-1])]),
    (
        "Containerfile",
        f"FROM --platform=linux/arm64 debian:12{DIGEST} AS build\n"
        "FROM build AS more\nFROM scratch\nCOPY --from=build /a /\nCOPY --from=busybox:1 /b /\n",
        ["5: " + NO_DIGEST.format("busybox:1")],
    ),
    ("Dockerfile.dev", f"FROM a{DIGEST}\nRUN apt-get update && \\\n  apt-get install -y make\n", ["2: " + MIRROR]),
    ("Containerfile", f"FROM a{DIGEST}\n{SNAPSHOT}RUN apt-get install -y make\n", []),
    ("get", "#!/bin/sh\n# npm pack\nnpm pack a@1\n", ["3: " + NO_CHECKSUM]),
    ("get", "curl -fsSLO https://example.com/a\n", ["1: " + NO_CHECKSUM]),
    ("get", "curl -fsSLO https://example.com/a\nsha256sum --check a.sha256\n", []),
    ("get", "curl --silent http://127.0.0.1:8080/metrics\n", []),
    ("get.sh", "curl -k https://$host/a\n", ["1: `curl -k` accepts whatever the network gives: remove it"]),
    ("get", "GOSUMDB=off go build\n", ["1: `GOSUMDB=off` accepts whatever the network gives: remove it"]),
    (
        "go.mod",
        "module a\nrequire b v1.0.0\n",
        [" there is no go.sum beside it: write it with `go mod tidy`"],
    ),
]


def check(folder: pathlib.Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([ROOT / "scripts/check-pins", folder], capture_output=True, text=True, check=False)


class PinsTest(unittest.TestCase):
    maxDiff = None

    def test_what_is_not_pinned_is_named_with_its_line(self) -> None:
        for name, text, faults in CASES:
            with self.subTest(text), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, name)
                path.write_text(text)
                path.chmod(0o755)
                done = check(path.parent)
                expected = "".join(f"{name}:{fault}\n" for fault in faults) or "pins: fine\n"
                self.assertEqual((done.stdout, done.stderr), (expected, ""))
                self.assertEqual(done.returncode, 1 if faults else 0)

    def test_everything_here_is_pinned(self) -> None:
        self.assertEqual(check(ROOT).stdout, "pins: fine\n")


if __name__ == "__main__":
    unittest.main()
