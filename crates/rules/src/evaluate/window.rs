//! The memory of windows.

use super::{
    kleene::Kleene,
    rows::{RESTART, known},
};
use crate::program::{Aggregate, Slot, WindowSize};
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
            Slot::Window { size, capacity, keeps_base } => Self::Window(Window {
                size,
                capacity: capacity as usize,
                keeps_base,
                entries: VecDeque::new(),
            }),
            Slot::Previous => Self::Previous(Kleene::Unknown),
        }
    }
}

/// What a memory remembers, without its extent, which the rule has.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Remembered {
    Window(VecDeque<Entry>),
    Previous(Kleene),
}

impl Memory {
    pub fn save(&self) -> Remembered {
        match self {
            Self::Window(window) => Remembered::Window(window.entries.clone()),
            Self::Previous(value) => Remembered::Previous(*value),
        }
    }

    /// `None` if it is of another slot.
    pub fn restore(slot: Slot, remembered: Remembered) -> Option<Self> {
        match (Self::new(slot), remembered) {
            (Self::Window(window), Remembered::Window(mut entries)) if entries.len() <= window.capacity => {
                // What is read grows by doubling, also beyond the capacity.
                entries.shrink_to_fit();
                Some(Self::Window(Window { entries, ..window }))
            }
            (Self::Previous(_), Remembered::Previous(value)) => Some(Self::Previous(value)),
            (Self::Window(_) | Self::Previous(_), _) => None,
        }
    }
}

/// The newest samples of an expression.
#[derive(Debug, Clone)]
pub struct Window {
    size: WindowSize,
    capacity: usize,
    keeps_base: bool,
    entries: VecDeque<Entry>,
}

/// A sample of a window.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Entry {
    time: u64,
    /// Not a number if it is unknown.
    value: f64,
    /// Samples missing before it.
    missing: u64,
}

/// How many are true, at least and at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    pub least: u64,
    pub most: u64,
}

impl Window {
    /// Adds the next sample, and drops those that are too old.
    pub fn push(&mut self, time: u64, value: f64, missing: u64) {
        if missing == RESTART {
            self.entries.clear();
        }
        self.expire(time);
        let mut entry = Entry { time, value, missing };
        if self.entries.len() == self.capacity {
            self.drop_oldest(&mut entry);
        }
        self.reserve();
        self.entries.push_back(entry);
    }

    fn expire(&mut self, time: u64) {
        let WindowSize::Time(extent, _) = self.size else { return };
        let Some(start) = time.checked_sub(extent) else { return };
        // What stands at this place decides: the oldest one, or the one after the base.
        let decides = usize::from(self.keeps_base);
        while self.entries.get(decides).is_some_and(|entry| entry.time <= start) {
            self.entries.pop_front();
        }
    }

    /// Makes room. In a window by time the dropped sample counts as missing: it would still belong to it.
    fn drop_oldest(&mut self, newest: &mut Entry) {
        let Some(dropped) = self.entries.pop_front() else { return };
        if matches!(self.size, WindowSize::Time(..)) {
            let next = self.entries.front_mut().unwrap_or(newest);
            next.missing = next.missing.saturating_add(dropped.missing).saturating_add(1);
        }
    }

    /// Grows by doubling, but never beyond the capacity.
    fn reserve(&mut self) {
        let length = self.entries.len();
        if length == self.entries.capacity() {
            let wanted = (length * 2).max(4).min(self.capacity);
            self.entries.reserve_exact(wanted.saturating_sub(length));
        }
    }

    /// One number for all of it; not a number if a part of it is unknown.
    pub fn aggregate(&self, aggregate: Aggregate) -> f64 {
        let values = || self.entries.iter().map(|entry| entry.value);
        if !self.is_complete() || values().any(f64::is_nan) {
            return f64::NAN;
        }
        known(match aggregate {
            Aggregate::Mean => values().sum::<f64>() / self.entries.len() as f64,
            Aggregate::Min => values().fold(f64::INFINITY, f64::min),
            Aggregate::Max => values().fold(f64::NEG_INFINITY, f64::max),
            Aggregate::Sum => values().sum(),
        })
    }

    fn is_complete(&self) -> bool {
        match self.size {
            WindowSize::Last(count) => {
                let before = self.entries.iter().skip(1).all(|entry| entry.missing == 0);
                self.entries.len() == count as usize && before
            }
            WindowSize::Time(..) => self.entries.iter().all(|entry| entry.missing == 0),
        }
    }

    /// The values that are 1, where others may be unknown.
    pub fn tally(&self) -> Tally {
        let slots = match self.size {
            WindowSize::Last(count) => u64::from(count),
            WindowSize::Time(..) => u64::MAX,
        };
        let (mut seen, mut least, mut unknown) = (0_u64, 0_u64, 0_u64);
        for entry in self.entries.iter().rev() {
            if seen >= slots {
                break;
            }
            seen += 1;
            match Kleene::from_number(entry.value) {
                Kleene::True => least += 1,
                Kleene::Unknown => unknown = unknown.saturating_add(1),
                Kleene::False => {}
            }
            let missing = entry.missing.min(slots - seen);
            seen = seen.saturating_add(missing);
            unknown = unknown.saturating_add(missing);
        }
        Tally { least, most: least.saturating_add(unknown) }
    }

    /// Change per second from the base to the newest sample.
    pub fn rate(&self, is_counter: bool) -> f64 {
        let (Some(base), Some(newest)) = (self.entries.front(), self.entries.back()) else { return f64::NAN };
        let reaches_back = match self.size {
            WindowSize::Last(count) => self.entries.len() == count as usize,
            WindowSize::Time(extent, _) => newest.time.saturating_sub(base.time) >= extent,
        };
        let is_whole = self.entries.iter().skip(1).all(|entry| entry.missing == 0 && !entry.value.is_nan());
        // A counter that decreases has restarted.
        let mut pairs = self.entries.iter().zip(self.entries.iter().skip(1));
        let has_restarted = is_counter && pairs.any(|(one, next)| next.value < one.value);
        if !reaches_back || !is_whole || has_restarted || newest.time == base.time {
            return f64::NAN;
        }
        known((newest.value - base.value) / (newest.time.saturating_sub(base.time) as f64 / 1e9))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_never_takes_more_memory_than_its_bound() {
        for (size, capacity) in
            [(WindowSize::Last(7), 7), (WindowSize::Time(1_000, Some(7)), 7), (WindowSize::Last(1), 1)]
        {
            let Memory::Window(mut window) = Memory::new(Slot::Window { size, capacity, keeps_base: false })
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
        let slot = Slot::Window { size: WindowSize::Last(60_000), capacity: 60_000, keeps_base: false };
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
