"""What a package installs: the files of one architecture below usr/."""

from __future__ import annotations

import pathlib
import re
import shutil
import time

from common import ROOT, Fault, run, write
from linked import components_of, notice
from manual import manual
from program import Program
from settings import Settings
from sysroot import Sysroot

CONTACT = re.compile(r"<!-- security contact -->.*?<!-- end -->", re.DOTALL)


def build_tree(settings: Settings, program: Program, helper: Program, sysroot: Sysroot) -> pathlib.Path:
    """The folder with usr/ of an architecture; `helper` is a program that runs here fast, of any architecture."""
    root = settings.work / "trees" / program.architecture
    shutil.rmtree(root, ignore_errors=True)
    run([ROOT / "scripts/install", helper.path, root / "usr"])
    shutil.copyfile(program.path, root / "usr/bin/mindgate")
    date = time.strftime("%Y-%m-%d", time.gmtime(settings.epoch))
    for name, text in manual(helper.run, settings.version, date).items():
        write(root / "usr/share/man/man1" / name, text)
    (root / "usr/share/man/man1/kubectl-mindgate.1").symlink_to("mindgate.1")
    documents = root / "usr/share/doc/mindgate"
    write(documents / "copyright", (ROOT / "LICENSE").read_text())
    write(documents / "NOTICE", notice(components_of(program, sysroot), sysroot))
    write(documents / "CHANGELOG.md", (ROOT / "CHANGELOG.md").read_text())
    write(documents / "SECURITY.md", security_page(settings.security_contact))
    for path in (root, *root.rglob("*")):
        if path.is_dir():
            path.chmod(0o755)
    return root


def security_page(contact: str) -> str:
    """SECURITY.md with the address of the release's publisher."""
    text, changes = CONTACT.subn(f"<{contact}>", (ROOT / "SECURITY.md").read_text())
    if changes != 1:
        raise Fault(
            "SECURITY.md must have one place `<!-- security contact -->...<!-- end -->`, which names where to report"
        )
    return text


def set_times(root: pathlib.Path, epoch: int) -> None:
    """Every file has the time of the commit."""
    run(["find", root, "-exec", "touch", "--no-dereference", f"--date=@{epoch}", "{}", "+"])
