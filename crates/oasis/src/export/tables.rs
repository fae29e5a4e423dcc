//! Tables of several probe types: a file for each, in a folder.

use super::{Span, samples_of, summary, write};
use crate::target::Target;
use anyhow::{Context, bail};
use oasis_format::{
    Format, WriteOptions,
    table::{Names, table_name},
};
use oasis_store::History;
use std::{
    fs,
    path::{MAIN_SEPARATOR, Path},
};

/// Whether the path is a folder: an existing one, or a path that ends with a slash.
pub fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.to_str().is_some_and(|path| path.ends_with(MAIN_SEPARATOR))
}

/// Writes a file for each type with samples in the time span, with the name of its SQL table.
///
/// # Errors
/// If the archive cannot be read, a file cannot be written, or there are no samples in the time span.
pub fn write_each(
    history: &History,
    targets: &[Target],
    span: Span,
    (format, options): (&'static Format, &WriteOptions),
    folder: &Path,
) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
    let times = span.from..span.to.unwrap_or(u64::MAX);
    let mut names = Names::new(std::iter::empty());
    let mut files = 0;
    for probe_type in history.types()? {
        let name = names.unique(&table_name(&probe_type.name));
        let mut of_type = Vec::new();
        for target in targets {
            if history.types_between(&target.node, &target.instance, &times)?.contains(&probe_type) {
                of_type.push(target.clone());
            }
        }
        if of_type.is_empty() {
            continue;
        }
        files += 1;
        let path = folder.join(format!("{name}.{}", format.extension));
        let samples = (samples_of(format)?, options);
        let written = write(history, &of_type, span, samples, Some(&path), Some(&probe_type))?;
        eprintln!("{}: {}", path.display(), summary(written.unwrap_or_default(), &of_type));
    }
    if files == 0 { bail!("nothing is stored of that time") } else { Ok(()) }
}
