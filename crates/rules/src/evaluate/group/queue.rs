//! Samples that wait, within a bound.

use crate::evaluate::rows::Rows;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Most bytes of the samples of one input that wait.
pub const QUEUE_BYTES: usize = 256 * 1024;
/// Bytes of a sample besides its values.
const SAMPLE_OVERHEAD_BYTES: usize = 128;
/// A queue keeps this many samples, however large they are.
const MIN_QUEUE_SAMPLES: usize = 16;

/// A sample of an instance.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Sample {
    pub time: u64,
    /// Samples missing before it.
    pub missing: u64,
    pub values: Vec<f64>,
}

impl Sample {
    pub fn of(rows: &Rows, at: usize) -> Self {
        let values = rows.columns.iter().map(|column| column.get(at).copied().unwrap_or(f64::NAN));
        Self { time: rows.times[at], missing: rows.missing[at], values: values.collect() }
    }

    /// Appends it, without its sequence number.
    pub fn append_to(&self, rows: &mut Rows) {
        rows.origins.push(rows.times.len());
        rows.times.push(self.time);
        rows.missing.push(self.missing);
        rows.columns.resize(self.values.len().max(rows.columns.len()), Vec::new());
        for (at, column) in rows.columns.iter_mut().enumerate() {
            column.push(self.values.get(at).copied().unwrap_or(f64::NAN));
        }
    }
}

/// Items in their order.
#[derive(Debug)]
pub struct Queue<T> {
    items: VecDeque<T>,
    most: usize,
}

impl<T> Queue<T> {
    /// Creates a queue of samples with this many values.
    pub fn new(values: usize) -> Self {
        let bytes = SAMPLE_OVERHEAD_BYTES + values * size_of::<f64>();
        Self { items: VecDeque::new(), most: (QUEUE_BYTES / bytes).max(MIN_QUEUE_SAMPLES) }
    }

    pub fn is_full(&self) -> bool {
        self.items.len() >= self.most
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Adds an item, growing by doubling, but not beyond the bound.
    pub fn push(&mut self, item: T) {
        let length = self.items.len();
        if length == self.items.capacity() {
            let wanted = (length * 2).max(4).min(self.most);
            self.items.reserve_exact(wanted.saturating_sub(length));
        }
        self.items.push_back(item);
    }

    pub fn front(&self) -> Option<&T> {
        self.items.front()
    }

    pub fn pop(&mut self) -> Option<T> {
        self.items.pop_front()
    }

    /// Takes items from the front while they, after the first one, satisfy a condition. The first one must satisfy it with itself.
    pub fn pop_while(&mut self, is_next: impl Fn(&T, &T) -> bool) -> Vec<T> {
        let Some(first) = self.items.front() else { return Vec::new() };
        let count = self.items.iter().take_while(|next| is_next(first, next)).count();
        self.items.drain(..count).collect()
    }

    /// Takes up to `most` items from the front, while they satisfy a condition.
    pub fn pop_prefix(&mut self, most: usize, is_next: impl FnMut(&&T) -> bool) -> Vec<T> {
        let count = self.items.iter().take(most).take_while(is_next).count();
        self.items.drain(..count).collect()
    }

    pub fn clear(&mut self) {
        self.items.clear();
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter()
    }

    /// Takes kept items; `None` if they exceed the bound.
    pub fn filled(mut self, items: Vec<T>) -> Option<Self> {
        if items.len() > self.most {
            return None;
        }
        items.into_iter().for_each(|item| self.push(item));
        Some(self)
    }
}
