"""Runs make targets one after another, and prints what each took: `python3 .ci/gate.py [--partial] TARGET ...`.

With `--partial` the targets that `partial_checks.py` knows run only if what they depend on has changed. Ends with the first
target that fails, after the table. The processor time is that of all processes that the target waited for.
"""

import argparse
import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass

import partial_checks


@dataclass(frozen=True)
class Phase:
    """A target that has run."""

    name: str
    wall_seconds: float
    processor_seconds: float
    passed: bool


def run_target(name: str) -> Phase:
    """Runs `make NAME`."""
    print(f"== make {name}", flush=True)
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    status = subprocess.run(["make", "--no-print-directory", name], cwd=partial_checks.ROOT, check=False).returncode
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Phase(name, time.monotonic() - started, used, status == 0)


def table(phases: list[Phase]) -> str:
    """The phases with their times, and a line for all."""
    total = Phase(
        "all",
        sum(phase.wall_seconds for phase in phases),
        sum(phase.processor_seconds for phase in phases),
        all(phase.passed for phase in phases),
    )
    width = max(len(phase.name) for phase in [*phases, total])
    lines = [f"{'phase':<{width}}  {'wall':>8}  {'processor':>9}"]
    for phase in [*phases, total]:
        failed = "" if phase.passed else "  FAILED"
        lines.append(f"{phase.name:<{width}}  {phase.wall_seconds:>6.0f} s  {phase.processor_seconds:>7.0f} s{failed}")
    return "\n".join(lines)


def select(targets: list[str], partial: bool) -> list[str]:
    """The targets that run; says of each partial check whether it runs, and why."""
    if not partial:
        return targets
    commit = partial_checks.last_green()
    choice = partial_checks.choose(partial_checks.changed_files(commit))
    print("\n".join(partial_checks.report(choice, commit)), flush=True)
    return [name for name in targets if name not in choice or choice[name]]


def main() -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--partial", action="store_true", help="leave out checks whose folders have not changed")
    parser.add_argument("targets", nargs="+", metavar="TARGET")
    arguments = parser.parse_args()
    # What this program's own make wants of its children is not for the targets.
    for variable in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
        os.environ.pop(variable, None)
    phases: list[Phase] = []
    for name in select(arguments.targets, arguments.partial):
        phases.append(run_target(name))
        if not phases[-1].passed:
            break
    print(f"\n{table(phases)}", flush=True)
    return 0 if phases and phases[-1].passed else 1


if __name__ == "__main__":
    sys.exit(main())
