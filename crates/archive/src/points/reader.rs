//! Points from what is stored.

use super::{Arrival, Place, Points};
use crate::{
    catalogue::Extent,
    index::Entry,
    store::{ReadError, Store},
};
use std::io;

/// Batches read at once.
const READ: usize = 4_096;

impl Store {
    /// Takes into `points` what is stored of an instance behind what was taken before.
    ///
    /// # Errors
    /// If catalogue or files cannot be read.
    pub fn add_points(&self, node: &str, instance: &str, points: &mut Points) -> Result<(), ReadError> {
        for extent in self.extents(node, instance, points.segment)? {
            let all = extent.as_one();
            if points.has_passed(&all) {
                continue;
            }
            points.segment = extent.segment;
            if points.looks_at(points.place, &all) {
                self.add_extent(&extent, points)?;
            } else {
                points.pass(&all);
            }
        }
        Ok(())
    }

    fn add_extent(&self, extent: &Extent, points: &mut Points) -> Result<(), ReadError> {
        let all = extent.as_one();
        let seen = points.place.filter(|_| points.is_within(&all)).map_or(extent.first, |place| place.next);
        let entries = match self.entries(extent, |entry| entry.end() > seen, usize::MAX) {
            // Retention was faster.
            Err(ReadError::Io(error)) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            other => other?,
        };
        for some in entries.chunks(READ) {
            self.add_entries(extent, some, points)?;
        }
        // What the catalogue lists and the file has not is lost.
        if !points.has_passed(&all) {
            points.lose(&all, "damaged");
        }
        Ok(())
    }

    fn add_entries(&self, extent: &Extent, entries: &[Entry], points: &mut Points) -> Result<(), ReadError> {
        let mut place = points.place;
        let mut is_read = Vec::with_capacity(entries.len());
        for entry in entries {
            let arrival = extent.arrival(entry);
            is_read.push(points.looks_at(place, &arrival));
            place = Some(Place::behind(&arrival));
        }
        let read = entries.iter().zip(&is_read).filter(|(_, is_read)| **is_read);
        let read: Vec<_> = read.map(|(entry, _)| *entry).collect();
        let mut batches = self.batches(extent.segment, &read)?.into_iter();
        for (entry, is_read) in entries.iter().zip(is_read) {
            let arrival = extent.arrival(entry);
            if is_read {
                let batch = batches.next().flatten();
                let series = &extent.series;
                points.add(&arrival, batch.as_deref(), |at| {
                    let known = self.gap_at(&series.node, &series.instance, series.epoch, at);
                    known.ok().flatten().map_or("archive_retention", |gap| gap.cause.word())
                });
            } else {
                points.pass(&arrival);
            }
        }
        Ok(())
    }
}

impl Extent {
    /// All of it, as if it were one batch without a hole.
    fn as_one(&self) -> Arrival<'_> {
        Arrival {
            epoch: self.series.epoch,
            run: self.series.run,
            probe_type: &self.series.probe_type,
            first: self.first,
            times: (self.min_time, self.max_time),
            count: self.end.0.saturating_sub(self.first.0),
            last_sequence: self.last_sequence,
        }
    }

    fn arrival(&self, entry: &Entry) -> Arrival<'_> {
        Arrival {
            first: entry.first,
            times: (entry.min_time, entry.max_time),
            count: entry.count.into(),
            last_sequence: entry.last_sequence,
            ..self.as_one()
        }
    }
}
