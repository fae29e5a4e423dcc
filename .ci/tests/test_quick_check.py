"""Tests of the choice of quick checks."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import quick_check

FOLDERS = {"crates/dac/": "oasis-dac", "crates/handlers/rules/": "oasis-rules-handler", "crates/rules/": "oasis-rules"}


class QuickCheck(unittest.TestCase):
    def programs(self, changed: list[str]) -> list[str]:
        return [" ".join(command) for command in quick_check.commands_for(changed, FOLDERS)]

    def test_a_file_belongs_to_the_innermost_crate(self) -> None:
        changed = ["crates/dac/src/lib.rs", "crates/handlers/rules/src/lib.rs", "README.md"]
        self.assertEqual(quick_check.crates_of(changed, FOLDERS), ["oasis-dac", "oasis-rules-handler"])

    def test_a_change_in_a_crate_lints_and_tests_it_and_compiles_its_dependents(self) -> None:
        commands = self.programs(["crates/dac/src/lib.rs"])
        self.assertTrue(any("clippy" in command and "--package oasis-dac" in command for command in commands))
        self.assertTrue(any("check --locked --workspace" in command for command in commands))
        self.assertFalse(any("vitest" in command or "lint-python" in command for command in commands))

    def test_a_change_in_the_page_checks_it_alone(self) -> None:
        commands = self.programs(["web/src/page.tsx"])
        self.assertTrue(any("vitest related" in command for command in commands))
        self.assertFalse(any("cargo" in command for command in commands))

    def test_a_change_of_the_lock_file_checks_every_crate(self) -> None:
        self.assertTrue(any("clippy --all-targets --locked -- -D" in command for command in self.programs(["Cargo.lock"])))

    def test_without_a_change_everything_is_checked(self) -> None:
        commands = self.programs([])
        self.assertIn("npm test", commands)
        self.assertTrue(any("clippy" in command for command in commands))

    def test_the_crates_of_the_workspace_are_found(self) -> None:
        self.assertEqual(quick_check.crate_folders()["crates/dac/"], "oasis-dac")


if __name__ == "__main__":
    unittest.main()
