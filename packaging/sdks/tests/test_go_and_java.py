"""The module of Go and the jar: the programs of their pages."""

from __future__ import annotations

from conftest import ROOT, Dac, Workplace
from pages import block, commands


def test_the_program_of_the_page_runs_with_the_module_of_go(workplace: Workplace, dac: Dac) -> None:
    workplace.take("oasis-go-*.tar.gz")
    workplace.env["PATH"] = f"{ROOT}/target/venv-go/bin:{workplace.env['PATH']}:/usr/local/go/bin"
    workplace.env["GOPROXY"] = "off"
    workplace.run("\n".join(commands("sdk/go.md", "tar xf")))
    program = dac.at(block("sdk/go.md", "go", "package main")).replace("turn < 6000", "turn < 50")
    workplace.write("motor/main.go", program)
    workplace.run("cd motor && " + " && ".join(commands("sdk/go.md", "go run .")))
    dac.until_received("machine", "motor", 50)


def test_the_example_runs_with_the_jar(workplace: Workplace, dac: Dac) -> None:
    workplace.take("java/oasis-monitor-0.1.0.jar")
    workplace.write("Bench.java", (ROOT / "sdk/java/examples/Bench.java").read_text())
    (command,) = commands("sdk/java.md", "Bench.java")
    running = workplace.start(*command.split(), dac.channel)
    dac.until_received("bench", "engine", 3)
    running.terminate()
    running.communicate()


def test_maven_takes_the_jar_and_its_companions(workplace: Workplace) -> None:
    for kind in ("", "-sources", "-javadoc"):
        workplace.run(f"unzip -tq {workplace.take(f'java/oasis-monitor-0.1.0{kind}.jar').name}")
    workplace.take("java/oasis-monitor-*.pom")
    (command,) = commands("sdk/java.md", "install:install-file")
    workplace.run(f"{command} -Dmaven.repo.local={workplace.folder}/repository --quiet --batch-mode")
    assert (workplace.folder / "repository/oasis/oasis-monitor/0.1.0/oasis-monitor-0.1.0.jar").exists()
