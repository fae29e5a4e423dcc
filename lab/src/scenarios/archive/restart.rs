//! Time until a DAC serves again after `kill -9`, by the size of its archive.

use super::{super::progress, Archive, history, load::bytes_in};
use crate::table::Table;
use std::time::Instant;

/// Times that each is started.
const STARTS: usize = 3;
/// Room that is left to others.
const SPARE: u64 = 10_000_000_000;

impl Archive {
    pub(super) fn restart(&self) -> anyhow::Result<String> {
        let mut table = Table::new(["archive", "files", "ready after (each of 3 starts)", "target"]);
        for &size in &self.sizes {
            let room = rustix::fs::statvfs(&self.folder)?;
            let free = room.f_bavail * room.f_frsize;
            if free < size * 1_000_000_000 + SPARE {
                table.row(vec![
                    format!("{size} GB"),
                    "–".into(),
                    format!("skipped: {free} bytes free"),
                    "2 s".into(),
                ]);
                continue;
            }
            let folder = self.new_folder()?;
            progress(format_args!("an archive of {size} GB: filling"));
            // The DAC is killed as it goes out of scope, with a file that is not sealed.
            drop(history::start(folder.path(), &["bytes".into(), (size * 1_000_000_000).to_string()])?);
            let mut starts = Vec::new();
            for _ in 0..STARTS {
                let began = Instant::now();
                let server = history::start(folder.path(), &[])?;
                starts.push(format!("{:.0} ms", began.elapsed().as_secs_f64() * 1e3));
                drop(server);
            }
            let files = std::fs::read_dir(folder.path())?.count();
            let bytes = bytes_in(folder.path())? as f64 / 1e9;
            table.row(vec![
                format!("{bytes:.1} GB"),
                files.to_string(),
                starts.join(", "),
                "2 s at 10 GB".into(),
            ]);
        }
        Ok(format!(
            "## Restart\n\nTime from the start of the process to its open socket, after `kill -9`: first with a file to recover, then with all files sealed. Roll-ups follow in the background. The files may be in the page cache.\n\n{table}"
        ))
    }
}
