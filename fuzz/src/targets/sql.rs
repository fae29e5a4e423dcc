//! Queries of `oasis sql` over a small archive: it is never changed, and no query panics.

use oasis_format::mcap;
use oasis_query::{Rows, Sql};
use oasis_recordings::import::{Import, ImportError};
use oasis_store::{ArchiveConfig, Series};
use oasis_wire::quantity::Epoch;
use rusqlite::types::ValueRef;
use std::{
    io,
    sync::{LazyLock, Mutex, PoisonError},
};
use tempfile::TempDir;

/// Rows of an answer that are read.
const MAX_ROWS: usize = 1_000;

static ARCHIVE: LazyLock<(TempDir, Mutex<Sql>)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    let config =
        ArchiveConfig { directory: folder.path().to_string_lossy().into_owned(), ..ArchiveConfig::default() };
    let mut import = Import::begin(oasis_store::open(config).expect("an empty archive")).expect("an import");
    let recording = include_bytes!("../../seeds/mcap_read/tank-plain");
    mcap::read(io::Cursor::new(&recording[..]), |recorded, batch| {
        let series = Series {
            node: recorded.node.as_deref().unwrap_or("plant").into(),
            instance: recorded.instance.clone(),
            run: recorded.run,
            epoch: Epoch(1),
            kind: recorded.kind,
            probe_type: recorded.probe_type.clone(),
        };
        import.add(&series, batch)
    })
    .map_err(|error: mcap::ReadError<ImportError>| error.to_string())
    .expect("a recording");
    import.finish().expect("an archive");
    let sql = Sql::open(folder.path()).expect("an archive");
    (folder, Mutex::new(sql))
});

pub fn run(input: &[u8]) {
    let Ok(query) = str::from_utf8(input) else { return };
    // Such a query may compute without end, which the user ends with Ctrl-C.
    if query.to_ascii_lowercase().contains("recursive") {
        return;
    }
    let sql = ARCHIVE.1.lock().unwrap_or_else(PoisonError::into_inner);
    if let Err(error) = sql.query(query, &mut Count(0)) {
        assert!(!error.to_string().is_empty());
    }
}

struct Count(usize);

impl Rows for Count {
    fn begin(&mut self, _: &[String]) -> io::Result<()> {
        Ok(())
    }

    fn row(&mut self, _: &[ValueRef<'_>]) -> io::Result<()> {
        self.0 += 1;
        if self.0 < MAX_ROWS { Ok(()) } else { Err(io::ErrorKind::Other.into()) }
    }
}
