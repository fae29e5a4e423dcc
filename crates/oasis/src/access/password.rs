//! Passwords from a terminal or a file, never from an argument: those are visible to all users of the host.

use crate::private_file;
use anyhow::{Context, bail};
use clap::Args;
use oasis_access::{HashCost, MAX_PASSWORD_BYTES, StoredPassword};
use std::{
    io::{self, IsTerminal, Read},
    path::{Path, PathBuf},
};

#[derive(Debug, Args)]
pub struct PasswordSource {
    /// File with the password in its first line, which others cannot read; - for standard input [default: prompt].
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
}

impl PasswordSource {
    /// Reads a new password and hashes it.
    ///
    /// # Errors
    /// If there is none, or it is too short.
    pub fn read(&self, user: &str) -> anyhow::Result<StoredPassword> {
        let password = match self.password_file.as_deref() {
            Some(path) if path == Path::new("-") => first_line(io::stdin().lock())?,
            Some(path) => first_line(private_file::open(path, "the password")?)?,
            None => prompt(user)?,
        };
        Ok(StoredPassword::new(user, &password, HashCost::default())?)
    }
}

fn prompt(user: &str) -> anyhow::Result<String> {
    if !io::stdin().is_terminal() {
        bail!("no terminal to ask for the password: use --password-file FILE, or - for standard input");
    }
    let password = rpassword::prompt_password(format!("New password of {user}: "))?;
    let again = rpassword::prompt_password("The same again: ")?;
    if password != again {
        bail!("the two passwords differ: try again");
    }
    Ok(password)
}

/// Without its line end. More than the longest password is not read.
fn first_line(from: impl Read) -> anyhow::Result<String> {
    let mut text = String::new();
    from.take(MAX_PASSWORD_BYTES as u64 + 3)
        .read_to_string(&mut text)
        .context("the password is not UTF-8")?;
    let line = text.split('\n').next().unwrap_or_default();
    Ok(line.strip_suffix('\r').unwrap_or(line).to_owned())
}
