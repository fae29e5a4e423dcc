"""Evaluates the cases of a file with RTAMT, and compares. A value is true where its robustness is positive."""

import json
import sys
from bisect import bisect_right
from collections import Counter
from multiprocessing import Pool

import rtamt

# Upper bound of the differences that are shown.
MAX_SHOWN_DIFFERENCES = 10


def evaluated(formula: str, signals: dict[str, list[float]], times: list[float] | None) -> list[bool]:
    """The value at each sample: in discrete time, or in dense time with values that last until the next sample."""
    specification = rtamt.StlDenseTimeSpecification() if times else rtamt.StlDiscreteTimeSpecification()
    for name in signals:
        specification.declare_var(name, "float")
    specification.spec = formula
    specification.parse()
    if not times:
        steps = range(len(signals["age"]))
        robustness = specification.evaluate({"time": list(steps), **signals})
        return [value > 0 for _, value in robustness]
    in_time = [[name, list(map(list, zip(times, values, strict=True)))] for name, values in signals.items()]
    changes = specification.evaluate(*in_time)
    starts = [time for time, _ in changes]
    return [changes[bisect_right(starts, time) - 1][1] > 0 for time in times]


def compare(line: str) -> tuple[Counter[str], list[str]]:
    """How many values of a case were compared, and its differences as text."""
    case = json.loads(line)
    compared: Counter[str] = Counter()
    differences = []
    for what, formula, expected in case["comparisons"]:
        values = evaluated(formula, case["signals"], case.get("times"))
        both = [pair for pair in enumerate(zip(expected, values, strict=True)) if pair[1][0] is not None]
        compared.update(f"{what} {str(ours).lower()}" for _, (ours, _) in both)
        wrong = [f"  step {step}: OASIS says {ours}, RTAMT {theirs}" for step, (ours, theirs) in both if ours != theirs]
        if wrong:
            signals = [f"  {name}: {values}" for name, values in case["signals"].items()]
            first = f"case {case['case']}, {what}: {case['rule']}\n  {formula}"
            differences.append("\n".join([first, *signals, *wrong]))
    return compared, differences


def main() -> None:
    compared: Counter[str] = Counter()
    differences = []
    cases = 0
    with open(sys.argv[1], encoding="utf-8") as lines, Pool() as pool:
        for values, wrong in pool.imap(compare, lines, chunksize=20):
            cases += 1
            compared.update(values)
            differences.extend(wrong)
    for difference in differences[:MAX_SHOWN_DIFFERENCES]:
        print(difference)
    values = ", ".join(f"{number} {what}" for what, number in sorted(compared.items()))
    print(f"{cases} cases, {compared.total()} values compared ({values}); {len(differences)} differences")
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()
