//! Whether this process may open as many files as a DAC with many nodes and readers needs.

use super::Finding;
use oasis_dac::listener::descriptors;

/// Open files that suffice: each node and reader needs one, and a DAC has some hundred more.
const SUFFICIENT_OPEN_FILES: u64 = 4_096;

pub(super) fn check() -> Finding {
    match descriptors::raise_limit() {
        Ok(most) => judge(most),
        Err(error) => Finding::warning("open files", format!("cannot raise the limit: {error}"), ""),
    }
}

fn judge(most: u64) -> Finding {
    if most >= SUFFICIENT_OPEN_FILES {
        return Finding::fine("open files", format!("at most {most}"));
    }
    let says = format!("at most {most}: each node and each reader needs one");
    Finding::warning("open files", says, "raise the limit: ulimit -Hn, or LimitNOFILE= of the service")
}

#[cfg(test)]
mod tests {
    use super::{super::Severity, *};

    #[test]
    fn a_low_limit_is_a_warning() {
        assert_eq!(judge(256).weight, Severity::Warning);
        assert_eq!(judge(SUFFICIENT_OPEN_FILES).weight, Severity::Fine);
    }
}
