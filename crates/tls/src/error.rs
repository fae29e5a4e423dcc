//! Why certificates or keys cannot be used.

use std::{io, path::PathBuf};

/// Why certificates or keys cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read or written.
    #[error("cannot use the {what} {}: {error}", path.display())]
    File {
        /// Purpose of the file.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// A file has other content.
    #[error("the {what} {} is invalid ({why}): use a PEM file (-----BEGIN …-----)", path.display())]
    Content {
        /// Expected content of the file.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The problem.
        why: String,
    },
    /// Other users of the host could copy the key.
    #[error("others can read the private key {path} (mode {mode:o}): run chmod 600 {path}", path = path.display())]
    OpenKey {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// Key and certificate are not a pair.
    #[error("the key {} does not belong to the certificate {}: use the key that it was issued for", key.display(), certificate.display())]
    NoPair {
        /// The certificate.
        certificate: PathBuf,
        /// The key.
        key: PathBuf,
    },
    /// The certificate is not valid now.
    #[error("the certificate {} expired on {day}: issue another one (oasis ca issue)", path.display())]
    Expired {
        /// The certificate.
        path: PathBuf,
        /// Its last day, as `YYYY-MM-DD`.
        day: String,
    },
    /// A certificate without its key, or a key without its certificate.
    #[error("certificate and key belong together: set both, or none")]
    OneOfTwo,
    /// The system has no certificates that can be trusted.
    #[error("this system has no certificates of authorities ({0}): name the file of one (ca)")]
    NoSystemAuthorities(String),
    /// A name that no certificate can have.
    #[error("{name:?} cannot be in a certificate: {remedy}")]
    Name {
        /// As given.
        name: String,
        /// Text to write instead.
        remedy: &'static str,
    },
    /// A request for a certificate that cannot be used.
    #[error("the certificate request is invalid ({0}): make a new one (oasis node enroll)")]
    Request(String),
    /// A file is there already.
    #[error("{} exists already: {remedy}", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
        /// Action to take instead.
        remedy: &'static str,
    },
    /// An error of the TLS library.
    #[error("cannot set up TLS: {0}")]
    Library(#[from] rustls::Error),
    /// An error of the library that issues certificates.
    #[cfg(feature = "authority")]
    #[error("cannot issue the certificate: {0}")]
    Issue(#[from] rcgen::Error),
}
