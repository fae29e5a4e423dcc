//! Definitions of messages: the text of `.msg` files, one after another (<https://mcap.dev/spec/registry#ros2msg>).
//!
//! ```text
//! builtin_interfaces/Time stamp   # comment
//! float64[9] covariance
//! uint8 OK=0
//! ================================================================================
//! MSG: builtin_interfaces/Time
//! int32 sec
//! uint32 nanosec
//! ```

use crate::visible::shortened;
use oasis_wire::schema::MAX_MEMBERS;
use std::collections::{HashMap, HashSet};

/// Types that every program of ROS 2 knows, also without their text.
const BUILT_IN: &str = "MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n===\nMSG: builtin_interfaces/Duration\nint32 sec\nuint32 nanosec\n";

/// A field of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field<'a> {
    pub name: &'a str,
    /// The type of it or of its elements, as written.
    pub kind: &'a str,
    pub count: Count,
}

/// Number of values of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    One,
    /// `T[N]`, with N from 1 on.
    Fixed(u32),
    /// `T[]` and `T[<=N]`.
    Sequence,
}

/// An error in the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadText {
    /// Not text.
    #[error("not UTF-8")]
    NotText,
    /// Not a field, constant or comment.
    #[error("line {0} is no field: expected `TYPE NAME`")]
    Line(usize),
    /// Not a number of elements.
    #[error("line {0} has a bad number of elements: expected [], [N] or [<=N], N from 1 on")]
    Count(usize),
    /// Too many lines with fields or names of messages.
    #[error("more than {MAX_MEMBERS} fields and messages")]
    Many,
    /// A name of two fields.
    #[error("line {0} has the name {1:?} again")]
    Again(usize, String),
    /// Not IDL.
    #[error("line {0}: {1}")]
    Idl(usize, String),
}

/// The same of ROS 1, whose times have other names.
const BUILT_IN_ROS1: &str =
    "MSG: ros/Time\nuint32 secs\nuint32 nsecs\n===\nMSG: ros/Duration\nint32 secs\nint32 nsecs\n";

/// The fields of all messages of a text, by package and name: `std_msgs/Header`.
#[derive(Debug)]
pub struct Definitions<'a> {
    all: HashMap<String, Vec<Field<'a>>>,
    /// Whether they are of ROS 1.
    pub is_ros1: bool,
}

/// The messages of ROS 2 Humble, for recordings without definitions.
const KNOWN: &str = include_str!("known.msg");

impl Definitions<'static> {
    /// The messages that every installation of ROS 2 has.
    pub fn known() -> Result<Self, BadText> {
        let mut all = HashMap::new();
        read_into(&mut all, None, KNOWN)?;
        Ok(Self { all, is_ros1: false })
    }
}

impl<'a> Definitions<'a> {
    /// Reads a text; `name` is that of its first message.
    pub fn read(name: &str, text: &'a [u8]) -> Result<Self, BadText> {
        let text = str::from_utf8(text).map_err(|_| BadText::NotText)?;
        let mut all = HashMap::new();
        read_into(&mut all, None, BUILT_IN)?;
        read_into(&mut all, Some(name), text)?;
        Ok(Self { all, is_ros1: false })
    }

    /// Reads a text of ROS 1; `name` is that of its first message.
    pub fn read_ros1(name: &str, text: &'a [u8]) -> Result<Self, BadText> {
        let text = str::from_utf8(text).map_err(|_| BadText::NotText)?;
        let mut all = HashMap::new();
        read_into(&mut all, None, BUILT_IN_ROS1)?;
        read_into(&mut all, Some(name), text)?;
        Ok(Self { all, is_ros1: true })
    }

    /// Returns the fields of a message, and its full name; `package` is that of the message that names it.
    pub fn find(&self, package: &str, name: &str) -> Option<(&String, &[Field<'a>])> {
        let full = match name {
            "Header" if !self.all.contains_key(&format!("{package}/Header")) => "std_msgs/Header".into(),
            "time" if self.is_ros1 => "ros/Time".into(),
            "duration" if self.is_ros1 => "ros/Duration".into(),
            "time" => "builtin_interfaces/Time".into(),
            "duration" => "builtin_interfaces/Duration".into(),
            name if name.contains('/') => full_name(name),
            name => format!("{package}/{name}"),
        };
        self.all.get_key_value(&full).map(|(name, fields)| (name, fields.as_slice()))
    }
}

/// `std_msgs/msg/Header` is `std_msgs/Header`.
pub fn full_name(name: &str) -> String {
    name.replacen("/msg/", "/", 1)
}

fn read_into<'a>(
    all: &mut HashMap<String, Vec<Field<'a>>>,
    first: Option<&str>,
    text: &'a str,
) -> Result<(), BadText> {
    let mut open = first.map(full_name);
    let (mut fields, mut names, mut left) = (Vec::new(), HashSet::new(), MAX_MEMBERS);
    let mut close = |open: Option<String>, fields: Vec<Field<'a>>| {
        if let Some(name) = open {
            all.insert(name, fields);
        }
    };
    for (at, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() || line.starts_with("===") {
            continue;
        }
        left = left.checked_sub(1).ok_or(BadText::Many)?;
        if let Some(name) = line.strip_prefix("MSG:") {
            close(open.replace(full_name(name.trim())), std::mem::take(&mut fields));
            names.clear();
            continue;
        }
        let Some(field) = field(line, at + 1)? else { continue };
        if !names.insert(field.name) {
            return Err(BadText::Again(at + 1, shortened(field.name)));
        }
        fields.push(field);
    }
    close(open, fields);
    Ok(())
}

/// Reads a line: none if it is a constant, which no message contains.
fn field(line: &str, at: usize) -> Result<Option<Field<'_>>, BadText> {
    let (kind, rest) = line.split_once(char::is_whitespace).ok_or(BadText::Line(at))?;
    let rest = rest.trim_start();
    let end =
        rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(rest.len());
    let (name, rest) = rest.split_at(end);
    if name.is_empty() || name.starts_with(|letter: char| letter.is_ascii_digit()) {
        return Err(BadText::Line(at));
    }
    if rest.trim_start().starts_with('=') {
        return Ok(None);
    }
    // Text after a space is a default value.
    if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
        return Err(BadText::Line(at));
    }
    let (kind, count) = counted(kind).ok_or(BadText::Count(at))?;
    Ok(Some(Field { name, kind, count }))
}

/// Splits the type of the elements from their number.
fn counted(kind: &str) -> Option<(&str, Count)> {
    let Some((kind, count)) = kind.split_once('[') else { return Some((unbounded(kind), Count::One)) };
    let count = count.strip_suffix(']')?;
    let number = |text: &str| text.parse().ok().filter(|number| *number > 0);
    let count = match count.strip_prefix("<=") {
        Some(most) => number(most).map(|_: u32| Count::Sequence)?,
        None if count.is_empty() => Count::Sequence,
        None => Count::Fixed(number(count)?),
    };
    Some((unbounded(kind), count))
}

/// `string<=10` is `string`.
fn unbounded(kind: &str) -> &str {
    kind.split("<=").next().unwrap_or(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_fields_constants_and_comments() {
        let text = "# of a pump\nfloat64 x\nuint8 OK=0 # constant\nstring NAME = \"a#b\"\nint32[<=5] few 1\n\nstring<=10[3] names\n";
        let all = Definitions::read("a/msg/Pump", text.as_bytes()).unwrap();
        let (name, fields) = all.find("b", "a/Pump").unwrap();
        assert_eq!(name, "a/Pump");
        let fields: Vec<_> = fields.iter().map(|field| (field.kind, field.name, field.count)).collect();
        let expected = [
            ("float64", "x", Count::One),
            ("int32", "few", Count::Sequence),
            ("string", "names", Count::Fixed(3)),
        ];
        assert_eq!(fields, expected);
    }

    #[test]
    fn messages_are_found_in_their_own_package_and_in_others() {
        let text = "Other o\n=====\nMSG: a/Other\nint8 x\n=====\nMSG: std_msgs/msg/Header\nstring frame_id\n";
        let all = Definitions::read("a/msg/Pump", text.as_bytes()).unwrap();
        let found = |package: &str, name: &str| all.find(package, name).map(|(name, _)| name.as_str());
        assert_eq!(found("a", "Other"), Some("a/Other"));
        assert_eq!(found("b", "Other"), None);
        assert_eq!(found("b", "a/msg/Other"), Some("a/Other"));
        assert_eq!(found("a", "Header"), Some("std_msgs/Header"));
        assert_eq!(found("a", "duration"), Some("builtin_interfaces/Duration"));
    }

    #[test]
    fn an_error_names_its_line() {
        let error = |text: &str| Definitions::read("a/A", text.as_bytes()).unwrap_err();
        for text in ["int8", "int8 9x", "int8 x-y", "int8 \u{202e}x", "int8 ="] {
            assert_eq!(error(&format!("\n{text}")), BadText::Line(2), "{text}");
        }
        for text in
            ["int8[0] x", "int8[-1] x", "int8[4294967296] x", "int8[ x", "int8[<=0] x", "int8[1][2] x"]
        {
            assert_eq!(error(text), BadText::Count(1), "{text}");
        }
        assert_eq!(error("int8 x\nint16 x"), BadText::Again(2, "x".into()));
        assert_eq!(Definitions::read("a/A", b"\xff").unwrap_err(), BadText::NotText);
        assert_eq!(error(&"MSG:\n".repeat(70_000)), BadText::Many);
    }
}
