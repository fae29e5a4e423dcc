//! Parser of the log of Java's garbage collector (`-Xlog:gc`).

use crate::experiment::Measured;
use std::{fs, path::Path};

/// A collection that stopped the program.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Pause {
    /// Seconds since Java started.
    at: f64,
    /// Duration in milliseconds.
    length: f64,
    /// Used heap in megabytes, before and after.
    heap: (f64, f64),
}

/// Adds measures and series of a server's log, if there is one.
pub fn measure(log: &Path, measured: &mut Measured) {
    let Ok(text) = fs::read_to_string(log) else { return };
    let pauses: Vec<Pause> = text.lines().filter_map(parse).collect();
    let lengths = || pauses.iter().map(|pause| pause.length);
    let measures = [
        ("gc_pauses", pauses.len() as f64),
        ("gc_pause_ms", lengths().fold(0.0, |sum, length| sum + length)),
        ("gc_pause_ms_max", lengths().fold(0.0, f64::max)),
        ("gc_heap_mb_max", pauses.iter().map(|pause| pause.heap.0).fold(0.0, f64::max)),
    ];
    measured.measures.extend(measures.map(|(name, value)| (name.to_owned(), value)));
    let series = |of: fn(&Pause) -> f64| pauses.iter().map(|pause| (pause.at, of(pause))).collect();
    measured.series.insert("gc_pause_ms".into(), series(|pause| pause.length));
    measured.series.insert("gc_heap_mb".into(), series(|pause| pause.heap.1));
}

/// `[1.234s][info][gc] GC(0) Pause Young (Allocation Failure) 33M->4M(123M) 5.678ms`
fn parse(line: &str) -> Option<Pause> {
    let (at, rest) = line.strip_prefix('[')?.split_once("s]")?;
    let (_, pause) = rest.split_once(" Pause ")?;
    let mut words = pause.split_ascii_whitespace().rev();
    let length = words.next()?.strip_suffix("ms")?.parse().ok()?;
    let (before, after) = words.next()?.split_once("->")?;
    let (after, _) = after.split_once('(')?;
    Some(Pause { at: at.parse().ok()?, length, heap: (megabytes(before)?, megabytes(after)?) })
}

fn megabytes(text: &str) -> Option<f64> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let number: f64 = number.parse().ok()?;
    match unit {
        "K" => Some(number / 1024.0),
        "M" => Some(number),
        "G" => Some(number * 1024.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_read_and_other_lines_are_not() {
        let young =
            "[1.234s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 33M->4M(123M) 5.678ms";
        assert_eq!(parse(young), Some(Pause { at: 1.234, length: 5.678, heap: (33.0, 4.0) }));
        let full = "[70.1s][info][gc] GC(9) Pause Full (Allocation Failure) 2G->512K(2G) 1234.5ms";
        assert_eq!(parse(full), Some(Pause { at: 70.1, length: 1234.5, heap: (2048.0, 0.5) }));
        for other in
            ["[0.005s][info][gc] Using Serial", "[2.0s][info][gc] GC(3) Concurrent Mark Cycle 8.1ms", ""]
        {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
