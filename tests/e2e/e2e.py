"""What the end-to-end tests share: the cluster they run on, its clients, and waiting for something to become true."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
# Not on the cluster from the beginning, as the CRDs of PolicyReports are.
OPEN_REPORT_CRDS = REPOSITORY / "tests/fixtures/crds/open-reports"
sys.path.append(str(REPOSITORY / "tests" / "support"))
CRDS = REPOSITORY / "tests" / "fixtures" / "crds"
MANIFESTS = REPOSITORY / "tests" / "fixtures" / "manifests"
NPU = "huawei.com/Ascend910"
CONTROLLERS = ("lws-system", "volcano-system")  # the namespaces of LeaderWorkerSet and Volcano
# On a machine that does other work, or is halted for seconds, everything takes longer. A wait that ends well costs nothing.
PATIENCE = 3
T = TypeVar("T")


class CommandFailed(AssertionError):
    """A program ended with another exit code than 0; the message has what it said."""

    def __init__(self, done: subprocess.CompletedProcess[str]):
        self.returncode, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr
        words = " ".join(str(word) for word in done.args)
        output = (done.stdout + done.stderr).strip()
        # The first line has the reason: pytest's summary shows no other.
        reason = output.splitlines()[-1] if output else "it printed nothing"
        super().__init__(f"exit code {done.returncode} of: {words}: {reason}\n{output}")


def wait_for(condition: Callable[[], T], what: str, seconds: float = 60, every: float = 0.5) -> T:
    """The first truthy answer of `condition`. A failing command or assertion counts as "not yet"."""
    seconds *= PATIENCE
    deadline = time.monotonic() + seconds
    while True:
        try:
            last: Any = condition()
            if last:
                return last
        except AssertionError as error:
            last = error
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds} s for {what}; the last look showed: {last}")
        time.sleep(every)


def condition(thing: dict[str, Any], kind: str) -> str:
    return {c["type"]: c["status"] for c in thing["status"].get("conditions", [])}.get(
        kind, "absent"
    )


def named(user: str) -> list[str]:
    """Arguments with which the administrator appears as `user`; none without one."""
    return ["--as", user, "--as-group", "system:masters"] if user else []


@dataclasses.dataclass(frozen=True)
class Cluster:
    """A cluster that `cluster/up` brought up. Its clients act in `namespace`, if there is one."""

    folder: pathlib.Path
    namespace: str | None = None

    @property
    def mode(self) -> str:
        """ "full", or "loopback": no nodes, nothing that runs in pods, no Services."""
        return (self.folder / "mode").read_text().strip()

    @property
    def kubernetes(self) -> str:
        """Such as "1.34"."""
        return (self.folder / "k8s").read_text().strip()

    @property
    def kubeconfig(self) -> pathlib.Path:
        return self.folder / "kubeconfig"

    def environment(self) -> dict[str, str]:
        """KUBECONFIG and the PATH of this cluster; no home of a user, whose settings would differ."""
        return dict(
            os.environ,
            KUBECONFIG=str(self.kubeconfig),
            HOME=str(self.folder / "home"),
            PATH=f"{self.folder / 'bin'}:{os.environ['PATH']}",
            MINDGATE_E2E_DIR=str(self.folder),
        )

    def run(
        self, *command: object, input: str | None = None, check: bool = True, seconds: float = 300
    ) -> subprocess.CompletedProcess[str]:
        """A program in the environment of this cluster, to its end."""
        environment = self.environment()
        if command[0] == "kubectl":  # it ends before collecting garbage is of use
            environment["GOGC"] = "off"
        done = subprocess.run(
            [str(word) for word in command],
            input=input,
            text=True,
            capture_output=True,
            env=environment,
            timeout=seconds,
        )
        if check and done.returncode != 0:
            raise CommandFailed(done)
        return done

    @contextlib.contextmanager
    def start(self, *command: object, output: pathlib.Path) -> Iterator[subprocess.Popen[str]]:
        """A program in the environment of this cluster that runs beside the test, and is ended with the block."""
        with output.open("w") as file:
            process = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                text=True,
                env=self.environment(),
            )
            try:
                yield process
            finally:
                process.kill()
                process.wait()

    def _in_namespace(self) -> list[str]:
        return ["--namespace", self.namespace] if self.namespace else []

    def kubectl(
        self, *arguments: object, input: str | None = None, check: bool = True, seconds: float = 300
    ) -> subprocess.CompletedProcess[str]:
        return self.run(
            "kubectl", *self._in_namespace(), *arguments, input=input, check=check, seconds=seconds
        )

    def replace(self, tree: dict[str, Any], *flags: str) -> subprocess.CompletedProcess[str]:
        """`kubectl replace`. It reads the version first, and is refused when a controller writes in between: then again."""
        for _ in range(20):
            done = self.kubectl("replace", *flags, "-f", "-", input=json.dumps(tree), check=False)
            if "Error from server (Conflict)" not in done.stderr:
                break
        if done.returncode != 0:
            raise CommandFailed(done)
        return done

    def await_rollout(self, deployment: str) -> None:
        """Returns when every replica is a new one and available."""
        seconds = 120 * PATIENCE
        wait = ("rollout", "status", f"deployment/{deployment}", f"--timeout={seconds}s")
        self.kubectl(*wait, seconds=seconds + 10)

    def await_controllers(self) -> None:
        """Returns when LeaderWorkerSet and Volcano are available. A controller whose API server was away may end, and is started again later."""

        def unavailable() -> list[str]:
            return [
                d["metadata"]["name"]
                for d in self.items("deployments", "--all-namespaces")
                if d["metadata"]["namespace"] in CONTROLLERS and condition(d, "Available") != "True"
            ]

        wait_for(lambda: unavailable() == [], "LeaderWorkerSet and Volcano to be available", 120)

    def get(self, *arguments: object) -> dict[str, Any]:
        """The object, or the list, that `kubectl get` answers."""
        return json.loads(self.kubectl("get", *arguments, "--output", "json").stdout)

    def items(self, *arguments: object) -> list[dict[str, Any]]:
        return self.get(*arguments)["items"]

    def create(self, manifest: str | dict[str, Any] | list[dict[str, Any]], user: str = "") -> None:
        """Creates one object or several, given as YAML or as data; under the name of `user`, who may do everything."""
        if isinstance(manifest, list):
            manifest = {"apiVersion": "v1", "kind": "List", "items": manifest}
        text = manifest if isinstance(manifest, str) else json.dumps(manifest)
        self.kubectl("create", "--filename", "-", *named(user), input=text)

    def helm(
        self, *arguments: object, input: str | None = None, check: bool = True, seconds: float = 600
    ) -> subprocess.CompletedProcess[str]:
        return self.run(
            "helm", *self._in_namespace(), *arguments, input=input, check=check, seconds=seconds
        )

    def stop_container(self, pod: str) -> None:
        """As the kubelet does, by SIGTERM: the program has to end with exit code 0. The container is then started again."""

        def status() -> dict[str, Any]:
            return self.get("pod", pod)["status"]["containerStatuses"][0]

        before = status()["restartCount"]
        self.control("kill-container", pod, self.namespace, "TERM")
        wait_for(lambda: status()["restartCount"] > before, f"the container of {pod} to be started again")
        ended = status()["lastState"]["terminated"]
        assert ended["exitCode"] == 0, f"{pod} ended with {ended}"

    def control(
        self, *arguments: object, check: bool = True, seconds: float = 500
    ) -> subprocess.CompletedProcess[str]:
        """`cluster/control`: stop and start parts, compact etcd, import images, run commands in the cluster's network."""
        return self.run(HERE / "cluster" / "control", *arguments, check=check, seconds=seconds)
