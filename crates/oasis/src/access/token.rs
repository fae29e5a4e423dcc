//! `oasis token`: creates, lists and revokes API tokens.

use super::{
    folder::{AccessFolder, Folder},
    joined, recorded, table, unless_pipe_is_closed,
};
use crate::{
    output_format::{Format, OutputFlags},
    time_flag,
};
use anyhow::{Context, anyhow, bail};
use clap::{Args, Subcommand};
use oasis_access::{ChangeError, Document, Name, NewToken, Rule, Secret, Token, TokenId, read_last_uses};
use oasis_wire::{quantity::Nanos, time};
use serde_json::{Value, json};
use std::{
    fs::{self, File},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    folder: AccessFolder,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Create a token and print it, once: only its hash is kept.
    #[command(after_help = "Examples:
  oasis token create grafana --role viewer --expires 90d
  oasis token create night-shift --role operator --owner ada --token-file night-shift.token
  oasis token create kiosk --role viewer --embed --scope 'read plant-7/*' --expires never")]
    Create {
        /// Its purpose.
        name: Name,
        /// Role of the token; several are allowed: see `oasis role list`.
        #[arg(long = "role", value_name = "ROLE", required = true)]
        roles: Vec<Name>,
        /// User that the token belongs to: it never has roles that this user does not have, and goes with the user.
        #[arg(long, value_name = "USER")]
        owner: Option<Name>,
        /// Limits the token to this: VERB,VERB NODE/INSTANCE, where * stands for any text; several add up.
        #[arg(long, value_name = "RULE")]
        scope: Vec<Rule>,
        /// The token is for a page that other sites embed: it only reads.
        #[arg(long)]
        embed: bool,
        /// When it expires: a time, a duration from now on (12h, 90d, 4w), or never.
        #[arg(long, value_name = "TIME", default_value = "90d")]
        expires: String,
        /// Write the token to this new file, which only you can read, and do not print it.
        #[arg(long, value_name = "FILE")]
        token_file: Option<PathBuf>,
    },
    /// List tokens with their roles and when they were last used; the tokens themselves are not known.
    #[command(after_help = "Examples:
  oasis token list
  oasis token list --json | jq 'select(.last_use == null)'")]
    List {
        #[command(flatten)]
        output: OutputFlags,
    },
    /// Revoke a token. What it has opened ends within 5 s.
    #[command(after_help = "Examples:
  oasis token revoke 4f1c2a90
  oasis token revoke grafana                 all of this name")]
    Revoke {
        /// Number or name of the token.
        token: String,
    },
}

/// Runs a subcommand.
pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    let folder = arguments.folder.find()?;
    match arguments.verb {
        Verb::Create { name, roles, owner, scope, embed, expires, token_file } => {
            let now = time_flag::now();
            let expires = expiry(&expires, now)?;
            let new = NewToken { name, roles: roles.into_iter().collect(), owner, embed, scope, expires };
            create(&folder, new, now, token_file.as_deref())
        }
        Verb::List { output } => unless_pipe_is_closed(list(&folder, output.format())),
        Verb::Revoke { token } => {
            let what = ("token:revoke", token.as_str(), json!({}));
            let revoke = |accounts: &mut Document| accounts.revoke_token(&token);
            let revoked = recorded::change_described(&folder, what, revoke, |ids| json!({"numbers": ids}))?;
            let said = revoked.iter().try_for_each(|id| writeln!(io::stdout(), "{id}: revoked"));
            unless_pipe_is_closed(said.map_err(Into::into))
        }
    }
}

/// Creates a token, and prints it or writes it to a new file that only its owner can read.
pub fn create(folder: &Folder, new: NewToken, now: Nanos, file: Option<&Path>) -> anyhow::Result<()> {
    let expires = new.expires.map(|time| time::format(time.0));
    let scope: Vec<String> = new.scope.iter().map(Rule::to_string).collect();
    let arguments = json!({"roles": new.roles, "owner": new.owner, "embed": new.embed, "scope": scope, "expires": expires});
    let (name, until) = (new.name.clone(), new.expires);
    let create = |accounts: &mut Document| accounts.create_token(new, now);
    write_token(folder, &name, until, file, ("token:create", arguments), create)
}

/// Makes a token and prints it, or writes it to a new file.
pub fn write_token(
    folder: &Folder,
    name: &Name,
    expires: Option<Nanos>,
    file: Option<&Path>,
    (action, arguments): (&str, Value),
    create: impl FnOnce(&mut Document) -> Result<(TokenId, Secret), ChangeError>,
) -> anyhow::Result<()> {
    // Before the token, which could not be shown again.
    let out = file.map(|path| new_file(path).map(|file| (path, file))).transpose()?;
    let expires = expires.map(|time| time::format(time.0));
    let what = (action, name.as_str(), arguments);
    let created = recorded::change_described(folder, what, create, |(id, _)| json!({"number": id}));
    let (id, secret) = match (created, &out) {
        (Ok(created), _) => created,
        (Err(error), out) => {
            if let Some((path, _)) = out {
                // The file is empty.
                let _ = fs::remove_file(path);
            }
            return Err(error);
        }
    };
    eprintln!("token {id} ({name}): expires {}", expires.as_deref().unwrap_or("never"));
    match out {
        Some((path, mut file)) => {
            writeln!(file, "{}", secret.reveal()).and_then(|()| file.sync_all()).with_context(|| {
                format!("cannot write {}: revoke the token {id}, and create another one", path.display())
            })
        }
        None => unless_pipe_is_closed(writeln!(io::stdout(), "{}", secret.reveal()).map_err(Into::into)),
    }
}

/// A file that is not there yet and that only its owner can read.
fn new_file(path: &Path) -> anyhow::Result<File> {
    let opened = File::options().write(true).create_new(true).mode(0o600).open(path);
    opened.with_context(|| format!("cannot create the token file {}", path.display()))
}

/// Parses the time of expiry; none for never.
pub fn expiry(text: &str, now: Nanos) -> anyhow::Result<Option<Nanos>> {
    if text == "never" {
        return Ok(None);
    }
    // A duration: as long after now as it would be before.
    let after = time::parse(&format!("-{text}"), now)
        .ok()
        .map(|before| now.0.saturating_add(now.0 - before.min(now.0)));
    let time = match after {
        Some(time) => time,
        None => time::parse(text, now).map_err(|_| {
            anyhow!("--expires is {text:?}: write a time (2027-05-04T12:00:00Z), a duration (12h, 90d, 4w), or never")
        })?,
    };
    if time <= now.0 {
        bail!("--expires is {}, which has passed: write a later time", oasis_wire::time::format(time));
    }
    // Whole seconds, as they are kept.
    Ok(Some(Nanos(time - time % 1_000_000_000)))
}

fn list(folder: &Folder, format: Format) -> anyhow::Result<()> {
    let accounts = folder.read()?;
    let last_uses = read_last_uses(&folder.path);
    let last_use = |id: &TokenId| last_uses.get(id).map(ToString::to_string);
    if format == Format::Json {
        let mut out = io::stdout().lock();
        for (id, token) in accounts.tokens() {
            let scope: Vec<String> = token.scope.iter().map(Rule::to_string).collect();
            let line = json!({"id": id, "name": token.name, "roles": token.roles, "owner": token.owner, "embed": token.embed,
                "scope": scope, "created": token.created, "expires": token.expires, "last_use": last_use(id)});
            writeln!(out, "{line}")?;
        }
        return Ok(());
    }
    let now = time_flag::now();
    let rows: Vec<_> =
        accounts.tokens().iter().map(|(id, token)| row(*id, token, last_use(id), now)).collect();
    if rows.is_empty() {
        eprintln!("no tokens: create one with `oasis token create NAME --role ROLE`");
        return Ok(());
    }
    Ok(table::print(["TOKEN", "NAME", "ROLES", "OWNER", "EXPIRES", "LAST USE", "SCOPE"], &rows)?)
}

fn row(id: TokenId, token: &Token, last_use: Option<String>, now: Nanos) -> [String; 7] {
    let dash = || "-".to_owned();
    let expires = match &token.expires {
        Some(time) if time.0 <= now => "expired".into(),
        Some(time) => time.to_string(),
        None => "never".into(),
    };
    let scope: Vec<String> = token.scope.iter().map(Rule::to_string).collect();
    let scope = match (token.embed, scope.is_empty()) {
        (true, true) => "embed".into(),
        (true, false) => format!("embed; {}", scope.join("; ")),
        (false, true) => dash(),
        (false, false) => scope.join("; "),
    };
    let owner = token.owner.as_ref().map_or_else(dash, ToString::to_string);
    let last_use = last_use.unwrap_or_else(dash);
    [id.to_string(), token.name.to_string(), joined(&token.roles), owner, expires, last_use, scope]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_expires_at_a_time_or_after_a_while() {
        let now = Nanos(1_763_683_200_000_000_000);
        let after =
            |text: &str| expiry(text, now).map(|time| time.map(|time| (time.0 - now.0) / 1_000_000_000));
        assert_eq!(after("never").unwrap(), None);
        assert_eq!(after("12h").unwrap(), Some(12 * 3_600));
        assert_eq!(after("2025-11-21T01:00:00Z").unwrap(), Some(3_600));
        for text in ["", "2020-01-01", "soon", "0s", "-1d"] {
            assert!(after(text).is_err(), "{text}");
        }
    }
}
