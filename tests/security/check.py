#!/usr/bin/env python3
"""Attacks a DAC with other people's tools: schemathesis sends unusual requests, sslyze scans its TLS.

    tests/security/check.py OASIS TOOLS [EXAMPLES]

OASIS is the binary, TOOLS the folder with both programs, EXAMPLES the requests for each operation (40).
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

# Streams do not end. Without the feature "arrow" tables are not implemented (501).
LEFT_OUT = "^/api/v1/(samples/(stream|events)|stream.sse|history.(arrow|parquet))$"
# Without a token a request from this host is local, so "ignored_auth" cannot be asked.
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,unsupported_method"


def main() -> int:
    oasis, tools = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    examples = sys.argv[3] if len(sys.argv) > 3 else "40"
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder) / "site"
        environment = {name: value for name, value in os.environ.items() if not name.startswith("OASIS_")}
        environment["XDG_STATE_HOME"] = environment["XDG_DATA_HOME"] = folder
        addresses = ["--listen", "127.0.0.1:0", "--channel-listen", "127.0.0.1:0"]
        run([oasis, "setup", "--directory", site, *addresses, "localhost"], environment)
        config = site / "oasis.toml"
        text = config.read_text().replace("[doors]\n", "[doors]\nrate_limit = 0\nrate_limit_expensive = 0\n")
        config.write_text(text)
        viewer = run([oasis, "token", "create", "viewer", "--role", "viewer", "--access", site / "access"], environment)
        tokens = {"admin": (site / "admin.token").read_text().strip(), "viewer": viewer.strip()}
        up = [oasis, "up", "--config", config, "--name", "plant-7", "--probe", "memory@10", "--ready-json"]
        dac = subprocess.Popen(up, env=environment, stdout=subprocess.PIPE, text=True)
        try:
            url = json.loads(dac.stdout.readline())["http"].replace("127.0.0.1", "localhost")
            failed = [name for name, token in tokens.items() if not schemathesis(tools, url, site, name, token, examples)]
            if not sslyze(tools, url, site):
                failed.append("sslyze")
            if dac.poll() is not None:
                failed.append("the DAC ended")
        finally:
            dac.terminate()
            dac.wait()
    print("failed: " + ", ".join(failed) if failed else "clean")
    return 1 if failed else 0


def run(command, environment) -> str:
    return subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


def schemathesis(tools: Path, url: str, site: Path, name: str, token: str, examples: str) -> bool:
    """Sends requests that the OpenAPI document allows, and others that it does not."""
    print(f"== schemathesis as {name}", flush=True)
    # A file, because arguments are visible to all users of the host.
    config = site / f"{name}.toml"
    config.touch(mode=0o600)
    config.write_text(f'[headers]\nAuthorization = "Bearer {token}"\n')
    command = [
        tools / "st", "--config-file", config, "run", f"{url}/openapi.json", "--tls-verify", site / "ca" / "ca.pem",
        "--checks", CHECKS, "--exclude-path-regex", LEFT_OUT, "--max-examples", examples, "--seed", "1", "--no-shrink",
        "--continue-on-failure", "--phases", "examples,coverage,fuzzing", "--request-timeout", "30", "--warnings", "off",
    ]
    return subprocess.run(command, cwd=site).returncode == 0


def sslyze(tools: Path, url: str, site: Path) -> bool:
    """Scans protocols, cipher suites, curves, the certificate and known holes."""
    print("== sslyze", flush=True)
    target = url.removeprefix("https://")
    command = [tools / "sslyze", "--mozilla_config", "intermediate", "--certinfo_ca_file", site / "ca" / "ca.pem", target]
    return subprocess.run(command).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
