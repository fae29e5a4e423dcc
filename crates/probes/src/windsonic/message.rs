//! Finds and parses the messages of the anemometer in a stream of bytes.

use std::fmt;

const STX: u8 = 2;
const ETX: u8 = 3;
/// The longest message of the manual has some 30 bytes; anything longer is noise.
const MAX_MESSAGE_BYTES: usize = 64;
const METRES_A_SECOND: [(&str, f32); 5] =
    [("M", 1.0), ("N", 1_852.0 / 3_600.0), ("P", 0.447_04), ("K", 1.0 / 3.6), ("F", 0.3048 / 60.0)];

/// One measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// The anemometer's address.
    pub node: char,
    /// Degrees, where the wind comes from; none when it is calm.
    pub direction: Option<f32>,
    /// Metres a second; none if it could not be measured.
    pub speed: Option<f32>,
    /// 0 if there is no error.
    pub status: u8,
}

/// Errors of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// Changed on the way.
    #[error("wrong checksum: check the line rate")]
    Checksum,
    /// No end.
    #[error("no end of message within {MAX_MESSAGE_BYTES} bytes")]
    Endless,
    /// Complete, but of another format.
    #[error("not a polar message such as Q,229,002.74,M,00: set the anemometer to M2 or M4")]
    Format,
}

impl fmt::Display for Message {
    /// As the anemometer sends it, in metres a second, STX and line end included.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = self.direction.map(|degrees| format!("{degrees:03.0}")).unwrap_or_default();
        let speed = self.speed.map(|speed| format!("{speed:06.2}")).unwrap_or_default();
        let body = format!("{},{direction},{speed},M,{:02},", self.node, self.status);
        write!(f, "\u{2}{body}\u{3}{:02X}\r\n", checksum(body.as_bytes()))
    }
}

impl Message {
    /// Parses the text between STX and ETX. Some firmware puts blanks after the commas.
    fn parse(body: &[u8]) -> Option<Self> {
        let mut fields = str::from_utf8(body).ok()?.split(',').map(str::trim);
        let mut next = || fields.next();
        let (node, direction, speed, unit, status) = (next()?, next()?, next()?, next()?, next()?);
        let [node] = node.as_bytes() else { return None };
        let scale = METRES_A_SECOND.iter().find(|(letter, _)| *letter == unit)?.1;
        let direction = optional(direction)?;
        let in_range = direction.is_none_or(|degrees| (0.0..=360.0).contains(&degrees));
        (node.is_ascii_uppercase() && in_range).then_some(())?;
        Some(Self {
            node: char::from(*node),
            // 360 is north as well.
            direction: direction.map(|degrees| degrees % 360.0),
            speed: optional(speed)?.map(|speed| speed * scale),
            // Two hexadecimal digits; the codes of the manual are all below 10.
            status: u8::from_str_radix(status, 16).ok()?,
        })
    }
}

/// A number without a sign (those with one are of UV messages), or nothing.
fn optional(field: &str) -> Option<Option<f32>> {
    match field {
        "" => Some(None),
        number if number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') => {
            number.parse().ok().map(Some)
        }
        _ => None,
    }
}

fn checksum(body: &[u8]) -> u8 {
    body.iter().fold(0, |sum, byte| sum ^ byte)
}

/// Finds messages in received bytes, however they are split.
#[derive(Debug, Default)]
pub struct Messages {
    /// From STX on; empty between messages.
    held: Vec<u8>,
}

impl Messages {
    /// Takes the next byte. Bytes between messages (line end, text at power-up) are ignored.
    pub fn take(&mut self, byte: u8) -> Option<Result<Message, Damage>> {
        match byte {
            STX => {
                let cut = !self.held.is_empty();
                self.held.clear();
                self.held.push(STX);
                return cut.then_some(Err(Damage::Endless));
            }
            _ if self.held.is_empty() => return None,
            _ => self.held.push(byte),
        }
        let whole = self.whole();
        if whole.is_some() || self.held.len() >= MAX_MESSAGE_BYTES {
            self.held.clear();
            return Some(whole.unwrap_or(Err(Damage::Endless)));
        }
        None
    }

    fn whole(&self) -> Option<Result<Message, Damage>> {
        let (_stx, rest) = self.held.split_first()?;
        let end = rest.iter().position(|&byte| byte == ETX)?;
        let (body, tail) = rest.split_at_checked(end)?;
        let [_etx, digits @ ..] = tail else { return None };
        let [_, _] = digits else { return None };
        let sent = str::from_utf8(digits).ok().and_then(|digits| u8::from_str_radix(digits, 16).ok());
        Some(match sent {
            Some(sent) if sent == checksum(body) => Message::parse(body).ok_or(Damage::Format),
            _ => Err(Damage::Checksum),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8]) -> Vec<Result<Message, Damage>> {
        let mut messages = Messages::default();
        bytes.iter().filter_map(|&byte| messages.take(byte)).collect()
    }

    fn framed(body: &str) -> Vec<u8> {
        format!("\u{2}{body}\u{3}{:02X}\r\n", checksum(body.as_bytes())).into_bytes()
    }

    #[test]
    fn the_message_of_the_manual_is_read() {
        let [Ok(message)] = &read(b"\x02Q,229,002.74,M,00,\x0316\r\n")[..] else { panic!() };
        let expected = Message { node: 'Q', direction: Some(229.0), speed: Some(2.74), status: 0 };
        assert_eq!(*message, expected);
        assert_eq!(message.to_string().as_bytes(), b"\x02Q,229,002.74,M,00,\x0316\r\n");
    }

    #[test]
    fn a_calm_has_no_direction_and_a_blocked_path_no_speed() {
        let calm = read(&framed("Q,,000.04,M,00,"));
        assert_eq!(calm, [Ok(Message { node: 'Q', direction: None, speed: Some(0.04), status: 0 })]);
        let blocked = read(&framed("B,,,M,04,"));
        assert_eq!(blocked, [Ok(Message { node: 'B', direction: None, speed: None, status: 4 })]);
    }

    #[test]
    fn every_unit_becomes_metres_a_second() {
        for (unit, speed) in [("M", 10.0), ("N", 5.144_444), ("P", 4.4704), ("K", 2.777_778), ("F", 0.0508)] {
            let [Ok(message)] = &read(&framed(&format!("Q, 360, 010.00, {unit}, 00, ")))[..] else {
                panic!()
            };
            assert!((message.speed.unwrap() - speed).abs() < 1e-5, "{unit}: {message:?}");
            assert_eq!(message.direction, Some(0.0));
        }
    }

    #[test]
    fn damage_costs_one_message_and_not_the_next() {
        let mut bytes = b"noise 4\x02Q,229,012.74,M,00,\x0316\r\n\x02Q,22".to_vec();
        bytes.extend(framed("Q,+000.12,-002.74,M,00,"));
        bytes.extend([2; 1]);
        bytes.extend([b'9'; MAX_MESSAGE_BYTES]);
        bytes.extend(framed("Q,001,000.50,M,00,"));
        let [Err(first), Err(second), Err(third), Err(fourth), Ok(last)] = &read(&bytes)[..] else {
            panic!("{:?}", read(&bytes))
        };
        assert_eq!([*first, *second], [Damage::Checksum, Damage::Endless]);
        assert_eq!([*third, *fourth], [Damage::Format, Damage::Endless]);
        assert_eq!(last.direction, Some(1.0));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(prop_oneof![Just(2u8), Just(3), any::<u8>()], 0..200)) {
            read(&bytes);
        }

        #[test]
        fn any_body_is_read_without_a_panic(body in "Q,[0-9.+-]{0,5},[0-9.]{0,9},[MNPKFX],[0-9A-F]{0,3},") {
            read(&framed(&body));
        }

        #[test]
        fn a_written_message_is_parsed(degrees in prop::option::of(0u16..360), speed in 0u32..6000, status in 0u8..10) {
            let message = Message {
                node: 'Q', direction: degrees.map(f32::from), speed: Some(speed as f32 / 100.0), status,
            };
            let [Ok(read)] = &read(message.to_string().as_bytes())[..] else { panic!() };
            prop_assert_eq!(read.direction, message.direction);
            prop_assert!((read.speed.unwrap() - message.speed.unwrap()).abs() < 0.006);
        }
    }
}
