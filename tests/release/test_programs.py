"""The programs of both architectures: how they are linked, and that they work alone, with nothing else on the machine."""

from __future__ import annotations

import os
import pathlib
import re
import shutil

import pytest
from released import ARCHITECTURES, EMULATOR, ROOT, Release, run

FIXTURES = sorted(path for path in (ROOT / "tests/fixtures/manifests").iterdir() if path.is_dir())
MACHINES = {"amd64": "Advanced Micro Devices X86-64", "arm64": "AArch64"}
# What a compiler writes at the start of functions: endbr64 of -fcf-protection, paciasp of -mbranch-protection.
MARKS = {"amd64": b"\xf3\x0f\x1e\xfa", "arm64": b"\x3f\x23\x03\xd5"}
# Pages of this size are the largest that a kernel of the architecture has.
PAGES = {"amd64": 0x1000, "arm64": 0x10000}


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_needs_no_loader_and_no_library(release: Release, architecture: str) -> None:
    read = run("readelf", "--wide", "--file-header", "--program-headers", "--dynamic", release.program(architecture))
    assert MACHINES[architecture] in read
    assert "INTERP" not in read
    assert "(NEEDED)" not in read


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_is_hardened(release: Release, architecture: str) -> None:
    read = run(
        "readelf", "--wide", "--file-header", "--program-headers", "--dynamic", "--notes", release.program(architecture)
    )
    assert re.search(r"Type:\s+DYN \(Position-Independent Executable file\)|FLAGS_1.*\bPIE\b", read)
    assert "GNU_RELRO" in read
    assert re.search(r"FLAGS.*\bNOW\b", read)
    stack = re.search(r"GNU_STACK .*", read)
    assert stack and "RWE" not in stack.group()
    assert not re.search(r"LOAD .* RWE", read), "a part of the program can be written and run"


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_checks_where_jumps_lead(release: Release, architecture: str) -> None:
    assert release.program(architecture).read_bytes().count(MARKS[architecture]) > 1000


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_is_aligned_to_the_largest_pages(release: Release, architecture: str) -> None:
    read = run("readelf", "--wide", "--program-headers", release.program(architecture))
    alignments = {int(found, 16) for found in re.findall(r"(?m)^\s+LOAD\s.*\s(0x[0-9a-f]+)$", read)}
    assert alignments == {PAGES[architecture]}


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_names_no_folder_of_the_machine_it_was_built_on(release: Release, architecture: str) -> None:
    content = release.program(architecture).read_bytes()
    for folder in (ROOT, pathlib.Path.home() / ".cache"):
        assert os.fsencode(folder) not in content


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_knows_its_version_commit_and_architecture(release: Release, architecture: str) -> None:
    commit = run("git", "-C", ROOT, "rev-parse", "--short=12", "HEAD").strip()
    printed = release.run(architecture, "version")
    assert printed.startswith(f"mindgate {release.version}\ncommit {commit}")
    assert {"amd64": "x86_64", "arm64": "aarch64"}[architecture] in printed


def test_both_programs_admit_every_fixture_alike(release: Release) -> None:
    for folder in FIXTURES:
        outputs = []
        for architecture in ARCHITECTURES:
            command = [*EMULATOR[architecture], release.program(architecture)]
            # Something in them is denied, which is code 1.
            done = run("sh", "-c", '"$@"; [ $? -le 2 ]', "sh", *command, "apply", "-o", "json", "-f", folder)
            outputs.append(done)
        assert outputs[0] == outputs[1], folder.name
        assert len(outputs[0]) > 100, f"nothing of {folder.name} is admitted"


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_plays_suites_and_scenarios(release: Release, architecture: str) -> None:
    release.run(architecture, "test", ROOT / "examples/suites")
    release.run(architecture, "simulate", "-f", ROOT / "examples/scenarios")


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_demo_with_its_webhook(release: Release, architecture: str, tmp_path: pathlib.Path) -> None:
    program = release.program(architecture)
    if EMULATOR[architecture]:
        command = " ".join([*EMULATOR[architecture], str(program)])
        program = tmp_path / "mindgate"
        program.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        program.chmod(0o755)
    assert "all as expected" in run(ROOT / "scripts/demo", program)


@pytest.mark.skipif(os.geteuid() != 0, reason="chroot needs root")
@pytest.mark.parametrize("there", ["nothing", "musl"])
def test_runs_where_there_is_nothing_else(release: Release, empty_root: pathlib.Path, there: str) -> None:
    if there == "musl":
        run("apt-get", "-qq", "download", "musl", cwd=empty_root.parent)
        run("dpkg-deb", "--extract", *empty_root.parent.glob("musl_*.deb"), empty_root)
        loader = run("sh", "-c", '"$@" 2>&1; true', "sh", "chroot", empty_root, "/lib/ld-musl-x86_64.so.1")
        assert loader.startswith("musl libc (x86_64)"), loader
    shutil.copy(release.program("amd64"), empty_root / "mindgate")
    shutil.copytree(ROOT / "examples", empty_root / "examples")
    alone = ["chroot", empty_root, "/mindgate"]
    assert run(*alone, "--version") == f"mindgate {release.version}\n"
    run(*alone, "apply", "-o", "yaml", "-f", "/examples/manifests/chat.yaml")
    run(*alone, "simulate", "-f", "/examples/scenarios")
    # A name that does not exist is a fault of the name, not of the look-up.
    done = run("sh", "-c", '"$@" 2>&1; true', "sh", *alone, "apply", "-f", "https://mindgate.invalid/a.yaml")
    assert "resolve" in done
