//! Headers of tar files (POSIX.1-1988, `ustar`): regular files only, so that any tar program can list a backup.

use crate::entry_name;

/// A header, and the unit of everything in the file.
pub const BLOCK: usize = 512;
/// Largest file size that eleven octal digits express.
pub const MAX_FILE_BYTES: u64 = 0o777_7777_7777;
const NAME: usize = 100;
const PREFIX: usize = 155;
const MAGIC: &[u8] = b"ustar\x0000";

/// A file: its name and its size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub size: u64,
}

/// Why a header is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadHeader {
    #[error("the checksum of a header is wrong")]
    Checksum,
    #[error("a header is not one of a backup")]
    Form,
    /// A link, a folder, a device.
    #[error("{0:?} is not a regular file")]
    NotAFile(String),
    #[error(transparent)]
    Name(#[from] entry_name::BadName),
}

/// Encodes a header; `None` if the name cannot be cut to fit, or the file is too large.
pub fn header(entry: &Entry, time: u64) -> Option<[u8; BLOCK]> {
    let (prefix, name) = cut(&entry.name)?;
    if entry.size > MAX_FILE_BYTES {
        return None;
    }
    let mut block = [0; BLOCK];
    let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, name.as_bytes());
    put(100, b"0000600\0");
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    put(124, format!("{:011o}\0", entry.size).as_bytes());
    put(136, format!("{:011o}\0", time.min(MAX_FILE_BYTES)).as_bytes());
    put(148, b"        ");
    put(156, b"0");
    put(257, MAGIC);
    put(345, prefix.as_bytes());
    let sum = format!("{:06o}\0 ", sum_of(&block));
    block[148..156].copy_from_slice(sum.as_bytes());
    Some(block)
}

/// Decodes a header; `None` for a block of zeros, which ends the file.
pub fn parse(block: &[u8; BLOCK]) -> Result<Option<Entry>, BadHeader> {
    if block.iter().all(|byte| *byte == 0) {
        return Ok(None);
    }
    let said = octal(&block[148..156]).ok_or(BadHeader::Form)?;
    let mut without = *block;
    without[148..156].copy_from_slice(b"        ");
    if said != sum_of(&without) {
        return Err(BadHeader::Checksum);
    }
    if block[257..265] != *MAGIC {
        return Err(BadHeader::Form);
    }
    let text = |bytes: &[u8]| {
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        std::str::from_utf8(&bytes[..end]).map(str::to_owned).map_err(|_| BadHeader::Form)
    };
    let (name, prefix) = (text(&block[..NAME])?, text(&block[345..345 + PREFIX])?);
    let name = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
    if block[156] != b'0' {
        return Err(BadHeader::NotAFile(name));
    }
    entry_name::check(&name)?;
    Ok(Some(Entry { name, size: octal(&block[124..136]).ok_or(BadHeader::Form)? }))
}

/// Zero bytes after a file, up to a whole block.
pub fn padding(size: u64) -> usize {
    let over = usize::try_from(size % BLOCK as u64).unwrap_or_default();
    (BLOCK - over) % BLOCK
}

fn cut(name: &str) -> Option<(&str, &str)> {
    if name.len() <= NAME {
        return Some(("", name));
    }
    let fits = |(at, _): &(usize, &str)| *at <= PREFIX && name.len() - at - 1 <= NAME;
    name.match_indices('/').find(fits).map(|(at, _)| (&name[..at], &name[at + 1..]))
}

fn sum_of(block: &[u8; BLOCK]) -> u64 {
    block.iter().map(|byte| u64::from(*byte)).sum()
}

fn octal(field: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(field).ok()?;
    u64::from_str_radix(text.trim_end_matches(['\0', ' ']), 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_header_reads_back(name in "[a-z]{1,90}(/[a-z]{1,70}){0,2}", size in 0..=MAX_FILE_BYTES, time: u64) {
            let entry = Entry { name, size };
            if let Some(block) = header(&entry, time) {
                prop_assert_eq!(parse(&block), Ok(Some(entry)));
            }
        }

        #[test]
        fn any_block_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), BLOCK)) {
            let _ = parse(bytes.first_chunk().unwrap());
        }
    }

    #[test]
    fn links_and_names_that_lead_out_are_refused() {
        let good = header(&Entry { name: "a/b".into(), size: 1 }, 0).unwrap();
        let changed = |at: usize, with: &[u8]| {
            let mut block = good;
            block[at..at + with.len()].copy_from_slice(with);
            block[148..156].copy_from_slice(b"        ");
            let sum = format!("{:06o}\0 ", sum_of(&block));
            block[148..156].copy_from_slice(sum.as_bytes());
            parse(&block)
        };
        for kind in [b"1", b"2", b"5", b"L", b"x"] {
            assert_eq!(changed(156, kind), Err(BadHeader::NotAFile("a/b".into())));
        }
        assert!(matches!(changed(0, b"../b\0"), Err(BadHeader::Name(_))));
        assert!(matches!(changed(0, b"/etc/x\0"), Err(BadHeader::Name(_))));
        assert!(matches!(changed(345, b"..\0"), Err(BadHeader::Name(_))));
        let mut flipped = good;
        flipped[3] ^= 1;
        assert_eq!(parse(&flipped), Err(BadHeader::Checksum));
    }
}
