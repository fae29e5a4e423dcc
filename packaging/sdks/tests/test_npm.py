"""The package for npm: in Node, under the compiler of TypeScript, and in a bundle."""

from __future__ import annotations

import json

import pytest
from conftest import Dac, Workplace
from pages import block, commands

TOOLS = "typescript@6.0.3 ws@8.23.0 @types/ws@8.18.2 @types/node@20.19.25 esbuild@0.28.2"


@pytest.fixture(name="project")
def a_project(workplace: Workplace, dac: Dac) -> Workplace:
    """Make a project with the script of the page."""
    workplace.take("oasis-wire-*.tgz")
    workplace.write("package.json", '{"name": "project", "private": true, "type": "module"}')
    workplace.write("live.js", dac.at(block("sdk/typescript.md", "js", "@oasis/wire")))
    return workplace


def test_a_script_reads_live_samples_and_tools_know_the_types(project: Workplace) -> None:
    project.write("engine.pdl", block("sdk/typescript.md", "pdl"))
    for text in ("npm install", "--lang typescript"):
        project.run("\n".join(commands("sdk/typescript.md", text)))
    project.run(f"npm install --silent {TOOLS}")
    check = "npx tsc --noEmit --strict --checkJs --target es2023 --types node"
    # The generated code imports types alone, and says so with the ending of its own file.
    check += " --verbatimModuleSyntax live.js src/engine.ts"
    project.run(f"{check} --module nodenext")
    project.run(f"{check} --module esnext --moduleResolution bundler")

    running = project.start("node", "live.js")
    assert running.stdout is not None
    lines = [running.stdout.readline().split() for _ in range(3)]
    running.kill()
    running.communicate()
    assert {"idle_time", "user_time"} <= {name for name, *_ in lines}, lines
    assert all(float(value) >= 0 for _, value, *_ in lines), lines

    project.write("page.js", "import { parseSchema } from '@oasis/wire';\nconsole.log(typeof parseSchema);\n")
    project.run("npx esbuild page.js --bundle --minify --format=esm --outfile=bundle.mjs --log-level=error")
    assert project.run("node bundle.mjs") == "function\n"
    # Code that the page does not call is left out.
    assert (project.folder / "bundle.mjs").stat().st_size < 10_000


def test_the_manifest_can_be_published(project: Workplace) -> None:
    project.run("npm install --silent ./oasis-wire-*.tgz")
    manifest = json.loads((project.folder / "node_modules/@oasis/wire/package.json").read_text())
    assert "private" not in manifest
    assert "dependencies" not in manifest
    assert {"name", "version", "description", "license", "exports", "engines"} <= set(manifest)
