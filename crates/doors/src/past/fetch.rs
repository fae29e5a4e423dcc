//! Reads a bounded part of the past on a thread that may block.

use super::{Fetcher, Item, NextStep, PastPart, Source};
use oasis_handler::InstanceLog;
use oasis_history::{self as history, Reader, Start};
use oasis_store::ReadError;
use std::sync::Arc;

/// Bytes of batches fetched at once.
pub(super) const FETCH: usize = 256 * 1024;

impl Fetcher {
    /// Fetches the next part. Waits for disks, and for other readers of the archive.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub async fn fetch(&self, source: Source) -> Result<PastPart, ReadError> {
        if self.instance.is_relayed() {
            return self.fetch_relayed(source).await;
        }
        self.fetch_here(source).await
    }

    /// Fetches the next part from archive and log.
    pub(super) async fn fetch_here(&self, source: Source) -> Result<PastPart, ReadError> {
        match source {
            Source::Start(start) => self.read(Box::new(self.reader(start))).await,
            Source::Here(here) => self.go_on_here(here).await,
            Source::Reader(reader) => self.read(reader).await,
            Source::Points(from, most) => self.fetch_points(from, most).await,
            Source::Upstream(answer) => self.go_on(answer).await,
        }
    }

    fn reader(&self, start: Start) -> Reader {
        self.reader_of_archive(start).with_log(self.log())
    }

    /// A reader of what is stored, without the log.
    pub(super) fn reader_of_archive(&self, start: Start) -> Reader {
        let instance = &self.instance;
        let reader = Reader::new(&instance.node, &instance.name, start)
            .with_archive(self.archived.history())
            .until(self.until);
        if self.has_type { reader.with_type(instance.probe_type.clone()) } else { reader }
    }

    pub(super) fn log(&self) -> Arc<InstanceLog> {
        Arc::new(InstanceLog(self.instance.clone()))
    }

    async fn read(&self, mut reader: Box<Reader>) -> Result<PastPart, ReadError> {
        loop {
            let work = move || {
                let read = reader.read_archive(FETCH)?;
                Ok((reader, read))
            };
            let (back, read) = self.archived.read(work).await?;
            reader = back;
            let then = match read.then {
                history::NextStep::Flush => {
                    self.archived.flush().await;
                    continue;
                }
                history::NextStep::More => NextStep::Past(Source::Reader(reader)),
                history::NextStep::Log { at, is_missing } => NextStep::Log { at, is_missing },
                history::NextStep::TimeEnd | history::NextStep::ArchiveEnd => NextStep::Over,
            };
            let items = read.pieces.into_iter().map(|(piece, after)| (Item::HistoryPart(piece), after));
            return Ok(PastPart { begin: read.begin, items: items.collect(), then });
        }
    }
}
