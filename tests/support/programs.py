"""How tests end a program of mindgate that they started."""

from __future__ import annotations

import pathlib
import subprocess


def stop(process: subprocess.Popen, seconds: float = 60, log: pathlib.Path | None = None) -> None:
    """Sends SIGTERM and requires exit code 0 within the time. The end of `log` is part of the message otherwise."""
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise AssertionError(f"still running {seconds} s after SIGTERM: {process.args}{end_of(log)}") from None
    assert process.returncode == 0, f"exit code {process.returncode} after SIGTERM: {process.args}{end_of(log)}"


def end_of(log: pathlib.Path | None, size: int = 3000) -> str:
    return f"\n{log.read_text(errors='replace')[-size:]}" if log else ""
