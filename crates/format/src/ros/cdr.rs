//! Decodes a message to the row of a sample: numbers of both byte orders, in both versions of XCDR.

use super::{
    Layout,
    absent::AbsentValues,
    bad_cdr::{BadCdr, HEADER_BYTES},
    encoding::{Encoding, Form},
    extensibility::Extensibility,
    layout::{Ambiguities, Elements, Fields, Kind, Member, Size, Union},
    parameters::{self, Parameters},
};
use crate::input::{
    bounds::{MAX_MESSAGE, MAX_ROW},
    json::values::Step,
};
use oasis_wire::{
    cdr::{ByteOrder, CdrReader},
    reader::Malformed,
    value::RowWriter,
};
use std::io::Read;

/// The beginning of a frame of zstd.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Bytes that may follow the last field.
const PADDING: usize = 7;

impl Layout {
    /// Decodes a message into a row, which is cleared before.
    ///
    /// # Errors
    /// If the message does not match, or the row is too long.
    pub fn decode(&self, message: &[u8], row: &mut Vec<u8>) -> Result<(), BadCdr> {
        // No header of CDR begins like this.
        if message.starts_with(&ZSTD_MAGIC) {
            return self.decode_unpacked(&unpacked(message)?, row);
        }
        self.decode_unpacked(message, row)
    }

    fn decode_unpacked(&self, message: &[u8], row: &mut Vec<u8>) -> Result<(), BadCdr> {
        if self.ambiguities == Ambiguities::default() {
            return self.decode_as(Form::default(), message, row).map(drop);
        }
        // The form after which the fewest bytes are left, among those that the message fits.
        let mut best: Option<(usize, Form)> = None;
        let mut error = None;
        for form in Form::possible(self.ambiguities) {
            match self.decode_as(form, message, row) {
                Ok(left) if best.is_none_or(|(least, _)| left < least) => best = Some((left, form)),
                Ok(_) => {}
                Err(bad) => error = error.or(Some(bad)),
            }
        }
        match (best, error) {
            (Some((_, form)), _) => self.decode_as(form, message, row).map(drop),
            (None, Some(error)) => Err(error),
            (None, None) => Ok(()),
        }
    }

    /// Returns the number of bytes after the last field, and after the values of parameters.
    fn decode_as(&self, form: Form, message: &[u8], row: &mut Vec<u8>) -> Result<usize, BadCdr> {
        row.clear();
        let (head, content) =
            message.split_first_chunk::<HEADER_BYTES>().ok_or(BadCdr::Short(message.len()))?;
        let encoding = Encoding::of(u16::from_be_bytes([head[0], head[1]]))?;
        let from = CdrReader::new(content, 0, encoding.order);
        let absent = AbsentValues::of(self);
        let mut decoding = Decoding { from, encoding, form, row, absent, left_within: 0 };
        decoding.message(&self.fields)?;
        let left = decoding.from.bytes.left();
        let all_left = left + decoding.left_within;
        if left > PADDING {
            return Err(BadCdr::Longer(left));
        }
        if let Some(absent) = decoding.absent {
            absent.write(row);
        }
        Ok(all_left)
    }
}

/// Unpacks a message that `ros2 bag record --compression-mode message` has compressed.
fn unpacked(message: &[u8]) -> Result<Vec<u8>, BadCdr> {
    let mut content = Vec::new();
    let mut decoder = zstd::Decoder::with_buffer(message).map_err(|_| BadCdr::Compressed)?;
    // A frame chooses the memory of its decoder: no message needs more than its bound.
    decoder.window_log_max(MAX_MESSAGE.ilog2() + 1).map_err(|_| BadCdr::Compressed)?;
    let read = decoder.take(MAX_MESSAGE as u64 + 1).read_to_end(&mut content);
    match read {
        Ok(bytes) if bytes > MAX_MESSAGE => Err(BadCdr::Unpacked),
        Ok(_) => Ok(content),
        Err(_) => Err(BadCdr::Compressed),
    }
}

/// A message while it is decoded.
struct Decoding<'a, 'r, 'l> {
    from: CdrReader<'a>,
    encoding: Encoding,
    form: Form,
    row: &'r mut Vec<u8>,
    absent: Option<AbsentValues<'l>>,
    /// Bytes after the values of parameters: a form that leaves fewer fits better.
    left_within: usize,
}

impl<'a> Decoding<'a, '_, '_> {
    fn message(&mut self, fields: &Fields) -> Result<(), BadCdr> {
        let extensibility = self.extensibility(fields.extensibility);
        if extensibility == Extensibility::Mutable {
            return self.mutable(fields);
        }
        let is_delimited = self.encoding.is_second && extensibility == Extensibility::Appendable;
        self.delimited(is_delimited, |decoding| {
            if fields.members.is_empty() {
                decoding.from.bytes.take(1)?;
            }
            decoding.each(&fields.members, 0, |decoding, _, member| match member.is_optional {
                true => decoding.optional(&member.kind),
                false => decoding.value(&member.kind),
            })
        })
    }

    fn extensibility(&self, stated: Option<Extensibility>) -> Extensibility {
        stated.or(self.form.unannotated).unwrap_or(self.encoding.extensibility)
    }

    /// Reads members in their order. `first` is the place of the first one among the metrics of the message.
    fn each(
        &mut self,
        members: &[Member],
        first: usize,
        mut read: impl FnMut(&mut Self, usize, &Member) -> Result<(), BadCdr>,
    ) -> Result<(), BadCdr> {
        let mut metric = first;
        for (at, member) in members.iter().enumerate() {
            self.step(Step::Member(metric), |decoding| read(decoding, at, member))?;
            metric += usize::from(member.has_value);
        }
        Ok(())
    }

    /// Reads a value within another one.
    fn step(&mut self, step: Step, read: impl FnOnce(&mut Self) -> Result<(), BadCdr>) -> Result<(), BadCdr> {
        if let Some(absent) = &mut self.absent {
            absent.enter(step);
        }
        read(self)?;
        if let Some(absent) = &mut self.absent {
            absent.leave();
        }
        Ok(())
    }

    /// Reads the members of a mutable type.
    fn mutable(&mut self, fields: &Fields) -> Result<(), BadCdr> {
        let mut parameters = match self.encoding.is_second {
            true => Parameters::read_second(&mut self.from, self.encoding.order)?,
            false => Parameters::read_first(&mut self.from)?,
        };
        self.each(&fields.members, 0, |decoding, _, member| match parameters.take(member.id) {
            Some(content) => decoding.within(content, &member.kind),
            None => decoding.absent(&member.kind),
        })?;
        parameters.finish()
    }

    /// Reads a member that may be absent: a boolean says so in XCDR2, its length in XCDR1.
    fn optional(&mut self, kind: &Kind) -> Result<(), BadCdr> {
        if self.encoding.is_second {
            return match self.from.number::<1>()? {
                [0] => self.absent(kind),
                _ => self.value(kind),
            };
        }
        match parameters::optional(&mut self.from)? {
            Some(content) => self.within(content, kind),
            None => self.absent(kind),
        }
    }

    /// Reads a value with bytes of its own, from which its alignment counts.
    fn within(&mut self, content: &'a [u8], kind: &Kind) -> Result<(), BadCdr> {
        let own = CdrReader::new(content, 0, self.encoding.order);
        let outer = std::mem::replace(&mut self.from, own);
        self.value(kind)?;
        self.left_within += self.from.bytes.left();
        self.from = outer;
        Ok(())
    }

    /// Reads the discriminator of a union and the member that it chooses.
    fn union(&mut self, of: &Union) -> Result<(), BadCdr> {
        let extensibility = self.extensibility(of.extensibility);
        let is_delimited = self.encoding.is_second && extensibility == Extensibility::Appendable;
        self.delimited(is_delimited, |decoding| {
            let start = decoding.row.len();
            decoding.step(Step::Member(0), |decoding| decoding.value(&of.discriminator))?;
            let active = of.case(number(decoding.row.get(start..).unwrap_or_default()));
            decoding.each(&of.cases, 1, |decoding, at, case| match active == Some(at) {
                true => decoding.value(&case.kind),
                false => decoding.absent(&case.kind),
            })
        })
    }

    /// Writes a placeholder and notes that it is one. NaN needs no note.
    fn absent(&mut self, kind: &Kind) -> Result<(), BadCdr> {
        if self.row.len() > MAX_ROW {
            return Err(BadCdr::Row);
        }
        match kind {
            Kind::Real(Size::Four) => self.row.extend(f32::NAN.to_le_bytes()),
            Kind::Real(_) => self.row.extend(f64::NAN.to_le_bytes()),
            Kind::Message(fields) => {
                return self.each(&fields.members, 0, |decoding, _, member| decoding.absent(&member.kind));
            }
            Kind::Union(of) => {
                self.step(Step::Member(0), |decoding| decoding.absent(&of.discriminator))?;
                return self.each(&of.cases, 1, |decoding, _, case| decoding.absent(&case.kind));
            }
            Kind::Fixed(_, elements) | Kind::Sequence(elements) if elements.are_nothing => {}
            Kind::Number(size) | Kind::Enum(size) => {
                self.row.extend_from_slice(&[0; 8][..size.bytes()]);
                self.note_absent()?;
            }
            // An empty text, an empty vector, or false.
            Kind::Boolean | Kind::Text | Kind::WideText | Kind::Fixed(..) | Kind::Sequence(_) => {
                self.row.push(0);
                self.note_absent()?;
            }
        }
        Ok(())
    }

    fn note_absent(&mut self) -> Result<(), BadCdr> {
        self.absent.as_mut().map_or(Ok(()), AbsentValues::add)
    }

    /// Reads content whose length may precede it. What a later version of its type added is skipped.
    fn delimited(
        &mut self,
        is_delimited: bool,
        read: impl FnOnce(&mut Self) -> Result<(), BadCdr>,
    ) -> Result<(), BadCdr> {
        if !is_delimited {
            return read(self);
        }
        let length = usize::try_from(self.from.u32()?).unwrap_or(usize::MAX);
        let end = self.from.bytes.at().saturating_add(length);
        read(self)?;
        let at = self.from.bytes.at();
        let rest = end.checked_sub(at).ok_or(BadCdr::Delimiter { at })?;
        self.from.bytes.take(rest)?;
        Ok(())
    }

    fn value(&mut self, kind: &Kind) -> Result<(), BadCdr> {
        if self.row.len() > MAX_ROW {
            return Err(BadCdr::Row);
        }
        match kind {
            Kind::Number(size) | Kind::Real(size) | Kind::Enum(size) => self.number(*size)?,
            Kind::Boolean => self.row.push(u8::from(self.from.number::<1>()? != [0])),
            Kind::Text => self.text()?,
            Kind::WideText => {
                let count = self.from.u32()?;
                let is_little = self.encoding.order == ByteOrder::Little;
                let text = self.form.wide_text.read(count, is_little, &mut self.from.bytes)?;
                RowWriter::new(self.row).string(&text);
            }
            Kind::Message(fields) => self.message(fields)?,
            Kind::Union(of) => self.union(of)?,
            Kind::Fixed(count, of) => {
                self.delimited(self.has_length(of), |decoding| decoding.array(*count, of))?;
            }
            Kind::Sequence(of) => self.delimited(self.has_length(of), |decoding| {
                let count = decoding.from.u32()?;
                decoding.elements(count, of)
            })?,
        }
        Ok(())
    }

    /// Whether the length of an array or a sequence precedes it (DDS-XTypes 1.3, 7.4.3.5.3, rules 9 and 12).
    fn has_length(&self, of: &Elements) -> bool {
        self.encoding.is_second
            && match &*of.of {
                Kind::Enum(_) => self.form.has_enum_length,
                kind => !is_number(kind),
            }
    }

    /// Reads an array. One of several dimensions has one length.
    fn array(&mut self, count: u32, of: &Elements) -> Result<(), BadCdr> {
        let Kind::Fixed(inner, inner_elements) = &*of.of else { return self.elements(count, of) };
        let count = self.begin(count, of)?;
        (0..count).try_for_each(|at| {
            self.step(Step::Element(at), |decoding| decoding.array(*inner, inner_elements))
        })
    }

    /// Each element takes a byte of the message at least, so that a wrong number ends at its end.
    fn elements(&mut self, count: u32, elements: &Elements) -> Result<(), BadCdr> {
        let count = self.begin(count, elements)?;
        match &*elements.of {
            Kind::Number(size) | Kind::Real(size) => self.numbers(count, *size),
            kind => {
                (0..count).try_for_each(|at| self.step(Step::Element(at), |decoding| decoding.value(kind)))
            }
        }
    }

    /// Reads numbers that follow each other.
    fn numbers(&mut self, count: usize, size: Size) -> Result<(), BadCdr> {
        if count == 0 {
            return Ok(());
        }
        let bytes = count.saturating_mul(size.bytes());
        self.align(size)?;
        let numbers = self.from.bytes.take(bytes)?;
        if self.row.len() + bytes > MAX_ROW {
            return Err(BadCdr::Row);
        }
        match self.encoding.order {
            ByteOrder::Little => self.row.extend_from_slice(numbers),
            ByteOrder::Big => {
                numbers.chunks(size.bytes()).for_each(|number| self.row.extend(number.iter().rev()));
            }
        }
        Ok(())
    }

    /// Writes the number of elements.
    fn begin(&mut self, count: u32, elements: &Elements) -> Result<usize, BadCdr> {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        if count > self.from.bytes.left() {
            return Err(Malformed::Elements { at: self.from.bytes.at() }.into());
        }
        if self.row.len() > MAX_ROW {
            return Err(BadCdr::Row);
        }
        if !elements.are_nothing {
            RowWriter::new(self.row).vector(count);
        }
        Ok(count)
    }

    fn number(&mut self, size: Size) -> Result<(), BadCdr> {
        match size {
            Size::One => self.row.extend(self.from.number::<1>()?),
            Size::Two => self.row.extend(self.from.number::<2>()?),
            Size::Four => self.row.extend(self.from.number::<4>()?),
            Size::Eight => {
                self.align(size)?;
                let mut bytes = self.from.bytes.array::<8>()?;
                if self.encoding.order == ByteOrder::Big {
                    bytes.reverse();
                }
                self.row.extend(bytes);
            }
        }
        Ok(())
    }

    /// Skips to the alignment of a number: of 4 bytes at most in XCDR2.
    fn align(&mut self, size: Size) -> Result<(), BadCdr> {
        let most = if self.encoding.is_second { 4 } else { 8 };
        Ok(self.from.bytes.align(size.bytes().min(most))?)
    }

    /// A length with the NUL, the bytes, the NUL. ROS 2 does not say which encoding the bytes have.
    fn text(&mut self) -> Result<(), BadCdr> {
        let length = usize::try_from(self.from.u32()?).unwrap_or(usize::MAX);
        let bytes = self.from.bytes.take(length)?;
        let bytes = bytes.strip_suffix(&[0]).unwrap_or(bytes);
        RowWriter::new(self.row).string(&String::from_utf8_lossy(bytes));
        Ok(())
    }
}

/// The number of a discriminator's bytes.
fn number(little_endian: &[u8]) -> u64 {
    little_endian.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Numbers and booleans, and arrays of them within an array.
fn is_number(kind: &Kind) -> bool {
    match kind {
        Kind::Number(_) | Kind::Real(_) | Kind::Boolean => true,
        Kind::Fixed(_, elements) => is_number(&elements.of),
        Kind::Enum(_)
        | Kind::Text
        | Kind::WideText
        | Kind::Message(_)
        | Kind::Union(_)
        | Kind::Sequence(_) => false,
    }
}

#[cfg(test)]
mod tests;
