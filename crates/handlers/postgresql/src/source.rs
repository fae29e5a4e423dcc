//! Reads the next samples of an instance: from its topic log, or from the archive if the log has evicted them.

use bytes::Bytes;
use oasis_dac::{Instance, Wake};
use oasis_handler::Stored;
use oasis_store::{Past, Piece, ReadError, Series};
use oasis_wire::quantity::{Nanos, Offset, Position};
use std::{ops::Range, sync::Arc};

/// Segments read from a topic log at once.
const SEGMENTS: usize = 64;
/// Bytes read from the archive at once.
const READ: usize = 1024 * 1024;

/// A position in an instance's samples. While it lives, the log wakes its reader.
#[derive(Debug)]
pub struct Source {
    pub instance: Arc<Instance>,
    place: Place,
    reader: Arc<dyn Wake>,
}

#[derive(Debug)]
enum Place {
    /// Not looked up yet.
    At(Position),
    Past(Box<Past>),
    Log(Offset),
}

/// Result of a read.
#[derive(Debug, Default)]
pub struct Found {
    pub batches: Vec<(Arc<Series>, Bytes, Range<Offset>)>,
    /// Samples that neither log nor archive has any more.
    pub missing: u64,
}

impl Source {
    /// Starts at the position where an earlier run has stopped, or at the oldest sample of the log.
    pub fn new(instance: Arc<Instance>, stopped: Option<Position>, reader: Arc<dyn Wake>) -> Self {
        let place = stopped.map_or_else(|| Place::Log(instance.log.state().first_offset), Place::At);
        instance.log.add_reader(reader.clone());
        Self { instance, place, reader }
    }

    /// Returns the position of the next sample.
    pub fn position(&self) -> Position {
        match &self.place {
            Place::At(at) => *at,
            Place::Past(past) => past.position(),
            Place::Log(offset) => Position { epoch: self.instance.log.epoch(), offset: *offset },
        }
    }

    /// Returns the number of unread samples in the log.
    pub fn behind(&self) -> u64 {
        let at = self.position();
        let log = &self.instance.log;
        let from = if at.epoch == log.epoch() { at.offset } else { log.state().first_offset };
        log.next().0.saturating_sub(from.0)
    }

    /// Returns the time of arrival of the oldest of them, on the DAC's clock.
    pub fn oldest(&self) -> Option<Nanos> {
        let at = self.position();
        let from = if at.epoch == self.instance.log.epoch() { at.offset } else { Offset(0) };
        self.instance.log.read(from, 1).segments.first().map(|segment| segment.arrived())
    }

    /// Returns whether it has read all of a retired topic.
    pub fn is_over(&self) -> bool {
        self.instance.is_retired() && matches!(self.place, Place::Log(at) if at >= self.instance.log.next())
    }

    /// Reads the next samples.
    ///
    /// # Errors
    /// If the archive cannot be read; the position stays.
    pub async fn read(&mut self, archive: Option<&Arc<dyn Stored>>) -> Result<Found, ReadError> {
        let mut found = Found::default();
        if let Place::At(at) = self.place {
            self.place = self.look_up(at, archive).await?;
        }
        if let Place::Past(past) = &mut self.place {
            // The handler's thread may block on the disk: it has no other work.
            let pieces = past.read(READ)?;
            let is_at_its_end = pieces.is_empty();
            pieces.into_iter().for_each(|piece| found.take(piece));
            let (at, log) = (past.position(), &self.instance.log);
            let is_of_this_epoch = at.epoch == log.epoch();
            if is_of_this_epoch && at.offset >= log.state().first_offset {
                self.place = Place::Log(at.offset);
            } else if is_at_its_end {
                // The samples between were not archived.
                let first = log.state().first_offset;
                found.missing += if is_of_this_epoch { first.0 - at.offset.0 } else { first.0 };
                self.place = Place::Log(first);
            }
            return Ok(found);
        }
        if let Place::Log(at) = self.place {
            let read = self.instance.log.read(at, SEGMENTS);
            if let (Some(_), true) = (read.missed, archive.is_some()) {
                let at = Position { epoch: self.instance.log.epoch(), offset: at };
                self.place = self.look_up(at, archive).await?;
                if matches!(self.place, Place::Past(_)) {
                    return Ok(found);
                }
            }
            if let Some((from, to)) = read.missed {
                found.missing += to.0 - from.0;
                self.place = Place::Log(to);
            }
            for segment in &read.segments {
                let wanted = at.max(segment.first_held())..segment.end();
                found.batches.push((
                    Arc::new(oasis_handler::series_of(&self.instance, segment.run())),
                    segment.batch().clone(),
                    wanted,
                ));
                self.place = Place::Log(segment.end());
            }
        }
        Ok(found)
    }

    /// Returns to a position: the samples that were read could not be written.
    pub fn go_back(&mut self, to: Position) {
        self.place = Place::At(to);
    }

    async fn look_up(&self, at: Position, archive: Option<&Arc<dyn Stored>>) -> Result<Place, ReadError> {
        let log = &self.instance.log;
        if at.epoch == log.epoch() && at.offset >= log.state().first_offset {
            return Ok(Place::Log(at.offset));
        }
        if let Some(archive) = archive {
            // A sample that could not be archived cannot be found either.
            archive.flush().await;
            let (node, name) = (&self.instance.node, &self.instance.name);
            if let Some(past) = archive.history().past_at(node, name, at, None)? {
                return Ok(Place::Past(Box::new(past)));
            }
        }
        let is_of_this_epoch = at.epoch == log.epoch();
        Ok(Place::Log(if is_of_this_epoch { at.offset } else { log.state().first_offset }))
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        self.instance.log.remove_reader(&self.reader);
    }
}

impl Found {
    fn take(&mut self, piece: Piece) {
        match piece {
            Piece::Epoch(_) => {}
            Piece::Gap { offsets, .. } => self.missing += offsets.end.0 - offsets.start.0,
            Piece::Samples { series, batch, wanted, .. } => self.batches.push((series, batch, wanted)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_dac::TestDac;
    use oasis_dac::Signal;

    #[test]
    fn a_dropped_source_is_not_woken() {
        let instance = TestDac::new(&["beat"]).dac.registry.find("plant", "beat").unwrap();

        let signal = Arc::new(Signal::default());
        let source = || Source::new(instance.clone(), None, signal.clone());
        let first = source();
        let known = Arc::strong_count(&signal);
        assert!(known > 1, "the log knows whom to wake");
        drop(first);
        assert_eq!(Arc::strong_count(&signal), 1);
        // After any number of reconnections.
        let _last = (0..10).fold(source(), |before, _| {
            drop(before);
            source()
        });
        assert_eq!(Arc::strong_count(&signal), known);
    }
}
