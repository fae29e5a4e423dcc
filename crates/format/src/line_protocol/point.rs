//! Parses a point, as InfluxDB's own library does (<https://docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol/>).

use std::borrow::Cow;

/// A point.
#[derive(Debug, Clone, PartialEq)]
pub struct Point<'a> {
    /// The name of the measurement.
    pub measurement: Cow<'a, str>,
    /// Keys and values in the order of the line.
    pub tags: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    /// Names and values in the order of the line.
    pub fields: Vec<(Cow<'a, str>, Field<'a>)>,
    /// In the unit of the file.
    pub time: Option<i64>,
    /// Number of texts with bytes that are not UTF-8.
    pub replaced: u64,
}

/// The value of a field.
#[derive(Debug, Clone, PartialEq)]
pub enum Field<'a> {
    /// `1.5`
    Float(f64),
    /// `4i`
    Int(i64),
    /// `4u`
    Uint(u64),
    /// `t`
    Boolean(bool),
    /// `"text"`
    Text(Cow<'a, str>),
}

/// Why a line is no point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadPoint {
    /// No measurement.
    #[error("it begins with no name of a measurement")]
    Measurement,
    /// No tag.
    #[error("a tag must be KEY=VALUE, neither empty")]
    Tag,
    /// A repeated tag.
    #[error("a tag occurs twice")]
    TagTwice,
    /// No field.
    #[error("a field must be KEY=VALUE")]
    Field,
    /// No value.
    #[error("the value of a field is neither a number, true, false, nor a text in quotation marks")]
    Value,
    /// A number beyond its type.
    #[error("a number is out of range")]
    Range,
    /// A text without an end.
    #[error("a text lacks its closing quotation mark")]
    Open,
    /// Something after a field.
    #[error("other characters follow a field")]
    AfterField,
    /// No time.
    #[error("the time is no whole number")]
    Time,
    /// A name in another encoding.
    #[error("a name is not UTF-8")]
    NotText,
}

/// Parses a line without its end; it may have line feeds in texts.
///
/// # Errors
/// If the line is no point.
pub fn parse(line: &[u8]) -> Result<Point<'_>, BadPoint> {
    let mut from = Scanner { rest: line, replaced: 0 };
    let measurement = from.name(b", ", BadPoint::Measurement)?;
    let mut tags: Vec<(Cow<'_, str>, Cow<'_, str>)> = Vec::new();
    while from.take(b',') {
        let key = from.name(b",= ", BadPoint::Tag)?;
        if !from.take(b'=') {
            return Err(BadPoint::Tag);
        }
        let value = from.name(b",= ", BadPoint::Tag)?;
        if tags.iter().any(|(known, _)| *known == key) {
            return Err(BadPoint::TagTwice);
        }
        tags.push((key, value));
    }
    if !from.spaces() {
        return Err(if tags.is_empty() { BadPoint::Measurement } else { BadPoint::Tag });
    }
    let mut fields = Vec::new();
    loop {
        let key = from.name(b",= ", BadPoint::Field)?;
        if !from.take(b'=') {
            return Err(BadPoint::Field);
        }
        fields.push((key, from.value()?));
        if !from.take(b',') {
            break;
        }
    }
    let has_space = from.spaces();
    if from.rest.is_empty() {
        return Ok(Point { measurement, tags, fields, time: None, replaced: from.replaced });
    }
    if !has_space {
        return Err(BadPoint::AfterField);
    }
    let end = from.rest.iter().position(|byte| *byte == b' ').unwrap_or(from.rest.len());
    let (time, after) = from.rest.split_at(end);
    let is_number = time.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-');
    let time = str::from_utf8(time).ok().filter(|_| is_number).and_then(|time| time.parse().ok());
    let is_end = after.iter().all(|byte| *byte == b' ');
    let time = time.filter(|_| is_end).ok_or(BadPoint::Time)?;
    Ok(Point { measurement, tags, fields, time: Some(time), replaced: from.replaced })
}

struct Scanner<'a> {
    rest: &'a [u8],
    replaced: u64,
}

impl<'a> Scanner<'a> {
    fn take(&mut self, byte: u8) -> bool {
        let taken = self.rest.split_first().filter(|(first, _)| **first == byte);
        taken.inspect(|(_, rest)| self.rest = rest).is_some()
    }

    /// Skips spaces. Returns whether there is one.
    fn spaces(&mut self) -> bool {
        let count = self.rest.iter().take_while(|byte| **byte == b' ').count();
        self.rest = self.rest.get(count..).unwrap_or_default();
        count > 0
    }

    /// Takes a name up to one of these characters, which a backslash makes a part of the name.
    fn name(&mut self, ends: &[u8], empty: BadPoint) -> Result<Cow<'a, str>, BadPoint> {
        let (mut at, mut has_escapes) = (0, false);
        while let Some(byte) = self.rest.get(at) {
            match byte {
                b'\\' if self.rest.get(at + 1).is_some_and(|next| ends.contains(next)) => {
                    has_escapes = true;
                    at += 1;
                }
                end if ends.contains(end) => break,
                control if control.is_ascii_control() => break,
                _ => {}
            }
            at += 1;
        }
        let (name, rest) = self.rest.split_at(at);
        self.rest = rest;
        if name.is_empty() {
            return Err(empty);
        }
        let name = str::from_utf8(name).map_err(|_| BadPoint::NotText)?;
        Ok(if has_escapes { unescaped(name, ends) } else { Cow::Borrowed(name) })
    }

    fn value(&mut self) -> Result<Field<'a>, BadPoint> {
        if self.take(b'"') {
            return self.text();
        }
        let is_end = |byte: &u8| matches!(byte, b',' | b' ' | b'\r' | b'\n');
        let end = self.rest.iter().position(is_end).unwrap_or(self.rest.len());
        let (value, rest) = self.rest.split_at(end);
        self.rest = rest;
        field(str::from_utf8(value).map_err(|_| BadPoint::Value)?)
    }

    /// Takes a text after its opening quotation mark. Bytes that are not UTF-8 become U+FFFD.
    fn text(&mut self) -> Result<Field<'a>, BadPoint> {
        let (mut at, mut has_escapes) = (0, false);
        loop {
            match self.rest.get(at).ok_or(BadPoint::Open)? {
                b'"' => break,
                b'\\' => {
                    has_escapes = true;
                    at += 1;
                }
                _ => {}
            }
            at += 1;
        }
        let (text, rest) = self.rest.split_at_checked(at).ok_or(BadPoint::Open)?;
        self.rest = rest.get(1..).unwrap_or_default();
        let text = String::from_utf8_lossy(text);
        self.replaced += u64::from(matches!(text, Cow::Owned(_)));
        Ok(Field::Text(match (has_escapes, text) {
            (true, text) => Cow::Owned(unescaped_text(&text)),
            (false, text) => text,
        }))
    }
}

/// Removes backslashes before these characters; others stay.
fn unescaped<'a>(text: &'a str, of: &[u8]) -> Cow<'a, str> {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let next = characters.peek().and_then(|next| u8::try_from(*next).ok());
        if character == '\\' && next.is_some_and(|next| of.contains(&next)) {
            plain.extend(characters.next());
        } else {
            plain.push(character);
        }
    }
    Cow::Owned(plain)
}

/// Removes the backslashes of a text, which also stand for line feeds and tabs.
fn unescaped_text(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            plain.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => plain.push('\n'),
            Some('r') => plain.push('\r'),
            Some('t') => plain.push('\t'),
            Some(escaped @ ('"' | '\\')) => plain.push(escaped),
            Some(other) => plain.extend(['\\', other]),
            None => plain.push('\\'),
        }
    }
    plain
}

fn field(text: &str) -> Result<Field<'static>, BadPoint> {
    match text {
        "t" | "T" | "true" | "True" | "TRUE" => return Ok(Field::Boolean(true)),
        "f" | "F" | "false" | "False" | "FALSE" => return Ok(Field::Boolean(false)),
        _ => {}
    }
    let is_integer = |text: &str| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    if let Some(int) = text.strip_suffix('i').filter(|text| is_integer(text)) {
        return int.parse().map(Field::Int).map_err(|_| BadPoint::Range);
    }
    if let Some(uint) = text.strip_suffix('u').filter(|text| is_integer(text) && !text.starts_with('-')) {
        return uint.parse().map(Field::Uint).map_err(|_| BadPoint::Range);
    }
    let is_number =
        text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E'));
    let float: f64 =
        text.parse().ok().filter(|_| is_number && !text.starts_with('+')).ok_or(BadPoint::Value)?;
    if float.is_finite() { Ok(Field::Float(float)) } else { Err(BadPoint::Range) }
}
