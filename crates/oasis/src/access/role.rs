//! `oasis role`: lists, shows, defines and removes roles.

use super::{
    folder::{AccessFolder, Folder},
    recorded, table, unless_pipe_is_closed,
};
use crate::output_format::{Format, OutputFlags};
use anyhow::anyhow;
use clap::{Args, Subcommand};
use oasis_access::{BUILT_IN, Name, Rule};
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
    /// List roles, built-in ones included.
    #[command(after_help = "Examples:
  oasis role list
  oasis role list --json")]
    List {
        #[command(flatten)]
        output: OutputFlags,
    },
    /// Show the rules of a role, as `oasis role set --allow` takes them.
    #[command(after_help = "Examples:
  oasis role show operator")]
    Show {
        /// Name of the role.
        name: Name,
        #[command(flatten)]
        output: OutputFlags,
    },
    /// Define a role, in place of one of the same name.
    #[command(after_help = "Examples:
  oasis role set fitter --allow 'read plant-*/*' --allow 'command:enable,command:disable plant-*/pump'
  oasis role set archivist --allow read,export,sql
  oasis role set reader-of-7 --allow 'read plant-7/*'

Verbs: read-live, read-past, command:hertz and other commands, runs, annotations, alarms, layouts, export, sql, rules, eisa,
administration; read, command and * for several. See docs/reference/permissions.md.")]
    Set {
        /// Name of the role.
        name: Name,
        /// Permits VERB,VERB NODE/INSTANCE, where * stands for any text; without a target, on everything. Several add up.
        #[arg(long, value_name = "RULE", required = true)]
        allow: Vec<Rule>,
    },
    /// Remove a role that no account has.
    #[command(after_help = "Examples:
  oasis role remove fitter")]
    Remove {
        /// Name of the role.
        name: Name,
    },
}

/// Runs a subcommand.
pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    let folder = arguments.folder.find()?;
    let said = match arguments.verb {
        Verb::List { output } => return unless_pipe_is_closed(list(&folder, output.format())),
        Verb::Show { name, output } => {
            let rules = folder.read()?.rules_of(name.as_str());
            let rules =
                rules.ok_or_else(|| anyhow!("there is no role {name}: list them with `oasis role list`"))?;
            let rules: Vec<_> = rules.iter().map(Rule::to_string).collect();
            match output.format() {
                Format::Json => json!({"name": name, "rules": rules}).to_string(),
                Format::Text => rules.join("\n"),
            }
        }
        Verb::Set { name, allow } => {
            let rules: Vec<String> = allow.iter().map(Rule::to_string).collect();
            let what = ("role:set", name.as_str(), json!({"rules": rules}));
            recorded::change(&folder, what, |accounts| accounts.set_role(name.clone(), allow))?;
            format!("{name}: set")
        }
        Verb::Remove { name } => {
            let what = ("role:remove", name.as_str(), json!({}));
            recorded::change(&folder, what, |accounts| accounts.remove_role(&name))?;
            format!("{name}: removed")
        }
    };
    unless_pipe_is_closed(writeln!(io::stdout(), "{said}").map_err(Into::into))
}

fn list(folder: &Folder, format: Format) -> anyhow::Result<()> {
    let accounts = folder.read()?;
    let texts = |rules: &[Rule]| rules.iter().map(Rule::to_string).collect::<Vec<_>>();
    let built_in = BUILT_IN.iter().map(|role| (role.name.to_owned(), true, texts(&role.rules())));
    let custom = accounts.roles().iter().map(|(name, role)| (name.to_string(), false, texts(&role.rules)));
    let roles: Vec<_> = built_in.chain(custom).collect();
    if format == Format::Json {
        let mut out = io::stdout().lock();
        for (name, is_built_in, rules) in roles {
            writeln!(out, "{}", json!({"name": name, "built_in": is_built_in, "rules": rules}))?;
        }
        return Ok(());
    }
    let rows: Vec<_> = roles.into_iter().map(|(name, _, rules)| [name, rules.join("; ")]).collect();
    Ok(table::print(["ROLE", "RULES"], &rows)?)
}
