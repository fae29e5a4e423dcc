//! Errors of a connection, in words that say what to do.

use rustls::{AlertDescription, CertificateError, Error};
use std::io;

/// The error of TLS in an error of a connection, if that is its cause.
pub fn tls_error(error: &io::Error) -> Option<&Error> {
    error.get_ref()?.downcast_ref()
}

/// Explains an error between a client and the DAC, as the client sees it, with a remedy.
pub fn explain(error: &Error) -> String {
    match error {
        Error::InvalidCertificate(reason) => certificate(reason),
        Error::InvalidMessage(_) => "the DAC does not speak TLS there: use its address without TLS, \
             or set tls.certificate and tls.key at the DAC"
            .into(),
        Error::AlertReceived(AlertDescription::CertificateRequired) => {
            "the DAC requires a certificate of its nodes: set node.certificate and node.key (oasis ca issue node)"
                .into()
        }
        Error::AlertReceived(AlertDescription::CertificateExpired) => {
            "the DAC refused this node's certificate: it has expired; issue another one (oasis ca issue node)"
                .into()
        }
        Error::AlertReceived(
            AlertDescription::UnknownCA
            | AlertDescription::BadCertificate
            | AlertDescription::CertificateUnknown
            | AlertDescription::DecryptError,
        ) => "the DAC refused this node's certificate: it must be of the CA in tls.node_ca of the DAC".into(),
        other => other.to_string(),
    }
}

fn certificate(reason: &CertificateError) -> String {
    match reason {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "the DAC's certificate is of an unknown authority: name the CA's file (ca.pem) with --ca or OASIS_CA; a node has node.ca too"
                .into()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "the DAC's certificate has expired: issue another one (oasis ca issue server), and compare the clocks".into()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "the DAC's certificate is not valid yet: compare the clocks of both hosts".into()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "the DAC's certificate is for other names: use one of them, or issue one with this name (oasis ca issue server NAME…)".into()
        }
        other => format!("the DAC's certificate is invalid: {other}"),
    }
}
