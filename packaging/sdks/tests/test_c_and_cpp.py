"""The archive for C and C++: with pkg-config and with CMake, linked statically and not."""

from __future__ import annotations

import platform
import re
import shutil
from pathlib import Path

import pytest
from conftest import DIST, ROOT, Dac, Workplace
from pages import block


def libraries(program: Path, workplace: Workplace) -> list[str]:
    """List the shared libraries that a program needs."""
    return re.findall(r"\(NEEDED\).*\[(.*)\]", workplace.run(f"readelf --dynamic {program}"))


@pytest.fixture(name="project", params=["c", "cpp"])
def a_project(request: pytest.FixtureRequest, workplace: Workplace, dac: Dac) -> tuple[str, str]:
    """Write the files of a page; return its commands that link statically, and those after them that link otherwise."""
    workplace.take(f"oasis-c-*-{platform.machine()}-linux-gnu.tar.gz")
    language = request.param
    page = f"sdk/{language}.md"
    workplace.write("engine.pdl", block(page, "pdl"))
    fence = {"c": "c", "cpp": "c++"}[language]
    source = block(page, fence, "int main(")
    workplace.write(f"machine.{language}", dac.at(source))
    static = block(page, "sh", "--static")
    shared = block("sdk/c.md", "sh", "-Wl,-rpath")
    if language == "cpp":
        shared = shared.replace("cc machine.c", "c++ -std=c++17 machine.cpp")
    exported = next(line for line in static.splitlines() if line.startswith("export"))
    return static, f"{exported}\n{shared}./machine\n"


def test_a_program_has_all_of_oasis_inside(project: tuple[str, str], workplace: Workplace, dac: Dac) -> None:
    static, _ = project
    workplace.run(static)
    needed = libraries(workplace.folder / "machine", workplace)
    assert "libc.so.6" in needed
    assert not [library for library in needed if "oasis" in library]
    dac.until_received("machine", "engine 1")


def test_a_program_finds_the_shared_library(project: tuple[str, str], workplace: Workplace, dac: Dac) -> None:
    static, shared = project
    # Only what unpacks and generates.
    workplace.run("\n".join(line for line in static.splitlines() if not re.match(r"c\S* |\./", line)))
    workplace.run(shared)
    assert "liboasis.so.0.1" in libraries(workplace.folder / "machine", workplace)
    dac.until_received("machine", "engine 1")


@pytest.mark.parametrize("library", ["oasis::oasis_static", "oasis::oasis"])
def test_a_project_of_cmake_finds_the_package_after_it_was_moved(
    library: str, workplace: Workplace, dac: Dac
) -> None:
    archive = workplace.take(f"oasis-c-*-{platform.machine()}-linux-gnu.tar.gz")
    workplace.run(f"tar xf {archive.name}; mkdir moved; mv {archive.name.removesuffix('.tar.gz')} moved")
    workplace.write("engine.pdl", block("sdk/cpp.md", "pdl"))
    workplace.write("machine.cpp", dac.at(block("sdk/cpp.md", "c++", "int main()")))
    lists = block("sdk/cpp.md", "cmake")
    assert "oasis::oasis_static)" in lists
    workplace.write("CMakeLists.txt", lists.replace("oasis::oasis_static", library))
    workplace.run(block("sdk/cpp.md", "sh", "CMAKE_PREFIX_PATH").replace("$PWD/oasis", "$PWD/moved/oasis"))
    dac.until_received("machine", "engine 1")


def test_libraries_run_with_the_glibc_that_the_page_promises(
    workplace: Workplace,
) -> None:
    archive = workplace.take(f"oasis-c-*-{platform.machine()}-linux-gnu.tar.gz")
    symbols = workplace.run(f"tar xf {archive.name}; objdump -T oasis-c-*/lib/liboasis.so")
    versions = {tuple(map(int, text.split("."))) for text in re.findall(r"GLIBC_([\d.]+)", symbols)}
    assert (2, 2, 5) in versions or (2, 17) in versions
    assert max(versions) <= (2, 17)


def for_arm(arch: str, abi: str, processor: str, compiler: str, needs: str) -> object:
    reason = f"make package-c PACKAGE_ARCH={arch}; needs qemu-user-static and {needs}"
    is_missing = not any(DIST.glob(f"oasis-c-*-{arch}-*")) or shutil.which("qemu-arm-static") is None
    return pytest.param(
        arch,
        abi,
        processor,
        compiler,
        id=arch,
        marks=pytest.mark.skipif(is_missing, reason=reason),
    )


COMPILE = "-Iinclude -I. -o machine machine.c lib/liboasis.a"
ZIG = f"{ROOT}/target/venv-package/bin/python-zig cc -target"
ZIG_ARM = f"{ZIG} arm-linux-gnueabihf.2.17 {COMPILE} -lunwind"
MUSL = f"oasis-c-*-{platform.machine()}-linux-musl.tar.gz"


@pytest.mark.skipif(not any(DIST.glob(MUSL)), reason="make package-c PACKAGE_LIBC=musl")
def test_a_program_for_alpine_has_all_of_oasis_inside(workplace: Workplace, dac: Dac) -> None:
    workplace.take(MUSL)
    workplace.write("engine.pdl", block("sdk/c.md", "pdl"))
    workplace.write("machine.c", dac.at(block("sdk/c.md", "c", "int main(")))
    workplace.run(
        "oasis pdl compile --lang c -o . engine.pdl\n"
        "tar xf oasis-c-*.tar.gz --strip-components=1\n"
        f"{ZIG} {platform.machine()}-linux-musl {COMPILE} -lunwind\n"
        "./machine"
    )
    assert libraries(workplace.folder / "machine", workplace) == []
    assert "libc.so" in libraries(workplace.folder / "lib/liboasis.so", workplace)
    dac.until_received("machine", "engine 1")


@pytest.mark.parametrize(
    ("arch", "abi", "processor", "compiler"),
    [
        for_arm(
            "armv5te",
            "gnueabi",
            "arm926",
            f"arm-linux-gnueabi-gcc {COMPILE}",
            "gcc-arm-linux-gnueabi",
        ),
        for_arm("armv7", "gnueabihf", "cortex-a7", ZIG_ARM, "libc6-armhf-cross"),
    ],
)
def test_a_program_for_32_bit_arm_runs_under_qemu(
    workplace: Workplace, dac: Dac, arch: str, abi: str, processor: str, compiler: str
) -> None:
    workplace.take(f"oasis-c-*-{arch}-linux-{abi}.tar.gz")
    workplace.write("engine.pdl", block("sdk/c.md", "pdl"))
    workplace.write("machine.c", dac.at(block("sdk/c.md", "c", "int main(")))
    workplace.run(
        "oasis pdl compile --lang c -o . engine.pdl\n"
        "tar xf oasis-c-*.tar.gz --strip-components=1\n"
        f"{compiler} -lpthread -ldl -lm\n"
        f"qemu-arm-static -cpu {processor} -L /usr/arm-linux-{abi} ./machine"
    )
    dac.until_received("machine", "engine 1")
