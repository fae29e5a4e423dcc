//! Sends mail: one for each notification, or one for several that had to wait.

use super::letter;
use crate::{
    destination::{AtOnce, Destination, Scope, SendError},
    notification::Notification,
    setting::TIMEOUT,
};
use lettre::{
    Message, SmtpTransport, Transport,
    address::Envelope,
    message::Mailbox,
    transport::smtp::{Error, response::Response},
};
use std::io;

/// Notifications in one mail.
const BATCH: usize = 50;

/// RFC 4954 6: the server does not accept this user. The settings must change; the mail is valid.
const AUTHENTICATION: [u16; 4] = [530, 534, 535, 538];

/// Some people with mail.
pub struct Mail {
    pub transport: SmtpTransport,
    pub from: Mailbox,
    pub to: Vec<Mailbox>,
    pub page: String,
    /// For errors.
    pub server: String,
}

impl Destination for Mail {
    fn send(&self, notifications: &[Notification]) -> Result<(), SendError> {
        let letter = letter::letter((&self.from, &self.to), notifications, &self.page);
        let letter = letter.map_err(|error| SendError::new(Scope::Final, error.to_string()))?;
        match self.transport.send(&letter).map_err(|error| self.failure(&error)) {
            // The server refuses a mail as a whole if it does not know one receiver.
            Err(error) if error.scope == Scope::Final && self.to.len() > 1 => self.to_each(&letter),
            result => result.map(|_: Response| ()),
        }
    }

    fn most_at_once(&self) -> AtOnce {
        AtOnce::WhenLimited(BATCH)
    }
}

impl Mail {
    fn failure(&self, error: &Error) -> SendError {
        failure(error).from_server(&self.server)
    }

    /// Sends the mail to each receiver alone. One is enough.
    fn to_each(&self, letter: &Message) -> Result<(), SendError> {
        let bytes = letter.formatted();
        let mut result = Err(SendError::new(Scope::Final, "no receivers"));
        for receiver in &self.to {
            let envelope = Envelope::new(Some(self.from.email.clone()), vec![receiver.email.clone()]);
            let envelope = envelope.map_err(|error| SendError::new(Scope::Final, error.to_string()))?;
            match self.transport.send_raw(&envelope, &bytes).map_err(|error| self.failure(&error)) {
                Ok(_) => result = Ok(()),
                Err(error) => {
                    tracing::warn!(receiver = %receiver.email, %error, "mail server refused a receiver");
                    result = result.or(Err(error));
                }
            }
        }
        result
    }
}

/// The extent of an error of SMTP, and its cause without what stands above it.
fn failure(error: &Error) -> SendError {
    let is_of_user = error.status().is_some_and(|code| AUTHENTICATION.contains(&code.into()));
    let scope = if error.is_permanent() && !is_of_user { Scope::Final } else { Scope::Place };
    let causes = std::iter::successors(Some(error as &dyn std::error::Error), |error| error.source());
    let socket = causes.filter_map(|cause| cause.downcast_ref::<io::Error>()).last();
    match socket {
        Some(error) if is_timeout(error) => {
            SendError::new(scope, format!("no answer within {} s", TIMEOUT.as_secs()))
        }
        Some(error) => SendError::new(scope, error.to_string()),
        None => SendError::new(scope, error.to_string()),
    }
}

/// A socket whose timeout has passed reports that it would block.
fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
}
