"""The same commit gives the same bytes: in another folder, without the compiler cache. It builds for minutes: RELEASE_TWICE=1."""

from __future__ import annotations

import os
import pathlib

import pytest
from released import ROOT, Release, run


@pytest.mark.skipif(not os.environ.get("RELEASE_TWICE"), reason="it builds for minutes; RELEASE_TWICE=1 runs it")
def test_two_builds_give_the_same_bytes(release: Release, tmp_path: pathlib.Path) -> None:
    assert not run("git", "-C", ROOT, "status", "--porcelain"), "commit first: what is built again is the commit"
    clone = tmp_path / "somewhere" / "else"
    run("git", "clone", "--quiet", ROOT, clone)
    environment = {**os.environ, "CCACHE_DISABLE": "1"}
    run("python3", "scripts/release", "--keep-packages", cwd=clone, env=environment)
    names = sorted(path.name for path in release.dist.iterdir())
    assert names == sorted(path.name for path in (clone / "dist").iterdir())
    differing = [name for name in names if release.file(name).read_bytes() != (clone / "dist" / name).read_bytes()]
    assert differing == []
