"""The programs of docs/sdk/python-in-production.md in the servers and pools that it names: each sample is stored.

Servers that are not installed are left out: `make test-python-servers` installs them all.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from dac import OASIS, Dac, until
from dac import dac as dac_of
from workers import HANGS, answer, environment, program, run, serving_process

PAGE = (Path(__file__).parents[3] / "docs" / "sdk" / "python-in-production.md").read_text()
REQUESTS = 30


def quoted(name: str) -> str:
    """Return a file of the page."""
    (code,) = re.findall(rf"<!-- tutorial: file {re.escape(name)} -->\n```python\n(.*?)```", PAGE, re.DOTALL)
    return str(code)


def write(folder: Path, name: str) -> str:
    (folder / name).write_text(quoted(name))
    return str(folder / name)


def needs(*modules: str) -> None:
    for module in modules:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")


def received(dac: Dac, name: str, instance: str) -> dict[str, int]:
    """Return how many samples of this instance each node `name-…` has delivered; none is missing."""
    known = dac.get("/api/v1/ledger")["instances"]
    found = {
        one["node"]: one["ledger"]
        for one in known
        if re.fullmatch(rf"{name}(-\d+)?", one["node"]) and one["instance"] == instance
    }
    assert all((ledger["missing"], ledger["unexplained"]) == (0, 0) for ledger in found.values()), found
    return {node: ledger["received"] for node, ledger in found.items()}


def until_received(dac: Dac, name: str, instance: str, samples: int) -> None:
    """Wait until all nodes together have delivered so many samples."""
    until(
        lambda: sum(received(dac, name, instance).values()) >= samples,
        lambda: (samples, received(dac, name, instance)),
        HANGS,
    )
    assert sum(received(dac, name, instance).values()) == samples


class Visitor:
    """Sends requests, and knows which processes have answered."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.processes: list[int] = []

    def visit(self, requests: int) -> None:
        self.processes += [answer(self._url) for _ in range(requests)]

    def visit_until_another_process_answers(self) -> None:
        known = set(self.processes)

        def has_answered() -> bool:
            self.visit(1)
            return self.processes[-1] not in known

        until(has_answered, lambda: known, HANGS)


GUNICORN = ("gunicorn", "--bind", "127.0.0.1:PORT", "--workers", "3", "--graceful-timeout", "5")
KINDS = {
    "sync": (),
    "preload": ("--preload",),
    "gthread": ("--worker-class", "gthread", "--threads", "4"),
    "gevent": ("--worker-class", "gevent"),
    "gevent-preload": ("--worker-class", "gevent", "--preload"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_workers_of_gunicorn_that_are_replaced_lose_no_request(dac: Dac, tmp_path: Path, kind: str) -> None:
    needs("gunicorn", *(["gevent"] if kind.startswith("gevent") else []))
    write(tmp_path, "app.py")
    name = f"web-{kind}"
    arguments = (*GUNICORN, *KINDS[kind], "--max-requests", "20", "app:app")
    with serving_process(dac, tmp_path, *arguments, OASIS_NODE_NAME=name) as (url, server):
        visitor = Visitor(url)
        visitor.visit(REQUESTS)
        server.send_signal(signal.SIGHUP)
        visitor.visit_until_another_process_answers()
        until_received(dac, name, "requests", len(visitor.processes))
        kill(visitor.processes[-1])
        visitor.visit_until_another_process_answers()
    until_received(dac, name, "requests", len(visitor.processes))
    assert set(received(dac, name, "requests")) == {f"{name}-{number}" for number in visitor.processes}


def kill(process: int) -> None:
    """End a worker, unless it has just been replaced."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def test_a_configured_log_of_workers_has_each_record_once(dac: Dac, tmp_path: Path) -> None:
    needs("gunicorn")
    write(tmp_path, "logged.py")
    arguments = (*GUNICORN, "logged:app")
    with serving_process(dac, tmp_path, *arguments, OASIS_NODE_NAME="logged") as (url, _):
        visitor = Visitor(url)
        visitor.visit(REQUESTS)
    until_received(dac, "logged", "requests", REQUESTS)
    until_received(dac, "logged", "log", REQUESTS)


ASGI = {
    "uvicorn": ("uvicorn", "--port", "PORT", "lived:app"),
    "uvicorn-workers": ("uvicorn", "--port", "PORT", "--workers", "3", "lived:app"),
    "hypercorn": ("hypercorn", "--bind", "127.0.0.1:PORT", "lived:app"),
    "hypercorn-workers": ("hypercorn", "--bind", "127.0.0.1:PORT", "--workers", "3", "lived:app"),
}


@pytest.mark.parametrize("server", ASGI)
def test_the_end_of_a_lifespan_delivers_its_last_samples(dac: Dac, tmp_path: Path, server: str) -> None:
    needs(ASGI[server][0], "starlette")
    write(tmp_path, "lived.py")
    with serving_process(dac, tmp_path, *ASGI[server], OASIS_NODE_NAME=server) as (url, _):
        visitor = Visitor(url)
        visitor.visit(REQUESTS)
        # A worker that still begins would not end its lifespan.
        workers = 3 if server.endswith("workers") else 1
        until(
            lambda: len(received(dac, server, "server")) == workers,
            lambda: received(dac, server, "server"),
            HANGS,
        )
    until_received(dac, server, "requests", REQUESTS)
    until(
        lambda: set(received(dac, server, "server").values()) == {2},
        lambda: received(dac, server, "server"),
        HANGS,
    )


@pytest.mark.parametrize("begin", ["fork", "spawn", "forkserver"])
def test_each_task_of_an_executor_is_stored(dac: Dac, tmp_path: Path, begin: str) -> None:
    main = 'if __name__ == "__main__":\n'
    chosen = f'{main}    import multiprocessing\n    multiprocessing.set_start_method("{begin}")\n'
    file = program(tmp_path, "pool", quoted("pool.py").replace(main, chosen))
    ran = run(dac, file, OASIS_NODE_NAME=f"pool-{begin}")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, f"{sum(n * n for n in range(60))}\n", "")
    until_received(dac, f"pool-{begin}", "work", 60)


def test_tasks_of_asyncio_and_threads_share_the_node_of_their_process(dac: Dac, tmp_path: Path) -> None:
    file = program(
        tmp_path,
        "shared",
        """
        import asyncio, concurrent.futures, oasis

        def measure(turn):
            assert oasis.watch("work", turn=turn)

        async def task(turn):
            await asyncio.sleep(0)
            measure(turn)
            await asyncio.to_thread(measure, turn)

        async def main():
            await asyncio.gather(*map(task, range(50)))

        asyncio.run(main())
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(measure, range(100)))
        """,
    )
    ran = run(dac, file)
    assert (ran.returncode, ran.stderr) == (0, "")
    until_received(dac, "shared", "work", 200)
    assert set(received(dac, "shared", "work")) == {"shared"}


def test_a_process_of_joblib_is_a_node(dac: Dac, tmp_path: Path) -> None:
    needs("joblib")
    file = program(
        tmp_path,
        "joined",
        """
        import joblib, oasis

        def work(number):
            return oasis.watch("work", number=number)

        if __name__ == "__main__":
            assert all(joblib.Parallel(3)(joblib.delayed(work)(number) for number in range(60)))
        """,
    )
    ran = run(dac, file, OASIS_NODE_NAME="joined")
    assert ran.returncode == 0, ran.stderr
    until_received(dac, "joined", "work", 60)


@pytest.mark.parametrize("more", [(), ("--max-tasks-per-child", "5")], ids=["prefork", "replaced"])
def test_each_task_of_celery_is_stored(dac: Dac, tmp_path: Path, more: tuple[str, ...]) -> None:
    needs("celery")
    write(tmp_path, "tasks.py")
    with (tmp_path / "tasks.py").open("a") as file:
        file.write(
            'app.conf.broker_transport_options = {"data_folder_in": "queue", "data_folder_out": "queue"}\n'
        )
    (tmp_path / "queue").mkdir()
    name = f"celery-{len(more)}"
    variables = {"BROKER": "filesystem://", "OASIS_NODE_NAME": name}
    send = [sys.executable, "-c", "import tasks\nfor number in range(60): tasks.work.delay(number)"]
    subprocess.run(send, env=environment(dac, **variables), cwd=tmp_path, check=True, timeout=HANGS)
    worker = subprocess.Popen(
        [sys.executable, "-m", "celery", "-A", "tasks", "worker", "--concurrency", "3", *more],
        env=environment(dac, **variables),
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until_received(dac, name, "work", 60)
    finally:
        worker.terminate()
        worker.wait(timeout=HANGS)


def test_a_child_that_leaves_without_exit_handlers_delivers_before(dac: Dac, tmp_path: Path) -> None:
    ran = run(dac, "-W", "ignore::DeprecationWarning", write(tmp_path, "child.py"))
    assert (ran.returncode, ran.stderr) == (0, "")
    until_received(dac, "child", "work", 2)
    assert len(received(dac, "child", "work")) == 2


def test_a_cell_that_runs_again_makes_another_run_of_its_node(dac: Dac, tmp_path: Path) -> None:
    (tmp_path / "cells.py").write_text(
        f"cell = {quoted('cell.py').replace('127.0.0.1:7071', dac.channel)!r}\nnames = {{}}\nfor _ in range(3):\n    exec(cell, names)\n"
    )
    ran = run(dac, str(tmp_path / "cells.py"))
    assert (ran.returncode, ran.stderr) == (0, "")
    until_received(dac, "notebook", "motor", 3)


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGHUP])
def test_a_program_that_a_signal_ends_delivers_its_last_samples(
    dac: Dac, tmp_path: Path, ending: signal.Signals
) -> None:
    name = f"ended-by-{ending.name}"
    file = program(
        tmp_path,
        name,
        f"""
        import os, signal, oasis
        signal.signal({ending.value}, signal.SIG_DFL)
        assert all([oasis.watch("work", turn=turn) for turn in range(100)])
        os.kill(os.getpid(), {ending.value})
        signal.pause()
        """,
    )
    ran = run(dac, file)
    assert (ran.returncode, ran.stderr) == (-ending, "")
    until_received(dac, name, "work", 100)


def test_sigterm_is_left_to_a_program_that_handles_it(dac: Dac, tmp_path: Path) -> None:
    file = program(
        tmp_path,
        "handling",
        """
        import os, signal, sys, oasis
        assert oasis.watch("work", turn=1)
        def end(*_):
            assert oasis.watch("work", turn=2)
            sys.exit(3)
        signal.signal(signal.SIGTERM, end)
        os.kill(os.getpid(), signal.SIGTERM)
        signal.pause()
        """,
    )
    ran = run(dac, file)
    assert (ran.returncode, ran.stderr) == (3, "")
    until_received(dac, "handling", "work", 2)


def test_a_process_that_a_thread_has_forked_ends_with_that_thread(dac: Dac, tmp_path: Path) -> None:
    file = program(
        tmp_path,
        "threaded",
        """
        import os, threading, oasis

        def fork():
            child = os.fork()
            assert oasis.watch("work", turn=2)
            if child:
                assert os.waitpid(child, 0)[1] == 0

        assert oasis.watch("work", turn=1)
        thread = threading.Thread(target=fork)
        thread.start()
        thread.join()
        """,
    )
    ran = run(dac, "-W", "ignore::DeprecationWarning", file)
    assert (ran.returncode, ran.stderr) == (0, "")
    until_received(dac, "threaded", "work", 3)
    assert len(received(dac, "threaded", "work")) == 2


def test_logging_twice_says_everything_once_in_each_process(dac: Dac, tmp_path: Path) -> None:
    file = program(
        tmp_path,
        "loud",
        """
        import os, oasis, oasis.node
        oasis.node.log()
        oasis.node.log("debug")
        oasis.watch("work", turn=1)
        if os.fork() == 0:
            oasis.node.log()
            oasis.watch("work", turn=2)
            oasis.node.shutdown()
            os._exit(0)
        assert os.wait()[1] == 0
        """,
    )
    # No DAC listens there.
    ran = run(dac, "-W", "ignore::DeprecationWarning", file, OASIS_DAC="127.0.0.1:1")
    assert ran.returncode == 0, ran.stderr
    said = [line for line in ran.stderr.splitlines() if "cannot connect" in line]
    assert (len(said), ran.stderr.count("DEBUG")) == (2, 0), ran.stderr


def test_all_workers_are_seen_as_one(tmp_path: Path) -> None:
    (commands,) = [block for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) if "oasis sql" in block]
    write(tmp_path, "app.py")
    with (tmp_path / "app.py").open("a") as file:
        file.write(
            "for _ in range(3):\n    if os.fork() == 0:\n"
            '        app({"PATH_INFO": "/"}, lambda *_: None)\n        break\n'
            "else:\n    assert [os.wait()[1] for _ in range(3)] == [0, 0, 0]\n"
        )
    with dac_of("--archive", str(tmp_path / "archive")) as archived:
        ran = run(archived, "-W", "ignore", str(tmp_path / "app.py"), OASIS_NODE_NAME="web")
        assert ran.returncode == 0, ran.stderr
        until_received(archived, "web", "requests", 3)
        tail, sql = commands.replace("http://127.0.0.1:7070", archived.http).splitlines()
        lines = command(archived, f"{tail} --from-earliest --count 3").splitlines()
        assert len({line.split("/requests")[0].split()[-1] for line in lines}) == 3, lines
        counted = command(archived, sql)
        assert re.search(r"^\W*3\W*$", counted, re.MULTILINE), counted


def command(dac: Dac, line: str) -> str:
    """Run `oasis …` of the page and return what it prints."""
    ran = subprocess.run(
        [OASIS, *shlex.split(line)[1:]],
        env=environment(dac, OASIS_URL=dac.http),
        capture_output=True,
        text=True,
        timeout=HANGS,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
