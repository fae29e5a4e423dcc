//! A line of a log: `(1436509052.249713) can0 044#2A366C2BBA`.

use crate::input::TimeForm;

/// Bytes of a CAN FD frame.
pub const MAX_DATA_BYTES: usize = 64;
/// The bit of an error frame.
const ERROR_BIT: u32 = 0x2000_0000;

/// A frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Nanoseconds since 1970.
    pub time: i128,
    pub interface: &'a str,
    pub id: u32,
    pub is_extended: bool,
    pub is_remote: bool,
    pub is_error: bool,
    /// Flags of CAN FD; none for a classic frame.
    pub fd: Option<u8>,
    /// Bytes that a remote frame asks for.
    requested: u8,
    data: [u8; MAX_DATA_BYTES],
    length: usize,
}

impl<'a> Frame<'a> {
    /// Parses a line without its end.
    pub fn parse(line: &'a [u8]) -> Result<Self, &'static str> {
        const FORM: &str = "not of the form `(SECONDS) INTERFACE ID#DATA`";
        let line = str::from_utf8(line).map_err(|_| FORM)?.trim();
        let (time, rest) = line.strip_prefix('(').and_then(|line| line.split_once(')')).ok_or(FORM)?;
        let seconds = TimeForm::named("s", false).ok_or(FORM)?;
        let time = match time.trim_start_matches('-').contains('-') {
            true => TimeForm::of_dates(&[time.trim()]).and_then(|form| form.parse(time).ok()),
            false => seconds.parse(time).ok(),
        };
        let time = time.ok_or("the time is no number of seconds and no date")?;
        let (interface, rest) = rest.trim_start().split_once(' ').ok_or(FORM)?;
        let rest = rest.trim_start();
        let mut frame = Self {
            time,
            interface,
            id: 0,
            is_extended: false,
            is_remote: false,
            is_error: false,
            fd: None,
            requested: 0,
            data: [0; MAX_DATA_BYTES],
            length: 0,
        };
        match rest.split_once('#') {
            Some((id, content)) => {
                frame.id(id)?;
                let (content, direction) = content.split_once(' ').unwrap_or((content, ""));
                if !matches!(direction.trim(), "" | "R" | "T") {
                    return Err("only a direction, R or T, can follow the data");
                }
                frame.compact(content)?;
            }
            None => frame.screen(rest)?,
        }
        Ok(frame)
    }

    /// The number of its bytes; of a remote frame, of those that it asks for.
    pub fn length(&self) -> u8 {
        if self.is_remote { self.requested } else { u8::try_from(self.length).unwrap_or(u8::MAX) }
    }

    /// Its bytes.
    pub fn data(&self) -> &[u8] {
        self.data.get(..self.length).unwrap_or_default()
    }

    fn id(&mut self, text: &str) -> Result<(), &'static str> {
        const ID: &str = "the identifier is no hexadecimal number of 3 or 8 digits";
        let id = u32::from_str_radix(text, 16).map_err(|_| ID)?;
        self.is_extended = match text.len() {
            3 => false,
            8 => true,
            _ => return Err(ID),
        };
        self.is_error = self.is_extended && id & ERROR_BIT != 0;
        // The rest of an error frame's identifier is the class of the error.
        self.id = if self.is_error { id & !ERROR_BIT } else { id };
        Ok(())
    }

    /// Parses the data of the log format: `R`, hexadecimal digits, or `#` and flags before those.
    fn compact(&mut self, content: &str) -> Result<(), &'static str> {
        if let Some(length) = content.strip_prefix('R') {
            self.is_remote = true;
            self.requested = match length.as_bytes() {
                [] => 0,
                [digit @ b'0'..=b'8'] => digit - b'0',
                _ => return Err("the length of a remote frame is no digit from 0 to 8"),
            };
            return Ok(());
        }
        let digits = match content.strip_prefix('#') {
            Some(fd) => {
                let (flags, digits) = fd.split_at_checked(1).ok_or("a frame of CAN FD without flags")?;
                self.fd = Some(u8::from_str_radix(flags, 16).map_err(|_| "the flags are no digit")?);
                digits
            }
            None => content,
        };
        // `_` and the digit after it are the raw length of frames with 8 bytes.
        let digits = digits.split('_').next().unwrap_or_default();
        let mut pairs = digits.as_bytes().chunks(2);
        pairs.try_for_each(|pair| self.push(pair))
    }

    /// Parses the screen format: `044   [5]  2A 36 6C 2B BA`.
    fn screen(&mut self, rest: &str) -> Result<(), &'static str> {
        let mut words = rest.split_whitespace();
        self.id(words.next().unwrap_or_default())?;
        let length = words.next().unwrap_or_default();
        let length = length.strip_prefix('[').and_then(|length| length.strip_suffix(']'));
        let length = length.and_then(|length| length.parse::<usize>().ok()).ok_or("no length in brackets")?;
        let data = words.take_while(|word| word.len() == 2);
        for word in data.take(length) {
            self.push(word.as_bytes())?;
        }
        self.is_remote = rest.contains("remote request");
        if self.is_remote {
            self.requested = u8::try_from(length).map_err(|_| "the length is more than 64 bytes")?;
        }
        if self.length == length || self.is_remote { Ok(()) } else { Err("fewer bytes than the length says") }
    }

    fn push(&mut self, pair: &[u8]) -> Result<(), &'static str> {
        let digits = str::from_utf8(pair).ok().filter(|pair| pair.len() == 2 && !pair.starts_with('+'));
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let byte = byte.ok_or("the data are no pairs of hexadecimal digits")?;
        *self.data.get_mut(self.length).ok_or("more than 64 bytes of data")? = byte;
        self.length += 1;
        Ok(())
    }
}
