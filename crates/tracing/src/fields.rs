//! The fields of events and spans, formatted within bounds.

use oasis_ei_node::{
    cut::{self, BoundedText, FIELD_VALUE, FIELDS},
    log::MESSAGE,
};
use std::fmt::{self, Debug, Write};
use tracing::field::{Field, Visit};

/// Formatted fields. Its texts keep their memory when it is reused.
#[derive(Debug, Default)]
pub struct Fields {
    values: Vec<(&'static str, BoundedText)>,
    used: usize,
    /// Bytes of fields above the maximum number.
    cut: u64,
}

/// Formatted fields of an event, with its message.
#[derive(Debug)]
pub struct Record {
    /// The message.
    pub message: BoundedText,
    /// The other fields.
    pub fields: Fields,
}

impl Default for Record {
    fn default() -> Self {
        Self { message: BoundedText::new(MESSAGE), fields: Fields::default() }
    }
}

impl Record {
    /// Returns the bytes cut so far.
    pub fn cut(&self) -> u64 {
        self.message.cut() + self.fields.cut()
    }

    /// Removes all fields.
    pub fn clear(&mut self) {
        self.message.clear();
        self.fields.clear();
    }
}

impl Fields {
    /// Returns name and value of each field.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = cut::Field<'_>> {
        self.values[..self.used].iter().map(|(name, value)| (*name, value.as_str()))
    }

    /// Returns the bytes cut so far.
    pub fn cut(&self) -> u64 {
        self.cut + self.values[..self.used].iter().map(|(_, value)| value.cut()).sum::<u64>()
    }

    fn clear(&mut self) {
        self.used = 0;
        self.cut = 0;
    }

    /// Adds or replaces fields recorded later.
    pub fn update(&mut self, later: Self) {
        self.cut += later.cut;
        for (name, value) in later.values {
            match self.place(name) {
                Some(place) => *place = value,
                None => self.cut += (name.len() + value.as_str().len()) as u64 + value.cut(),
            }
        }
    }

    fn put(&mut self, name: &'static str, value: fmt::Arguments<'_>) {
        // A value whose formatting fails keeps the text written until then.
        if let Some(place) = self.place(name) {
            let _ = place.write_fmt(value);
        } else {
            let mut beyond = Counter(name.len() as u64);
            let _ = beyond.write_fmt(value);
            self.cut += beyond.0;
        }
    }

    /// Returns the empty text for this name; `None` if there are too many fields.
    fn place(&mut self, name: &'static str) -> Option<&mut BoundedText> {
        let known = self.values[..self.used].iter().position(|(known, _)| *known == name);
        let index = known.unwrap_or(self.used);
        if index == FIELDS {
            return None;
        }
        if index == self.values.len() {
            self.values.push((name, BoundedText::new(FIELD_VALUE)));
        }
        self.used = self.used.max(index + 1);
        let place = &mut self.values[index];
        place.0 = name;
        place.1.clear();
        Some(&mut place.1)
    }
}

/// Counts the bytes written.
struct Counter(u64);

impl Write for Counter {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 += text.len() as u64;
        Ok(())
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.put(field.name(), format_args!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field.name(), format_args!("{value}"));
    }
}

impl Visit for Record {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        match field.name() {
            "message" => {
                let _ = write!(self.message, "{value:?}");
            }
            // Source location of a record of the crate `log`, which the sample contains elsewhere.
            name if name.starts_with("log.") => {}
            _ => self.fields.record_debug(field, value),
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }
}
