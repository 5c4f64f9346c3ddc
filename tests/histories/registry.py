"""The histories, by name. A history is a function of a `World`; its name is what holds in the end."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from world import World


@dataclasses.dataclass(frozen=True)
class History:
    play: Callable[[World], None]
    fast: bool  # one of those that ctest plays, with every preset's own program
    long: bool  # takes the better part of a minute, so it begins first


HISTORIES: dict[str, History] = {}


def history(fast: bool = False, long: bool = False) -> Callable[[Callable[[World], None]], Callable[[World], None]]:
    def register(play: Callable[[World], None]) -> Callable[[World], None]:
        name = play.__name__
        assert name not in HISTORIES, f"there are two histories {name}"
        HISTORIES[name] = History(play, fast, long)
        return play

    return register
