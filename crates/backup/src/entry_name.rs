//! Names of files in a backup: paths below a folder, and nothing else.

/// Longest name, bytes: a tar header has room for more only if it can be cut at a slash.
const MAX_NAME_BYTES: usize = 255;

/// A name that could lead out of a folder, or cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} cannot be the name of a file in a backup")]
pub struct BadName(pub String);

/// Checks a name: relative, without `.` and `..`, without control characters.
///
/// # Errors
/// If it is not such a name.
pub fn check(name: &str) -> Result<(), BadName> {
    let is_part = |part: &str| !part.is_empty() && part != "." && part != "..";
    let is_plain = !name.chars().any(char::is_control) && !name.contains('\\');
    match name.len() <= MAX_NAME_BYTES && is_plain && name.split('/').all(is_part) {
        true => Ok(()),
        false => Err(BadName(name.chars().take(MAX_NAME_BYTES).collect())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_below_their_folder() {
        for good in ["a", "archive/0000000001.oseg", "layouts/Hall 1.json", "a/..b/c"] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        let long = "x".repeat(256);
        for bad in
            ["", "/a", "a/", "a//b", "..", "../a", "a/../../b", "./a", "a\0b", "a\nb", "a\\..\\b", &long]
        {
            assert!(check(bad).is_err(), "{bad:?}");
        }
    }
}
