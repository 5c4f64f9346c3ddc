#!/usr/bin/env python3
"""The start scripts that `mindgate deploy --init aibrix --scripts` prints, run with a vllm and a python3 that only write down how
they were called, and end as the test asks."""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

import yaml

BINARY = os.environ["MINDGATE_BINARY"]
# Writes its arguments and devices, then ends with CODE_PORT, or waits until it is asked to end. It has no child that could stay
# when it is ended at any moment.
VLLM = f"""#!{sys.executable} -S
import os, pathlib, signal, sys
port = sys.argv[sys.argv.index("--port") + 1]
calls = pathlib.Path(os.environ["CALLS"])
signal.pthread_sigmask(signal.SIG_BLOCK, {{signal.SIGTERM}})
written = calls / f"{{port}}.new"
written.write_text("\\n".join(["devices=" + os.environ.get("ASCEND_RT_VISIBLE_DEVICES", ""), *sys.argv[1:]]) + "\\n")
written.rename(calls / port)
code = os.environ.get(f"CODE_{{port}}")
if code:
    sys.exit(int(code))
signal.sigwait({{signal.SIGTERM}})
(calls / f"{{port}}.ended").touch()
"""
PYTHON = """#!/bin/bash
printf '%s\\n' "$@" >"$CALLS/proxy"
"""
SERVER = {
    "ROLE_NAME": "decode",
    "ROLE_REPLICA_INDEX": "1",
    "ROLESET_NAME": "chat-rs",
    "ROLE_TEMPLATE_HASH": "7d",
    "STORM_SERVICE_NAME": "chat",
    "POD_IP": "10.0.0.7",
    "MODEL_NAME": "qwen",
    "MODEL_PATH": "/mnt/models/qwen",
    "PREFILL_NUM": "2",
    "PREFILL_DP_SIZE": "2",
    "PREFILL_TP_SIZE": "4",
    "DECODE_NUM": "1",
    "DECODE_DP_SIZE": "4",
    "DECODE_TP_SIZE": "2",
}


class StartScriptsTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name, text in (("vllm", VLLM), ("python3", PYTHON)):
            (self.folder / name).write_text(text)
            (self.folder / name).chmod(0o755)
        printed = subprocess.run([BINARY, "deploy", "--init", "aibrix", "--scripts"], check=True, capture_output=True, text=True)
        config_map = yaml.safe_load(printed.stdout)
        self.assertEqual(config_map["metadata"]["name"], "vllm-scripts")
        for name, text in config_map["data"].items():
            (self.folder / name).write_text(text)

    def start(self, script: str, **environment: str) -> subprocess.Popen[str]:
        values = {"PATH": f"{self.folder}:{os.environ['PATH']}", "CALLS": str(self.folder), **environment}
        command = ["bash", self.folder / script]
        process = subprocess.Popen(command, env=values, stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(self.end_group, process)
        return process

    @staticmethod
    def end_group(process: subprocess.Popen[str]) -> None:
        """Whatever still runs of it: ctest waits for all that hold its output."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()

    def ended(self, process: subprocess.Popen[str]) -> tuple[int, str]:
        _, errors = process.communicate(timeout=60)
        return process.returncode, errors

    def called(self, name: str) -> list[str]:
        return (self.folder / name).read_text().splitlines()

    def value(self, name: str, flag: str) -> str:
        arguments = self.called(name)
        return arguments[arguments.index(flag) + 1]

    def await_calls(self, process: subprocess.Popen[str], *names: str) -> None:
        while not all((self.folder / name).exists() for name in names):
            self.assertIsNone(process.poll(), f"ended before it had called {', '.join(names)}")
            os.sched_yield()

    def test_a_crash_of_one_rank_is_the_exit_code_of_the_pod(self) -> None:
        process = self.start("start_server.sh", **SERVER, DISTRIBUTED_DP="true", CODE_8082="9")
        code, errors = self.ended(process)
        self.assertEqual(code, 9)
        self.assertIn("a server ended with exit code 9", errors)

    def test_a_server_that_ends_by_itself_failed(self) -> None:
        process = self.start("start_server.sh", **SERVER, CODE_8080="0")
        self.assertEqual(self.ended(process)[0], 1)

    def test_it_ends_its_servers_when_it_is_asked_to(self) -> None:
        process = self.start("start_server.sh", **SERVER, DISTRIBUTED_DP="true")
        self.await_calls(process, "8080", "8081", "8082", "8083")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(self.ended(process), (0, ""))
        for port in range(8080, 8084):
            self.assertTrue((self.folder / f"{port}.ended").exists())

    def test_each_rank_is_a_server_with_its_devices(self) -> None:
        process = self.start("start_server.sh", **SERVER, DISTRIBUTED_DP="true", POD_GROUP_SIZE="2", POD_GROUP_INDEX="1", VLLM_ARGS="--seed 7")
        self.await_calls(process, "8080", "8081")
        process.send_signal(signal.SIGTERM)
        self.ended(process)
        self.assertEqual(self.called("8081")[0], "devices=2,3")
        self.assertEqual(self.value("8081", "--data-parallel-rank"), "3")
        self.assertEqual(self.value("8081", "--data-parallel-address"), "chat-rs-decode-7d-1-0.chat")
        self.assertEqual(self.value("8081", "--seed"), "7")
        transfer = yaml.safe_load(self.value("8081", "--kv-transfer-config"))
        self.assertEqual((transfer["kv_role"], transfer["engine_id"]), ("kv_consumer", "3"))
        self.assertEqual(transfer["kv_connector_extra_config"]["decode"], {"dp_size": 4, "tp_size": 2})

    def test_other_pods_of_an_instance_have_no_server_of_their_own(self) -> None:
        process = self.start("start_server.sh", **SERVER, POD_GROUP_SIZE="2", POD_GROUP_INDEX="1")
        self.await_calls(process, "8080")
        process.send_signal(signal.SIGTERM)
        self.ended(process)
        self.assertIn("--headless", self.called("8080"))
        self.assertEqual(self.value("8080", "--data-parallel-start-rank"), "2")
        self.assertEqual(self.value("8080", "--data-parallel-size-local"), "2")

    def test_what_cannot_be_is_refused(self) -> None:
        for change, text in (({"ROLE_NAME": "routing"}, "neither prefill nor decode"), ({"POD_GROUP_SIZE": "3"}, "not a multiple")):
            code, errors = self.ended(self.start("start_server.sh", **{**SERVER, **change}))
            self.assertEqual(code, 2)
            self.assertIn(text, errors)

    def test_the_proxy_gets_the_names_of_the_services(self) -> None:
        pods = {"PREFILL_POD": "1", "DECODE_POD": "2"}
        self.assertEqual(self.ended(self.start("start_proxy.sh", **SERVER, **pods, DISTRIBUTED_DP="true"))[0], 0)
        arguments = " ".join(self.called("proxy"))
        self.assertIn("--prefiller-hosts chat-prefill-0 chat-prefill-0 chat-prefill-1 chat-prefill-1", arguments)
        self.assertIn("--prefiller-ports 8080 8081 8080 8081", arguments)
        self.assertIn("--decoder-hosts chat-decode-0-0 chat-decode-0-0 chat-decode-0-1 chat-decode-0-1", arguments)
        self.assertEqual(self.ended(self.start("start_proxy.sh", **SERVER, **pods))[0], 0)
        self.assertIn("--decoder-hosts chat-decode-0-0 --decoder-ports 8080", " ".join(self.called("proxy")))


if __name__ == "__main__":
    unittest.main()
