//! The C++ compiler of this machine, as strict as it can be.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

const STRICT: [&str; 7] =
    ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"];
const SANITIZED: [&str; 3] = ["-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

/// Compiles in a folder of its own.
pub struct Compiler {
    folder: PathBuf,
}

impl Compiler {
    pub fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cpp").join(name);
        fs::create_dir_all(&folder).unwrap();
        Self { folder }
    }

    /// Puts a file where it can be included.
    pub fn file(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// Where such a file is.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Compiles a file, to no end but to see that nothing is wrong with it.
    pub fn check(&self, source: &Path) {
        self.compile(&["-fsyntax-only"], source);
    }

    /// Compiles a file and runs it.
    pub fn run(&self, source: &Path) {
        let program = self.path("test");
        let output = format!("-o{}", program.display());
        let arguments: Vec<&str> = SANITIZED.into_iter().chain([output.as_str()]).collect();
        self.compile(&arguments, source);
        finish(&mut Command::new(program));
    }

    fn compile(&self, arguments: &[&str], source: &Path) {
        let compiler = env::var_os("CXX").unwrap_or_else(|| "c++".into());
        let mut command = Command::new(compiler);
        command.args(STRICT).args(arguments).arg("-I").arg(sdk().join("include"));
        finish(command.arg("-I").arg(&self.folder).arg(source));
    }
}

/// A test of the headers.
pub fn test(name: &str) -> PathBuf {
    sdk().join("tests").join(name)
}

fn sdk() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdk/cpp")
}

fn finish(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{said}", output.status);
}
