//! The page and the OpenAPI document are part of the binary, compressed: most clients take them so. The page has to be built first.

use flate2::{Compression, write::GzEncoder};
use std::{
    env,
    fmt::Write as _,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

const BUILT: &str = "../../web/dist";
const DOCUMENT: &str = "../../docs/reference/openapi.json";

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed={BUILT}");
    println!("cargo:rerun-if-changed={DOCUMENT}");
    if !Path::new(BUILT).join("index.html").exists() {
        println!("cargo:error=the page is not built: run `make page` first (it fills web/dist)");
        return Ok(());
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
    let files = out.join("static");
    // Files of an earlier build have other names.
    if files.exists() {
        fs::remove_dir_all(&files)?;
    }
    let mut paths = Vec::new();
    compress_folder(Path::new(BUILT), &files, "", &mut paths)?;
    compress(Path::new(DOCUMENT), &files.join("openapi.json"))?;
    paths.push("openapi.json".into());
    paths.sort();
    fs::write(out.join("static_files.rs"), table(&paths))
}

/// Writes the files of a folder, compressed, under their own names. Adds their paths.
fn compress_folder(from: &Path, to: &Path, below: &str, paths: &mut Vec<String>) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name().into_string().map_err(|_| io::ErrorKind::InvalidFilename)?;
        let (to, path) = (to.join(&name), format!("{below}{name}"));
        if entry.file_type()?.is_dir() {
            compress_folder(&entry.path(), &to, &format!("{path}/"), paths)?;
        } else {
            compress(&entry.path(), &to)?;
            paths.push(path);
        }
    }
    Ok(())
}

fn compress(from: &Path, to: &Path) -> io::Result<()> {
    let mut encoder = GzEncoder::new(File::create(to)?, Compression::best());
    io::copy(&mut File::open(from)?, &mut encoder)?;
    encoder.finish()?;
    Ok(())
}

/// The source of an array of all files, in order of their paths.
fn table(paths: &[String]) -> String {
    let mut table = String::from("&[\n");
    for path in paths {
        let Some(media) = media_type(path) else {
            println!(
                "cargo:error=no media type is known of {path}: name that of its extension in crates/api/build.rs"
            );
            continue;
        };
        let file = format!("include_bytes!(concat!(env!(\"OUT_DIR\"), \"/static/\", {path:?}))");
        // Writing to a string cannot fail.
        let _ = writeln!(table, "StaticFile {{ path: {path:?}, media: {media:?}, compressed: {file} }},");
    }
    table + "]\n"
}

/// The media type of a file of the page, by its extension. Text is UTF-8.
fn media_type(path: &str) -> Option<&'static str> {
    Some(match Path::new(path).extension()?.to_str()? {
        "css" => "text/css",
        "html" => "text/html",
        "js" => "text/javascript",
        "json" => "application/json",
        "md" => "text/markdown",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        "webmanifest" => "application/manifest+json",
        "woff2" => "font/woff2",
        _ => return None,
    })
}
