//! Certificates and keys in PEM files.

use crate::TlsError;
#[cfg(feature = "server")]
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use std::{
    fs::File,
    io::{self, Read},
    os::unix::fs::PermissionsExt,
    path::Path,
};

/// Largest file, in bytes: a bundle of all public authorities has 300 kB.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;
/// Permissions that a key must not have: any of others, and writing of the group.
const OPEN: u32 = 0o027;

/// The certificates of a file, at least one.
pub fn certificates(what: &'static str, path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let invalid = |why: String| TlsError::Content { what, path: path.to_owned(), why };
    let bytes = read(what, path)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    let found = found.map_err(|error| invalid(error.to_string()))?;
    if found.is_empty() { Err(invalid("it contains no certificate".into())) } else { Ok(found) }
}

/// The authorities of a file, at least one.
#[cfg(feature = "server")]
pub fn authorities(what: &'static str, path: &Path) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(what, path)? {
        roots.add(certificate).map_err(|error| TlsError::Content {
            what,
            path: path.to_owned(),
            why: error.to_string(),
        })?;
    }
    Ok(roots)
}

/// The first private key of a file that others cannot read.
pub fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let what = "private key";
    let mode = std::fs::metadata(path)
        .map_err(|error| TlsError::File { what, path: path.to_owned(), error })?
        .permissions()
        .mode();
    if mode & OPEN != 0 {
        return Err(TlsError::OpenKey { path: path.to_owned(), mode: mode & 0o777 });
    }
    let bytes = read(what, path)?;
    PrivateKeyDer::from_pem_slice(&bytes).map_err(|error| TlsError::Content {
        what,
        path: path.to_owned(),
        why: error.to_string(),
    })
}

/// The bytes of a file, if they are not too many.
pub fn read(what: &'static str, path: &Path) -> Result<Vec<u8>, TlsError> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes));
    let read = read.and_then(|length| {
        let too_large = || io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than 4 MiB");
        if length as u64 > MAX_FILE_BYTES { Err(too_large()) } else { Ok(()) }
    });
    read.map_err(|error| TlsError::File { what, path: path.to_owned(), error })?;
    Ok(bytes)
}
