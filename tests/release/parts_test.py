#!/usr/bin/env python3
"""The parts of a release that need no build: man pages, licences, the OCI archive, what a publisher must give."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import pathlib
import sys
import tarfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts/release"), str(ROOT / "scripts")]
sys.dont_write_bytecode = True

import common  # noqa: E402
import debian  # noqa: E402
import linked  # noqa: E402
import manual  # noqa: E402
import settings  # noqa: E402
import tree  # noqa: E402
from imaging import archives, layer  # noqa: E402

HELP = ROOT / "tests/golden/help"


def help_of(*words: str) -> str:
    """What the program prints, as its own tests have it."""
    name = "-".join(word for word in words if word != "--help") or "mindgate"
    return (HELP / f"{name}.txt").read_text()


class ManualTest(unittest.TestCase):
    def test_every_command_has_a_page(self) -> None:
        pages = manual.manual(help_of, "1.2.3", "2026-01-02")
        commands = {path.stem for path in HELP.glob("*.txt")} - {"mindgate", "help"}
        self.assertEqual(set(pages), {"mindgate.1"} | {f"mindgate-{name}.1" for name in commands})

    def test_a_page_has_each_option_with_its_variable(self) -> None:
        page = manual.manual(help_of, "1.2.3", "2026-01-02")["mindgate-apply.1"]
        self.assertTrue(page.startswith('.TH MINDGATE-APPLY 1 "2026-01-02" "mindgate 1.2.3" "mindgate"\n'))
        self.assertIn(".SH NAME\nmindgate-apply \\- Show what admission would change", page)
        self.assertIn("\n.TP\n.B \\-\\-config FILE\nConfiguration file, mindgate.yaml", page)
        self.assertIn("\n.br\nEnvironment variable: MINDGATE_CONFIG.\n", page)
        self.assertIn("\n.SH EXIT STATUS\n0 everything was admitted", page)
        self.assertIn("\n.SH EXAMPLES\n.EX\n  mindgate apply \\-f job.yaml", page)

    def test_no_line_of_a_text_is_a_request(self) -> None:
        self.assertEqual(manual.escape(".hidden"), "\\&.hidden")
        self.assertEqual(manual.escape("'a' \\n"), "\\&'a' \\en")


class ArchiveTest(unittest.TestCase):
    def test_every_blob_is_named_by_its_digest(self) -> None:
        images = {
            name: (name.encode(), layer.config_of(name.encode(), name, "1", "", "x")) for name in ("arm64", "amd64")
        }
        written, digest = archives.oci_archive(images, "localhost/mindgate", "1", gzip.compress)
        with tarfile.open(fileobj=io.BytesIO(written)) as tar:
            files = {entry.name: tar.extractfile(entry).read() for entry in tar}  # type: ignore[union-attr]
        for name, content in files.items():
            if name.startswith("blobs/"):
                self.assertEqual(name, "blobs/sha256/" + hashlib.sha256(content).hexdigest())
        index = json.loads(files["blobs/sha256/" + digest.removeprefix("sha256:")])
        self.assertEqual([entry["platform"]["architecture"] for entry in index["manifests"]], ["amd64", "arm64"])
        self.assertEqual(json.loads(files["index.json"])["manifests"][0]["digest"], digest)


class SettingsTest(unittest.TestCase):
    def read(self, **values: str) -> settings.Settings:
        with mock.patch.dict(os.environ, values):
            for name, _, _ in settings.GIVEN:
                if name not in values:
                    os.environ.pop(name, None)
            return settings.read_settings(pathlib.Path("dist"), pathlib.Path("work"), False)

    def test_what_is_missing_is_named_with_an_example(self) -> None:
        with self.assertRaisesRegex(common.Fault, "RELEASE_SECURITY_CONTACT=mailto:security@example.com"):
            self.read(MINISIGN_KEY=__file__)
        with self.assertRaisesRegex(common.Fault, "MINISIGN_KEY: the file of the secret key"):
            self.read(RELEASE_SECURITY_CONTACT="mailto:a@b.example")

    def test_a_contact_is_an_address(self) -> None:
        for contact in ("security", "mailto:nobody", "http://plain.example", "https://a b"):
            with self.subTest(contact), self.assertRaisesRegex(common.Fault, "set mailto:ADDRESS or https://PAGE"):
                self.read(MINISIGN_KEY=__file__, RELEASE_SECURITY_CONTACT=contact)

    def test_a_key_exists(self) -> None:
        with self.assertRaisesRegex(common.Fault, "/nowhere/key, which does not exist"):
            self.read(MINISIGN_KEY="/nowhere/key", RELEASE_SECURITY_CONTACT="https://a.example/report")

    def test_security_md_has_one_place_for_the_contact(self) -> None:
        page = tree.security_page("mailto:security@example.com")
        self.assertIn("to\n<mailto:security@example.com>.\n", page)
        self.assertNotIn("security contact", page)


class DebianTest(unittest.TestCase):
    def test_a_package_that_is_to_be_fetched_is_read_from_what_apt_lists(self) -> None:
        line = (
            f"'http://deb.example/pool/libcrypt-dev_4.4_arm64.deb' libcrypt-dev_1%3a4.4_arm64.deb 118 SHA256:{'0' * 64}"
        )
        self.assertEqual(debian.LISTED.findall(line)[0][1], "libcrypt-dev_1%3a4.4_arm64.deb")

    def test_the_linkers_list_is_read(self) -> None:
        text = "LOAD /s/usr/lib/rcrt1.o\nLOAD libx.a\n/s/usr/lib/libc.a(printf.o)\n              main.o (printf)\n"
        found = {"".join(groups) for groups in linked.LOADED.findall(text)}
        self.assertEqual(found, {"/s/usr/lib/rcrt1.o", "/s/usr/lib/libc.a"})


if __name__ == "__main__":
    unittest.main()
