//! The page is part of the binary, compressed: most browsers take it so. It has to be built first.

use flate2::{Compression, write::GzEncoder};
use std::{
    env,
    fmt::Write as _,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

const BUILT: &str = "../../web/dist";

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed={BUILT}");
    if !Path::new(BUILT).join("index.html").exists() {
        println!("cargo:error=the page is not built: run `make page` first (it fills web/dist)");
        return Ok(());
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
    // Files of an earlier build have other names.
    if out.join("page").exists() {
        fs::remove_dir_all(out.join("page"))?;
    }
    let mut paths = Vec::new();
    compress(Path::new(BUILT), &out.join("page"), "", &mut paths)?;
    paths.sort();
    fs::write(out.join("page_files.rs"), table(&paths))
}

/// Writes the files of a folder, compressed, under their own names. Adds their paths.
fn compress(from: &Path, to: &Path, below: &str, paths: &mut Vec<String>) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name().into_string().map_err(|_| io::ErrorKind::InvalidFilename)?;
        let (to, path) = (to.join(&name), format!("{below}{name}"));
        if entry.file_type()?.is_dir() {
            compress(&entry.path(), &to, &format!("{path}/"), paths)?;
        } else {
            let mut encoder = GzEncoder::new(File::create(to)?, Compression::best());
            io::copy(&mut File::open(entry.path())?, &mut encoder)?;
            encoder.finish()?;
            paths.push(path);
        }
    }
    Ok(())
}

/// The source of an array of all files, in order of their paths.
fn table(paths: &[String]) -> String {
    let mut table = String::from("&[\n");
    for path in paths {
        let media = mime_guess::from_path(path).first_or_octet_stream();
        let file = format!("include_bytes!(concat!(env!(\"OUT_DIR\"), \"/page/\", {path:?}))");
        // Writing to a string cannot fail.
        let _ = writeln!(
            table,
            "PageFile {{ path: {path:?}, media: {:?}, compressed: {file} }},",
            media.as_ref()
        );
    }
    table + "]\n"
}
