#!/usr/bin/env python3
"""The archive of scripts/image: what is in it, and that the same binary gives the same bytes.

MINDGATE_BINARY names the program that goes in.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ["MINDGATE_BINARY"]
# Files that every image has; libraries and licences differ with the machine it is built on.
FIXED = [
    "etc/group",
    "etc/nsswitch.conf",
    "etc/passwd",
    "etc/ssl/certs/ca-certificates.crt",
    "usr/bin/kubectl-mindgate",
    "usr/bin/mindgate",
]
VARYING = re.compile(
    r"(usr/)?lib(64)?/([\w-]+/)?[\w.+-]+\.so[\d.]*|usr/share/doc/[\w.+-]+/copyright"
    r"|usr/share/doc/mindgate/packages|var/lib/dpkg/status\.d/[\w.+-]+"
    r"|etc/(os-release|debian_version)"
)
PACKAGES = "usr/share/doc/mindgate/packages"


def image(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [ROOT / "scripts/image", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


class ImageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.archive = pathlib.Path(cls.folder.name, "image.tar")
        cls.done = image("--binary", BINARY, "--output", str(cls.archive))
        if cls.done.returncode != 0:
            raise AssertionError(cls.done.stderr)
        with tarfile.open(cls.archive) as tar:
            cls.members = {entry.name: tar.extractfile(entry).read() for entry in tar}
        cls.manifest = json.loads(cls.members["manifest.json"])
        cls.layer = gzip.decompress(cls.members[cls.manifest[0]["Layers"][0]])
        with tarfile.open(fileobj=io.BytesIO(cls.layer)) as tar:
            small = [entry for entry in tar if entry.isreg() and entry.size < 100_000]
            cls.texts = {
                entry.name: tar.extractfile(entry).read().decode(errors="replace")
                for entry in small
            }

    def entries(self) -> list[tarfile.TarInfo]:
        with tarfile.open(fileobj=io.BytesIO(self.layer)) as tar:
            return tar.getmembers()

    def text(self, path: str) -> str:
        """A file of the image; empty where there is none."""
        return self.texts.get(path, "")

    def test_names_config_and_layer_by_their_digests(self) -> None:
        config = self.members[self.manifest[0]["Config"]]
        layer = hashlib.sha256(self.layer).hexdigest()
        self.assertEqual(
            self.manifest,
            [
                {
                    "Config": hashlib.sha256(config).hexdigest() + ".json",
                    "RepoTags": ["localhost/mindgate:dev"],
                    "Layers": [f"{layer}/layer.tar"],
                }
            ],
        )
        self.assertEqual(len(self.members), 3)
        self.assertEqual(
            json.loads(config)["rootfs"], {"type": "layers", "diff_ids": [f"sha256:{layer}"]}
        )

    def test_runs_mindgate_as_a_user_without_rights(self) -> None:
        config = json.loads(self.members[self.manifest[0]["Config"]])["config"]
        version = subprocess.run([BINARY, "--version"], capture_output=True, text=True, check=True)
        self.assertEqual(
            config,
            {
                "User": "9000:9000",
                "Entrypoint": ["/usr/bin/mindgate"],
                "Env": ["PATH=/usr/bin"],
                "WorkingDir": "/",
                "Labels": {
                    "org.opencontainers.image.title": "mindgate",
                    "org.opencontainers.image.description": "Keeps Ascend NPU jobs schedulable,"
                    " reschedulable and elastic on Kubernetes",
                    "org.opencontainers.image.licenses": "Apache-2.0",
                    "org.opencontainers.image.version": version.stdout.strip().removeprefix(
                        "mindgate "
                    ),
                    "io.mindgate.packages": " ".join(self.text(PACKAGES).split()),
                },
            },
        )

    def test_holds_only_what_the_program_needs(self) -> None:
        files = [entry.name for entry in self.entries() if not entry.isdir()]
        self.assertEqual([name for name in files if not VARYING.fullmatch(name)], FIXED)
        self.assertTrue(any("/ld-linux" in name for name in files), "the loader is missing")
        self.assertTrue(any("/libc.so." in name for name in files), "the C library is missing")

    @unittest.skipUnless(shutil.which("dpkg-query"), "only Debian's packages are listed")
    def test_names_the_debian_package_of_each_library_and_its_version(self) -> None:
        listed = dict(line.split("=", 1) for line in self.text(PACKAGES).splitlines())
        asked = ["dpkg-query", "-W", "-f", "${Package}=${Version}\n", *listed]
        installed = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
        self.assertEqual(set(installed.splitlines()), {f"{k}={v}" for k, v in listed.items()})
        known = {"ca-certificates", "libc6", "libssl3", "libcurl4", "nlohmann-json3-dev"}
        self.assertLessEqual(known, set(listed))
        names = [entry.name for entry in self.entries()]
        for folder in ("var/lib/dpkg/status.d/{}", "usr/share/doc/{}/copyright"):
            self.assertEqual([name for name in listed if folder.format(name) not in names], [])
        for name, version in listed.items():
            self.assertIn(f"\nVersion: {version}\n", self.text(f"var/lib/dpkg/status.d/{name}"))
        self.assertIn("\nID=debian\n", self.text("etc/os-release"))

    def test_belongs_to_root_and_may_be_written_by_no_other_user(self) -> None:
        for entry in self.entries():
            with self.subTest(entry.name):
                self.assertEqual((entry.uid, entry.gid, entry.mtime), (0, 0, 0))
                if not entry.issym():
                    self.assertIn(entry.mode, (0o644, 0o755))

    def test_prints_its_size_and_stays_below_the_limit(self) -> None:
        self.assertRegex(self.done.stdout, r"localhost/mindgate:dev, mindgate \S+, \d+\.\d MB")
        self.assertLess(self.archive.stat().st_size, 25e6)

    def test_the_same_binary_gives_the_same_bytes(self) -> None:
        again = pathlib.Path(self.folder.name, "again.tar")
        image("--binary", BINARY, "--output", str(again))
        self.assertEqual(again.read_bytes(), self.archive.read_bytes())


class FaultsTest(unittest.TestCase):
    def test_a_missing_binary_is_named_with_what_makes_it(self) -> None:
        done = image("--binary", "/nowhere/mindgate")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(
            done.stderr, "scripts/image: /nowhere/mindgate is missing: run `make build`\n"
        )

    def test_a_program_that_does_not_run_alone_makes_no_image(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            output = pathlib.Path(folder, "image.tar")
            done = image("--binary", "/bin/false", "--output", str(output))
            self.assertEqual(done.returncode, 1)
            self.assertIn("/usr/bin/mindgate --version: exit code 1", done.stderr)
            self.assertFalse(output.exists())


if __name__ == "__main__":
    unittest.main()
