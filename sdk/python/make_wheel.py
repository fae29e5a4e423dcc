"""Makes a wheel of this package from a native library that Cargo has built, and compiles nothing.

    python make_wheel.py LIBRARY FOLDER               with the sources
    python make_wheel.py --editable LIBRARY FOLDER    with a link to the sources, which get the library

Tests install it: `make python`. Releases are built by maturin (packaging/sdks), which reads the same pyproject.toml.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import shutil
import sysconfig
import zipfile
from pathlib import Path
from typing import Any

import tomllib

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "src"
NATIVE = "oasis/_native.abi3.so"


def metadata(project: dict[str, Any]) -> str:
    """Returns what installers read: name, version, the Python and the extras that are needed."""
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Requires-Python: {project['requires-python']}",
    ]
    for extra, needed in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {name}; extra == '{extra}'" for name in needed]
    return "\n".join(lines) + "\n"


def sources() -> dict[str, bytes]:
    """Returns the files of the package by their names in the wheel, without native libraries."""
    files = [path for path in sorted(SOURCES.rglob("*")) if path.suffix in (".py", ".pyi", ".typed")]
    return {str(path.relative_to(SOURCES)): path.read_bytes() for path in files}


def link(library: Path) -> dict[str, bytes]:
    """Puts the library beside the sources, and returns the file that adds them to the path of Python."""
    # Running programs still use the old library.
    new = SOURCES / f"{NATIVE}.new"
    shutil.copyfile(library, new)
    os.replace(new, SOURCES / NATIVE)
    return {"oasis_monitor.pth": f"{SOURCES}\n".encode()}


def write(wheel: Path, files: dict[str, bytes], information: str) -> None:
    """Writes the files, and the list of them with their hashes (PEP 427)."""
    record = f"{information}/RECORD"
    with zipfile.ZipFile(wheel, "w") as archive:
        lines = []
        for name, content in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            lines.append(f"{name},sha256={digest},{len(content)}\n")
            archive.writestr(name, content)
        archive.writestr(record, "".join([*lines, f"{record},,\n"]))


def main() -> None:
    """Makes the wheel, as the only one of its folder."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--editable", action="store_true")
    parser.add_argument("library", type=Path)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    name = f"{project['name'].replace('-', '_')}-{project['version']}"
    # The library uses the stable interface of Python 3.10 (crates/python/Cargo.toml).
    tag = "cp310-abi3-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")
    information = f"{name}.dist-info"
    if arguments.editable:
        files = link(arguments.library)
    else:
        files = sources() | {NATIVE: arguments.library.read_bytes()}
    files[f"{information}/METADATA"] = metadata(project).encode()
    files[f"{information}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: make_wheel\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    )
    shutil.rmtree(arguments.folder, ignore_errors=True)
    arguments.folder.mkdir(parents=True)
    write(arguments.folder / f"{name}-{tag}.whl", files, information)


if __name__ == "__main__":
    main()
