//! For build scripts: PDL files in, code in `OUT_DIR` out.

use oasis_pdl::{Disk, Loader, compile};
use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process,
};

/// Compiles the files to `OUT_DIR/probes.rs`. What is wrong with them ends the build, explained as `oasis pdl check` would.
pub fn rust(files: &[&str]) {
    let paths: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
    let report = compile(&paths, &[], &Watched);
    if !report.is_ok() {
        eprintln!("{}", report.render(false));
        process::exit(1);
    }
    let names: Vec<_> =
        paths.iter().filter_map(|path| path.file_name()).map(|name| name.to_string_lossy()).collect();
    let code = crate::rust::generate(&report.model, &names.join(", "));
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("probes.rs");
    if let Err(error) = fs::write(&out, code) {
        eprintln!("cannot write {}: {error}", out.display());
        process::exit(1);
    }
}

/// Has cargo build again when a file changes that was read, an included one too.
struct Watched;

impl Loader for Watched {
    fn load(&self, path: &Path) -> io::Result<String> {
        let text = Disk.load(path)?;
        println!("cargo:rerun-if-changed={}", path.display());
        Ok(text)
    }
}
