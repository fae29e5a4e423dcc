//! The values that a message lacks: optional members, the other members of a union, and members of mutable types.

use super::{Layout, bad_cdr::BadCdr};
use crate::input::{
    bounds::MAX_ROW,
    json::{fields::AbsentColumns, values::Step},
};
use oasis_wire::{schema::Metric, value::RowWriter};

/// Memory of a name beside its text.
const NAME_BYTES: usize = size_of::<String>();

/// Names of absent values, collected while a message is decoded.
#[derive(Debug)]
pub struct AbsentValues<'l> {
    columns: &'l AbsentColumns,
    metrics: &'l [Metric],
    place: Vec<Step>,
    names: Vec<String>,
    bytes: usize,
}

impl<'l> AbsentValues<'l> {
    /// Returns none for a layout whose messages have all values.
    pub fn of(layout: &'l Layout) -> Option<Self> {
        let columns = layout.absent.as_ref()?;
        Some(Self { columns, metrics: &layout.metrics, place: Vec::new(), names: Vec::new(), bytes: 0 })
    }

    /// Enters a member or an element.
    pub fn enter(&mut self, step: Step) {
        self.place.push(step);
    }

    /// Leaves a member or an element.
    pub fn leave(&mut self) {
        self.place.pop();
    }

    /// Notes that the value of this place is absent.
    pub fn add(&mut self) -> Result<(), BadCdr> {
        let name = self.columns.name(self.metrics, &self.place);
        self.bytes += NAME_BYTES + name.len();
        if self.bytes > MAX_ROW {
            return Err(BadCdr::Row);
        }
        self.names.push(name);
        Ok(())
    }

    /// Writes the metric that names them.
    pub fn write(&self, row: &mut Vec<u8>) {
        let mut to = RowWriter::new(row);
        to.vector(self.names.len());
        self.names.iter().for_each(|name| to.string(name));
    }
}
