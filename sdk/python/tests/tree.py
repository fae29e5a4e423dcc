"""A program whose processes all measure: how they begin, whether threads measure too, and whether they are a pool.

It prints a line for each process: the node, and how many samples it was given and took.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import threading
from collections import Counter

import oasis

CHILDREN = 3
TASKS = 30
SAMPLES = 20

Measured = tuple[int, int, int]
"""The process, and how many samples it was given and took."""


def measure(samples: int) -> Measured:
    return os.getpid(), samples, sum(oasis.watch("work", turn=turn) for turn in range(samples))


def measure_into(results: multiprocessing.SimpleQueue[Measured], samples: int) -> None:
    results.put(measure(samples))


def in_pool(begin: str) -> list[Measured]:
    multiprocessing.set_start_method(begin)
    with multiprocessing.Pool(CHILDREN) as pool:
        return pool.map(measure, [SAMPLES] * TASKS, chunksize=1)


def in_processes(begin: str) -> list[Measured]:
    multiprocessing.set_start_method(begin)
    results: multiprocessing.SimpleQueue[Measured] = multiprocessing.SimpleQueue()
    children = [
        multiprocessing.Process(target=measure_into, args=(results, SAMPLES)) for _ in range(CHILDREN)
    ]
    for child in children:
        child.start()
    measured = [results.get() for _ in children]
    for child in children:
        child.join()
        assert child.exitcode == 0, child.exitcode
    return measured


def in_forks() -> list[Measured]:
    measured = []
    for _ in range(CHILDREN):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writing, json.dumps(measure(SAMPLES)).encode())
            # Through the exit handlers.
            sys.exit(0)
        os.close(writing)
        with open(reading, "rb") as answer:
            process, given, taken = json.loads(answer.read())
            measured.append((process, given, taken))
        assert os.waitpid(child, 0)[1] == 0
    return measured


def main(begin: str, has_threads: bool, has_pool: bool) -> None:
    is_over = threading.Event()
    measured: list[Measured] = [measure(SAMPLES)]

    def measure_meanwhile() -> None:
        while not is_over.wait(timeout=0.001):
            measured.append(measure(1))

    threads = [threading.Thread(target=measure_meanwhile) for _ in range(3 * has_threads)]
    for thread in threads:
        thread.start()
    if begin == "os.fork":
        measured += in_forks()
    else:
        measured += in_pool(begin) if has_pool else in_processes(begin)
    measured.append(measure(SAMPLES))
    is_over.set()
    for thread in threads:
        thread.join()
    given, taken = Counter[int](), Counter[int]()
    for process, samples, room in measured:
        given[process] += samples
        taken[process] += room
    for process in given:
        node = "tree" if process == os.getpid() else f"tree-{process}"
        print(json.dumps([node, given[process], taken[process]]))


if __name__ == "__main__":
    main(sys.argv[1], "threads" in sys.argv, "pool" in sys.argv)
