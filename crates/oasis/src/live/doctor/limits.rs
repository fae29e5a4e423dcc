//! Whether this process may open as many files as a DAC with many nodes and readers needs.

use super::Finding;
use oasis_dac::listener::descriptors;

/// Each node and reader needs one; beside them a DAC has some hundred.
const ENOUGH: u64 = 4_096;

pub(super) fn check() -> Finding {
    match descriptors::raise_limit() {
        Ok(most) => judge(most),
        Err(error) => Finding::warning("open files", format!("cannot raise the limit: {error}"), ""),
    }
}

fn judge(most: u64) -> Finding {
    if most >= ENOUGH {
        return Finding::fine("open files", format!("at most {most}"));
    }
    let says = format!("at most {most}: each node and each reader needs one");
    Finding::warning("open files", says, "raise the limit: ulimit -Hn, or LimitNOFILE= of the service")
}

#[cfg(test)]
mod tests {
    use super::{super::Weight, *};

    #[test]
    fn a_low_limit_is_a_warning() {
        assert_eq!(judge(256).weight, Weight::Warning);
        assert_eq!(judge(ENOUGH).weight, Weight::Fine);
    }
}
