"""A stranger's first hour: what README and the chart's notes say, typed as it stands, with the time that each step took."""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator

import pytest
from conftest import the_cluster
from documents import noted, section, typed
from e2e import REPOSITORY, Cluster
from release import NAME, NAMESPACE, PROGRAM, Release, import_image

README = REPOSITORY / "README.md"
REPORT = REPOSITORY / "build" / "e2e" / "first-hour.txt"
# What a session on the bare machine leaves out, and who runs it instead.
ELSEWHERE = {
    "make test": "CI runs it on its own",
    "make e2e": "this test is part of it",
}
ON_EVERY_NODE = ("make image", "docker load", "ctr ")


class Stopwatch:
    """Prints and keeps a line a step: seconds and what was typed."""

    def __init__(self, title: str, capsys: pytest.CaptureFixture[str]):
        self.capsys = capsys
        REPORT.parent.mkdir(parents=True, exist_ok=True)
        self._write(f"\n{title}")

    def _write(self, line: str) -> None:
        with REPORT.open("a") as file:
            file.write(line + "\n")
        with self.capsys.disabled():
            print(line, flush=True)

    def skip(self, command: str, reason: str) -> None:
        self._write(f"     -    {command}   (left out: {reason})")

    @contextlib.contextmanager
    def step(self, command: str) -> Iterator[None]:
        begun = time.monotonic()
        yield
        self._write(f"{time.monotonic() - begun:7.1f} s  {command.splitlines()[0]}")


def compiled_before() -> pathlib.Path | None:
    """Where ccache keeps what was compiled here. It compares the compiler and every header, so on the bare machine what is missing is
    missed all the same, and only the time of compiling is saved."""
    if shutil.which("ccache") is None:
        return None
    folder = pathlib.Path(subprocess.run(["ccache", "-k", "cache_dir"], check=True, text=True, stdout=subprocess.PIPE).stdout.strip())
    return folder if folder.is_dir() else None


@pytest.fixture
def bare_machine() -> Iterator[pathlib.Path]:
    """The root of a Debian 12 that has nothing but git and make, with a clone of this repository in /root/mindgate."""
    if os.getuid() != 0:
        pytest.skip("a bare Debian needs chroot, and that needs root")
    if shutil.which("mmdebstrap") is None:
        pytest.skip("mmdebstrap is not installed (scripts/bootstrap --e2e installs it)")
    root = pathlib.Path(tempfile.mkdtemp(prefix="mindgate-bare-"))
    mounted: list[pathlib.Path] = []
    try:
        subprocess.run(
            ["mmdebstrap", "--quiet", "--variant=apt", "--include=git,make,ca-certificates", "bookworm", str(root)],
            check=True,
            timeout=600,
        )
        for kind, place in (("proc", "proc"), ("sysfs", "sys"), ("tmpfs", "tmp"), ("devtmpfs", "dev")):
            subprocess.run(["mount", "-t", kind, kind, str(root / place)], check=True)
            mounted.append(root / place)
        if cache := compiled_before():
            there = root / "root" / ".cache" / "ccache"
            there.mkdir(parents=True)
            subprocess.run(["mount", "--bind", str(cache), str(there)], check=True)
            mounted.append(there)
        shutil.copy("/etc/resolv.conf", root / "etc" / "resolv.conf")
        shutil.copy("/etc/hosts", root / "etc" / "hosts")
        subprocess.run(
            ["git", "clone", "--quiet", "--no-hardlinks", str(REPOSITORY), str(root / "root" / "mindgate")], check=True
        )
        yield root
    finally:
        for place in reversed(mounted):
            subprocess.run(["umount", "--lazy", str(place)], check=False)
        # Never into what is still mounted, such as the compiler's cache.
        if not any(os.path.ismount(place) for place in mounted):
            shutil.rmtree(root, ignore_errors=True)


def type_into(root: pathlib.Path, command: str) -> subprocess.CompletedProcess[str]:
    """A command as root of the bare machine types it, in the clone."""
    return subprocess.run(
        ["chroot", str(root), "/bin/bash", "-c", f"cd /root/mindgate && {command}"],
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={"HOME": "/root", "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"},
        timeout=3000,  # all of mindgate is compiled, with what the tests of the cluster leave of two cores
    )


def test_the_readme_works_on_a_bare_debian(
    bare_machine: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every command of README up to the cluster, on a machine that has no compiler."""
    watch = Stopwatch(f"README on a bare Debian 12 with {os.cpu_count()} cores", capsys)
    commands = [command for name in ("Start", "Five minutes", "Develop") for command in typed(section(README, name))]
    assert commands[0].command == "make demo"
    assert [command.command for command in typed(section(README, "Develop"))] == list(ELSEWHERE)
    for command in commands:
        if reason := ELSEWHERE.get(command.command):
            watch.skip(command.command, reason)
            continue
        with watch.step(command.command):
            done = type_into(bare_machine, command.command)
        if command.output is None:
            assert done.returncode == 0, f"{command.command}\n{done.stdout[-4000:]}"
            if command.command == "make demo":
                assert re.search(r"^\[\d+/\d+, ", done.stdout, re.MULTILINE), "minutes of compiling without a word"
        else:
            assert done.stdout == command.output, command.command


@pytest.fixture
def administered() -> Iterator[Cluster]:
    """The cluster with its simulated nodes cordoned: whoever names no node runs on the real one."""
    cluster = the_cluster()
    names = [node["metadata"]["name"] for node in cluster.items("nodes")]
    simulated = [name for name in names if name.startswith("npu-")]
    cluster.kubectl("cordon", *simulated)
    yield cluster
    cluster.kubectl("uncordon", *simulated)


def type_on(cluster: Cluster, command: str, programs: pathlib.Path) -> str:
    """A command as an administrator of the cluster types it, in the repository; what it printed."""
    environment = cluster.environment()
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=REPOSITORY,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=dict(environment, PATH=f"{programs}:{environment['PATH']}"),
        timeout=900,
    )
    assert done.returncode == 0, f"{command}\nexit code {done.returncode}\n{done.stdout[-4000:]}"
    return done.stdout


@pytest.mark.full
def test_the_readme_and_the_notes_work_on_a_cluster(
    administered: Cluster, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """README's "On a cluster" with the notes that `helm install` prints. The notes' emergency bypass, and what follows it, come last."""
    cluster = administered
    watch = Stopwatch(f"README and the chart's notes on Kubernetes {cluster.kubernetes}", capsys)
    # What `make install` leaves, with the program under test.
    for name in ("mindgate", "kubectl-mindgate"):
        (tmp_path / name).symlink_to(PROGRAM)
    import_image(cluster)
    uninstall = f"helm uninstall {NAME} -n {NAMESPACE}"
    commands = [command.command for command in typed(section(README, "On a cluster"))]
    try:
        while commands:
            command = commands.pop(0)
            if command.startswith(ON_EVERY_NODE):
                watch.skip(command, "the image is on the node already")
                continue
            with watch.step(command):
                printed = type_on(cluster, command, tmp_path)
            if command.startswith("helm upgrade"):
                Release(cluster).wait_registered()
            if command.startswith("helm install"):
                notes = [note.replace(" CHART ", " charts/mindgate ") for note in noted(printed.partition("NOTES:")[2])]
                assert len(notes) > 5, printed
                bypass = next(i for i, note in enumerate(notes) if note.startswith("kubectl delete mutating"))
                # The notes say of the Secret that it stays when mindgate goes.
                last = [note for note in notes if " delete secret " in note]
                after = [note for note in notes[bypass:] if note not in last]
                commands = [*notes[:bypass], *commands, *after, uninstall, *last]
    finally:
        cluster.helm("uninstall", NAME, "--namespace", NAMESPACE, "--wait", check=False)
        cluster.kubectl("delete", "namespace", NAMESPACE, "--ignore-not-found")
