//! Why a DAC or a TEM could not be asked, or why none fits. Each message is whole: it names the cause and the remedy.

use oasis_tls::TlsError;
use std::{fmt, io, path::PathBuf, time::Duration};

/// Why a DAC or a TEM could not be asked, or why none fits.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The server has answered, and refuses the request.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The server does not answer.
    #[error(
        "no DAC at {base}: is `oasis up` or `oasis dac` running, and is this the port of its page (7070 by default)?: {why}"
    )]
    Unreachable {
        /// The address that was asked.
        base: String,
        /// Error of the connection.
        why: String,
    },
    /// The server accepts connections, and says nothing; or the network loses what is sent.
    #[error("no answer from {address} within {} s: is it stopped or overloaded?", .patience.as_secs_f64())]
    NoAnswer {
        /// The address that was asked.
        address: String,
        /// Time that the client has waited.
        patience: Duration,
    },
    /// The server speaks another protocol.
    #[error(
        "no DAC at {address}: what answers there speaks no HTTP: use the port of the page (7070 by default), and not that of the data channel"
    )]
    NoHttp {
        /// The address that was asked.
        address: String,
    },
    /// The port is that of the data channel.
    #[error(
        "{base} is at the port of the data channel, which is for nodes: use the port of the page (7070 by default)"
    )]
    DataChannel {
        /// The address that was asked.
        base: String,
    },
    /// No encrypted connection.
    #[error("no encrypted connection to {base}: {why}")]
    Encryption {
        /// The address that was asked.
        base: String,
        /// Problem, and what to do.
        why: String,
    },
    /// The answer is not one of a DAC.
    #[error(
        "{base} has sent an unexpected answer ({why}): the server is not a DAC or a TEM, or an older one"
    )]
    Answer {
        /// The address that was asked.
        base: String,
        /// Problem with it.
        why: String,
    },
    /// TEMs that do not answer.
    #[error("{}", silent(.0))]
    Silent(Vec<(String, Self)>),
    /// The TEM knows no DAC that fits, or several.
    #[error("{0}")]
    NoFit(String),
    /// A DAC whose address is of no use here, or not safe.
    #[error("{0}")]
    Unusable(String),
    /// No TEM was found by mDNS.
    #[error("{0}")]
    Discovery(String),
    /// A file with a token that cannot be used.
    #[error("cannot use the token in {}: {why}", path.display())]
    TokenFile {
        /// The file.
        path: PathBuf,
        /// The problem.
        why: String,
    },
    /// A text that is no token.
    #[error(
        "OASIS_TOKEN, or the file of --token-file or OASIS_TOKEN_FILE, contains no token: make one with oasis token create"
    )]
    NoToken,
    /// The token of this host cannot be used.
    #[error("{0}")]
    HostToken(String),
    /// Certificates that cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// A thread cannot be started.
    #[error("cannot start a thread: {0}")]
    Thread(#[from] io::Error),
}

fn silent(tems: &[(String, ClientError)]) -> String {
    const REMEDY: &str =
        "is `oasis tem` running there? Name another one with --tem or OASIS_TEM; a DAC is a TEM too";
    match tems {
        [(tem, why)] if why.is_silence() => {
            format!("the TEM at {tem} does not answer ({}): {REMEDY}", why.brief())
        }
        [(tem, why)] => format!("the TEM at {tem} does not answer: {why}"),
        several => {
            let each: Vec<_> = several.iter().map(|(tem, why)| format!("{tem}: {}", why.brief())).collect();
            format!("no TEM of {} answers ({}): {REMEDY}", several.len(), each.join("; "))
        }
    }
}

impl ClientError {
    /// The refusal, if the server has answered with one.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused(refused) => Some(refused),
            _ => None,
        }
    }

    /// Whether the server does not answer: it does not run, is stopped, or cannot be reached.
    pub fn is_silence(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::NoAnswer { .. })
    }

    /// The cause of silence alone, for messages that name the address and the remedy themselves.
    fn brief(&self) -> String {
        match self {
            Self::Unreachable { why, .. } => why.clone(),
            Self::NoAnswer { patience, .. } => format!("nothing within {} s", patience.as_secs_f64()),
            other => other.to_string(),
        }
    }

    /// Whether trying again later does not help: the cause must be removed first.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Refused(refused) => refused.is_final(),
            Self::Unusable(_)
            | Self::TokenFile { .. }
            | Self::NoToken
            | Self::HostToken(_)
            | Self::Tls(_) => true,
            _ => false,
        }
    }
}

/// A request that the server has refused.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// Status of the answer.
    pub status: u16,
    /// The code of the problem, such as `bad_token`.
    pub code: String,
    /// Message of the server.
    pub detail: String,
}

impl Refusal {
    /// Whether the same request would be refused again. Too many requests, or a fault of the server, pass.
    fn is_final(&self) -> bool {
        (400..500).contains(&self.status) && ![408, 429].contains(&self.status)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl std::error::Error for Refusal {}
