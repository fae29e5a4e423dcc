//! Samples stored here of an instance that is relayed now, from a time when its node was connected to this DAC. No upstream has them.

use super::{Fetcher, Item, NextStep, PastPart, Source, fetch::FETCH};
use oasis_dac::PastStart;
use oasis_history::{self as history, HistoryPart, Reader, Start};
use oasis_store::ReadError;
use oasis_wire::{
    batch::Header,
    quantity::{PortablePosition, Position},
};

/// A position in the archive of this DAC. After its end, the upstream continues.
#[derive(Debug)]
pub struct Here {
    reader: Box<Reader>,
    /// The next sample that the reader wants, here and at any DAC.
    next: (Option<Position>, PortablePosition),
    /// Whether samples were found.
    has_begun: bool,
}

impl Here {
    /// Counts pieces as read.
    fn take(&mut self, pieces: &[(HistoryPart, Position)]) {
        self.has_begun |= !pieces.is_empty();
        for (piece, after) in pieces {
            self.next.0 = Some(*after);
            let HistoryPart::Samples(batch) = piece else { continue };
            let Ok(header) = Header::parse(&batch.bytes) else { continue };
            let read = batch.wanted.end.0.saturating_sub(batch.offsets.start.0);
            let sequence = header.first_sequence.saturating_add(read);
            self.next.1 = PortablePosition { run: batch.series.run, sequence };
        }
    }
}

impl Fetcher {
    /// Returns the first part from a position on.
    pub(super) async fn start_here(
        &self,
        at: Option<Position>,
        portable: PortablePosition,
    ) -> Result<PastPart, ReadError> {
        self.archived.flush().await;
        let reader = Box::new(self.reader_of_archive(Start::Resumed(at, portable)));
        self.go_on_here(Box::new(Here { reader, next: (at, portable), has_begun: false })).await
    }

    /// Returns the next part, or the first one of the upstream.
    pub(super) async fn go_on_here(&self, mut here: Box<Here>) -> Result<PastPart, ReadError> {
        let work = move || {
            let read = here.reader.read_archive(FETCH)?;
            Ok((here, read))
        };
        let (mut here, read) = self.archived.read(work).await?;
        here.take(&read.pieces);
        let then = match read.then {
            history::NextStep::More => NextStep::Past(Source::Here(here)),
            history::NextStep::TimeEnd => NextStep::Over,
            history::NextStep::Log { .. } | history::NextStep::Flush | history::NextStep::ArchiveEnd => {
                let (log, _) = self.log_here().await;
                let (at, portable) = here.next;
                let mut answer =
                    Box::new(self.query_upstream(PastStart::Resumed(at, portable), None, log)?);
                if !here.has_begun {
                    return self.go_on(answer).await;
                }
                answer.follows = true;
                NextStep::Past(Source::Upstream(answer))
            }
        };
        let items = read.pieces.into_iter().map(|(piece, after)| (Item::HistoryPart(piece), after)).collect();
        Ok(PastPart { begin: read.begin, items, then })
    }
}
