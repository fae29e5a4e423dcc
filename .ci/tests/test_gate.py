"""Tests of the gate: `python3 -m unittest discover -s .ci/tests`."""

import contextlib
import io
import re
import sys
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import gate
import partial_checks

EVERY_CHECK = {*partial_checks.PARTIAL_CHECKS, *partial_checks.UNRELATED}


class PartialChecks(unittest.TestCase):
    def running(self, changed: list[str] | None) -> set[str]:
        return {check for check, reason in partial_checks.choose(changed).items() if reason}

    def test_every_check_runs_if_the_last_green_commit_is_not_known(self) -> None:
        self.assertEqual(self.running(None), EVERY_CHECK)
        self.assertIsNone(partial_checks.changed_files(None))
        self.assertIsNone(partial_checks.changed_files("0" * 40))

    def test_no_check_runs_if_nothing_changed(self) -> None:
        self.assertEqual(self.running([]), set())

    def test_a_change_runs_the_checks_of_its_folder(self) -> None:
        self.assertEqual(self.running(["web/src/page.tsx"]), {"test-browser"})
        self.assertEqual(self.running(["crates/rules/src/lib.rs"]), {"test-oracles", "test-browser"})
        self.assertEqual(self.running(["crates/wire/src/unit/names.rs"]) & {"test-oracles"}, {"test-oracles"})
        self.assertEqual(self.running(["lab/src/main.rs"]), {"test-lab", "test-faults"})
        for name in [f"crates/{crate}/src/lib.rs" for crate in ["doors", "http", "probe", "websocket", "wire"]]:
            self.assertIn("test-lab", self.running([name]), name)
        self.assertEqual(self.running(["docs/evidence/papers/mueller-3.14.svg"]), {"test-lab"})

    def test_a_folder_with_a_longer_name_is_another_folder(self) -> None:
        self.assertEqual(self.running(["crates/lsp/src/lib.rs"]), set())

    def test_a_change_that_no_browser_can_show_runs_no_browser(self) -> None:
        changed = ["docs/guides/use-dds.md", "crates/lsp/src/lib.rs", "crates/dac/tests/integration/main.rs"]
        self.assertNotIn("test-browser", self.running(changed))
        for name in ["docs/reference/page.md", "crates/dac/src/lib.rs", "sdk/typescript/src/index.ts", "pdl/process.pdl"]:
            self.assertIn("test-browser", self.running([*changed, name]), name)

    def test_a_change_of_the_makefile_runs_every_check(self) -> None:
        self.assertEqual(self.running(["Makefile"]) | {"test-browser"}, EVERY_CHECK)

    def test_other_dependencies_run_the_checks_of_clients_and_the_browser(self) -> None:
        locks = ["Cargo.lock", "lab/Cargo.lock", "tests/oracles/Cargo.lock"]
        self.assertEqual(self.running(locks), {"test-nats", "test-dds", "test-browser"})

    def test_each_folder_exists(self) -> None:
        for check, folders in [*partial_checks.PARTIAL_CHECKS.items(), *partial_checks.UNRELATED.items()]:
            for folder in folders:
                found = list(partial_checks.ROOT.glob(folder.rstrip("/") + "*"))
                self.assertTrue(found, f"{check}: {folder} does not exist")

    def test_each_check_is_a_target_of_make(self) -> None:
        makefile = (partial_checks.ROOT / "Makefile").read_text()
        for check in EVERY_CHECK:
            self.assertTrue(re.search(rf"(?m)^{check}:", makefile), f"make {check} does not exist")

    def test_the_report_names_what_is_left_out(self) -> None:
        lines = partial_checks.report({"test-go": None, "test-java": "sdk/java/pom.xml changed"}, "0123456789abcdef")
        self.assertEqual(lines[0], "test-go: left out, its files are as in 0123456789ab")
        self.assertEqual(lines[1], "test-java: runs, sdk/java/pom.xml changed")


class Table(unittest.TestCase):
    def test_the_table_has_a_line_for_each_phase_and_one_for_all(self) -> None:
        phases = [gate.Phase("test-web", 12.4, 20.1, True), gate.Phase("test-go", 3.2, 1.0, False)]
        lines = gate.table(phases, 13.0).splitlines()
        self.assertEqual(lines[1].split(), ["test-web", "12", "s", "20", "s"])
        self.assertEqual(lines[2].split(), ["test-go", "3", "s", "1", "s", "FAILED"])
        self.assertEqual(lines[3].split(), ["all", "13", "s", "21", "s", "FAILED"])


class Lanes(unittest.TestCase):
    def lane(self, results: dict[str, bool]) -> list[gate.Phase]:
        def run(name: str) -> gate.Phase:
            return gate.Phase(name, 0.0, 0.0, results[name])

        with mock.patch.object(gate, "run_shown", run):
            return gate.run_lane(list(results), True)

    def test_a_lane_ends_with_the_first_target_that_fails(self) -> None:
        phases = self.lane({"first": True, "second": False, "third": True})
        self.assertEqual([phase.name for phase in phases], ["first", "second"])

    def test_the_gate_fails_if_a_target_beside_fails(self) -> None:
        def run(targets: list[str], shown: bool) -> list[gate.Phase]:
            return [gate.Phase(name, 0.0, 0.0, shown) for name in targets]

        with (
            mock.patch.object(gate, "run_lane", run),
            mock.patch.object(sys, "argv", ["gate.py", "--beside", "tools", "check-docs"]),
            contextlib.redirect_stdout(io.StringIO()) as printed,
        ):
            self.assertEqual(gate.main(), 1)
        self.assertIn("FAILED", printed.getvalue())

    def test_the_command_line_has_stages(self) -> None:
        stages = gate.parse_stages(["--beside", "tools", "build", "then", "test", "--beside", "wait", "then", "last"])
        self.assertEqual(
            stages,
            [gate.Stage(["build"], ["tools"]), gate.Stage(["test"], ["wait"]), gate.Stage(["last"], [])],
        )

    def test_a_gate_without_targets_is_an_error(self) -> None:
        with (
            mock.patch.object(sys, "argv", ["gate.py", "--partial"]),
            contextlib.redirect_stderr(io.StringIO()),
            self.assertRaises(SystemExit) as ended,
        ):
            gate.main()
        self.assertEqual(ended.exception.code, 2)

    def test_no_stage_begins_after_a_failure(self) -> None:
        def run(targets: list[str], _shown: bool) -> list[gate.Phase]:
            return [gate.Phase(name, 0.0, 0.0, name != "broken") for name in targets]

        stages = [gate.Stage(["first"], ["broken"]), gate.Stage(["second"], [])]
        with mock.patch.object(gate, "run_lane", run):
            self.assertEqual([phase.name for phase in gate.run_stages(stages)], ["first", "broken"])

    def test_partial_checks_are_left_out_of_both_lanes(self) -> None:
        stages = [gate.Stage(["test-go", "test-rust"], ["test-java", "test-python"])]
        choice = {"test-go": None, "test-java": None}
        with (
            mock.patch.object(partial_checks, "choose", lambda _changed: choice),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            self.assertEqual(gate.leave_out(stages), [gate.Stage(["test-rust"], ["test-python"])])

    def test_a_target_reports_the_time_of_its_processes_and_its_last_lines(self) -> None:
        shown: list[str] = []
        phase = gate.run_target("no-such-target", shown.append)
        self.assertFalse(phase.passed)
        self.assertGreaterEqual(phase.wall_seconds, 0.0)
        self.assertIn("no-such-target", "".join(phase.last_lines))
        self.assertEqual("".join(shown), "".join(phase.last_lines))

    def test_the_last_lines_of_what_failed_stand_at_the_end(self) -> None:
        phases = [gate.Phase("test-web", 1.0, 1.0, True, ("fine\n",)), gate.Phase("test-go", 1.0, 1.0, False, ("panic\n",))]
        self.assertEqual(gate.endings(phases), "\n== make test-go failed, its last lines:\npanic\n")


if __name__ == "__main__":
    unittest.main()
