"""Runs make targets and prints what each took: `python3 .ci/gate.py [--partial] [--beside TARGET ...] TARGET ... [then ...]`.

Targets run one after another. Those of `--beside` run at the same time in a lane of their own, whose output appears target by
target. A stage ends with both lanes; `then` begins the next one. With `--partial` the targets that `partial_checks.py` knows
run only if what they depend on has changed. A lane ends with its first target that fails, and no stage begins after that. The
processor time is that of all processes that a target waited for. The last lines of targets that failed stand once more at the end.
"""

import argparse
import collections
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import partial_checks

# Lines of a failed target that stand once more at the end: a few failed tests with their messages.
LAST_LINES = 80
READ_TIMEOUT_SECONDS = 10


@dataclass(frozen=True)
class Phase:
    """A target that has run."""

    name: str
    wall_seconds: float
    processor_seconds: float
    passed: bool
    last_lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Stage:
    """Targets of two lanes that run at the same time."""

    targets: list[str]
    beside: list[str]


def run_target(name: str, show: Callable[[str], object]) -> Phase:
    """Runs `make NAME`, and shows each line of its output."""
    started = time.monotonic()
    command = ["make", "--no-print-directory", name]
    pipe = subprocess.PIPE
    child = subprocess.Popen(
        command, cwd=partial_checks.ROOT, stdin=subprocess.DEVNULL, stdout=pipe, stderr=subprocess.STDOUT, errors="replace"
    )
    assert child.stdout is not None
    output, last_lines = child.stdout, collections.deque[str](maxlen=LAST_LINES)

    def read() -> None:
        with output:
            for line in output:
                show(line)
                last_lines.append(line)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    # A process that outlives the target may hold its output open.
    reader.join(timeout=READ_TIMEOUT_SECONDS)
    seconds = time.monotonic() - started
    return Phase(name, seconds, used.ru_utime + used.ru_stime, child.returncode == 0, tuple(last_lines))


def run_captured(name: str) -> Phase:
    """Runs a target, and prints its output when it has ended."""
    with tempfile.TemporaryFile("w+") as output:
        phase = run_target(name, output.write)
        output.seek(0)
        text = output.read()
    print(f"== make {name}, beside\n{text}", end="", flush=True)
    return phase


def run_shown(name: str) -> Phase:
    """Runs a target in the foreground."""
    print(f"== make {name}", flush=True)
    return run_target(name, lambda line: print(line, end="", flush=True))


def run_lane(targets: list[str], shown: bool) -> list[Phase]:
    """Runs targets one after another, up to the first that fails."""
    phases: list[Phase] = []
    for name in targets:
        phases.append(run_shown(name) if shown else run_captured(name))
        if not phases[-1].passed:
            break
    return phases


def table(phases: list[Phase], wall_seconds: float) -> str:
    """The phases with their times, and a line for all."""
    total = Phase("all", wall_seconds, sum(phase.processor_seconds for phase in phases), all(p.passed for p in phases))
    width = max(len(phase.name) for phase in [*phases, total])
    lines = [f"{'phase':<{width}}  {'wall':>8}  {'processor':>9}"]
    for phase in [*phases, total]:
        failed = "" if phase.passed else "  FAILED"
        lines.append(f"{phase.name:<{width}}  {phase.wall_seconds:>6.0f} s  {phase.processor_seconds:>7.0f} s{failed}")
    return "\n".join(lines)


def endings(phases: list[Phase]) -> str:
    """The last lines of targets that failed."""
    failed = (phase for phase in phases if not phase.passed)
    return "".join(f"\n== make {phase.name} failed, its last lines:\n{''.join(phase.last_lines)}" for phase in failed)


def leave_out(stages: list[Stage]) -> list[Stage]:
    """The stages without the partial checks that need not run; says of each whether it runs, and why."""
    commit = partial_checks.last_green()
    choice = partial_checks.choose(partial_checks.changed_files(commit))
    print("\n".join(partial_checks.report(choice, commit)), flush=True)

    def needed(targets: list[str]) -> list[str]:
        return [name for name in targets if name not in choice or choice[name]]

    return [Stage(needed(stage.targets), needed(stage.beside)) for stage in stages]


def run_stage(stage: Stage) -> list[Phase]:
    """Runs the two lanes of a stage."""
    with ThreadPoolExecutor(max_workers=1) as executor:
        beside = executor.submit(run_lane, stage.beside, False)
        return run_lane(stage.targets, True) + beside.result()


def run_stages(stages: list[Stage]) -> list[Phase]:
    """Runs stages one after another, up to the first in which a target fails."""
    phases: list[Phase] = []
    for stage in stages:
        phases += run_stage(stage)
        if not all(phase.passed for phase in phases):
            break
    return phases


def parse_stages(words: list[str]) -> list[Stage]:
    """The stages of the command line, from the words that follow the options for all."""
    parser = argparse.ArgumentParser(prog="stage", add_help=False)
    parser.add_argument("--beside", action="append", default=[])
    parser.add_argument("targets", nargs="+")
    stages = []
    while words:
        end = words.index("then") if "then" in words else len(words)
        parsed = parser.parse_args(words[:end])
        stages.append(Stage(parsed.targets, parsed.beside))
        words = words[end + 1 :]
    return stages


def main() -> int:
    """Returns the exit status."""
    usage = "%(prog)s [--partial] [--beside TARGET ...] TARGET ... [then ...]"
    parser = argparse.ArgumentParser(usage=usage, description="Runs make targets and prints what each took.")
    parser.add_argument("--partial", action="store_true", help="leave out checks whose folders have not changed")
    arguments, words = parser.parse_known_args()
    stages = parse_stages(words)
    if not stages:
        parser.error("name a target")
    # Each target starts a make of its own: flags of the make above do not apply to it.
    for variable in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
        os.environ.pop(variable, None)
    if arguments.partial:
        stages = leave_out(stages)
    started = time.monotonic()
    phases = run_stages(stages)
    print(f"{endings(phases)}\n{table(phases, time.monotonic() - started)}", flush=True)
    return 0 if all(phase.passed for phase in phases) else 1


if __name__ == "__main__":
    sys.exit(main())
