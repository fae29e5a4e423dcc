"""Records a test run with a real DAC and node, and executes the notebook beside this file on it (`make notebook`).

python run.py OASIS            check that the notebook runs
python run.py OASIS --write    and keep what it shows
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parent / "intervals-and-load.ipynb"
BURSTS = 6
WORKERS = 4


def post(url: str, body: dict[str, Any] | None = None) -> Any:
    """Send a document and fetch the answer."""
    request = urllib.request.Request(url, json.dumps(body or {}).encode(), method="POST")  # noqa: S310
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
        return json.load(answer)


def burst(seconds: float) -> None:
    """Keep the processors busy for a while."""
    busy = (
        "import time\nend = time.monotonic() + %f\nwhile time.monotonic() < end: sum(range(1000))" % seconds
    )
    workers = [subprocess.Popen([sys.executable, "-c", busy]) for _ in range(WORKERS)]  # noqa: S603
    for worker in workers:
        worker.wait()


def main(oasis: str, *options: str) -> None:
    """Record, then execute."""
    with tempfile.TemporaryDirectory() as archive:
        probes = ["--probe", "processor@100", "--probe", "memory@100", "--probe", "scheduling@100"]
        addresses = ["--listen", "127.0.0.1:0", "--channel-listen", "127.0.0.1:0"]
        up = subprocess.Popen(  # noqa: S603
            [oasis, "up", "--name", "plant", *probes, *addresses, "--archive", archive, "--ready-json"],
            stdout=subprocess.PIPE,
        )
        try:
            assert up.stdout is not None  # noqa: S101
            url = json.loads(up.stdout.readline())["http"]
            run = post(f"{url}/api/v1/test-runs", {"name": "load in bursts"})
            for _ in range(BURSTS):
                time.sleep(1.5)
                burst(1.0)
            post(f"{url}/api/v1/test-runs/{run['id']}/stop")
            os.environ["OASIS_URL"] = url
            notebook = nbformat.read(NOTEBOOK, as_version=4)
            NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
            if "--write" in options:
                # Removes metadata about the execution.
                for cell in notebook.cells:
                    cell.metadata.pop("execution", None)
                notebook.metadata = nbformat.from_dict({"language_info": {"name": "python"}})
                nbformat.write(notebook, NOTEBOOK)
        finally:
            up.terminate()
            up.communicate(timeout=30)


main(*sys.argv[1:])
