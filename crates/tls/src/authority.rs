//! A small certificate authority in a folder: `ca.pem`, `ca.key`, and the certificates and keys that it has issued.

use crate::{CertificateRequest, Facts, TlsError, files, provider};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose, SanType, SerialNumber,
};
use ring::rand::{SecureRandom, SystemRandom};
use rustls::{
    RootCertStore,
    client::{WebPkiServerVerifier, danger::ServerCertVerifier},
    pki_types::{ServerName, UnixTime},
};
use sha2::{Digest, Sha256};
use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Write},
    net::IpAddr,
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};
use time::OffsetDateTime;

/// Lifetime of an authority in days: 10 years.
const AUTHORITY_DAYS: u32 = 3_650;
/// A certificate is valid a little before it is issued: clocks differ.
const SKEW: Duration = Duration::from_secs(3_600);
/// The same for a certificate of a node, which only DACs check. Shorter: a revocation covers what became valid before it.
const NODE_SKEW: Duration = Duration::from_secs(300);
/// Bytes of a serial number. RFC 5280 4.1.2.2 allows 20.
const SERIAL: usize = 16;
/// RFC 5280 A.1, ub-common-name.
const LONGEST_NAME: usize = 64;

/// When a certificate is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetime {
    /// From this time on.
    pub begins: SystemTime,
    /// Until this time.
    pub ends: SystemTime,
}

impl Lifetime {
    /// Creates a certificate that is valid for this many days from now on, and for the hour before.
    pub fn days(days: u32) -> Self {
        let now = SystemTime::now();
        Self { begins: now - SKEW, ends: now + Duration::from_secs(86_400) * days }
    }

    /// The same for a node: valid for the 5 minutes before.
    pub fn of_node(days: u32) -> Self {
        Self { begins: SystemTime::now() - NODE_SKEW, ..Self::days(days) }
    }
}

/// A certificate and its key, as files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issued {
    /// The certificate.
    pub certificate: PathBuf,
    /// Its private key, which only its owner can read.
    pub key: PathBuf,
}

/// An authority in a folder. Whoever has its key can pretend to be any server and node.
#[derive(Debug)]
pub struct Authority {
    folder: PathBuf,
    key: KeyPair,
}

impl Authority {
    /// Creates an authority with a new key. Creates the folder if it does not exist.
    ///
    /// # Errors
    /// If the folder contains an authority already, or cannot be written.
    pub fn create(folder: &Path) -> Result<Self, TlsError> {
        let failed = |error| TlsError::File { what: "folder", path: folder.to_owned(), error };
        fs::create_dir_all(folder).map_err(failed)?;
        let _lock = lock(folder)?;
        let (certificate, key_path) = (folder.join("ca.pem"), folder.join("ca.key"));
        for path in [&certificate, &key_path] {
            if path.exists() {
                let remedy = "use it (oasis ca issue), or another folder (--ca-dir)";
                return Err(TlsError::Exists { path: path.clone(), remedy });
            }
        }
        fs::set_permissions(folder, Permissions::from_mode(0o700)).map_err(failed)?;
        let key = KeyPair::generate()?;
        let mut params = of_authority(&key);
        set_lifetime(&mut params, Lifetime::days(AUTHORITY_DAYS));
        let signed = params.self_signed(&key)?;
        write("private key of the CA", &key_path, key.serialize_pem().as_bytes(), 0o600)?;
        write("certificate of the CA", &certificate, signed.pem().as_bytes(), 0o644)?;
        Ok(Self { folder: folder.to_owned(), key })
    }

    /// Opens the authority in a folder.
    ///
    /// # Errors
    /// If there is none, others can read its key, or key and certificate do not belong together.
    pub fn open(folder: &Path) -> Result<Self, TlsError> {
        let (certificate, path) = (folder.join("ca.pem"), folder.join("ca.key"));
        // Checks the permissions too.
        files::private_key(&path)?;
        let pem = files::read("private key of the CA", &path)?;
        let key = KeyPair::from_pem(&String::from_utf8_lossy(&pem))?;
        let authority = Self { folder: folder.to_owned(), key };
        let known = files::certificates("certificate of the CA", &certificate)?;
        let own_name = format!("CN={}", name_of(&authority.key));
        match known.first().and_then(Facts::of) {
            Some(facts) if facts.subject == own_name => Ok(authority),
            _ => Err(TlsError::NoPair { certificate, key: path }),
        }
    }

    /// The file with the authority's certificate, which clients trust.
    pub fn certificate(&self) -> PathBuf {
        self.folder.join("ca.pem")
    }

    /// The authority's name, as lists of trusted authorities show it.
    pub fn name(&self) -> String {
        name_of(&self.key)
    }

    /// Issues a certificate for a server with these host names and addresses; the first one names the files. An earlier one of the same name is replaced.
    ///
    /// # Errors
    /// If a name is not one of a host, or the files cannot be written.
    pub fn issue_server(&self, names: &[String], lifetime: Lifetime) -> Result<Issued, TlsError> {
        let invalid = |name: &str, remedy| TlsError::Name { name: name.into(), remedy };
        let first = names.first().ok_or_else(|| invalid("", "give at least one host name or address"))?;
        let alternatives = names.iter().map(|name| alternative(name)).collect::<Result<_, _>>()?;
        let mut params = of_owner(&common_name(first), lifetime);
        params.subject_alt_names = alternatives;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let stem = first.trim_start_matches("*.").replace(':', "-");
        let issued = self.issue(&params, &format!("server-{stem}"))?;
        self.check(&issued, first)?;
        Ok(issued)
    }

    /// Issues a certificate for the node of this name, which also names the files. An earlier one of the same name is replaced.
    /// A name that ends with `*` is for all nodes whose names begin so.
    ///
    /// # Errors
    /// If the name cannot be one of a file, or the files cannot be written.
    pub fn issue_node(&self, name: &str, lifetime: Lifetime) -> Result<Issued, TlsError> {
        let stem = name.strip_suffix('*').map_or_else(|| name.to_owned(), |name| format!("{name}any"));
        self.issue(&of_node(name, lifetime)?, &format!("node-{stem}"))
    }

    /// Signs the request of a node. Returns the certificate in PEM.
    ///
    /// # Errors
    /// If the name cannot be in a certificate.
    pub fn sign_node(&self, request: &CertificateRequest, lifetime: Lifetime) -> Result<String, TlsError> {
        let params = of_node(&request.name, lifetime)?;
        Ok(params.signed_by(request, &Issuer::new(of_authority(&self.key), &self.key))?.pem())
    }

    fn issue(&self, params: &CertificateParams, stem: &str) -> Result<Issued, TlsError> {
        let key = KeyPair::generate()?;
        let signed = params.signed_by(&key, &Issuer::new(of_authority(&self.key), &self.key))?;
        let issued = Issued {
            certificate: self.folder.join(format!("{stem}.pem")),
            key: self.folder.join(format!("{stem}.key")),
        };
        let _lock = lock(&self.folder)?;
        write("private key", &issued.key, key.serialize_pem().as_bytes(), 0o600)?;
        write("certificate", &issued.certificate, signed.pem().as_bytes(), 0o644)?;
        Ok(issued)
    }

    /// Whether a client that trusts this authority accepts a server's certificate at the end of its first hour.
    fn check(&self, issued: &Issued, name: &str) -> Result<(), TlsError> {
        let chain = files::certificates("certificate", &issued.certificate)?;
        let roots: RootCertStore = files::authorities("certificate of the CA", &self.certificate())?;
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider()).build();
        let verifier = verifier.map_err(|error| rustls::Error::General(error.to_string()))?;
        let (Some(first), Ok(name)) = (chain.first(), ServerName::try_from(name.replacen("*.", "any.", 1)))
        else {
            return Ok(());
        };
        match verifier.verify_server_cert(first, &[], &name, &[], UnixTime::now()) {
            // A lifetime in the past or in the future is the caller's wish.
            Err(rustls::Error::InvalidCertificate(reason)) if !is_of_time(&reason) => {
                Err(rustls::Error::InvalidCertificate(reason).into())
            }
            _ => Ok(()),
        }
    }
}

fn is_of_time(reason: &rustls::CertificateError) -> bool {
    use rustls::CertificateError::{Expired, ExpiredContext, NotValidYet, NotValidYetContext};
    matches!(reason, Expired | ExpiredContext { .. } | NotValidYet | NotValidYetContext { .. })
}

/// An authority's name is made of its key, so that the name in what it issues follows from the key alone.
fn name_of(key: &KeyPair) -> String {
    let digest = Sha256::digest(key.public_key_raw());
    let number: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("OASIS CA {number}")
}

fn of_authority(key: &KeyPair) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = named(&name_of(key));
    // RFC 5280 4.2.1.9: no authorities below this one.
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

fn of_owner(name: &str, lifetime: Lifetime) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = named(name);
    params.is_ca = IsCa::ExplicitNoCa;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.use_authority_key_identifier_extension = true;
    set_lifetime(&mut params, lifetime);
    params
}

fn of_node(name: &str, lifetime: Lifetime) -> Result<CertificateParams, TlsError> {
    let is_plain = |c: char| c.is_alphanumeric() || "._-: ".contains(c);
    let beginning = name.strip_suffix('*').unwrap_or(name);
    if beginning.is_empty() || name.len() > LONGEST_NAME || !beginning.chars().all(is_plain) {
        let remedy = "use letters, digits, '.', '_', '-', ':' and spaces, at most 64 bytes; a * at the end for all names that begin so";
        return Err(TlsError::Name { name: name.into(), remedy });
    }
    let mut params = of_owner(name, lifetime);
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    let mut serial = [0; SERIAL];
    SystemRandom::new().fill(&mut serial).map_err(|_| rcgen::Error::RingUnspecified)?;
    // Positive, and of the same length always.
    serial[0] = serial[0] & 0x3f | 0x40;
    params.serial_number = Some(SerialNumber::from_slice(&serial));
    Ok(params)
}

fn named(name: &str) -> DistinguishedName {
    let mut subject = DistinguishedName::new();
    subject.push(DnType::CommonName, name);
    subject
}

fn set_lifetime(params: &mut CertificateParams, lifetime: Lifetime) {
    params.not_before = OffsetDateTime::from(lifetime.begins);
    params.not_after = OffsetDateTime::from(lifetime.ends);
}

/// Host names have up to 253 bytes, a common name 64. Clients read the alternative names only.
fn common_name(host: &str) -> String {
    host.chars().take(LONGEST_NAME).collect()
}

/// RFC 6125 6.4: the name of a host, whose first label may be `*`, or an address.
fn alternative(name: &str) -> Result<SanType, TlsError> {
    if let Ok(address) = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
        return Ok(SanType::IpAddress(address));
    }
    let plain = name.strip_prefix("*.").unwrap_or(name);
    let is_host = ServerName::try_from(plain).is_ok_and(|name| matches!(name, ServerName::DnsName(_)));
    match name.try_into() {
        Ok(host) if is_host => Ok(SanType::DnsName(host)),
        _ => {
            let remedy = "give names of the host such as dac.example.org, and addresses such as 192.0.2.7, without a port";
            Err(TlsError::Name { name: name.into(), remedy })
        }
    }
}

/// Keeps other processes from writing to the folder until the file is dropped: a key and a certificate of two of them would be no pair.
fn lock(folder: &Path) -> Result<File, TlsError> {
    let locked = File::open(folder).and_then(|file| file.lock().map(|()| file));
    locked.map_err(|error| TlsError::File { what: "folder", path: folder.to_owned(), error })
}

/// Replaces a file at once: a server that loads it again never finds a part of it.
fn write(what: &'static str, path: &Path, bytes: &[u8], mode: u32) -> Result<(), TlsError> {
    let new = path.with_extension("new");
    let written = || -> io::Result<()> {
        // One that a crash has left could have other permissions.
        if let Err(error) = fs::remove_file(&new)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(error);
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&new)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&new, path)
    };
    written().map_err(|error| TlsError::File { what, path: path.to_owned(), error })
}

#[cfg(test)]
mod tests;
