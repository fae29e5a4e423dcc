//! Samples aggregated by time: one cell for each interval.

use super::{cell::Cell, leaves::Leaf, run::Run, schema::Plan};
use oasis_wire::{
    absence::Absence,
    batch::{Batch, BatchError},
    schema::ProbeType,
};
use std::{collections::BTreeMap, mem, ops::Range, sync::Arc};

/// The leaves of a type, each with its index among all leaves.
#[derive(Debug, Clone)]
struct Mapping {
    probe_type: Arc<ProbeType>,
    places: Vec<(Leaf, usize)>,
    absence: Option<Absence>,
}

/// Cells of one width, in order.
#[derive(Debug, Clone)]
pub struct Cells {
    step: u64,
    /// Numbers of the requested cells: a cell begins at its number times the width.
    wanted: Range<u64>,
    leaves: Vec<Leaf>,
    mappings: Vec<Mapping>,
    cells: BTreeMap<u64, Cell>,
    /// Sizes of all cells.
    size: usize,
}

impl Cells {
    /// Cells of `step` nanoseconds, with these numbers.
    pub fn new(step: u64, wanted: Range<u64>) -> Self {
        Self {
            step: step.max(1),
            wanted,
            leaves: Vec::new(),
            mappings: Vec::new(),
            cells: BTreeMap::new(),
            size: 0,
        }
    }

    /// Width of a cell, nanoseconds.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// The requested time span, nanoseconds.
    pub fn span(&self) -> Range<u64> {
        self.wanted.start.saturating_mul(self.step)..self.wanted.end.saturating_mul(self.step)
    }

    /// The leaves of all types so far.
    pub fn leaves(&self) -> &[Leaf] {
        &self.leaves
    }

    /// Cells with samples, in order, with their numbers.
    pub fn cells(&self) -> impl ExactSizeIterator<Item = (u64, &Cell)> + DoubleEndedIterator {
        self.cells.iter().map(|(number, cell)| (*number, cell))
    }

    /// Extends the requested cells up to the one that contains a time.
    pub fn extend_to(&mut self, time: u64) {
        self.wanted.end = self.wanted.end.max((time / self.step).saturating_add(1));
    }

    /// Adds the samples of a batch, without the first `skip`. Calls `make_room` before each cell: one batch can have millions of values, each in a
    /// cell of its own. It may take cells or widen them.
    ///
    /// # Errors
    /// If it does not match its type.
    pub fn add_batch(
        &mut self,
        probe_type: &Arc<ProbeType>,
        bytes: &[u8],
        skip: usize,
        make_room: &mut dyn FnMut(&mut Self),
    ) -> Result<(), BatchError> {
        let batch = Batch::parse(bytes, probe_type)?;
        let mapping = self.mapping(probe_type, || Leaf::all(probe_type));
        let times = batch.times();
        let mut from = skip.min(times.len());
        while let Some(&time) = times.get(from) {
            make_room(self);
            let number = time / self.step;
            let start = number * self.step;
            let to = times[from..].iter().position(|&time| time < start || time - start >= self.step);
            let run = from..to.map_or(times.len(), |to| from + to);
            from = run.end;
            if self.wanted.contains(&number) {
                let Mapping { places, absence, .. } = &self.mappings[mapping];
                let run = Run::new(&batch, run, absence.as_ref());
                let (cells, leaves) = (&mut self.cells, self.leaves.len());
                change(cells, number, &mut self.size, |cell| cell.add(&run, places, leaves));
            }
        }
        Ok(())
    }

    /// Adds the cells of a batch of a roll-up; the batch has this type.
    pub fn add_rolled(&mut self, plan: &Plan, cell_type: &Arc<ProbeType>, batch: &Batch) {
        let mapping = self.mapping(cell_type, || plan.leaves().cloned().collect());
        for (index, time) in batch.times().iter().enumerate() {
            let number = time / self.step;
            if self.wanted.contains(&number) {
                let (later, places) = (plan.cell(batch, index), &self.mappings[mapping].places);
                let (cells, leaves) = (&mut self.cells, self.leaves.len());
                change(cells, number, &mut self.size, |cell| {
                    cell.follow(later.samples, later.last_time, leaves);
                    for ((_, place), track) in places.iter().zip(later.tracks) {
                        cell.tracks[*place].append(track);
                    }
                });
            }
        }
    }

    /// Appends later cells that are not wider.
    pub fn add_cells(&mut self, cells: &Self) {
        let places: Vec<_> = cells.leaves.iter().map(|leaf| self.place(leaf)).collect();
        let span = self.span();
        let narrow = span.start / cells.step..span.end.div_ceil(cells.step);
        for (_, cell) in cells.cells.range(narrow) {
            let number = cell.last_time / self.step;
            if self.wanted.contains(&number) {
                let (cells, leaves) = (&mut self.cells, self.leaves.len());
                change(cells, number, &mut self.size, |own| {
                    own.follow(cell.samples, cell.last_time, leaves);
                    for (place, track) in places.iter().zip(&cell.tracks) {
                        own.tracks[*place].append(track.clone());
                    }
                });
            }
        }
    }

    /// Returns and removes all cells so far; later cells add up to the same result.
    pub fn take(&mut self) -> Self {
        let (leaves, wanted) = (self.leaves.clone(), self.wanted.clone());
        let (cells, size) = (mem::take(&mut self.cells), mem::take(&mut self.size));
        Self { step: self.step, wanted, leaves, mappings: Vec::new(), cells, size }
    }

    /// The number of values; a cell without any counts, too.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Merges all cells to wider ones; all times must be requested.
    pub fn widen(&mut self, step: u64) {
        if step == self.step {
            return;
        }
        self.step = step;
        self.size = 0;
        for cell in mem::take(&mut self.cells).into_values() {
            change(&mut self.cells, cell.last_time / step, &mut self.size, |wide| wide.join(cell));
        }
    }

    fn mapping(&mut self, probe_type: &Arc<ProbeType>, leaves: impl FnOnce() -> Vec<Leaf>) -> usize {
        let is_same =
            |known: &Mapping| Arc::ptr_eq(&known.probe_type, probe_type) || known.probe_type == *probe_type;
        if let Some(known) = self.mappings.iter().rposition(is_same) {
            return known;
        }
        let places = leaves().into_iter().map(|leaf| {
            let place = self.place(&leaf);
            (leaf, place)
        });
        let places = places.collect();
        let absence = Absence::of(probe_type);
        self.mappings.push(Mapping { probe_type: probe_type.clone(), places, absence });
        self.mappings.len() - 1
    }

    /// Returns the index of a leaf; leaves of the same name and type share one, whatever their probe type.
    fn place(&mut self, leaf: &Leaf) -> usize {
        let is_same = |known: &Leaf| known.name == leaf.name && known.kind == leaf.kind;
        self.leaves.iter().position(is_same).unwrap_or_else(|| {
            self.leaves.push(leaf.clone());
            self.leaves.len() - 1
        })
    }
}

/// Changes the cell of this number, and `size` with it.
fn change(cells: &mut BTreeMap<u64, Cell>, number: u64, size: &mut usize, change: impl FnOnce(&mut Cell)) {
    let before = cells.get(&number).map_or(0, Cell::size);
    let cell = cells.entry(number).or_default();
    change(cell);
    *size = *size - before + cell.size();
}
