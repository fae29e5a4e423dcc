//! The description at the end of a Parquet file, checked before the library reads it.
//!
//! The library builds the tree of columns by recursion, so that a hostile description overflows its stack. This walk over Thrift's compact
//! protocol only counts levels (<https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>).

/// Most levels of columns, and of values that are skipped.
const MAX_LEVELS: usize = 64;
/// The field of `FileMetaData` that has the schema, and the one of `SchemaElement` that has the number of children.
const SCHEMA_FIELD: i64 = 2;
const CHILDREN_FIELD: i64 = 5;

/// Types of the compact protocol.
mod kind {
    pub const STOP: u8 = 0;
    pub const TRUE: u8 = 1;
    pub const FALSE: u8 = 2;
    pub const BYTE: u8 = 3;
    pub const I16: u8 = 4;
    pub const I32: u8 = 5;
    pub const I64: u8 = 6;
    pub const DOUBLE: u8 = 7;
    pub const BINARY: u8 = 8;
    pub const LIST: u8 = 9;
    pub const SET: u8 = 10;
    pub const MAP: u8 = 11;
    pub const STRUCT: u8 = 12;
    pub const UUID: u8 = 13;
}

/// Why a description is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadFooter {
    #[error("the description of the columns is defective")]
    Defective,
    #[error("columns are nested in more than {MAX_LEVELS} levels")]
    TooDeep,
}

/// Checks that a description can be read with a bounded stack.
pub fn check(footer: &[u8]) -> Result<(), BadFooter> {
    let mut reader = CompactReader { rest: footer };
    reader.each_field(|reader, id, kind| {
        if (id, kind) == (SCHEMA_FIELD, kind::LIST) { reader.check_schema() } else { reader.skip(kind, 0) }
    })
}

struct CompactReader<'a> {
    rest: &'a [u8],
}

impl CompactReader<'_> {
    /// Checks the elements of a schema, which stand in the order of a walk from parents to children.
    fn check_schema(&mut self) -> Result<(), BadFooter> {
        let (kind, count) = self.list()?;
        if kind != kind::STRUCT {
            return Err(BadFooter::Defective);
        }
        // Children that are missing yet, of each open group.
        let mut open: Vec<i64> = Vec::new();
        for _ in 0..count {
            let children = self.children()?;
            while open.pop_if(|missing| *missing <= 0).is_some() {}
            if let Some(missing) = open.last_mut() {
                *missing -= 1;
            }
            if children > 0 {
                open.push(children);
            }
            if open.len() > MAX_LEVELS {
                return Err(BadFooter::TooDeep);
            }
        }
        Ok(())
    }

    /// Reads an element of a schema. Returns its number of children.
    fn children(&mut self) -> Result<i64, BadFooter> {
        let mut children = 0;
        self.each_field(|reader, id, kind| {
            if (id, kind) == (CHILDREN_FIELD, kind::I32) {
                children = reader.integer()?;
                return Ok(());
            }
            reader.skip(kind, 0)
        })?;
        Ok(children)
    }

    /// Reads a struct. `take` reads the value of a field, with its number and type.
    fn each_field(
        &mut self,
        mut take: impl FnMut(&mut Self, i64, u8) -> Result<(), BadFooter>,
    ) -> Result<(), BadFooter> {
        let mut id = 0_i64;
        loop {
            let header = self.byte()?;
            let kind = header & 0x0f;
            if kind == kind::STOP {
                return Ok(());
            }
            id = match i64::from(header >> 4) {
                0 => self.integer()?,
                delta => id.saturating_add(delta),
            };
            take(self, id, kind)?;
        }
    }

    /// Skips a value of a field.
    fn skip(&mut self, kind: u8, level: usize) -> Result<(), BadFooter> {
        if level > MAX_LEVELS {
            return Err(BadFooter::TooDeep);
        }
        match kind {
            // The type has the value.
            kind::TRUE | kind::FALSE => Ok(()),
            kind::BYTE => self.bytes(1),
            kind::I16 | kind::I32 | kind::I64 => self.varint().map(drop),
            kind::DOUBLE => self.bytes(8),
            kind::UUID => self.bytes(16),
            kind::BINARY => {
                let length = self.varint()?;
                self.bytes(length)
            }
            kind::LIST | kind::SET => {
                let (kind, count) = self.list()?;
                (0..count).try_for_each(|_| self.skip_element(kind, level + 1))
            }
            kind::MAP => {
                let count = self.varint()?;
                if count == 0 {
                    return Ok(());
                }
                let kinds = self.byte()?;
                (0..count).try_for_each(|_| {
                    self.skip_element(kinds >> 4, level + 1)?;
                    self.skip_element(kinds & 0x0f, level + 1)
                })
            }
            kind::STRUCT => self.each_field(|reader, _, kind| reader.skip(kind, level + 1)),
            _ => Err(BadFooter::Defective),
        }
    }

    /// Skips a value of a list or a map, in which a boolean takes a byte.
    fn skip_element(&mut self, kind: u8, level: usize) -> Result<(), BadFooter> {
        if matches!(kind, kind::TRUE | kind::FALSE) { self.bytes(1) } else { self.skip(kind, level) }
    }

    /// Returns type and number of the elements of a list.
    fn list(&mut self) -> Result<(u8, u64), BadFooter> {
        let header = self.byte()?;
        let count = match header >> 4 {
            15 => self.varint()?,
            count => count.into(),
        };
        Ok((header & 0x0f, count))
    }

    fn byte(&mut self) -> Result<u8, BadFooter> {
        let (first, rest) = self.rest.split_first().ok_or(BadFooter::Defective)?;
        self.rest = rest;
        Ok(*first)
    }

    fn bytes(&mut self, count: u64) -> Result<(), BadFooter> {
        let count = usize::try_from(count).map_err(|_| BadFooter::Defective)?;
        self.rest = self.rest.get(count..).ok_or(BadFooter::Defective)?;
        Ok(())
    }

    fn integer(&mut self) -> Result<i64, BadFooter> {
        let coded = self.varint()?;
        Ok((coded >> 1) as i64 ^ -((coded & 1) as i64))
    }

    fn varint(&mut self) -> Result<u64, BadFooter> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(BadFooter::Defective)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The description of groups within each other.
    fn nested(levels: usize) -> Vec<u8> {
        let group = [0x48, 1, b'g', 0x15, 2, 0];
        let leaf = [0x15, 2, 0x38, 1, b'x', 0];
        let count = levels + 1;
        // Version 1, and a list of structs with a long count.
        let mut footer = vec![0x15, 2, 0x19, 0xfc, (count & 0x7f) as u8 | 0x80, (count >> 7) as u8];
        (0..levels).for_each(|_| footer.extend(group));
        footer.extend(leaf);
        footer.extend([0x16, 0, 0]);
        footer
    }

    #[test]
    fn levels_are_counted() {
        assert_eq!(check(&nested(1)), Ok(()));
        assert_eq!(check(&nested(MAX_LEVELS)), Ok(()));
        assert_eq!(check(&nested(MAX_LEVELS + 1)), Err(BadFooter::TooDeep));
        assert_eq!(check(&nested(10_000)), Err(BadFooter::TooDeep));
    }

    #[test]
    fn groups_beside_each_other_are_one_level() {
        // A root of 200 groups with a column each: 401 elements.
        let mut footer = vec![0x29, 0xfc, 0x91, 3, 0x48, 1, b'r', 0x15, 0x90, 3, 0];
        (0..200).for_each(|_| footer.extend([0x48, 1, b'g', 0x15, 2, 0, 0x15, 2, 0x38, 1, b'x', 0]));
        footer.push(0);
        assert_eq!(check(&footer), Ok(()));
    }

    #[test]
    fn a_cut_or_endless_description_is_defective() {
        let footer = nested(3);
        for end in 0..footer.len() {
            assert_eq!(check(&footer[..end]), Err(BadFooter::Defective), "{end}");
        }
        // A list of lists of lists without an end, in a field that is skipped.
        let deep = [&[0x39][..], &[0x19; 1_000]].concat();
        assert_eq!(check(&deep), Err(BadFooter::TooDeep));
        // Empty elements cannot be repeated without bytes.
        assert_eq!(
            check(&[0x29, 0xfc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]),
            Err(BadFooter::Defective)
        );
    }
}
