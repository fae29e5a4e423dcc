//! The fields that a schema may have. Short schemas can describe many, and repeat long names and enums in each.

use oasis_wire::schema::{EnumType, MAX_MEMBERS, Metric, MetricType};

/// Memory of a field: its metric.
const FIELD_BYTES: usize = 512;
/// Memory of a named value of an enum.
const ENUMERATOR_BYTES: usize = 64;
/// Memory of the fields of a schema, with their names.
const MAX_SCHEMA_BYTES: usize = MAX_MEMBERS * FIELD_BYTES;

/// The fields and bytes of memory that a schema may still take.
#[derive(Debug)]
pub struct FieldBudget {
    fields: usize,
    bytes: usize,
}

impl FieldBudget {
    pub fn new() -> Self {
        Self { fields: MAX_MEMBERS, bytes: MAX_SCHEMA_BYTES }
    }

    /// Takes a field. Returns false if there is none left.
    pub fn take_field(&mut self, name: &str) -> bool {
        match self.fields.checked_sub(1) {
            Some(fields) if self.take_bytes(excess(name.len(), FIELD_BYTES / 2)) => {
                self.fields = fields;
                true
            }
            _ => false,
        }
    }

    /// Takes the name of a struct.
    pub fn take_name(&mut self, name: &str) -> bool {
        self.take_bytes(excess(name.len(), FIELD_BYTES / 2))
    }

    /// Takes an enum, which each field of its type has.
    pub fn take_enum(&mut self, of: &EnumType) -> bool {
        let values = of.values.iter();
        let bytes = values.map(|of| ENUMERATOR_BYTES + excess(of.name.len(), ENUMERATOR_BYTES / 2)).sum();
        self.take_name(&of.name) && self.take_bytes(bytes)
    }

    /// Takes the names of the columns of these metrics, each of which repeats the names around it.
    pub fn take_paths(&mut self, metrics: &[Metric]) -> bool {
        self.take_bytes(path_bytes(metrics, 0))
    }

    /// Returns how much of the bound of metrics is taken: the fields, or the fields that would take this memory.
    pub fn used(&self) -> usize {
        let by_memory = (MAX_SCHEMA_BYTES - self.bytes).div_ceil(FIELD_BYTES);
        (MAX_MEMBERS - self.fields).max(by_memory)
    }

    fn take_bytes(&mut self, bytes: usize) -> bool {
        let left = self.bytes.checked_sub(bytes);
        self.bytes = left.unwrap_or(self.bytes);
        left.is_some()
    }
}

/// Bytes of the names of all columns of these metrics.
fn path_bytes(metrics: &[Metric], before: usize) -> usize {
    let bytes = metrics.iter().map(|metric| {
        let path = before + 1 + metric.name.len();
        match &metric.kind {
            MetricType::Struct(of) => path_bytes(&of.members, path),
            _ => path,
        }
    });
    bytes.sum()
}

/// Bytes beyond those that are counted already.
fn excess(bytes: usize, counted: usize) -> usize {
    bytes.saturating_sub(counted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_wire::schema::Enumerator;

    #[test]
    fn fields_are_counted_by_number_and_by_memory() {
        let mut budget = FieldBudget::new();
        assert!((0..MAX_MEMBERS).all(|_| budget.take_field("speed")));
        assert!(!budget.take_field("speed"));
        assert_eq!(budget.used(), MAX_MEMBERS);

        let mut budget = FieldBudget::new();
        let long = "x".repeat(1 << 20);
        assert_eq!((0..1_000).filter(|_| budget.take_field(&long)).count(), 32);
        assert!(budget.used() > MAX_MEMBERS * 9 / 10 && budget.take_field("short"));

        let mut budget = FieldBudget::new();
        let value = |value| Enumerator { name: "ON".into(), value, doc: None };
        let of = EnumType { name: "Mode".into(), values: (0..10_000).map(value).collect() };
        assert_eq!((0..1_000).filter(|_| budget.take_enum(&of)).count(), 52);
    }
}
