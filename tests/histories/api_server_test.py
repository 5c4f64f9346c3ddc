#!/usr/bin/env python3
"""The small API server answers as a real one does where a history could not notice that it does not."""

from __future__ import annotations

import json
import sys
import unittest
import urllib.request

sys.dont_write_bytecode = True

from api_server import ApiServer  # noqa: E402
from store import CONFIGMAPS, NODES, PODS  # noqa: E402


class Lists(unittest.TestCase):
    def setUp(self) -> None:
        self.server = ApiServer()
        self.addCleanup(self.server.close)
        self.url = self.server.door("a").url

    def page(self, kind: str, token: str = "") -> tuple[list[str], str]:
        """The names on a page, and the token of the next one. All pages are asked for at the same moment, as far as the log shows."""
        self.server.requests.clear()
        with urllib.request.urlopen(f"{self.url}/{kind}?limit=2&continue={token}", timeout=30) as answer:
            body = json.load(answer)
        return [each["metadata"]["name"] for each in body["items"]], body["metadata"].get("continue", "")

    def test_lists_of_several_kinds_at_once_keep_their_pages_apart(self) -> None:
        kinds = {PODS: "pod", NODES: "node", CONFIGMAPS: "map"}
        for kind, name in kinds.items():
            for i in range(5):
                self.server.store.put(kind, {"metadata": {"name": f"{name}-{i}"}})
        tokens = dict.fromkeys(kinds, "")
        for first, last in ((0, 2), (2, 4), (4, 5)):
            # All kinds are asked before one of them is asked for its next page, as by the informers of a watcher that starts.
            for kind, name in kinds.items():
                asked = tokens[kind]
                names, tokens[kind] = self.page(kind, asked)
                self.assertEqual(names, [f"{name}-{i}" for i in range(first, last)])
                self.assertEqual(self.page(kind, asked)[0], names, "a page that is asked for twice")
        self.assertEqual(tokens, dict.fromkeys(kinds, ""))


if __name__ == "__main__":
    unittest.main()
