//! Messages of the server: meaning in, bytes out.

use crate::{failure::SqlFailure, value_type::ValueType};

/// Whether a transaction is open, as `ReadyForQuery` says it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Transaction {
    /// There is none.
    #[default]
    None,
    /// One is open.
    Open,
    /// One has failed.
    Failed,
}

/// Bytes for a client.
#[derive(Debug, Default)]
pub struct Replies(pub Vec<u8>);

impl Replies {
    /// Appends a message whose content `write` writes.
    fn message(&mut self, kind: u8, write: impl FnOnce(&mut Vec<u8>)) {
        self.0.push(kind);
        let begin = self.0.len();
        self.0.extend_from_slice(&[0; 4]);
        write(&mut self.0);
        let length = u32::try_from(self.0.len() - begin).unwrap_or(u32::MAX);
        self.0[begin..begin + 4].copy_from_slice(&length.to_be_bytes());
    }

    /// Asks for the password as text.
    pub fn ask_password(&mut self) {
        self.message(b'R', |out| out.extend_from_slice(&3_u32.to_be_bytes()));
    }

    /// Says that the client has signed in.
    pub fn signed_in(&mut self) {
        self.message(b'R', |out| out.extend_from_slice(&0_u32.to_be_bytes()));
    }

    /// Says that only version 3.0 is spoken, without these options.
    pub fn negotiate_version(&mut self, unknown: &[&str]) {
        self.message(b'v', |out| {
            out.extend_from_slice(&0_u32.to_be_bytes());
            out.extend_from_slice(&(unknown.len() as u32).to_be_bytes());
            unknown.iter().for_each(|name| text(out, name));
        });
    }

    /// Reports a setting.
    pub fn parameter(&mut self, name: &str, value: &str) {
        self.message(b'S', |out| {
            text(out, name);
            text(out, value);
        });
    }

    /// Tells the client how to cancel its statements.
    pub fn key(&mut self, process: u32, secret: [u8; 4]) {
        self.message(b'K', |out| {
            out.extend_from_slice(&process.to_be_bytes());
            out.extend_from_slice(&secret);
        });
    }

    /// Waits for the next statement.
    pub fn ready(&mut self, transaction: Transaction) {
        let state = match transaction {
            Transaction::None => b'I',
            Transaction::Open => b'T',
            Transaction::Failed => b'E',
        };
        self.message(b'Z', |out| out.push(state));
    }

    /// Describes columns, each with its format.
    pub fn columns<'a>(&mut self, columns: impl ExactSizeIterator<Item = (&'a str, ValueType, bool)>) {
        self.message(b'T', |out| {
            out.extend_from_slice(&(columns.len() as u16).to_be_bytes());
            for (name, kind, is_binary) in columns {
                text(out, name);
                // No table and no column of one.
                out.extend_from_slice(&[0; 6]);
                out.extend_from_slice(&kind.oid().to_be_bytes());
                out.extend_from_slice(&kind.length().to_be_bytes());
                out.extend_from_slice(&(-1_i32).to_be_bytes());
                out.extend_from_slice(&u16::from(is_binary).to_be_bytes());
            }
        });
    }

    /// Says that a statement returns no rows.
    pub fn no_columns(&mut self) {
        self.message(b'n', |_| {});
    }

    /// Describes parameters.
    pub fn parameters(&mut self, types: &[u32]) {
        self.message(b't', |out| {
            out.extend_from_slice(&(types.len() as u16).to_be_bytes());
            types.iter().for_each(|oid| out.extend_from_slice(&oid.to_be_bytes()));
        });
    }

    /// Appends a row, whose values `write` writes.
    pub fn row(&mut self, columns: usize, write: impl FnOnce(&mut Vec<u8>)) {
        self.message(b'D', |out| {
            out.extend_from_slice(&(columns as u16).to_be_bytes());
            write(out);
        });
    }

    /// Says that a statement is complete.
    pub fn complete(&mut self, tag: &str) {
        self.message(b'C', |out| text(out, tag));
    }

    /// Answers a message without content: `1` parsed, `2` bound, `3` closed, `I` empty, `s` suspended.
    pub fn mark(&mut self, kind: u8) {
        self.message(kind, |_| {});
    }

    /// Reports an error. `position` is the character in the statement, from 1.
    pub fn error(&mut self, failure: &SqlFailure, is_fatal: bool, position: Option<usize>) {
        let severity = if is_fatal { "FATAL" } else { "ERROR" };
        self.message(b'E', |out| {
            let mut field = |kind: u8, value: &str| {
                out.push(kind);
                text(out, value);
            };
            field(b'S', severity);
            field(b'V', severity);
            field(b'C', failure.code);
            field(b'M', &failure.message);
            if let Some(position) = position {
                field(b'P', &position.to_string());
            }
            out.push(0);
        });
    }
}

/// Appends a text with its end. A zero byte inside would end it early.
fn text(out: &mut Vec<u8>, text: &str) {
    out.extend(text.bytes().filter(|byte| *byte != 0));
    out.push(0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::code;

    #[test]
    fn messages_begin_with_their_length() {
        let mut replies = Replies::default();
        replies.ready(Transaction::Open);
        replies.complete("SELECT 2");
        assert_eq!(replies.0, b"Z\0\0\0\x05TC\0\0\0\x0dSELECT 2\0");
    }

    #[test]
    fn an_error_has_code_message_and_position() {
        let mut replies = Replies::default();
        replies.error(&SqlFailure::new(code::SYNTAX, "no\0t so"), false, Some(3));
        assert_eq!(&replies.0[5..], b"SERROR\0VERROR\0C42601\0Mnot so\0P3\0\0");
    }
}
