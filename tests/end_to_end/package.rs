//! The CMake package and the pkg-config file of an installation.

use crate::harness::{Oasis, built, finish, has_program, instance, ledger, repository};
use std::{
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

const NODES: [&str; 4] = ["with_oasis", "with_oasis_static", "with_pkg_config", "with_pkg_config_static"];

fn cmake(arguments: &[&str]) {
    finish(Command::new("cmake").args(arguments).current_dir(repository()));
}

fn define(name: &str, value: &Path) -> String {
    format!("-D{name}={}", value.display())
}

/// Installs the libraries of the workspace's build. Returns the prefix.
fn install(folder: &Path) -> PathBuf {
    let library = built("liboasis.so");
    let (build, prefix) = (folder.join("build"), folder.join("prefix"));
    let library_dir = define("OASIS_LIBRARY_DIR", library.parent().unwrap());
    let program = define("OASIS_PROGRAM", Path::new(env!("CARGO_BIN_EXE_oasis")));
    cmake(&["-S", "sdk/cpp", "-B", build.to_str().unwrap(), &library_dir, &program]);
    cmake(&["--install", build.to_str().unwrap(), "--prefix", prefix.to_str().unwrap()]);
    prefix
}

/// The consumer, built with CMake.
fn consume(folder: &Path, prefix: &Path) -> PathBuf {
    let build = folder.join("consumer");
    let prefix = define("CMAKE_PREFIX_PATH", prefix);
    cmake(&["-S", "sdk/cpp/tests/package", "-B", build.to_str().unwrap(), &prefix]);
    cmake(&["--build", build.to_str().unwrap()]);
    finish(&mut Command::new(build.join("in_c")));
    build
}

/// Builds the consumer without CMake. A program with the shared library gets an rpath to it; a static one needs none.
fn consume_by_pkg_config(build: &Path, prefix: &Path) {
    let where_it_is = format!("-Wl,-rpath,{}", prefix.join("lib").display());
    for (program, linked, found) in
        [("with_pkg_config", None, Some(where_it_is)), ("with_pkg_config_static", Some("--static"), None)]
    {
        let mut flags = Command::new("pkg-config");
        flags.args(["--cflags", "--libs", "oasis"]).args(linked);
        let flags = flags.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")).output().unwrap().stdout;
        let mut compiler = Command::new("c++");
        compiler
            .args(["-std=c++17", "sdk/cpp/tests/package/counter.cpp", "-I"])
            .arg(build.join("with_oasis.pdl"));
        compiler.args(String::from_utf8(flags).unwrap().split_whitespace()).args(found);
        finish(compiler.arg("-o").arg(build.join(program)).current_dir(repository()));
    }
}

#[test]
fn an_installed_package_is_found_and_its_programs_run() {
    if !has_program("cmake", "cmake") || !has_program("pkg-config", "pkg-config") {
        return;
    }
    let folder = TempDir::new().unwrap();
    let prefix = install(folder.path());
    let build = consume(folder.path(), &prefix);
    consume_by_pkg_config(&build, &prefix);
    let dac = Oasis::dac(&[]);
    for name in NODES {
        finish(Command::new(build.join(name)).args([dac.channel(), name]));
        ledger(&dac, name, "counter", "the sample", |ledger| ledger["received"] == 1);
        assert_eq!(instance(&dac, name, "counter").unwrap()["latest"]["metrics"]["count"], 7);
    }
}
