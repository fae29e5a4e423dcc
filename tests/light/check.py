#!/usr/bin/env python3
"""Checks the program as `make run` builds it, without the features of a site: page, sample, and what it refuses.

    tests/light/check.py OASIS

OASIS is the binary.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

TIMEOUT_SECONDS = 60
# The bytes that each MCAP file begins with.
MCAP_MAGIC = b"\x89MCAP0\r\n"
POLL_INTERVAL_SECONDS = 0.05
ADDRESSES = ["--listen", "127.0.0.1:0", "--channel-listen", "127.0.0.1:0"]
# Settings that need a feature: section and name of the feature, as the error has them.
SETTINGS = {
    '[access.oidc]\nissuer = "https://id.example.org"\nclient_id = "oasis"\n': ("[access.oidc]", "oidc"),
    "[influxdb]\nenabled = true\n": ("[influxdb]", "influxdb"),
    "[otlp]\nenabled = true\n": ("[otlp]", "otlp"),
    "[prometheus]\nenabled = true\n": ("[prometheus]", "prometheus"),
    "[offload]\nurl = 'file:///tmp/x'\n": ("[offload]", "offload"),
    "[remote_write]\nurl = 'http://127.0.0.1:9'\n": ("[remote_write]", "remote-write"),
    '[postgresql_protocol]\nlisten = "127.0.0.1:1"\n': ("[postgresql_protocol]", "postgresql-protocol"),
    '[mqtt]\nurl = "mqtt://127.0.0.1:1"\n': ("[mqtt]", "mqtt"),
    '[mqtt_publish]\nurl = "mqtt://127.0.0.1:1"\n': ("[mqtt_publish]", "mqtt-publish"),
    '[can]\ninterfaces = ["can0"]\n': ("[can]", "can"),
    '[mavlink]\nlinks = ["udpin:127.0.0.1:0"]\n': ("[mavlink]", "mavlink"),
    '[postgresql]\nurl = "host=127.0.0.1 dbname=plant"\n': ("[postgresql]", "postgresql"),
    '[notify.operators]\nkind = "mail"\nserver = "127.0.0.1"\n': ("[notify.operators]", "mail"),
    "[tem]\nmdns = true\n": ("mdns in [tem]", "mdns"),
    '[nats]\nurl = "nats://127.0.0.1:1"\n': ("[nats]", "nats"),
    "[dds]\npublish = true\n": ("[dds]", "dds"),
}


class Program:
    """The binary, with folders of its own."""

    def __init__(self, binary: Path, folder: Path) -> None:
        self.binary = binary
        self.folder = folder
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("OASIS_")}
        self.environment |= {name: str(folder) for name in ("XDG_STATE_HOME", "XDG_DATA_HOME")}

    def run(self, *arguments: object) -> subprocess.CompletedProcess:
        command = [self.binary, *arguments]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=TIMEOUT_SECONDS)

    def refuses(self, *arguments: object) -> str:
        """Returns the error."""
        done = self.run(*arguments)
        assert done.returncode != 0, f"{arguments} went well: {done.stdout}"
        return done.stderr

    def start(self, *arguments: object) -> subprocess.Popen:
        command = [self.binary, *arguments, "--ready-json"]
        return subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, text=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        program = Program(Path(sys.argv[1]).resolve(), Path(folder))
        version_has_features(program)
        settings_of_missing_features_are_refused(program)
        page_and_samples_are_there(program)
        files_of_missing_features_are_refused(program)
        commands_of_missing_features_are_refused(program)
    print("the program without the features of a site is complete")


def version_has_features(program: Program) -> None:
    lines = program.run("--version").stdout.splitlines()
    assert lines[1:] == ["built without: arrow, mcap, influxdb, lsp, man-pages, oidc, mail, otlp, postgresql, can, mavlink, postgresql-protocol, mqtt, mqtt-publish, prometheus, remote-write, offload, mdns, nats, dds"], lines
    assert program.run("-V").stdout.splitlines() == lines[:1], lines


def settings_of_missing_features_are_refused(program: Program) -> None:
    config = program.folder / "oasis.toml"
    for settings, (section, feature) in SETTINGS.items():
        config.write_text(settings)
        said = program.refuses("dac", *ADDRESSES, "--config", config)
        assert section in said and "built without" in said and f"--features {feature}" in said, said
        found = program.run("doctor", "--config", config).stdout
        assert f"problem  features" in found and f"--features {feature}" in found, found
    said = program.refuses("tem", "--listen", "127.0.0.1:0", "--mdns")
    assert "--mdns" in said and "--features mdns" in said, said
    said = program.refuses("list", "--dacs", "--tem", "mdns:")
    assert "feature mdns" in said, said


def page_and_samples_are_there(program: Program) -> None:
    archive = program.folder / "archive"
    up = program.start("up", *ADDRESSES, "--archive", archive, "--name", "plant", "--probe", "memory@50")
    # A program that hangs must not keep the test.
    killer = threading.Timer(TIMEOUT_SECONDS, up.kill)
    killer.start()
    try:
        url = json.loads(up.stdout.readline())["http"]
        assert "<title>" in get(url + "/")[1]
        assert "provider" not in json.loads(get(url + "/api/v1/session")[1])
        assert get(url + "/sign-in/oidc")[0] == 404
        until_a_sample(url)
        for form, feature in (("parquet", "arrow"), ("mcap", "mcap")):
            status, body = get(f"{url}/api/v1/history.{form}?node=plant&instance=memory")
            assert (status, f"--features {feature}" in body) == (501, True), body
    finally:
        up.terminate()
        up.wait()
        killer.cancel()
    assert up.returncode == 0, up.returncode


def until_a_sample(url: str) -> None:
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while True:
        status, body = get(f"{url}/api/v1/samples?node=plant&instance=memory&last=1")
        if status == 200 and any(message.get("samples") for message in json.loads(body)["messages"]):
            return
        assert time.monotonic() < deadline, f"no sample: {status} {body}"
        time.sleep(POLL_INTERVAL_SECONDS)


def files_of_missing_features_are_refused(program: Program) -> None:
    archive = program.folder / "archive"
    export = ["export", "plant/memory", "--archive", archive, "--format"]
    assert program.run(*export, "csv").stdout.startswith("node,instance,")
    assert "--features arrow" in program.refuses(*export, "parquet", "--output", program.folder / "memory.parquet")
    assert "--features mcap" in program.refuses(*export, "mcap", "--output", program.folder / "memory.mcap")
    recording = program.folder / "drive.mcap"
    recording.write_bytes(MCAP_MAGIC)
    said = program.refuses("import", "--archive", program.folder / "imported", recording)
    assert "--features mcap" in said and not (program.folder / "imported").exists(), said
    rules = program.folder / "plant.rules"
    rules.touch()
    for verb in ("run", "check"):
        assert "--features mcap" in program.refuses("rules", verb, "--mcap", recording, rules)


def commands_of_missing_features_are_refused(program: Program) -> None:
    assert "--features lsp" in program.refuses("pdl", "lsp")
    assert "--features lsp" in program.refuses("rules", "lsp")
    assert "--features man-pages" in program.refuses("man-pages", program.folder / "man1")


def get(url: str) -> tuple[int, str]:
    try:
        with urlopen(url, timeout=TIMEOUT_SECONDS) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as error:
        return error.code, error.read().decode()


if __name__ == "__main__":
    main()
