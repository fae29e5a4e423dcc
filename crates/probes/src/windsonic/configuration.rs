//! The anemometer's configuration mode (manual, section 10): reads its settings, and changes those that differ.

use oasis_serial::SerialPort;
use std::{
    fmt, io,
    str::FromStr,
    time::{Duration, Instant},
};

/// Answers come within some milliseconds; entering the mode waits for the message under way.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// Longest line; that of all settings has some 60 bytes.
const MAX_LINE_BYTES: usize = 256;
/// Most settings: the manual has fewer kinds.
const MAX_SETTINGS: usize = 16;
/// Baud, communication and parity: the line would be lost.
const OF_THE_LINE: [char; 3] = ['B', 'E', 'F'];
/// Diagnostics, and the end of the mode.
const NO_SETTINGS: [char; 2] = ['D', 'Q'];

/// Settings that the anemometer must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration {
    /// Its address, if it is in polled mode.
    pub node: char,
    /// The settings.
    pub settings: Settings,
}

/// Settings such as `M2 P3`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings(Vec<Setting>);

/// A letter and its value: `M2`, `NQ`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting(String);

/// Not settings that may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotSettings;

impl FromStr for Settings {
    type Err = NotSettings;

    fn from_str(text: &str) -> Result<Self, NotSettings> {
        let settings: Vec<Setting> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        if (1..=MAX_SETTINGS).contains(&settings.len()) { Ok(Self(settings)) } else { Err(NotSettings) }
    }
}

impl FromStr for Setting {
    type Err = NotSettings;

    fn from_str(text: &str) -> Result<Self, NotSettings> {
        let mut characters = text.chars();
        let kind = characters.next().filter(char::is_ascii_uppercase).ok_or(NotSettings)?;
        let value = characters.as_str();
        let is_number = (1..=4).contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_digit());
        let is_address =
            kind == 'N' && value.len() == 1 && value.bytes().all(|byte| byte.is_ascii_uppercase());
        if (is_number || is_address) && !OF_THE_LINE.contains(&kind) && !NO_SETTINGS.contains(&kind) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotSettings)
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Configuration {
    /// Makes the settings that the anemometer does not have. It measures again afterwards. Returns those that it refuses.
    pub fn apply(&self, port: &mut SerialPort) -> io::Result<Vec<Setting>> {
        self.enter(port)?;
        let refused = self.change(port);
        port.write(b"Q\r")?;
        refused
    }

    fn enter(&self, port: &mut SerialPort) -> io::Result<()> {
        // The second one is for polled mode.
        for call in ["*".to_owned(), format!("*{}", self.node)] {
            port.write(call.as_bytes())?;
            if line(port, |line| line.contains("CONFIGURATION MODE"))?.is_some() {
                return Ok(());
            }
        }
        Err(silent("the anemometer does not enter its configuration mode: is it at this rate of the line?"))
    }

    fn change(&self, port: &mut SerialPort) -> io::Result<Vec<Setting>> {
        port.write(b"D3\r")?;
        let present = line(port, |line| line.contains(','))?;
        let present = present.ok_or_else(|| silent("the anemometer does not tell its settings (D3)"))?;
        let mut refused = Vec::new();
        for setting in &self.settings.0 {
            if present.split(',').any(|known| known.trim() == setting.0) {
                continue;
            }
            port.write(format!("{setting}\r").as_bytes())?;
            if line(port, |line| line == setting.0)?.is_none() {
                refused.push(setting.clone());
            }
        }
        Ok(refused)
    }
}

/// Reads until a line is the one that is waited for; none if it does not come.
fn line(port: &mut SerialPort, is_it: impl Fn(&str) -> bool) -> io::Result<Option<String>> {
    let until = Instant::now() + ANSWER_TIMEOUT;
    let (mut line, mut buffer) = (Vec::new(), [0; 64]);
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        let length = port.read(&mut buffer, left)?;
        for &byte in buffer.iter().take(length) {
            if !matches!(byte, b'\r' | b'\n') {
                line.push(byte);
                line.truncate(MAX_LINE_BYTES);
                continue;
            }
            let text = String::from_utf8_lossy(&line);
            if is_it(text.trim()) {
                return Ok(Some(text.trim().to_owned()));
            }
            line.clear();
        }
    }
}

fn silent(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_letters_with_values_that_leave_the_line_as_it_is() {
        assert_eq!("M2 P3 NQ K50".parse::<Settings>().unwrap().0.len(), 4);
        for wrong in
            ["", "M", "2", "M2,P3", "m2", "B3", "E1", "F1", "D3", "Q", "QQ", "M12345", "MQ", "*", "é1"]
        {
            assert_eq!(wrong.parse::<Settings>(), Err(NotSettings), "{wrong}");
        }
        assert_eq!("M2 ".repeat(MAX_SETTINGS + 1).parse::<Settings>(), Err(NotSettings));
    }
}
