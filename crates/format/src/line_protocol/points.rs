//! Finds the lines of each point: texts may have line feeds.

use super::point;
use crate::input::{InputError, TextLines, bounds::MAX_MESSAGE};
use std::io::Read;

/// Points that a file is detected by.
const DETECTED_POINTS: usize = 3;

/// Returns whether these bytes begin with points.
pub fn detect(beginning: &[u8]) -> bool {
    let mut points = Points::new(beginning);
    let mut found = 0;
    while found < DETECTED_POINTS {
        match points.next_point() {
            Ok(Some((_, line))) if point::parse(line).is_ok() => found += 1,
            // The last point may be cut.
            Ok(Some(_)) => return found > 0 && points.is_last(),
            Ok(None) | Err(_) => break,
        }
    }
    found > 0
}

/// Iterates over the texts of points.
pub struct Points<R> {
    lines: TextLines<R>,
    text: Vec<u8>,
    is_last: bool,
}

/// The part of a point that a byte belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PointPart {
    Name,
    Key,
    ValueStart,
    Text,
    Value,
    Time,
}

impl<R: Read> Points<R> {
    /// `from` begins with the first line.
    pub fn new(from: R) -> Self {
        Self { lines: TextLines::new(from), text: Vec::new(), is_last: false }
    }

    /// Whether the file ended.
    pub fn is_last(&mut self) -> bool {
        self.is_last || matches!(self.lines.next(), Ok(None))
    }

    /// Returns the next point and its first line; comments, empty lines and statements are skipped.
    ///
    /// # Errors
    /// If the file cannot be read, or a point is too long.
    pub fn next_point(&mut self) -> Result<Option<(u64, &[u8])>, InputError> {
        self.text.clear();
        let (mut first, mut part) = (0, PointPart::Name);
        loop {
            let Some((number, line)) = self.lines.next()? else {
                self.is_last = true;
                return Ok((!self.text.is_empty()).then_some((first, &self.text)));
            };
            if self.text.is_empty() {
                let begin = line.iter().position(|byte| !matches!(byte, b' ' | b'\r')).unwrap_or(line.len());
                let line = line.get(begin..).unwrap_or_default();
                if line.is_empty() || line.starts_with(b"#") || is_statement(line) {
                    continue;
                }
                first = number;
                self.text.extend_from_slice(line);
                part = follow(part, line);
            } else {
                self.text.push(b'\n');
                self.text.extend_from_slice(line);
                part = follow(part, line);
            }
            if self.text.len() > MAX_MESSAGE {
                return Err(InputError::Defect {
                    place: format!("line {first}"),
                    why: format!("a point has more than {MAX_MESSAGE} bytes"),
                    remedy: "close the quotation mark".into(),
                });
            }
            if part != PointPart::Text {
                let text = self.text.strip_suffix(b"\r").unwrap_or(&self.text);
                return Ok(Some((first, text)));
            }
        }
    }
}

/// Whether a line creates a database: exports of `influx_inspect` begin so.
fn is_statement(line: &[u8]) -> bool {
    line.starts_with(b"CREATE DATABASE ") || line.starts_with(b"CREATE RETENTION POLICY ")
}

/// Returns the part after a line.
fn follow(mut part: PointPart, line: &[u8]) -> PointPart {
    let mut is_escaped = false;
    for byte in line {
        if std::mem::take(&mut is_escaped) {
            continue;
        }
        part = match (part, byte) {
            (PointPart::Name | PointPart::Key | PointPart::Text, b'\\') => {
                is_escaped = true;
                part
            }
            (PointPart::Name, b' ') | (PointPart::Value, b',') => PointPart::Key,
            (PointPart::Key, b'=') => PointPart::ValueStart,
            (PointPart::ValueStart, b'"') => PointPart::Text,
            (PointPart::ValueStart, _) | (PointPart::Text, b'"') => PointPart::Value,
            (PointPart::Value, b' ') => PointPart::Time,
            (part, _) => part,
        };
    }
    part
}
