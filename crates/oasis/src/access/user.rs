//! `oasis user`: adds, changes and removes users.

use super::{
    folder::{AccessFolder, Folder},
    joined,
    password::PasswordSource,
    recorded, table, unless_pipe_is_closed,
};
#[cfg(feature = "live")]
use crate::live::{arguments::SignInLink, sign_in_link};
use crate::{
    output_format::{Format, OutputFlags},
    time_flag,
};
use clap::{Args, Subcommand};
use oasis_access::{Document, LOCAL, Name, STRANGER};
#[cfg(feature = "live")]
use oasis_client::Server;
use serde_json::json;
use std::io::{self, Write};

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    folder: AccessFolder,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Add a user. Asks for a password, unless there is a file with it.
    #[command(after_help = "Examples:
  oasis user add ada --role operator
  oasis user add eve --role viewer --password-file eve.password
  oasis user add bob --role viewer --no-password      signs in by another provider of identity")]
    Add {
        /// Name of the user.
        name: Name,
        /// Role of the user; several are allowed: see `oasis role list`.
        #[arg(long = "role", value_name = "ROLE")]
        roles: Vec<Name>,
        #[command(flatten)]
        password: PasswordSource,
        /// Add a user who cannot sign in with a password.
        #[arg(long, conflicts_with = "password_file")]
        no_password: bool,
    },
    /// Remove a user with all tokens that belong to it. Its sessions end within 5 s.
    #[command(after_help = "Examples:
  oasis user remove ada")]
    Remove {
        /// Name of the user.
        name: Name,
    },
    /// List users with their roles, and the roles of those who have not signed in.
    #[command(after_help = "Examples:
  oasis user list
  oasis user list --json | jq -r .name")]
    List {
        #[command(flatten)]
        output: OutputFlags,
    },
    /// Set the roles of a user, of `local` (not signed in, from this host) or of `stranger` (not signed in, from elsewhere).
    #[command(after_help = "Examples:
  oasis user set-roles ada viewer fitter
  oasis user set-roles stranger viewer
  oasis user set-roles local                 none: everybody must sign in")]
    SetRoles {
        /// Name of the user, local or stranger.
        name: Name,
        /// All its roles from now on.
        roles: Vec<Name>,
    },
    /// Print another link that signs in once, for a DAC that was started with --local token.
    #[cfg(feature = "live")]
    #[command(after_help = "Examples:
  oasis user sign-in-link
  oasis user sign-in-link --url http://127.0.0.1:8080 --access /var/lib/oasis/access")]
    SignInLink(Server),
    /// Set the password of a user. Its sessions end within 5 s.
    #[command(after_help = "Examples:
  oasis user set-password ada
  oasis user set-password ada --password-file - < ada.password")]
    SetPassword {
        /// Name of the user.
        name: Name,
        #[command(flatten)]
        password: PasswordSource,
    },
}

/// Runs a subcommand.
pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    let folder = arguments.folder.find()?;
    let said = match arguments.verb {
        Verb::Add { name, roles, password, no_password } => {
            let roles = roles.into_iter().collect();
            let password = if no_password { None } else { Some(password.read(name.as_str())?) };
            let what = ("user:add", name.as_str(), json!({"roles": roles}));
            let now = time_flag::now();
            recorded::change(&folder, what, |accounts| {
                accounts.add_user(name.clone(), password, roles, now)
            })?;
            format!("{name}: added")
        }
        Verb::Remove { name } => {
            let what = ("user:remove", name.as_str(), json!({}));
            match recorded::change(&folder, what, |accounts| accounts.remove_user(name.as_str()))? {
                0 => format!("{name}: removed"),
                1 => format!("{name}: removed with a token"),
                tokens => format!("{name}: removed with {tokens} tokens"),
            }
        }
        Verb::List { output } => return unless_pipe_is_closed(list(&folder, output.format())),
        Verb::SetRoles { name, roles } => {
            let roles = roles.into_iter().collect();
            let what = ("user:set-roles", name.as_str(), json!({"roles": roles}));
            let said = format!("{name}: {}", joined(&roles));
            recorded::change(&folder, what, |accounts| accounts.set_roles(name.as_str(), roles))?;
            said
        }
        #[cfg(feature = "live")]
        Verb::SignInLink(server) => {
            return sign_in_link::run(&SignInLink { server, access: arguments.folder.flag() });
        }
        Verb::SetPassword { name, password } => {
            let password = password.read(name.as_str())?;
            let what = ("user:set-password", name.as_str(), json!({}));
            recorded::change(&folder, what, |accounts| accounts.set_password(name.as_str(), password))?;
            format!("{name}: the password is set")
        }
    };
    unless_pipe_is_closed(writeln!(io::stdout(), "{said}").map_err(Into::into))
}

fn list(folder: &Folder, format: Format) -> anyhow::Result<()> {
    let accounts = folder.read()?;
    match format {
        Format::Text => print_table(&accounts),
        Format::Json => print_json(&accounts),
    }
}

fn print_table(accounts: &Document) -> anyhow::Result<()> {
    let (local, stranger) = accounts.implicit_roles();
    let implicit = [(LOCAL, local), (STRANGER, stranger)];
    let implicit =
        implicit.map(|(name, roles)| [name.into(), joined(roles), "not needed".into(), "-".into()]);
    let users = accounts.users().iter().map(|(name, user)| {
        let password = if user.password.is_some() { "yes" } else { "no" };
        [name.to_string(), joined(&user.roles), password.into(), user.created.to_string()]
    });
    let rows: Vec<_> = implicit.into_iter().chain(users).collect();
    Ok(table::print(["USER", "ROLES", "PASSWORD", "ADDED"], &rows)?)
}

fn print_json(accounts: &Document) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    let (local, stranger) = accounts.implicit_roles();
    for (name, roles) in [(LOCAL, local), (STRANGER, stranger)] {
        writeln!(out, "{}", json!({"name": name, "roles": roles}))?;
    }
    for (name, user) in accounts.users() {
        let has_password = user.password.is_some();
        let line =
            json!({"name": name, "roles": user.roles, "has_password": has_password, "created": user.created});
        writeln!(out, "{line}")?;
    }
    Ok(())
}
