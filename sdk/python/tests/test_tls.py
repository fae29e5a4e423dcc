"""Documents by HTTPS, from a DAC with a certificate of a small CA."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from dac import OASIS, dac

from oasis.door import Door


def test_a_dac_with_a_certificate_is_read_if_its_ca_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ca = [OASIS, "ca", "--ca-dir", str(tmp_path)]
    subprocess.run([*ca, "init"], check=True)
    subprocess.run([*ca, "issue", "server", "127.0.0.1"], check=True)
    certificate, key = (str(tmp_path / f"server-127.0.0.1.{end}") for end in ("pem", "key"))
    monkeypatch.delenv("OASIS_CA", raising=False)
    with dac("--tls-certificate", certificate, "--tls-key", key) as running:
        assert running.http.startswith("https://")
        with pytest.raises(OSError, match="CERTIFICATE_VERIFY_FAILED"):
            Door(running.http).get("/api/v1/nodes")
        monkeypatch.setenv("OASIS_CA", str(tmp_path / "ca.pem"))
        assert Door(running.http).get("/api/v1/nodes")["nodes"] == []
