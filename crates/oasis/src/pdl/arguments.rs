//! What can be typed behind `oasis pdl`.

use clap::{
    Args, Subcommand, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
use oasis_pdl_gen::Language;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Check files and explain what is wrong with them.
    #[command(after_help = "Examples:
  oasis pdl check engine.pdl
  oasis pdl check -I include/ --message-format json engine.pdl")]
    Check(Check),
    /// Make code for probes: one file a language, named after the first PDL file.
    #[command(after_help = "Examples:
  oasis pdl compile --lang cpp -o include/ engine.pdl            include/engine.hpp
  oasis pdl compile --lang python,typescript -o gen/ engine.pdl  gen/engine.py and gen/engine.ts")]
    Compile(Compile),
    /// Lay files out in the one way that all PDL files share, and name those that changed.
    #[command(after_help = "Examples:
  oasis pdl fmt *.pdl
  oasis pdl fmt --check *.pdl                show what would change, for CI: status 1 if anything would
  oasis pdl fmt - < engine.pdl               from standard input to standard output, for editors")]
    Fmt(Fmt),
    /// Say what a new file does to those who read the samples of an old one.
    #[command(after_help = "Examples:
  oasis pdl diff old.pdl new.pdl
  git show main:engine.pdl > /tmp/engine.pdl && oasis pdl diff -I include/ /tmp/engine.pdl engine.pdl

Exit status: 0 safe, 1 a file is wrong, 2 wrong arguments, 3 needs a version bump, 4 breaks readers.")]
    Diff(Diff),
    /// Serve an editor: the Language Server Protocol on standard input and output (docs/guides/write-pdl-in-your-editor.md).
    Lsp(Lsp),
}

#[derive(Debug, Args)]
pub struct Check {
    #[command(flatten)]
    pub input: Input,
}

#[derive(Debug, Args)]
pub struct Compile {
    /// Languages, with commas between them.
    #[arg(long = "lang", value_name = "LANGUAGES", required = true, value_delimiter = ',', value_parser = language())]
    pub languages: Vec<Language>,
    /// Folder for the files; it is made if there is none. A file that would not change is not written.
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    pub output: PathBuf,
    #[command(flatten)]
    pub input: Input,
}

#[derive(Debug, Args)]
pub struct Fmt {
    /// PDL files, or - for standard input and output.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Change nothing and show what would change.
    #[arg(long)]
    pub check: bool,
}

#[derive(Debug, Args)]
pub struct Diff {
    /// PDL file as it was.
    pub old: PathBuf,
    /// PDL file as it is.
    pub new: PathBuf,
    /// Where both look for includes besides the including file's own folder.
    #[arg(short = 'I', long = "include", value_name = "DIR")]
    pub include: Vec<PathBuf>,
    /// How to print what changed.
    #[arg(long, value_enum, default_value_t)]
    pub message_format: MessageFormat,
}

#[derive(Debug, Args)]
pub struct Lsp {
    /// What many editors add; there is no other way.
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

/// What a verb reads, and how it tells what is wrong with it.
#[derive(Debug, Args)]
pub struct Input {
    /// PDL files.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Where to look for includes besides the including file's own folder.
    #[arg(short = 'I', long = "include", value_name = "DIR")]
    pub include: Vec<PathBuf>,
    /// How to print what is wrong.
    #[arg(long, value_enum, default_value_t)]
    pub message_format: MessageFormat,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub enum MessageFormat {
    /// For people.
    #[default]
    Human,
    /// One JSON object a line, for editors and CI.
    Json,
}
