//! Files that are replaced as a whole: layouts of the page, and files of rules.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::Path,
};

/// Replaces a file. A reader of the directory sees the old text or the new one, never half of one, also after a power cut.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    let unfinished = path.with_extension("tmp");
    let mut file = File::create(&unfinished)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&unfinished, path)?;
    sync_names(path)
}

/// Removes a file for good.
pub fn remove(path: &Path) -> io::Result<()> {
    fs::remove_file(path)?;
    sync_names(path)
}

/// Syncs the names in the directory of a file.
fn sync_names(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |directory| File::open(directory)?.sync_all())
}
