//! Zones that the header of a column of times names.

/// Beginnings of the names of time zones.
const ZONE_AREAS: [&str; 10] = [
    "Africa/",
    "America/",
    "Antarctica/",
    "Arctic/",
    "Asia/",
    "Atlantic/",
    "Australia/",
    "Europe/",
    "Indian/",
    "Pacific/",
];
/// Abbreviations of time zones in upper case, besides those of three or four letters with `T` at their end.
const ZONE_ABBREVIATIONS: [&str; 9] = ["MSK", "MEZ", "MESZ", "LT", "ET", "CT", "MT", "PT", "AET"];
/// Abbreviations that may stand in a header without brackets, in upper case.
const BARE_ABBREVIATIONS: [&str; 20] = [
    "CET", "CEST", "MEZ", "MESZ", "WET", "WEST", "EET", "EEST", "BST", "MSK", "EST", "EDT", "CST", "CDT",
    "MST", "MDT", "PST", "PDT", "JST", "IST",
];
/// Hours of the largest offset that a zone has.
const MAX_ZONE_HOURS: u32 = 14;
const NANOS_PER_MINUTE: i128 = 60_000_000_000;

/// The zone in the header of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderZone {
    /// The header names none.
    None,
    /// Nanoseconds east of UTC.
    Offset(i128),
    /// A zone whose offset the header does not state.
    Other,
}

/// Returns the zone in the name of a column: `time (UTC+2)`, `time [CET]`, `Local Time`. `ET` in brackets looks like a unit.
pub fn zone_of(name: &str, unit: Option<&str>) -> HeaderZone {
    if let Some(offset) = offset_of(name) {
        return offset.map_or(HeaderZone::Other, HeaderZone::Offset);
    }
    let is_area = ZONE_AREAS.iter().any(|area| name.contains(area));
    let mut words = name.split(|character: char| !character.is_alphanumeric());
    let is_local = words.any(|word| ["local", "localtime"].contains(&word.to_lowercase().as_str()));
    let last = name.rsplit(['_', ' ']).next().filter(|last| *last != name);
    let is_bare = last.is_some_and(|last| BARE_ABBREVIATIONS.contains(&last));
    let in_brackets = name.strip_suffix([')', ']']).and_then(|rest| rest.rsplit_once(['(', '[']));
    let mut abbreviations = in_brackets.map(|(_, text)| text.trim()).into_iter().chain(unit);
    if is_area || is_local || is_bare || abbreviations.any(is_abbreviation) {
        HeaderZone::Other
    } else {
        HeaderZone::None
    }
}

/// Whether a time names its zone, or a time of the day alone if `is_clock`.
pub fn has_zone(time: &str, is_clock: bool) -> bool {
    let clock = if is_clock { time } else { time.get(10..).unwrap_or_default() };
    clock.contains(['+', '-', 'Z', 'z']) || clock.ends_with("UTC") || clock.ends_with("GMT")
}

fn is_abbreviation(text: &str) -> bool {
    let upper = text.to_ascii_uppercase();
    let is_short = (3..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_uppercase());
    ZONE_ABBREVIATIONS.contains(&upper.as_str())
        || BARE_ABBREVIATIONS.contains(&upper.as_str())
        || (is_short && text.ends_with('T') && text != "GMT")
}

/// The offset after `UTC` or `GMT`; an inner `None` if it is not one.
fn offset_of(name: &str) -> Option<Option<i128>> {
    let upper = name.to_ascii_uppercase();
    let rest = ["UTC", "GMT"].into_iter().find_map(|mark| {
        let at = upper.find(mark)?;
        let is_word = !name[..at].ends_with(|before: char| before.is_ascii_alphabetic());
        is_word.then(|| name[at + mark.len()..].trim_start())
    })?;
    let (sign, rest) = match rest.chars().next() {
        Some('+') => (1, &rest[1..]),
        Some('-') => (-1, &rest[1..]),
        Some('\u{b1}') => return Some(None),
        Some('\u{2212}') => (-1, &rest['\u{2212}'.len_utf8()..]),
        _ => return Some(Some(0)),
    };
    let end = rest.find(|character: char| !character.is_ascii_digit() && character != ':');
    let digits = end.map_or(rest, |end| &rest[..end]);
    let (hours, minutes) = match (digits.split_once(':'), digits.len()) {
        (Some((hours, minutes)), _) if (1..=2).contains(&hours.len()) && minutes.len() == 2 => {
            (hours, minutes)
        }
        (None, 1 | 2) => (digits, "0"),
        (None, 3 | 4) => digits.split_at(digits.len() - 2),
        // `utc-based` names no offset.
        (None, 0) => return Some(Some(0)),
        _ => return Some(None),
    };
    let (Ok(hours), Ok(minutes)) = (hours.parse::<u32>(), minutes.parse::<u32>()) else { return Some(None) };
    let is_offset = hours <= MAX_ZONE_HOURS && minutes < 60;
    Some(is_offset.then(|| sign * i128::from(hours * 60 + minutes) * NANOS_PER_MINUTE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_name_zones() {
        let minutes = |minutes: i128| HeaderZone::Offset(minutes * NANOS_PER_MINUTE);
        for (name, zone) in [
            ("time (UTC+2)", minutes(120)),
            ("time [UTC+02:00]", minutes(120)),
            ("time (GMT-09:30)", minutes(-570)),
            ("Time UTC +0530", minutes(330)),
            ("time (UTC\u{2212}3)", minutes(-180)),
            ("time_utc", minutes(0)),
            ("time (GMT)", minutes(0)),
            ("utc", minutes(0)),
            ("time (UTC+25)", HeaderZone::Other),
            ("time (UTC\u{b1}2)", HeaderZone::Other),
            ("time (UTC+2:5)", HeaderZone::Other),
            ("time (Europe/Berlin)", HeaderZone::Other),
            ("time [CET]", HeaderZone::Other),
            ("time (cest)", HeaderZone::Other),
            ("time (NZDT)", HeaderZone::Other),
            ("Time_EST", HeaderZone::Other),
            ("Local Time", HeaderZone::Other),
            ("time_local", HeaderZone::Other),
            ("time", HeaderZone::None),
            ("time (Z)", HeaderZone::None),
            ("time (ISO)", HeaderZone::None),
            ("time (start)", HeaderZone::None),
            ("t_ist", HeaderZone::None),
            ("locality time", HeaderZone::None),
        ] {
            assert_eq!(zone_of(name, None), zone, "{name}");
        }
        // `ET` is the unit exatesla as well.
        assert_eq!(zone_of("time", Some("ET")), HeaderZone::Other);
        assert_eq!(zone_of("time", Some("s")), HeaderZone::None);
    }

    #[test]
    fn times_name_zones() {
        assert!(has_zone("2024-01-31 12:00:00Z", false) && has_zone("12:00-05:00", true));
        assert!(!has_zone("2024-01-31 12:00:00", false) && !has_zone("12:00", true));
    }
}
