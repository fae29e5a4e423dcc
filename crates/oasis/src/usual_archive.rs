//! The folder in which `oasis up` keeps its archive, and where other commands look for it, if no folder is named.

use std::{env, path::PathBuf};

/// `archive` in `$STATE_DIRECTORY`, else `oasis/archive` in `$XDG_DATA_HOME` or `~/.local/share`; none without a home.
pub fn usual_archive() -> Option<PathBuf> {
    let variable = |name: &str| {
        let value = env::var(name).ok()?.split(':').next().map(PathBuf::from);
        value.filter(|path| path.is_absolute())
    };
    let of_system = variable("STATE_DIRECTORY").map(|state| state.join("archive"));
    let data = || variable("XDG_DATA_HOME").or_else(|| Some(variable("HOME")?.join(".local/share")));
    of_system.or_else(|| Some(data()?.join("oasis/archive")))
}
