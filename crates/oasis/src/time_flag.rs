//! Parses the flags `--from` and `--to`.

use anyhow::{anyhow, bail};
use oasis_wire::{quantity::Nanos, time};
use std::time::SystemTime;

/// Returns start and end, nanoseconds since 1970; none for a flag that was not given.
///
/// # Errors
/// If a flag is not a time, or the end is before the start.
pub fn span(from: Option<&str>, to: Option<&str>) -> anyhow::Result<(Option<u64>, Option<u64>)> {
    let (start, end) = (time("--from", from)?, time("--to", to)?);
    if let (Some(start), Some(end)) = (start, end)
        && start > end
    {
        let [start, end] = [start, end].map(time::format);
        bail!("--from ({start}) is after --to ({end}): exchange them");
    }
    Ok((start, end))
}

/// Returns this host's time.
pub fn now() -> Nanos {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Nanos(since_1970.as_nanos() as u64) // until 2554
}

/// Returns the time of a flag, nanoseconds since 1970.
///
/// # Errors
/// If it is not a time.
pub fn time(flag: &str, text: Option<&str>) -> anyhow::Result<Option<u64>> {
    let parse = |text: &str| {
        oasis_wire::time::parse(text, now()).map_err(|error| anyhow!("{flag} is {text:?}: {error}"))
    };
    text.map(parse).transpose()
}
