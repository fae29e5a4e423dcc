//! For build scripts: compiles PDL files to code in `OUT_DIR`.

use oasis_pdl::{Disk, Loader, compile};
use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process,
};

/// Returns the PDL files of a folder, without its subfolders, sorted by name. Cargo builds again when the folder gets or loses a file.
/// An unreadable folder ends the build.
pub fn pdl_files(folder: &str) -> Vec<PathBuf> {
    println!("cargo:rerun-if-changed={folder}");
    let entries = fs::read_dir(folder).and_then(|entries| entries.collect::<io::Result<Vec<_>>>());
    let mut files: Vec<_> = match entries {
        Ok(entries) => entries.into_iter().map(|entry| entry.path()).collect(),
        Err(error) => fail(&format!("cannot read {folder}: {error}")),
    };
    files.retain(|path| path.extension().is_some_and(|extension| extension == "pdl"));
    files.sort();
    files
}

/// Compiles the files to `OUT_DIR/probes.rs`. An error in a file ends the build with the diagnostics of `oasis pdl check`.
pub fn rust(files: &[impl AsRef<Path>]) {
    let paths: Vec<PathBuf> = files.iter().map(|file| file.as_ref().to_owned()).collect();
    let report = compile(&paths, &[], &WatchedFiles);
    if !report.is_ok() {
        fail(&report.render(false));
    }
    let names: Vec<_> =
        paths.iter().filter_map(|path| path.file_name()).map(|name| name.to_string_lossy()).collect();
    let code = crate::rust::generate(&report.model, &names.join(", "));
    write("probes.rs", &code);
}

/// Writes a file to `OUT_DIR`. An error ends the build.
pub fn write(name: &str, text: &str) {
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join(name);
    if let Err(error) = fs::write(&out, text) {
        fail(&format!("cannot write {}: {error}", out.display()));
    }
}

fn fail(message: &str) -> ! {
    eprintln!("{message}");
    process::exit(1);
}

/// Makes cargo build again when a file changes, an included file too.
struct WatchedFiles;

impl Loader for WatchedFiles {
    fn load(&self, path: &Path) -> io::Result<String> {
        let text = Disk.load(path)?;
        println!("cargo:rerun-if-changed={}", path.display());
        Ok(text)
    }
}
