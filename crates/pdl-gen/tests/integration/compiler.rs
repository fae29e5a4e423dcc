//! The compilers of this machine, as strict as they can be.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

const STRICT: [&str; 6] = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"];
const SANITIZED: [&str; 3] = ["-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

/// Source language and its compiler: a variable may name the program.
pub struct Language {
    pub variable: &'static str,
    pub program: &'static str,
    pub standard: &'static str,
    pub sdk: &'static str,
}

/// Compiles in a folder of its own.
pub struct Compiler {
    language: Language,
    folder: PathBuf,
}

impl Compiler {
    pub fn new(language: Language, name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(language.standard).join(name);
        fs::create_dir_all(&folder).unwrap();
        Self { language, folder }
    }

    /// Puts a file where it can be included.
    pub fn file(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// Returns the path of such a file.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Compiles a file, to no end but to see that nothing is wrong with it.
    pub fn check(&self, source: &Path) {
        self.compile(&["-fsyntax-only"], source);
    }

    /// As [`Compiler::check`], with more arguments.
    pub fn check_with(&self, arguments: &[&str], source: &Path) {
        self.compile(&[&["-fsyntax-only"], arguments].concat(), source);
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
        let Language { variable, program, standard, sdk } = &self.language;
        let mut command = Command::new(env::var_os(variable).unwrap_or_else(|| program.into()));
        command.arg(format!("-std={standard}")).args(STRICT).args(arguments);
        command.arg("-I").arg(in_sdk(sdk).join("include"));
        finish(command.arg("-I").arg(&self.folder).arg(source));
    }
}

/// A folder of an SDK.
pub fn in_sdk(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdk").join(name)
}

fn finish(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{said}", output.status);
}
