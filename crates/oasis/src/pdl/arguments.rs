//! The arguments of `oasis pdl`.

use crate::{diagnostics::MessageFlags, format_files::Fmt};
#[cfg(feature = "live")]
use crate::{live::locate::Located, target::Target};
use clap::{
    Args, Subcommand,
    builder::{PossibleValuesParser, TypedValueParser},
};
use oasis_pdl_gen::Language;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Check files and explain errors.
    #[command(after_help = "Examples:
  oasis pdl check engine.pdl
  oasis pdl check -I include/ --json engine.pdl")]
    Check(Check),
    /// Generate code for probes: one file for each language, named after the first PDL file.
    #[command(after_help = "Examples:
  oasis pdl compile --lang cpp -o include/ engine.pdl            include/engine.hpp
  oasis pdl compile --lang python,typescript -o gen/ engine.pdl  gen/engine.py and gen/engine.ts")]
    Compile(Compile),
    /// Format files, and list those that changed.
    #[command(after_help = "Examples:
  oasis pdl fmt *.pdl
  oasis pdl fmt --check *.pdl                show what would change, for CI: status 1 if anything would
  oasis pdl fmt - < engine.pdl               from standard input to standard output, for editors")]
    Fmt(Fmt),
    /// Report the effect of a new file on readers of an old one.
    #[command(after_help = "Examples:
  oasis pdl diff old.pdl new.pdl
  git show main:engine.pdl > /tmp/engine.pdl && oasis pdl diff -I include/ /tmp/engine.pdl engine.pdl

Exit status: 0 safe, 1 a file is wrong, 2 wrong arguments, 3 needs a version bump, 4 breaks readers.")]
    Diff(Diff),
    /// Write the PDL file of a probe that was declared in a program, from the schema that its node has registered.
    #[cfg(feature = "live")]
    #[command(after_help = "Examples:
  oasis pdl infer my-program/motor                   to standard output
  oasis pdl infer my-program/motor -o motor.pdl
  oasis pdl infer --url http://192.0.2.7:7070 my-program/motor

The file compiles to the same type: same UUID, version and layout.")]
    Infer(Infer),
    /// Run the language server for editors on standard input and output (docs/guides/write-pdl-in-your-editor.md).
    Lsp(Lsp),
}

#[derive(Debug, Args)]
pub struct Check {
    #[command(flatten)]
    pub input: Input,
}

#[derive(Debug, Args)]
pub struct Compile {
    /// Languages, separated by commas.
    #[arg(long = "lang", value_name = "LANGUAGES", required = true, value_delimiter = ',', value_parser = language())]
    pub languages: Vec<Language>,
    /// Output folder, created if it does not exist. Unchanged files are not written.
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    pub output: PathBuf,
    #[command(flatten)]
    pub input: Input,
}

#[derive(Debug, Args)]
pub struct Diff {
    /// Old PDL file.
    pub old: PathBuf,
    /// New PDL file.
    pub new: PathBuf,
    /// Folder to search for includes of both, after the folder of the including file.
    #[arg(short = 'I', long = "include", value_name = "DIR")]
    pub include: Vec<PathBuf>,
    #[command(flatten)]
    pub messages: MessageFlags,
}

#[cfg(feature = "live")]
#[derive(Debug, Args)]
pub struct Infer {
    /// NODE/INSTANCE, such as my-program/motor.
    pub instance: Target,
    /// Output file [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub located: Located,
}

#[derive(Debug, Args)]
pub struct Lsp {
    /// Accepted for compatibility with editors; has no effect.
    #[arg(long, hide = true)]
    pub stdio: bool,
}

fn language() -> impl TypedValueParser<Value = Language> {
    PossibleValuesParser::new(Language::ALL.map(|(name, _)| name)).try_map(|wanted| {
        Language::ALL
            .into_iter()
            .find(|(name, _)| *name == wanted)
            .map(|(_, language)| language)
            .ok_or(wanted)
    })
}

/// Input files and error format.
#[derive(Debug, Args)]
pub struct Input {
    /// PDL files.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Folder to search for includes, after the folder of the including file.
    #[arg(short = 'I', long = "include", value_name = "DIR")]
    pub include: Vec<PathBuf>,
    #[command(flatten)]
    pub messages: MessageFlags,
}
