//! The order of records, and a place in it.

use super::Order;
use oasis_store::Series;
use std::{cmp::Ordering, fmt, str::FromStr};
use uuid::Uuid;

/// Position of a record in the order of a search: by time; records of one time by instance, run and sequence number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    order: Order,
    pub time: u64,
    node: String,
    instance: String,
    run: Uuid,
    sequence: u64,
}

impl Key {
    pub fn new(order: Order, series: &Series, time: u64, sequence: u64) -> Self {
        let (node, instance) = (series.node.to_string(), series.instance.to_string());
        Self { order, time, node, instance, run: series.run, sequence }
    }

    pub fn cursor(&self) -> Cursor {
        let Self { time, node, instance, run, sequence, .. } = self.clone();
        Cursor { time, record: Some((node, instance, run, sequence)) }
    }

    fn fields(&self) -> (u64, &str, &str, Uuid, u64) {
        (self.time, &self.node, &self.instance, self.run, self.sequence)
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        let oldest_first = self.fields().cmp(&other.fields());
        match self.order {
            Order::Oldest => oldest_first,
            Order::Newest => oldest_first.reverse(),
        }
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Beginning of a page: after a record, or with all records of a time. Its text is for the next request alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// Nanoseconds since 1970.
    pub(super) time: u64,
    record: Option<(String, String, Uuid, u64)>,
}

impl Cursor {
    pub(super) fn at(time: u64) -> Self {
        Self { time, record: None }
    }

    /// The record after which the page begins.
    pub(super) fn key(&self, order: Order) -> Option<Key> {
        let (node, instance, run, sequence) = self.record.clone()?;
        Some(Key { order, time: self.time, node, instance, run, sequence })
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.time)?;
        match &self.record {
            // A name of a node may contain anything: its length says where it ends.
            Some((node, instance, run, sequence)) => {
                write!(formatter, ".{sequence}.{}.{}.{node}{instance}", run.simple(), node.len())
            }
            None => Ok(()),
        }
    }
}

/// A text that no search has given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is no cursor: take `next` of the page before as it is, or leave it out")]
pub struct CursorError;

impl FromStr for Cursor {
    type Err = CursorError;

    fn from_str(text: &str) -> Result<Self, CursorError> {
        let mut parts = text.splitn(5, '.');
        let time = number(parts.next())?;
        let Some(sequence) = parts.next() else { return Ok(Self::at(time)) };
        let sequence = number(Some(sequence))?;
        let run = parts.next().and_then(|run| run.parse().ok()).ok_or(CursorError)?;
        let length = usize::try_from(number(parts.next())?).map_err(|_| CursorError)?;
        let names = parts.next().ok_or(CursorError)?;
        let (node, instance) = names.split_at_checked(length).ok_or(CursorError)?;
        Ok(Self { time, record: Some((node.into(), instance.into(), run, sequence)) })
    }
}

fn number(text: Option<&str>) -> Result<u64, CursorError> {
    text.and_then(|text| text.parse().ok()).ok_or(CursorError)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        let run = Uuid::from_u128(7);
        for (node, instance) in [("plant", "log"), ("a.b", "c.d"), ("é", ""), ("x/y", "z ü.3")] {
            let cursor = Cursor { time: 5, record: Some((node.into(), instance.into(), run, 9)) };
            assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }
        assert_eq!("12".parse(), Ok(Cursor::at(12)));
    }

    #[test]
    fn what_is_no_cursor_is_refused() {
        for text in ["", "x", "-1", "1.2", "1.2.3.4.5", "1.2.00000000000000000000000000000007.9.ab"] {
            assert_eq!(text.parse::<Cursor>(), Err(CursorError), "{text}");
        }
        // In the middle of a character.
        assert!("1.2.00000000000000000000000000000007.1.é".parse::<Cursor>().is_err());
    }
}
