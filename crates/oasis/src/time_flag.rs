//! Times as they are typed behind `--from` and `--to`.

use anyhow::Context;
use oasis_dac::now;
use oasis_doors::time;

/// Nanoseconds since 1970; none if the flag was not given.
pub fn read(flag: &str, text: Option<&str>) -> anyhow::Result<Option<u64>> {
    let parse = |text: &str| {
        time::parse(text, now()).with_context(|| format!("{flag} is {text:?}: {}", time::ALLOWED))
    };
    text.map(parse).transpose()
}
