//! Programs that the workspace's build makes, or that the tests build with the compilers of this machine.

use super::oasis;
use std::{
    env,
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// Returns the root of all paths.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns a program or library that the build of the whole workspace makes, beside `oasis`.
pub fn built(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_oasis")).with_file_name(name);
    assert!(path.exists(), "no {}: make build-tests", path.display());
    path
}

/// Runs to its end, which must be a good one.
pub fn finish(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{said}", output.status);
}

/// A compiler with every warning an error, the headers and the library.
pub fn compile(compiler: &str, standard: &str, folder: &Path, source: &str) -> PathBuf {
    compile_with(compiler, standard, folder, source, &[])
}

/// As [`compile`], with more arguments, such as another library's.
pub fn compile_with(compiler: &str, standard: &str, folder: &Path, source: &str, more: &[String]) -> PathBuf {
    let program = folder.join("program");
    let strict = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"];
    let mut command = Command::new(compiler);
    command.arg(standard).args(strict).args(sanitizers()).arg("-I").arg(folder).current_dir(repository());
    command.args(["-I", "sdk/c/include", "-I", "sdk/cpp/include", source]);
    command.args(more).args(library()).args(["-pthread", "-ldl", "-lm", "-o"]).arg(&program);
    finish(&mut command);
    program
}

/// Compiler flags of the sanitizers of `make check-native`. A finding ends the program, and so fails the test.
fn sanitizers() -> Vec<String> {
    let Ok(wanted) = env::var("OASIS_SANITIZE") else { return Vec::new() };
    vec!["-g1".into(), format!("-fsanitize={wanted}"), "-fno-sanitize-recover=all".into()]
}

/// Returns the flags that link the library. The thread sanitizer does not see what orders the threads of the node, which
/// are not C++. It ignores another module with the option `ignore_noninstrumented_modules`.
fn library() -> Vec<String> {
    if env::var("OASIS_SANITIZE").is_ok_and(|wanted| wanted == "thread") {
        let shared = built("liboasis.so");
        let folder = shared.parent().unwrap().display();
        vec![format!("-L{folder}"), "-loasis".into(), format!("-Wl,-rpath,{folder}")]
    } else {
        vec![built("liboasis.a").display().to_string()]
    }
}

/// Returns the compiler flags of an installed library; `None` where it is not installed, which is reported.
pub fn installed(library: &str, debian_package: &str) -> Option<Vec<String>> {
    let found = Command::new("pkg-config").args(["--cflags", "--libs", library]).output();
    let Some(found) = found.ok().filter(|found| found.status.success()) else {
        skip(&format!("pkg-config knows no {library}"), debian_package);
        return None;
    };
    Some(String::from_utf8_lossy(&found.stdout).split_whitespace().map(str::to_owned).collect())
}

/// Whether there is such a program; where there is none, that is said.
pub fn has_program(program: &str, debian_package: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found {
        skip(&format!("there is no {program}"), debian_package);
    }
    found
}

/// Says why a test does nothing; not by a macro, whose words are kept back for tests that fail.
fn skip(why: &str, debian_package: &str) {
    let _ = writeln!(io::stderr(), "SKIPPED: {why}: install {debian_package}, or run `make cpp`");
}

/// Code of a PDL file.
pub fn generate(language: &str, folder: &Path, pdl: &str) {
    let mut command = oasis();
    command.args(["pdl", "compile", "--lang", language, "-o"]).arg(folder).arg(pdl).current_dir(repository());
    finish(&mut command);
}

/// A program that ends with the test.
pub struct Program(pub Child);

impl Program {
    pub fn start(program: &Path, arguments: &[&str]) -> Self {
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
