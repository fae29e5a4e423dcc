"""Programs of several processes: what each takes is stored or declared as lost, and none hangs.

`OASIS_FORKS=100` repeats each of them so often.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path

import pytest
from dac import Dac, until
from workers import HANGS, answer, environment, program, run, serving

REPEATS = int(os.environ.get("OASIS_FORKS", "1"))
TREE = Path(__file__).parent / "tree.py"


def check(dac: Dac, node: str, instance: str, given: int, taken: int) -> None:
    """Check the account of an instance: all are stored, or declared as lost."""
    known = dac.eventually(node, instance, lambda ledger: ledger["received"] + ledger["missing"] >= given)
    assert (known["received"], known["missing"], known["unexplained"]) == (taken, given - taken, 0), node


@pytest.mark.parametrize("threads", ["alone", "threads"])
@pytest.mark.parametrize(
    ("begin", "kind"),
    [
        ("os.fork", "processes"),
        *((begin, kind) for begin in ("fork", "spawn", "forkserver") for kind in ("processes", "pool")),
    ],
)
def test_every_process_of_a_tree_is_a_node_and_accounts_for_its_samples(
    dac: Dac, begin: str, kind: str, threads: str
) -> None:
    for turn in range(REPEATS):
        # A name of its own for each tree, because a DAC remembers samples of a node.
        name = f"tree-of-{begin}-{kind}-{threads}-{turn}".replace(".", "-")
        ran = run(dac, str(TREE), begin, kind, threads, OASIS_NODE_NAME=name)
        assert ran.returncode == 0, ran.stderr
        assert "RefusedWarning" not in ran.stderr
        processes = [json.loads(line) for line in ran.stdout.splitlines()]
        assert len(processes) > 1
        for node, given, taken in processes:
            check(dac, node.replace("tree", name, 1), "work", given, taken)


def test_children_of_a_program_without_a_name_have_its_name_and_their_number(dac: Dac) -> None:
    for begin in ("os.fork", "spawn"):
        ran = run(dac, str(TREE), begin)
        assert ran.returncode == 0, ran.stderr
        for node, given, taken in map(json.loads, ran.stdout.splitlines()[1:]):
            check(dac, node, "work", given, taken)


def test_a_child_that_measures_nothing_ends_at_once_and_in_silence(dac: Dac, tmp_path: Path) -> None:
    file = program(
        tmp_path,
        "idle",
        """
        import os, sys, oasis
        assert oasis.watch("work", turn=1)
        if os.fork() == 0:
            sys.exit(0)
        assert os.wait()[1] == 0
        """,
    )
    ran = run(dac, "-W", "ignore::DeprecationWarning", file)
    assert (ran.returncode, ran.stderr) == (0, "")
    check(dac, "idle", "work", 1, 1)


def test_the_probes_of_a_node_work_in_a_child_at_a_node_of_its_own(dac: Dac, tmp_path: Path) -> None:
    file = program(
        tmp_path,
        "machine",
        """
        import logging, os, sys, oasis
        from oasis.logging import Handler
        from oasis.node import NodeBuilder

        @oasis.probe
        class Motor:
            rpm: int

        builder = NodeBuilder("machine")
        motor = builder.pushed("motor", Motor)
        builder.periodic("turns", Motor, 100, lambda: Motor(os.getpid()))
        builder.spans()
        logging.getLogger().addHandler(Handler(builder))
        with builder.start(os.environ["OASIS_DAC"]) as node:
            added = node.pushed("added", Motor)
            child = os.fork()
            assert motor.flush(Motor(1)) and added.flush(Motor(2)) and node.watch("watched", x=1)
            logging.warning("pressure is high")
            with oasis.span("step"):
                pass
            if child == 0:
                print(os.getpid(), flush=True)
            else:
                assert os.wait()[1] == 0
        """,
    )
    for _ in range(REPEATS):
        ran = run(dac, file)
        assert ran.returncode == 0, ran.stderr
        for instance in ("motor", "added", "watched", "log", "spans"):
            check(dac, f"machine-{int(ran.stdout)}", instance, 1, 1)
        dac.eventually(f"machine-{int(ran.stdout)}", "turns", lambda ledger: ledger["unexplained"] == 0)


def test_a_refusal_is_a_warning_and_the_default_name_is_never_refused(dac: Dac, tmp_path: Path) -> None:
    text = """
        import sys, oasis
        assert oasis.watch("work", turn=1)
        print(flush=True)
        sys.stdin.read()
        """
    file = program(tmp_path, "double", text)
    first = subprocess.Popen(
        [sys.executable, file],
        env=environment(dac),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with first:
        check(dac, "double", "work", 1, 1)
        refused = run(dac, "-c", textwrap.dedent(text), OASIS_NODE_NAME="double")
        second = subprocess.Popen(
            [sys.executable, file], env=environment(dac), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        second.communicate(b"", timeout=HANGS)
        first.communicate("", timeout=HANGS)
    assert "RefusedWarning: the DAC refuses node 'double'" in refused.stderr
    assert "name_taken" in refused.stderr
    assert (first.returncode, second.returncode) == (0, 0)
    check(dac, f"double-{second.pid}", "work", 1, 1)


def test_a_program_that_becomes_another_one_is_a_new_run_of_the_node(dac: Dac, tmp_path: Path) -> None:
    file = program(
        tmp_path,
        "replaced",
        """
        import os, sys, oasis
        from oasis.node import running
        assert oasis.watch("work", turn=1)
        if len(sys.argv) == 1:
            for node in running():
                node.shutdown()
            os.execv(sys.executable, [sys.executable, __file__, "again"])
        """,
    )
    ran = run(dac, file)
    assert ran.returncode == 0, ran.stderr
    # One sample of each run.
    check(dac, "replaced", "work", 2, 2)


SERVED = """
import os
import oasis

def app(environ, start_response):
    assert oasis.watch("requests", path=environ["PATH_INFO"])
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [str(os.getpid()).encode()]

async def asgi(scope, receive, send):
    assert scope["type"] == "http"
    assert oasis.watch("requests", path=scope["path"])
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(os.getpid()).encode()})
"""

REQUESTS = 60


SERVERS = {
    "gunicorn": ("gunicorn", "--workers", "3", "--bind", "127.0.0.1:PORT", "served:app"),
    "gunicorn-preload": (
        *("gunicorn", "--preload", "--workers", "3", "--bind", "127.0.0.1:PORT", "served:app"),
    ),
    "uvicorn": ("uvicorn", "--workers", "3", "--port", "PORT", "--lifespan", "off", "served:asgi"),
}


@pytest.mark.parametrize("server", SERVERS)
def test_each_worker_of_a_server_accounts_for_its_requests(dac: Dac, tmp_path: Path, server: str) -> None:
    arguments = SERVERS[server]
    (tmp_path / "served.py").write_text(SERVED)
    for _ in range(REPEATS):
        before = received(dac)
        with serving(dac, tmp_path, *arguments) as url:
            workers = Counter(answer(url) for _ in range(REQUESTS))
        until_received(dac, before + REQUESTS, workers)


def until_received(dac: Dac, requests: int, workers: Counter[int]) -> None:
    """Wait until the DAC has so many samples of all workers."""
    until(lambda: received(dac) == requests, lambda: (workers, requests, received(dac)), HANGS)


def received(dac: Dac) -> int:
    """Return how many requests all workers have measured, of which none is lost."""
    known = dac.get("/api/v1/ledger")["instances"]
    ledgers = [one["ledger"] for one in known if one["instance"] == "requests"]
    assert all((ledger["missing"], ledger["unexplained"]) == (0, 0) for ledger in ledgers)
    return sum(ledger["received"] for ledger in ledgers)
