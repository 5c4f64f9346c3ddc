"""The program of one architecture: compiled against its sysroot, linked static-pie, stripped."""

from __future__ import annotations

import dataclasses
import pathlib
import shutil

from common import ROOT, Fault, jobs, run, step
from libraries import sysroot_settings
from settings import Settings
from sysroot import Sysroot

EMULATORS = {"amd64": [], "arm64": ["qemu-aarch64-static"]}


@dataclasses.dataclass(frozen=True)
class Program:
    """A released program and the linker's list of what went into it."""

    architecture: str
    path: pathlib.Path
    link_map: pathlib.Path

    def run(self, *words: str) -> str:
        """Its output; that of another architecture is emulated."""
        return run([*EMULATORS[self.architecture], self.path, *words])


def build_program(settings: Settings, sysroot: Sysroot) -> Program:
    build = settings.work / "build" / sysroot.architecture
    log = build.with_suffix(".log")
    log.unlink(missing_ok=True)
    program = settings.work / "programs" / sysroot.architecture / "mindgate"
    link_map = build / "mindgate.map"
    environment = {"SOURCE_DATE_EPOCH": str(settings.epoch), "MINDGATE_COMMIT": settings.commit_stamp}
    flags = f"-DCMAKE_EXE_LINKER_FLAGS_RELWITHDEBINFO=-Wl,-Map={link_map}"
    with step(f"program for {sysroot.architecture}"):
        # Nothing that an earlier configuration found may stay: the sysroot can be another one now.
        configure = ["cmake", "--fresh", "--preset", "static", "-B", build]
        configure += [*sysroot_settings(sysroot.triple, sysroot.root), flags]
        run(configure, cwd=ROOT, log=log, env=environment)
        run(["ninja", "-C", build, "-j", str(jobs()), "mindgate"], log=log, env=environment)
        program.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(build / "mindgate", program)
        program.chmod(0o755)
        run([f"{sysroot.triple}-strip", "--strip-all", program])
    built = Program(sysroot.architecture, program, link_map)
    printed = built.run("--version").strip()
    if printed != f"mindgate {settings.version}":
        raise Fault(
            f"{program} prints `{printed}` as its version, not {settings.version}: remove {build} and run it again"
        )
    return built
