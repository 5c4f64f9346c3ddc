#!/usr/bin/env python3
"""Plays histories of the real `mindgate watch` beside a small API server, several at a time.

    tests/histories/run.py [--fast] [--jobs 6] [--junit-xml FILE] [NAME-PART...]
    tests/histories/run.py --list

Each history is a process of its own. The program is $MINDGATE_BINARY, $MINDGATE, or build/release/mindgate. Exit code 1 when a
history does not end as expected; what its watchers logged is then printed.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing.pool
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import traceback
import xml.etree.ElementTree as ElementTree

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import program  # noqa: E402
from registry import HISTORIES  # noqa: E402
from world import World  # noqa: E402

GROUPS = ("clocks", "leaders", "partitions", "storms", "opt_outs", "restarts", "tenants", "reports_of_faults", "controllers")
LONGEST = 240  # seconds that a history may take on a machine that does other work
LOG_END = 4000  # characters of a log that are printed


def play(name: str) -> int:
    """One history, in this process."""
    with tempfile.TemporaryDirectory(prefix="mindgate-history-") as folder:
        world = World(pathlib.Path(folder))
        code = 0
        try:
            HISTORIES[name].play(world)
            world.finish()
        except Exception:
            code = 1
            traceback.print_exc(file=sys.stdout)
            for each in world.programs:
                print(f"--- the log of {each.name}\n{each.log()[-LOG_END:]}")
        world.close()
    sys.stdout.flush()
    os._exit(code)  # threads of the server may still be in a call


def reason_of(failure: str) -> str:
    """The line of an exception, in what a history printed."""
    lines = [line for line in failure.splitlines() if line.strip()]
    return next((line for line in lines if re.match(r"[\w.]+: ", line)), lines[0])


def play_apart(name: str) -> tuple[str, float, str]:
    """One history in a process of its own: its name, the seconds that it took, and what it printed when it failed."""
    began = time.monotonic()
    command = [sys.executable, str(HERE / "run.py"), "--one", name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, errors="replace")
        failure = done.stdout + done.stderr or f"exit code {done.returncode}" if done.returncode else ""
    except subprocess.TimeoutExpired as late:
        failure = f"did not end within {LONGEST} s\n{(late.stdout or b'').decode(errors='replace')}"
    took = time.monotonic() - began
    why = f": {reason_of(failure)}" if failure else ""
    print(f"{'FAILED' if failure else 'PASSED'} tests/histories::{name} ({took:.1f} s){why}", flush=True)
    return name, took, failure


def write_junit(path: str, results: list[tuple[str, float, str]]) -> None:
    failed = sum(1 for _, _, failure in results if failure)
    suites = ElementTree.Element("testsuites")
    counts = {"tests": len(results), "failures": failed, "errors": 0, "skipped": 0}
    suite = ElementTree.SubElement(suites, "testsuite", name="histories", **{key: str(count) for key, count in counts.items()})
    for name, took, failure in results:
        case = ElementTree.SubElement(suite, "testcase", classname="histories", name=name, time=f"{took:.3f}")
        if failure:
            # XML has no place for control characters.
            ElementTree.SubElement(case, "failure").text = "".join(c for c in failure if c.isprintable() or c in "\n\t")
    ElementTree.ElementTree(suites).write(path, encoding="unicode")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="only histories with one of these in their name")
    parser.add_argument("--fast", action="store_true", help="only those that ctest plays")
    parser.add_argument("--jobs", type=int, default=6, help="so many at a time; they mostly wait")
    parser.add_argument("--list", action="store_true", help="print their names")
    parser.add_argument("--junit-xml", metavar="FILE")
    parser.add_argument("--one", metavar="NAME", help=argparse.SUPPRESS)
    options = parser.parse_args()
    for group in GROUPS:
        importlib.import_module(group)
    if options.one:
        return play(options.one)
    chosen = [
        name
        for name, each in HISTORIES.items()
        if (each.fast or not options.fast) and (not options.names or any(part in name for part in options.names))
    ]
    if not chosen:
        parser.error(f"no history is named like {' '.join(options.names)}")
    if options.list:
        print("\n".join(chosen))
        return 0
    if not os.access(program.BINARY, os.X_OK):
        parser.error(f"there is no program {program.BINARY}; `make build` makes it")
    chosen.sort(key=lambda name: not HISTORIES[name].long)
    with multiprocessing.pool.ThreadPool(options.jobs) as pool:
        results = pool.map(play_apart, chosen, chunksize=1)
    for name, _, failure in results:
        if failure:
            print(f"\n=== {name}\n{failure}")
    failed = [name for name, _, failure in results if failure]
    if options.junit_xml:
        write_junit(options.junit_xml, results)
    print(f"{len(results) - len(failed)} of {len(results)} histories ended as expected")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
