//! `file:` URIs and paths.

use lsp_types::Uri;
use oasis_pdl::normalized;
use std::path::{Path, PathBuf};

/// Returns the path of a document. For a document without a file it is the URI.
pub fn to_path(uri: &Uri) -> PathBuf {
    let text = uri.as_str();
    let Some(rest) = text.strip_prefix("file://") else { return PathBuf::from(text) };
    // A host, such as `localhost`, ends at the first slash.
    let path = rest.find('/').and_then(|slash| rest.get(slash..)).unwrap_or(rest);
    let path = path.split(['?', '#']).next().unwrap_or_default();
    normalized(Path::new(String::from_utf8_lossy(&decoded(path)).as_ref()))
}

/// The URI of a path.
pub fn from_path(path: &Path) -> Option<Uri> {
    let text = path.to_string_lossy();
    if !path.is_absolute() {
        return text.parse().ok();
    }
    let mut uri = String::from("file://");
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri.parse().ok()
}

/// Decodes `%20` and so on. An invalid code stays.
fn decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.first_chunk::<2>().filter(|_| byte == b'%');
        let code = digits.and_then(|[high, low]| {
            let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            Some(digit(*high)? * 16 + digit(*low)?)
        });
        bytes.push(code.unwrap_or(byte));
        rest = after.get(if code.is_some() { 2 } else { 0 }..).unwrap_or_default();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_survives_its_uri() {
        for path in ["/a/b.pdl", "/a b/Größe #1?.pdl", "/100%/水.pdl"] {
            let uri = from_path(Path::new(path)).unwrap();
            assert_eq!(to_path(&uri), Path::new(path), "{}", uri.as_str());
        }
    }

    #[test]
    fn other_spellings_of_a_uri_are_understood() {
        for (uri, path) in [
            ("file:///a%2fb.pdl", "/a/b.pdl"),
            ("file:///a/./c/../b.pdl", "/a/b.pdl"),
            ("file://localhost/a.pdl", "/a.pdl"),
            ("untitled:Untitled-1", "untitled:Untitled-1"),
        ] {
            assert_eq!(to_path(&uri.parse().unwrap()), Path::new(path));
        }
    }
}
