"""Computes Welch's tests of table 1 of WindComm (Pimentel and Nickerson 2012) with scipy, for the tests of the lab.

    python3 -m venv scipy && scipy/bin/pip install scipy==1.17.1
    scipy/bin/python lab/tests/welch/reference.py > lab/tests/welch/windcomm.json
"""

import json
import pathlib
import tomllib

from scipy.stats import ttest_ind_from_stats

DECLARATION = pathlib.Path(__file__).parents[2] / "src/experiments/windcomm/experiment.toml"
PAIRS = [("websocket", "longpoll"), ("websocket", "poll"), ("longpoll", "poll")]
READINGS = 1200


def printed(facts, measure):
    """Returns the numbers of the table by city and test."""
    table = [fact for fact in facts if fact["measure"] == measure and fact["place"].startswith("Table 1, ")]
    return {(fact["where"]["LINK"], fact["where"]["TEST"]): fact["paper"] for fact in table if "against" not in fact}


def main():
    facts = tomllib.loads(DECLARATION.read_text())["fact"]
    means, deviations = printed(facts, "latency_mean_ms"), printed(facts, "latency_sd_ms")
    rows = []
    for (city, test), mean in means.items():
        deviation = deviations[city, test]
        for one, other in PAIRS:
            numbers = [mean[one], deviation[one], READINGS, mean[other], deviation[other], READINGS]
            result = ttest_ind_from_stats(*numbers, equal_var=False)
            alternative = "less" if mean[one] < mean[other] else "greater"
            one_sided = ttest_ind_from_stats(*numbers, equal_var=False, alternative=alternative)
            row = {"city": city, "test": test, "pair": [one, other], "numbers": numbers}
            row |= {"t": result.statistic, "two_sided": result.pvalue, "one_sided": one_sided.pvalue}
            rows.append(row)
    print("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]")


if __name__ == "__main__":
    main()
