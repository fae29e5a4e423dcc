//! The memory of windows.

use super::{
    kleene::Kleene,
    rows::{RESTART, known},
    totals::Totals,
};
use crate::program::{Aggregate, Purpose, Slot, WindowSize};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A memory of an expression.
#[derive(Debug, Clone)]
pub enum Memory {
    /// The samples of a window.
    Window(Window),
    /// The last value of a condition.
    Previous(Kleene),
}

impl Memory {
    pub fn new(slot: Slot) -> Self {
        match slot {
            Slot::Window { size, capacity, purpose } => {
                Self::Window(Window::new(size, capacity as usize, purpose))
            }
            Slot::Previous => Self::Previous(Kleene::Unknown),
        }
    }
}

/// The saved part of a memory, without its extent, which the rule has.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum SavedMemory {
    Window(VecDeque<Entry>),
    Previous(Kleene),
}

impl Memory {
    pub fn save(&self) -> SavedMemory {
        match self {
            Self::Window(window) => SavedMemory::Window(window.entries.clone()),
            Self::Previous(value) => SavedMemory::Previous(*value),
        }
    }

    /// `None` if it is of another slot.
    pub fn restore(slot: Slot, remembered: SavedMemory) -> Option<Self> {
        match (Self::new(slot), remembered) {
            (Self::Window(mut window), SavedMemory::Window(entries)) if entries.len() <= window.capacity => {
                window.entries.reserve_exact(entries.len());
                entries.into_iter().for_each(|entry| window.enter(entry));
                Some(Self::Window(window))
            }
            (Self::Previous(_), SavedMemory::Previous(value)) => Some(Self::Previous(value)),
            (Self::Window(_) | Self::Previous(_), _) => None,
        }
    }
}

/// The newest samples of an expression.
#[derive(Debug, Clone)]
pub struct Window {
    size: WindowSize,
    capacity: usize,
    purpose: Purpose,
    entries: VecDeque<Entry>,
    totals: Totals,
}

/// A sample of a window.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Entry {
    pub(super) time: u64,
    /// Not a number if it is unknown.
    pub(super) value: f64,
    /// Samples missing before it.
    pub(super) missing: u64,
}

/// The number of true values, at least and at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    pub least: u64,
    pub most: u64,
}

impl Tally {
    /// The count, if it is known.
    pub fn exact(self) -> f64 {
        if self.least == self.most { self.least as f64 } else { f64::NAN }
    }
}

impl Window {
    fn new(size: WindowSize, capacity: usize, purpose: Purpose) -> Self {
        Self { size, capacity, purpose, entries: VecDeque::new(), totals: Totals::new(purpose) }
    }

    /// Adds the next sample, and drops those that are too old.
    pub fn push(&mut self, time: u64, value: f64, missing: u64) {
        if missing == RESTART {
            while self.leave().is_some() {}
        }
        self.expire(time);
        let mut entry = Entry { time, value, missing };
        if self.entries.len() == self.capacity {
            self.drop_oldest(&mut entry);
        }
        self.enter(entry);
    }

    /// Adds an entry after the others.
    fn enter(&mut self, entry: Entry) {
        // A value that is no finite number is unknown.
        let entry = Entry { value: known(entry.value), ..entry };
        self.totals.enter(&self.entries, &entry, self.capacity);
        reserve(&mut self.entries, self.capacity);
        self.entries.push_back(entry);
        self.drop_uncounted();
    }

    /// Removes the oldest entry: the only way out.
    fn leave(&mut self) -> Option<Entry> {
        let entry = self.entries.pop_front()?;
        self.totals.leave(&self.entries, &entry);
        Some(entry)
    }

    /// Drops the samples that are too old at this time.
    pub fn expire(&mut self, time: u64) {
        let WindowSize::Time(extent, _) = self.size else { return };
        let Some(start) = time.checked_sub(extent) else { return };
        // The entry at this place decides: the oldest one, or the one after the base.
        let decides = usize::from(self.purpose == Purpose::Rate);
        while self.entries.get(decides).is_some_and(|entry| entry.time <= start) {
            self.leave();
        }
    }

    /// Makes room. A sample that would still belong to a window by time leaves a gap. Its length counts as unknown,
    /// because some of the dropped samples may be too old by now.
    fn drop_oldest(&mut self, newest: &mut Entry) {
        if self.leave().is_none() || matches!(self.size, WindowSize::Last(_)) {
            return;
        }
        match self.entries.front_mut() {
            Some(next) => {
                self.totals.forget_missing(next.missing);
                next.missing = RESTART;
                self.totals.count_missing(next.missing);
            }
            None => newest.missing = RESTART,
        }
    }

    /// Drops the entries before the newest slots that a tally counts: each sample takes one, and so does each that is missing.
    fn drop_uncounted(&mut self) {
        let (Purpose::Tally, WindowSize::Last(count)) = (self.purpose, self.size) else { return };
        while self.slot_of_oldest() > u128::from(count) {
            self.leave();
        }
    }

    /// The slot of the oldest entry, counted from the newest one, which has the slot 1; 0 without entries.
    fn slot_of_oldest(&self) -> u128 {
        let before = self.entries.front().map_or(0, |oldest| oldest.missing);
        self.entries.len() as u128 + self.totals.missing - u128::from(before)
    }

    /// One number for all of it; not a number if a part of it is unknown.
    pub fn aggregate(&self, aggregate: Aggregate) -> f64 {
        if !self.is_complete() || self.totals.unknown > 0 {
            return f64::NAN;
        }
        let Some(number) = self.totals.number(&self.entries) else { return f64::NAN };
        known(if aggregate == Aggregate::Mean { number / self.entries.len() as f64 } else { number })
    }

    fn is_complete(&self) -> bool {
        match self.size {
            WindowSize::Last(count) => self.entries.len() == count as usize && !self.has_gaps(),
            WindowSize::Time(..) => self.totals.gaps == 0,
        }
    }

    /// Whether samples are missing after the oldest one.
    fn has_gaps(&self) -> bool {
        let before_all = self.entries.front().is_some_and(|oldest| oldest.missing > 0);
        self.totals.gaps > u64::from(before_all)
    }

    /// The values that are 1, where others may be unknown.
    pub fn tally(&self) -> Tally {
        let (least, missing) = (self.totals.met, self.totals.missing);
        let beyond = match self.size {
            // Only samples that are missing before the oldest one: it has a slot itself.
            WindowSize::Last(count) => {
                (self.entries.len() as u128 + missing).saturating_sub(u128::from(count))
            }
            WindowSize::Time(..) => 0,
        };
        let most = u128::from(least + self.totals.unknown) + missing.saturating_sub(beyond);
        Tally { least, most: u64::try_from(most).unwrap_or(u64::MAX) }
    }

    /// Whether it has no samples.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The time of the newest sample.
    pub fn newest_time(&self) -> u64 {
        self.entries.back().map_or(0, |entry| entry.time)
    }

    /// Change per second from the base to the newest sample, in a window that ends at this time.
    pub fn rate(&self, is_counter: bool, end: u64) -> f64 {
        let (Some(base), Some(newest)) = (self.entries.front(), self.entries.back()) else { return f64::NAN };
        let reaches_back = match self.size {
            WindowSize::Last(count) => self.entries.len() == count as usize,
            WindowSize::Time(extent, _) => end.saturating_sub(base.time) >= extent,
        };
        let is_whole = !self.has_gaps() && self.totals.unknown == 0;
        // A counter that decreases has restarted.
        let has_restarted = is_counter && self.totals.decreases > 0;
        if !reaches_back || !is_whole || has_restarted || newest.time == base.time {
            return f64::NAN;
        }
        known((newest.value - base.value) / (newest.time.saturating_sub(base.time) as f64 / 1e9))
    }
}

/// Makes room for one more. Grows by doubling, but never beyond the capacity.
pub fn reserve<T>(queue: &mut VecDeque<T>, capacity: usize) {
    let length = queue.len();
    if length == queue.capacity() {
        let wanted = (length * 2).max(4).min(capacity);
        queue.reserve_exact(wanted.saturating_sub(length));
    }
}

#[cfg(test)]
mod naive;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_never_takes_more_memory_than_its_bound() {
        for (size, capacity) in
            [(WindowSize::Last(7), 7), (WindowSize::Time(1_000, Some(7)), 7), (WindowSize::Last(1), 1)]
        {
            let Memory::Window(mut window) =
                Memory::new(Slot::Window { size, capacity, purpose: Purpose::Tally })
            else {
                panic!("a window");
            };
            for time in 0..500 {
                window.push(time, 1.0, 0);
                assert!(window.entries.capacity() <= capacity as usize, "{size:?}");
            }
        }
    }

    #[test]
    fn a_window_that_was_kept_is_no_larger_than_before() {
        let slot = Slot::Window { size: WindowSize::Last(60_000), capacity: 60_000, purpose: Purpose::Tally };
        let Memory::Window(mut window) = Memory::new(slot) else { panic!("a window") };
        (0..60_000).for_each(|time| window.push(time, 1.0, 0));
        let bytes = postcard::to_allocvec(&Memory::Window(window).save()).unwrap();
        let Some(Memory::Window(window)) = Memory::restore(slot, postcard::from_bytes(&bytes).unwrap())
        else {
            panic!("a window")
        };
        assert_eq!((window.entries.len(), window.entries.capacity()), (60_000, 60_000));
    }
}
