"""One `mindgate watch`, or another program of mindgate that runs until it is asked to end."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from typing import Any

from api_server import Door

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import programs  # noqa: E402

REPOSITORY = HERE.parent.parent
BINARY = os.environ.get("MINDGATE_BINARY") or os.environ.get("MINDGATE") or str(REPOSITORY / "build" / "release" / "mindgate")
LEASE_NAMESPACE = "mindgate-system"
PATIENCE = 60.0  # seconds that a condition may take; one that holds costs nothing
ENDS_WITH_US = ["setpriv", "--pdeathsig", "KILL"]  # also when this process crashes
LISTENS = "0A"  # the state in /proc/net/tcp


def until(condition: Callable[[], Any], what: str, seconds: float = PATIENCE) -> Any:
    """The first truthy answer of `condition`."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < deadline, f"waited {seconds:g} s for {what}"
        time.sleep(0.02)


class Clock:
    """The wall clock of one program, beside the true one. The library is compiled when the first one is asked for."""

    def __init__(self, folder: pathlib.Path, ahead: float = 0):
        self.library = folder / "clock.so"
        self.file = folder / "clock"
        compiler = os.environ.get("CC", "gcc")
        command = [compiler, "-O1", "-shared", "-fPIC", "-o", self.library, HERE / "clock.c", "-ldl"]
        subprocess.run(command, check=True)
        self.set(ahead)

    def set(self, ahead: float) -> None:
        """Seconds before or behind the true time, from now on."""
        text = struct.pack("q", int(ahead * 1e9))
        with self.file.open("r+b" if self.file.exists() else "wb") as file:
            file.write(text)

    def environment(self) -> dict[str, str]:
        # The runtime of a sanitizer otherwise insists on being the first library.
        checks = os.environ.get("ASAN_OPTIONS", "")
        return {
            "LD_PRELOAD": str(self.library),
            "HISTORY_CLOCK": str(self.file),
            "ASAN_OPTIONS": f"{checks}:verify_asan_link_order=0".strip(":"),
        }


class Program:
    """Runs from the constructor on. Every end is checked: `stop` requires exit code 0, `kill` is for a program that crashes."""

    def __init__(self, folder: pathlib.Path, door: Door, command: list[str], flags: list[str], clock: Clock | None = None):
        self.name = door.caller
        self.door = door
        self.clock = clock
        self.log_file = folder / f"{self.name}.log"
        kubeconfig = folder / f"{self.name}.kubeconfig"
        kubeconfig.write_text(
            json.dumps(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "clusters": [{"name": "c", "cluster": {"server": door.url}}],
                    "users": [{"name": "u", "user": {}}],
                    "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u", "namespace": LEASE_NAMESPACE}}],
                    "current-context": "x",
                }
            )
        )
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("MINDGATE", "KUBECONFIG"))}
        environment |= clock.environment() if clock else {}
        with self.log_file.open("w") as log:
            self.process = subprocess.Popen(
                [*ENDS_WITH_US, BINARY, *command, "--kubeconfig", kubeconfig, "--probe-listen", "127.0.0.1:0", *flags],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
            )
        self.port = self.until(self._find_port, "the probe port")
        if clock:
            maps = pathlib.Path(f"/proc/{self.process.pid}/maps").read_text()
            assert str(clock.library) in maps, "the clock of this program cannot be moved: it is linked statically"

    def _find_port(self) -> int | None:
        """The port on which it listens, which the system chose."""
        at = pathlib.Path(f"/proc/{self.process.pid}")
        sockets = set()
        for descriptor in (at / "fd").iterdir():
            with contextlib.suppress(OSError):
                sockets.add(os.readlink(descriptor))
        for row in (at / "net" / "tcp").read_text().splitlines()[1:]:
            _, local, _, state, _, _, _, _, _, inode, *_ = row.split()
            if state == LISTENS and f"socket:[{inode}]" in sockets:
                return int(local.split(":")[1], 16)
        return None

    def log(self) -> str:
        return self.log_file.read_text(errors="replace")

    def until(self, condition: Callable[[], Any], what: str, seconds: float = PATIENCE) -> Any:
        """Like `until`, as long as the program runs. A probe that is not answered counts as "not yet"."""

        def holds() -> Any:
            code = self.process.poll()
            assert code is None, f"{self.name} ended by itself with {code}{programs.end_of(self.log_file)}"
            try:
                return condition()
            except OSError:
                return None

        return until(holds, f"{what} ({self.name})", seconds)

    def probe(self, path: str) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as answer:
            return answer.read().decode()

    def metric(self, name: str, **labels: str) -> float:
        """The sum of the series with these labels; 0 when there are none."""
        series = re.findall(rf"^{re.escape(name)}(?:\{{(.*)\}})? (\S+)$", self.probe("/metrics"), re.M)
        return sum(float(value) for text, value in series if all(f'{key}="{label}"' in text for key, label in labels.items()))

    def leads(self) -> bool:
        return self.metric("mindgate_watcher_leading") == 1

    def stop(self) -> None:
        programs.stop(self.process, log=self.log_file)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def has_ended(self) -> bool:
        return self.process.poll() is not None
