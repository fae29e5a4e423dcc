//! The parameter lists of mutable types: members with their number and their length, in any order, of which some may be absent (DDS-XTypes 1.3,
//! 7.4.1.2 and 7.4.3.4).

use super::bad_cdr::BadCdr;
use oasis_wire::{
    cdr::{ByteOrder, CdrReader},
    reader::Malformed,
    schema::MAX_MEMBERS,
};

/// The number of a member in XCDR2, and in the long form of XCDR1.
const ID: u32 = 0x0fff_ffff;
/// The flag of XCDR2 that a reader must know the member.
const MUST_UNDERSTAND: u32 = 0x8000_0000;
/// The flag of the long form of XCDR1.
const LONG_MUST_UNDERSTAND: u32 = 0x4000_0000;
/// The flag of the short form of XCDR1.
const SHORT_MUST_UNDERSTAND: u16 = 0x4000;
/// The number in the short form of XCDR1.
const SHORT_ID: u16 = 0x3fff;
/// The long form follows.
const EXTENDED: u16 = 0x3f01;
/// The end of the list.
const LIST_END: u16 = 0x3f02;
/// A parameter without a meaning.
const IGNORE: u16 = 0x3f03;

/// A member as it is written.
#[derive(Debug)]
struct Parameter<'a> {
    id: u32,
    must_understand: bool,
    content: &'a [u8],
    is_taken: bool,
}

/// The members of a struct as they are written.
#[derive(Debug)]
pub struct Parameters<'a>(Vec<Parameter<'a>>);

impl<'a> Parameters<'a> {
    /// Reads a list of XCDR1, which has an end.
    pub fn read_first(from: &mut CdrReader<'a>) -> Result<Self, BadCdr> {
        let mut all = Vec::new();
        while let Some(parameter) = short(from)? {
            all.extend(parameter);
            check_count(&all)?;
        }
        Ok(Self::sorted(all))
    }

    /// Reads a list of XCDR2, whose length precedes it.
    pub fn read_second(from: &mut CdrReader<'a>, order: ByteOrder) -> Result<Self, BadCdr> {
        let length = from.u32()?;
        let list = take(from, length)?;
        let mut from = CdrReader::new(list, 0, order);
        let mut all = Vec::new();
        while from.bytes.left() >= size_of::<u32>() {
            all.push(with_length_code(&mut from, list)?);
            check_count(&all)?;
        }
        Ok(Self::sorted(all))
    }

    fn sorted(mut all: Vec<Parameter<'a>>) -> Self {
        all.sort_by_key(|parameter| parameter.id);
        Self(all)
    }

    /// Takes the content of a member.
    pub fn take(&mut self, id: u32) -> Option<&'a [u8]> {
        let at = self.0.binary_search_by_key(&id, |parameter| parameter.id).ok()?;
        let parameter = self.0.get_mut(at)?;
        parameter.is_taken = true;
        Some(parameter.content)
    }

    /// Checks the members that were not taken: the type does not have them.
    pub fn finish(&self) -> Result<(), BadCdr> {
        match self.0.iter().find(|parameter| parameter.must_understand && !parameter.is_taken) {
            Some(parameter) => Err(BadCdr::MustUnderstand(parameter.id)),
            None => Ok(()),
        }
    }
}

/// Each takes memory, also one that the type does not have.
fn check_count(all: &[Parameter<'_>]) -> Result<(), BadCdr> {
    if all.len() > MAX_MEMBERS { Err(BadCdr::Parameters) } else { Ok(()) }
}

/// Reads an optional member of XCDR1 outside of a list; none if it is absent.
pub fn optional<'a>(from: &mut CdrReader<'a>) -> Result<Option<&'a [u8]>, BadCdr> {
    let at = from.bytes.at();
    match short(from)? {
        Some(Some(parameter)) => Ok(Some(parameter.content).filter(|content| !content.is_empty())),
        Some(None) | None => Err(BadCdr::NoParameter { at }),
    }
}

/// Reads a parameter of XCDR1: none at the end of the list, and none within if it has no meaning.
fn short<'a>(from: &mut CdrReader<'a>) -> Result<Option<Option<Parameter<'a>>>, BadCdr> {
    from.bytes.align(size_of::<u32>())?;
    let (id, length) = (from.u16()?, from.u16()?);
    let must_understand = id & SHORT_MUST_UNDERSTAND != 0;
    Ok(match id & SHORT_ID {
        LIST_END => None,
        IGNORE => {
            take(from, length.into())?;
            Some(None)
        }
        EXTENDED => {
            let (id, length) = (from.u32()?, from.u32()?);
            let must_understand = id & LONG_MUST_UNDERSTAND != 0;
            let content = take(from, length)?;
            Some(Some(Parameter { id: id & ID, must_understand, content, is_taken: false }))
        }
        id => {
            let content = take(from, length.into())?;
            Some(Some(Parameter { id: id.into(), must_understand, content, is_taken: false }))
        }
    })
}

/// Reads a parameter of XCDR2, whose first number has a code of its length (rule 19 and table 36).
fn with_length_code<'a>(from: &mut CdrReader<'a>, list: &'a [u8]) -> Result<Parameter<'a>, BadCdr> {
    let header = from.u32()?;
    let code = (header >> 28) & 7;
    // The length of the codes from 5 on is the first number of the content as well.
    let start = from.bytes.at();
    let content = match code {
        0..=3 => take(from, 1 << code)?,
        4 => {
            let length = from.u32()?;
            take(from, length)?
        }
        _ => {
            let unit = [1, 4, 8].get(code as usize - 5).copied().unwrap_or(1);
            let length = from.u32()?.saturating_mul(unit);
            take(from, length)?;
            list.get(start..from.bytes.at()).unwrap_or_default()
        }
    };
    Ok(Parameter {
        id: header & ID,
        must_understand: header & MUST_UNDERSTAND != 0,
        content,
        is_taken: false,
    })
}

fn take<'a>(from: &mut CdrReader<'a>, length: u32) -> Result<&'a [u8], Malformed> {
    from.bytes.take(usize::try_from(length).unwrap_or(usize::MAX))
}
