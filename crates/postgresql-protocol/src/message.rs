//! Messages of clients, version 3 of the protocol: bytes in, meaning out.
//! Source: <https://www.postgresql.org/docs/current/protocol-message-formats.html>.

use std::str;

/// Longest message before a client has signed in, bytes; PostgreSQL's own limit.
pub const MAX_OPENING_BYTES: usize = 10_000;
/// Longest message afterwards, bytes: a statement, or the values of its parameters.
pub const MAX_MESSAGE_BYTES: usize = 1024 * 1024;
/// Bytes of the length that begins each message.
pub const LENGTH_BYTES: usize = 4;

const CANCEL: u32 = 0x04d2_162e;
const SSL: u32 = 0x04d2_162f;
const GSS: u32 = 0x04d2_1630;

/// Why bytes are no message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadMessage {
    /// The length is below the least or above the limit.
    #[error("a message has a length of {0} bytes")]
    Length(i64),
    /// The content ends too early or too late, or a text has no end.
    #[error("a message of type {0:?} does not have the form of its type")]
    Form(char),
    /// A text is not UTF-8.
    #[error("a text is not UTF-8: set client_encoding to UTF8")]
    Encoding,
    /// A message of an unknown type.
    #[error("a message has the unknown type {0:?}")]
    Type(char),
}

/// The first message of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opening {
    /// Asks for TLS.
    Tls,
    /// Asks for encryption by GSSAPI.
    Gss,
    /// Asks to cancel the statement of another connection.
    Cancel {
        /// Its process.
        process: u32,
        /// Its secret.
        secret: Vec<u8>,
    },
    /// Begins a session.
    Session {
        /// Major and minor version of the protocol.
        version: (u16, u16),
        /// User, database and settings.
        parameters: Vec<(String, String)>,
    },
}

/// A statement or a portal, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named<'a> {
    /// A prepared statement.
    Statement(&'a str),
    /// A portal.
    Portal(&'a str),
}

/// A message of a client that has signed in, or signs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request<'a> {
    /// Statements to run at once.
    Query(&'a str),
    /// Prepares a statement.
    Parse {
        /// Its name; empty for the unnamed one.
        name: &'a str,
        /// Its text.
        query: &'a str,
        /// Types of its first parameters; 0 for unknown ones.
        types: Vec<u32>,
    },
    /// Gives a statement its values.
    Bind {
        /// Name of the portal.
        portal: &'a str,
        /// Name of the statement.
        statement: &'a str,
        /// Formats of the values: 0 is text, 1 binary.
        formats: Vec<u16>,
        /// The values.
        values: Vec<Option<&'a [u8]>>,
        /// Formats of the results.
        results: Vec<u16>,
    },
    /// Asks for the columns.
    Describe(Named<'a>),
    /// Asks for rows.
    Execute {
        /// Name of the portal.
        portal: &'a str,
        /// Most rows; 0 for all.
        most: u32,
    },
    /// Forgets a statement or a portal.
    Close(Named<'a>),
    /// Asks for the answers so far.
    Flush,
    /// Ends a group of messages.
    Sync,
    /// Ends the session.
    Terminate,
    /// The password.
    Password(&'a str),
    /// Part of a COPY that is not there.
    Copy,
    /// Calls a function by its number.
    FunctionCall,
}

/// Returns the length of the content of a message, by the four bytes of its length.
///
/// # Errors
/// If it exceeds the limit, or is less than that of the length itself.
pub fn content_length(length: [u8; LENGTH_BYTES], most: usize) -> Result<usize, BadMessage> {
    let length = i32::from_be_bytes(length);
    let content = usize::try_from(length).ok().and_then(|length| length.checked_sub(LENGTH_BYTES));
    content.filter(|content| *content <= most).ok_or(BadMessage::Length(length.into()))
}

/// Parses the content of the first message.
///
/// # Errors
/// If it has none of the known forms.
pub fn parse_opening(content: &[u8]) -> Result<Opening, BadMessage> {
    let mut fields = Fields { left: content, of: 'S' };
    let code = fields.number()?;
    match code {
        SSL | GSS if !fields.left.is_empty() => Err(BadMessage::Form('S')),
        SSL => Ok(Opening::Tls),
        GSS => Ok(Opening::Gss),
        CANCEL => Ok(Opening::Cancel { process: fields.number()?, secret: fields.left.to_vec() }),
        _ => {
            let mut parameters = Vec::new();
            loop {
                let name = fields.text()?;
                if name.is_empty() {
                    break;
                }
                parameters.push((name.to_owned(), fields.text()?.to_owned()));
            }
            fields.end()?;
            let version = ((code >> 16) as u16, (code & 0xffff) as u16);
            Ok(Opening::Session { version, parameters })
        }
    }
}

/// Parses a message by its type and content.
///
/// # Errors
/// If the type is unknown, or the content not of its form.
pub fn parse(kind: u8, content: &[u8]) -> Result<Request<'_>, BadMessage> {
    let mut fields = Fields { left: content, of: char::from(kind) };
    let request = match kind {
        b'Q' => Request::Query(fields.text()?),
        b'P' => Request::Parse { name: fields.text()?, query: fields.text()?, types: fields.numbers()? },
        b'B' => Request::Bind {
            portal: fields.text()?,
            statement: fields.text()?,
            formats: fields.formats()?,
            values: fields.values()?,
            results: fields.formats()?,
        },
        b'D' => Request::Describe(fields.named()?),
        b'E' => Request::Execute { portal: fields.text()?, most: fields.number()?.min(i32::MAX as u32) },
        b'C' => Request::Close(fields.named()?),
        b'H' => Request::Flush,
        b'S' => Request::Sync,
        b'X' => Request::Terminate,
        b'p' => Request::Password(fields.text()?),
        b'd' | b'c' | b'f' => return Ok(Request::Copy),
        b'F' => return Ok(Request::FunctionCall),
        kind => return Err(BadMessage::Type(char::from(kind))),
    };
    fields.end()?;
    Ok(request)
}

/// Reads the fields of a content one after the other.
struct Fields<'a> {
    left: &'a [u8],
    of: char,
}

impl<'a> Fields<'a> {
    fn form_error(&self) -> BadMessage {
        BadMessage::Form(self.of)
    }

    fn bytes(&mut self, count: usize) -> Result<&'a [u8], BadMessage> {
        let (taken, left) = self.left.split_at_checked(count).ok_or_else(|| self.form_error())?;
        self.left = left;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u32, BadMessage> {
        let (number, left) = self.left.split_first_chunk().ok_or_else(|| self.form_error())?;
        self.left = left;
        Ok(u32::from_be_bytes(*number))
    }

    fn short(&mut self) -> Result<u16, BadMessage> {
        let (number, left) = self.left.split_first_chunk().ok_or_else(|| self.form_error())?;
        self.left = left;
        Ok(u16::from_be_bytes(*number))
    }

    fn text(&mut self) -> Result<&'a str, BadMessage> {
        let end = self.left.iter().position(|byte| *byte == 0).ok_or_else(|| self.form_error())?;
        let text = self.bytes(end)?;
        self.bytes(1)?;
        str::from_utf8(text).map_err(|_| BadMessage::Encoding)
    }

    /// The number of items that follow, each of which has at least this many bytes.
    fn count(&mut self, item_bytes: usize) -> Result<usize, BadMessage> {
        let count = usize::from(self.short()?);
        if count * item_bytes > self.left.len() { Err(self.form_error()) } else { Ok(count) }
    }

    fn numbers(&mut self) -> Result<Vec<u32>, BadMessage> {
        (0..self.count(4)?).map(|_| self.number()).collect()
    }

    fn formats(&mut self) -> Result<Vec<u16>, BadMessage> {
        (0..self.count(2)?).map(|_| self.short()).collect()
    }

    fn values(&mut self) -> Result<Vec<Option<&'a [u8]>>, BadMessage> {
        (0..self.count(4)?).map(|_| self.value()).collect()
    }

    fn value(&mut self) -> Result<Option<&'a [u8]>, BadMessage> {
        match self.number()?.cast_signed() {
            -1 => Ok(None),
            length => {
                let length = usize::try_from(length).map_err(|_| self.form_error())?;
                self.bytes(length).map(Some)
            }
        }
    }

    fn named(&mut self) -> Result<Named<'a>, BadMessage> {
        match self.bytes(1)? {
            b"S" => self.text().map(Named::Statement),
            b"P" => self.text().map(Named::Portal),
            _ => Err(self.form_error()),
        }
    }

    fn end(&self) -> Result<(), BadMessage> {
        if self.left.is_empty() { Ok(()) } else { Err(self.form_error()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lengths_outside_the_limits_are_refused() {
        assert_eq!(content_length([0, 0, 0, 4], 10), Ok(0));
        assert_eq!(content_length([0, 0, 0, 14], 10), Ok(10));
        for bad in [[0, 0, 0, 3], [0, 0, 0, 15], [0xff; 4], [0x7f, 0xff, 0xff, 0xff], [0; 4]] {
            assert!(content_length(bad, 10).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn an_opening_names_user_and_database() {
        let session = b"\0\x03\0\0user\0ada\0database\0plant\0\0";
        let parameters = [("user", "ada"), ("database", "plant")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        let wanted = Opening::Session { version: (3, 0), parameters: parameters.into() };
        assert_eq!(parse_opening(session), Ok(wanted));
        assert_eq!(parse_opening(&[4, 0xd2, 0x16, 0x2f]), Ok(Opening::Tls));
        assert_eq!(parse_opening(&[4, 0xd2, 0x16, 0x30]), Ok(Opening::Gss));
        let cancel = [4, 0xd2, 0x16, 0x2e, 0, 0, 0, 7, 1, 2, 3, 4];
        assert_eq!(parse_opening(&cancel), Ok(Opening::Cancel { process: 7, secret: vec![1, 2, 3, 4] }));
        for bad in [&b""[..], b"\0\x03", b"\0\x03\0\0user", b"\0\x03\0\0user\0ada\0", b"\0\x03\0\0\0more"] {
            assert!(parse_opening(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_bind_has_values_in_both_formats_and_null() {
        let content = b"\0s\0\0\x01\0\x01\0\x03\0\0\0\x02ab\xff\xff\xff\xff\0\0\0\0\0\0";
        let values = vec![Some(&b"ab"[..]), None, Some(b"")];
        let wanted =
            Request::Bind { portal: "", statement: "s", formats: vec![1], values, results: Vec::new() };
        assert_eq!(parse(b'B', content), Ok(wanted));
        // A count of values that are not there allocates nothing.
        assert_eq!(parse(b'B', b"\0\0\0\0\xff\xff\0\0"), Err(BadMessage::Form('B')));
    }

    #[test]
    fn messages_with_missing_or_further_bytes_are_refused() {
        assert_eq!(parse(b'Q', b"SELECT 1\0"), Ok(Request::Query("SELECT 1")));
        assert_eq!(parse(b'Q', b"SELECT 1"), Err(BadMessage::Form('Q')));
        assert_eq!(parse(b'Q', b"SELECT 1\0\0"), Err(BadMessage::Form('Q')));
        assert_eq!(parse(b'Q', b"\xff\0"), Err(BadMessage::Encoding));
        assert_eq!(parse(b'S', b"x"), Err(BadMessage::Form('S')));
        assert_eq!(parse(b'!', b""), Err(BadMessage::Type('!')));
        assert_eq!(parse(b'D', b"Sname\0"), Ok(Request::Describe(Named::Statement("name"))));
        assert!(parse(b'D', b"Xname\0").is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(kind: u8, content: Vec<u8>) {
            let _ = parse(kind, &content);
            let _ = parse_opening(&content);
        }
    }
}
