//! Times as they are typed behind `--from` and `--to`.

use anyhow::bail;
use oasis_dac::now;
use oasis_doors::time;

/// From when to when, nanoseconds since 1970; none where the flag was not given.
///
/// # Errors
/// If one is no time, or the end comes before the beginning.
pub fn span(from: Option<&str>, to: Option<&str>) -> anyhow::Result<(Option<u64>, Option<u64>)> {
    let (first, end) = (read("--from", from)?, read("--to", to)?);
    if let (Some(first), Some(end)) = (first, end)
        && first > end
    {
        let [first, end] = [first, end].map(time::date_and_time);
        bail!("--from is {first}, which is later than --to, {end}: exchange them");
    }
    Ok((first, end))
}

fn read(flag: &str, text: Option<&str>) -> anyhow::Result<Option<u64>> {
    let parse =
        |text: &str| time::parse(text, now()).map_err(|error| anyhow::anyhow!("{flag} is {text:?}: {error}"));
    text.map(parse).transpose()
}
