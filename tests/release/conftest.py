"""A built release, as its tests see it. tests/release/run builds one and names its folder."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import pytest
from released import DIST, Release


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Release]:
    if not DIST.is_dir():
        pytest.fail(f"{DIST} does not exist: run `make release-test`")
    found = Release(DIST, tmp_path_factory.mktemp("programs"))
    yield found


@pytest.fixture
def empty_root(tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder to install into, as on a machine that has nothing."""
    root = tmp_path / "root"
    root.mkdir()
    return root
