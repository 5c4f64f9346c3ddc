"""The API server that unit tests use instead of a real one, held to a real one: one suite asks both the same."""

import re

import pytest
from e2e import REPOSITORY, Cluster

PROGRAM = REPOSITORY / "build" / "test" / "tests" / "kube_test"


def test_the_real_api_server_answers_as_the_fake_one(cluster: Cluster) -> None:
    if not PROGRAM.exists():
        pytest.skip(f"{PROGRAM.relative_to(REPOSITORY)} is not there: `make test` builds it")
    done = cluster.run(
        "env",
        f"MINDGATE_KUBECONFIG_FOR_TESTS={cluster.kubeconfig}",
        PROGRAM,
        "--gtest_filter=OnReal*",
        "--gtest_brief=1",
        check=False,
        seconds=600,
    )
    failed = dict.fromkeys(re.findall(r"\[  FAILED  \] OnReal/(\S+)/Real", done.stdout))
    assert done.returncode == 0, f"exit code {done.returncode}; failed: {', '.join(failed)}\n{done.stdout}{done.stderr}"
    ran = re.search(r"(\d+) tests from \d+ test suites? ran", done.stdout)
    assert ran, done.stdout
    assert int(ran[1]) > 50, "the suite was not compared whole"
    assert f"[  PASSED  ] {ran[1]} tests." in done.stdout
