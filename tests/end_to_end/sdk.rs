//! Programs in C and C++ with a node of their own (`sdk/python/tests` has the one in Python).

use crate::harness::{Oasis, assert_explained, causes, eventually, instance, ledger, oasis};
use std::{
    env, fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::LazyLock,
};
use tempfile::TempDir;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folder of the static library, which a test run does not build by itself.
static LIBRARY: LazyLock<PathBuf> = LazyLock::new(|| {
    let profile = Path::new(env!("CARGO_BIN_EXE_oasis")).parent().unwrap();
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet", "--locked", "--package", "oasis-c-abi", "--target-dir"]);
    finish(build.arg(profile.parent().unwrap()).current_dir(repository()));
    profile.to_owned()
});

fn finish(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{said}", output.status);
}

/// A compiler with every warning an error, the headers and the library.
fn compile(compiler: &str, standard: &str, folder: &Path, source: &str) -> PathBuf {
    let program = folder.join("program");
    let strict = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"];
    let mut command = Command::new(compiler);
    command.arg(standard).args(strict).arg("-I").arg(folder).current_dir(repository());
    command.args(["-I", "sdk/c/include", "-I", "sdk/cpp/include", source]);
    command.arg(LIBRARY.join("liboasis.a")).args(["-pthread", "-ldl", "-lm", "-o"]).arg(&program);
    finish(&mut command);
    program
}

fn generate(folder: &Path, pdl: &str) {
    let mut command = oasis();
    command.args(["pdl", "compile", "--lang", "cpp", "-o"]).arg(folder).arg(pdl).current_dir(repository());
    finish(&mut command);
}

/// A program that ends with the test.
struct Program(Child);

impl Program {
    fn start(program: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        Self(command.spawn().unwrap())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_control_loop_in_cpp_is_on_the_page_and_loses_nothing() {
    let folder = TempDir::new().unwrap();
    generate(folder.path(), "examples/control-loop/loop.pdl");
    let program = compile("c++", "-std=c++17", folder.path(), "examples/control-loop/cpp/control_loop.cpp");
    let dac = Oasis::dac(&[]);
    let _program = Program::start(&program, &[dac.channel()]);
    let ledger = ledger(&dac, "machine-cpp", "control loop", "samples", |ledger| {
        ledger["received"].as_u64() > Some(20)
    });
    assert_eq!(ledger["missing"], 0, "{ledger:#}");
    let instance = instance(&dac, "machine-cpp", "control loop").unwrap();
    assert_eq!(instance["latest"]["metrics"]["axes"][1]["name"], "elevation", "{instance:#}");
}

#[test]
fn native_batches_in_cpp_are_those_of_the_vectors() {
    let folder = TempDir::new().unwrap();
    generate(folder.path(), "vectors/shapes.pdl");
    let vectors = fs::read_to_string(repository().join("vectors/shapes.json")).unwrap();
    let vectors: serde_json::Value = serde_json::from_str(&vectors).unwrap();
    let checks: String = vectors["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| {
            let texts = ["name", "row", "batch"].map(|key| case[key].to_string()).join(", ");
            format!("check_batch<{}>({texts});\n", case["probe"].as_str().unwrap())
        })
        .collect();
    fs::write(folder.path().join("shapes_batches.inc"), checks).unwrap();
    finish(&mut Command::new(compile("c++", "-std=c++17", folder.path(), "sdk/cpp/tests/batch.cpp")));
}

#[test]
fn a_node_in_c_is_refused_what_it_cannot_have_and_sends_what_it_has() {
    let folder = TempDir::new().unwrap();
    let program = compile("cc", "-std=c11", folder.path(), "sdk/c/tests/abi.c");
    let dac = Oasis::dac(&[]);
    let mut running = Program::start(&program, &[dac.channel()]);
    let mut line = String::new();
    BufReader::new(running.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "flushed\n");
    let pushed = ledger(&dac, "c", "pushed", "ten samples", |ledger| ledger["received"] == 10);
    assert_explained(&pushed);
    assert!(causes(&pushed).is_empty());
    ledger(&dac, "c", "periodic", "samples", |ledger| ledger["received"].as_u64() > Some(3));
    running.0.stdin.take().unwrap().write_all(b"\n").unwrap();
    let status = eventually("the program ends", || running.0.try_wait().unwrap());
    assert!(status.success(), "{status}");
}
