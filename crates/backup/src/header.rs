//! Headers of tar files (POSIX.1-1988, `ustar`): regular files only, so that any tar program can list a backup.

use crate::entry_name;
use tar::{EntryType, Header};

/// A header, and the unit of everything in the file.
pub const BLOCK: usize = 512;
/// Largest file size that eleven octal digits express.
pub const MAX_FILE_BYTES: u64 = 0o777_7777_7777;

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
pub fn encode(entry: &Entry, time: u64) -> Option<[u8; BLOCK]> {
    if entry.size > MAX_FILE_BYTES {
        return None;
    }
    let mut header = Header::new_ustar();
    header.set_path(&entry.name).ok()?;
    header.set_mode(0o600);
    header.set_uid(0);
    header.set_gid(0);
    header.set_size(entry.size);
    header.set_mtime(time.min(MAX_FILE_BYTES));
    header.set_entry_type(EntryType::Regular);
    header.set_cksum();
    Some(*header.as_bytes())
}

/// Decodes a header; `None` for a block of zeros, which ends the file.
pub fn decode(block: &[u8; BLOCK]) -> Result<Option<Entry>, BadHeader> {
    if block.iter().all(|byte| *byte == 0) {
        return Ok(None);
    }
    let header = Header::from_byte_slice(block);
    let mut summed = header.clone();
    summed.set_cksum();
    if header.cksum().map_err(|_| BadHeader::Form)? != summed.cksum().map_err(|_| BadHeader::Form)? {
        return Err(BadHeader::Checksum);
    }
    if header.as_ustar().is_none() {
        return Err(BadHeader::Form);
    }
    let name = String::from_utf8(header.path_bytes().into_owned()).map_err(|_| BadHeader::Form)?;
    if header.entry_type() != EntryType::Regular {
        return Err(BadHeader::NotAFile(name));
    }
    entry_name::check(&name)?;
    let size = header.entry_size().ok().filter(|size| *size <= MAX_FILE_BYTES).ok_or(BadHeader::Form)?;
    Ok(Some(Entry { name, size }))
}

/// Zero bytes after a file, up to a whole block.
pub fn padding(size: u64) -> usize {
    let over = usize::try_from(size % BLOCK as u64).unwrap_or_default();
    (BLOCK - over) % BLOCK
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_header_reads_back(name in "[a-z]{1,90}(/[a-z]{1,70}){0,2}", size in 0..=MAX_FILE_BYTES, time: u64) {
            let entry = Entry { name, size };
            if let Some(block) = encode(&entry, time) {
                prop_assert_eq!(decode(&block), Ok(Some(entry)));
            }
        }

        #[test]
        fn any_block_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), BLOCK)) {
            let _ = decode(bytes.first_chunk().unwrap());
        }
    }

    #[test]
    fn links_and_names_that_lead_out_are_refused() {
        let good = encode(&Entry { name: "a/b".into(), size: 1 }, 0).unwrap();
        let changed = |at: usize, with: &[u8]| {
            let mut block = good;
            block[at..at + with.len()].copy_from_slice(with);
            block[148..156].copy_from_slice(b"        ");
            let sum: u64 = block.iter().map(|byte| u64::from(*byte)).sum();
            block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
            decode(&block)
        };
        for kind in [b"1", b"2", b"5", b"L", b"x"] {
            assert_eq!(changed(156, kind), Err(BadHeader::NotAFile("a/b".into())));
        }
        assert!(matches!(changed(0, b"../b\0"), Err(BadHeader::Name(_))));
        assert!(matches!(changed(0, b"/etc/x\0"), Err(BadHeader::Name(_))));
        assert!(matches!(changed(345, b"..\0"), Err(BadHeader::Name(_))));
        let mut flipped = good;
        flipped[3] ^= 1;
        assert_eq!(decode(&flipped), Err(BadHeader::Checksum));
    }
}
