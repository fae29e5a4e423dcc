//! What comes next of an instance: from its topic log, or from the archive where the log holds no more.

use bytes::Bytes;
use oasis_archive::Archive;
use oasis_dac::{Instance, Wake};
use oasis_store::{Past, Piece, ReadError, Series};
use oasis_wire::quantity::{Nanos, Offset, Position};
use std::{ops::Range, sync::Arc};

/// Segments read from a topic log at once.
const SEGMENTS: usize = 64;
/// Bytes read from the archive at once.
const READ: usize = 1024 * 1024;

/// A place in an instance's samples. As long as it lives, the log wakes its reader.
#[derive(Debug)]
pub struct Source {
    pub instance: Arc<Instance>,
    place: Place,
    reader: Arc<dyn Wake>,
}

#[derive(Debug)]
enum Place {
    /// Not looked for yet.
    At(Position),
    Past(Box<Past>),
    Log(Offset),
}

/// What was found.
#[derive(Debug, Default)]
pub struct Found {
    pub batches: Vec<(Arc<Series>, Bytes, Range<Offset>)>,
    /// Samples that are nowhere any more.
    pub missing: u64,
}

impl Source {
    /// From where an earlier life has stopped, or else from the oldest sample that the log holds.
    pub fn new(instance: Arc<Instance>, stopped: Option<Position>, reader: Arc<dyn Wake>) -> Self {
        let place = stopped.map_or_else(|| Place::Log(instance.log.state().first_offset), Place::At);
        instance.log.add_reader(reader.clone());
        Self { instance, place, reader }
    }

    /// The next sample wanted.
    pub fn position(&self) -> Position {
        match &self.place {
            Place::At(at) => *at,
            Place::Past(past) => past.position(),
            Place::Log(offset) => Position { epoch: self.instance.log.epoch(), offset: *offset },
        }
    }

    /// Samples of the log that are not read yet.
    pub fn behind(&self) -> u64 {
        let at = self.position();
        let log = &self.instance.log;
        let from = if at.epoch == log.epoch() { at.offset } else { log.state().first_offset };
        log.next().0.saturating_sub(from.0)
    }

    /// When the oldest of them arrived, on the DAC's clock.
    pub fn oldest(&self) -> Option<Nanos> {
        let at = self.position();
        let from = if at.epoch == self.instance.log.epoch() { at.offset } else { Offset(0) };
        self.instance.log.read(from, 1).segments.first().map(|segment| segment.arrived())
    }

    /// Whether it has read all of a topic that another one has taken the place of.
    pub fn is_over(&self) -> bool {
        self.instance.is_retired() && matches!(self.place, Place::Log(at) if at >= self.instance.log.next())
    }

    /// Reads on.
    ///
    /// # Errors
    /// If the archive cannot be read; the place stays.
    pub async fn read(&mut self, archive: Option<&Arc<Archive>>) -> Result<Found, ReadError> {
        let mut found = Found::default();
        if let Place::At(at) = self.place {
            self.place = self.look_up(at, archive).await?;
        }
        if let Place::Past(past) = &mut self.place {
            // The handler's thread has nothing else to do than to wait for the disk.
            let pieces = past.read(READ)?;
            let is_at_its_end = pieces.is_empty();
            pieces.into_iter().for_each(|piece| found.take(piece));
            let (at, log) = (past.position(), &self.instance.log);
            let is_of_this_epoch = at.epoch == log.epoch();
            if is_of_this_epoch && at.offset >= log.state().first_offset {
                self.place = Place::Log(at.offset);
            } else if is_at_its_end {
                // What lies between was not archived.
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
                    Arc::new(oasis_archive::series_of(&self.instance, segment.run())),
                    segment.batch().clone(),
                    wanted,
                ));
                self.place = Place::Log(segment.end());
            }
        }
        Ok(found)
    }

    /// Goes back: what was read could not be written.
    pub fn go_back(&mut self, to: Position) {
        self.place = Place::At(to);
    }

    async fn look_up(&self, at: Position, archive: Option<&Arc<Archive>>) -> Result<Place, ReadError> {
        let log = &self.instance.log;
        if at.epoch == log.epoch() && at.offset >= log.state().first_offset {
            return Ok(Place::Log(at.offset));
        }
        if let Some(archive) = archive {
            // What it could not store it will not find either.
            let _ = archive.flush().await;
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
    fn a_source_that_is_gone_is_woken_no_more() {
        let instance = TestDac::new(&["beat"]).dac.registry.find("plant", "beat").unwrap();

        let signal = Arc::new(Signal::default());
        let source = || Source::new(instance.clone(), None, signal.clone());
        let first = source();
        let known = Arc::strong_count(&signal);
        assert!(known > 1, "the log knows whom to wake");
        drop(first);
        assert_eq!(Arc::strong_count(&signal), 1);
        // However often the database goes away.
        let _last = (0..10).fold(source(), |before, _| {
            drop(before);
            source()
        });
        assert_eq!(Arc::strong_count(&signal), known);
    }
}
