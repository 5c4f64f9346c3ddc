"""docs/rights.md: what each ServiceAccount may do, and that nothing of it leads to more."""

from __future__ import annotations

import json
import re
import unittest

from rendering import ROOT, Object, require_helm, run

# What leads to the rights of others, or to all objects at once.
VERBS = {"*", "escalate", "bind", "impersonate", "deletecollection", "approve", "sign"}
RESOURCES = {"*", "pods/exec", "pods/attach", "pods/portforward", "serviceaccounts/token", "nodes/proxy"}
# The API server answers these and stores nothing.
REVIEWS = {"subjectaccessreviews"}


def rights() -> dict[str, list[Object]]:
    require_helm()
    done = run(ROOT / "scripts/chart-rights", "--json")
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    found: dict[str, list[Object]] = json.loads(done.stdout)
    return found


class RightsTest(unittest.TestCase):
    maxDiff = None

    def test_the_page_is_what_the_chart_renders(self) -> None:
        require_helm()
        checked = run(ROOT / "scripts/chart-rights", "--check")
        self.assertEqual((checked.returncode, checked.stdout), (0, ""), checked.stderr)

    def test_no_right_leads_to_those_of_others(self) -> None:
        for account, of_account in rights().items():
            for right in of_account:
                with self.subTest(account, right=right):
                    self.assertNotIn(right["verb"], VERBS)
                    self.assertNotIn(right["resource"], RESOURCES)
                    self.assertNotEqual(right["group"], "*")
                    # Doctor compares who is an operator with who counts as one.
                    self.assertFalse(right["group"].startswith("rbac.") and right["verb"] != "list")
                    if right["resource"] == "secrets" and right["verb"] != "create":
                        self.assertEqual(right["names"], ["mindgate-tls"])

    def test_every_write_is_restricted_by_a_name_or_a_policy(self) -> None:
        unrestricted = {
            (account, right["verb"], right["resource"])
            for account, of_account in rights().items()
            for right in of_account
            if right["verb"] not in ("get", "list", "watch")
            and not right["names"]
            and not right["only"]
        }
        self.assertEqual(unrestricted, {("test", "create", each) for each in REVIEWS})

    def test_each_write_is_tried_on_an_api_server(self) -> None:
        attempts = (ROOT / "tests/e2e/test_watcher_bounds.py").read_text()
        tried = set(re.findall(r'^    \("(\w+)", "(\w+)", "([\w/]+)"\):', attempts, re.MULTILINE))
        writes = {
            (account, right["verb"], right["resource"])
            for account, of_account in rights().items()
            for right in of_account
            if right["verb"] not in ("get", "list", "watch")
        }
        self.assertEqual(tried, {each for each in writes if each[2] not in REVIEWS})


if __name__ == "__main__":
    unittest.main()
