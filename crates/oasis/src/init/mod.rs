//! `oasis init`: a folder with a program that OASIS watches, which builds and runs at once.

mod language;
mod sdk;
mod tools;

use anyhow::{Context, bail};
use clap::Args;
use language::{Language, TemplateContext};
use sdk::Sdk;
use std::{
    borrow::Cow,
    env,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};
use uuid::Uuid;

/// Longest name of a program: that of a node is in its file names, too.
const MAX_NAME_BYTES: usize = 64;

#[derive(Debug, Args)]
pub struct Arguments {
    /// Folder of the program, created if it does not exist.
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// Language of the program.
    #[arg(long, value_enum)]
    lang: Language,
    /// Name of the program and its node: letters, digits, - and _ [default: the folder's].
    #[arg(long)]
    name: Option<String>,
    /// Path of OASIS for this language: a checkout, the folder that a package is installed in, such as /usr, a folder with
    /// the libraries (C, C++) or a wheel (Python) [default: the package or the checkout of this program].
    #[arg(long, value_name = "PATH")]
    sdk: Option<PathBuf>,
}

/// Writes the files, and says what to do next.
///
/// # Errors
/// If a file exists already, or there is no SDK. Then nothing is written.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let folder = &arguments.folder;
    let name = match &arguments.name {
        Some(name) => name.clone(),
        None => name_of(folder)?,
    };
    check_name(&name)?;
    let program = env::current_exe().context("cannot find this program")?;
    let sdk = Sdk::find(arguments.sdk.as_deref(), &program, arguments.lang)?;
    let context = TemplateContext {
        language: arguments.lang,
        name: &name,
        sdk: &sdk,
        oasis: &program,
        uuid: Uuid::new_v4(),
    };
    let files = arguments.lang.files(&context);
    if let Some((taken, _)) = files.iter().find(|(path, _)| fs::symlink_metadata(folder.join(path)).is_ok()) {
        bail!(
            "{} exists and stays as it is, and nothing was written: name another folder",
            folder.join(taken).display()
        );
    }
    print_lines(&tools::requirements(arguments.lang, &sdk))?;
    for (path, text) in &files {
        write_new(&folder.join(path), text)?;
    }
    print_next_steps(folder, &files, &arguments.lang.commands(&context)).or_else(unless_broken_pipe)
}

/// A reader that has gone is no failure.
fn unless_broken_pipe(error: io::Error) -> anyhow::Result<()> {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Ok(()),
        _ => Err(error.into()),
    }
}

fn print_lines(lines: &[String]) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    lines.iter().try_for_each(|line| writeln!(out, "{line}")).or_else(unless_broken_pipe)
}

/// The name of a folder, for a program.
fn name_of(folder: &Path) -> anyhow::Result<String> {
    let here = env::current_dir().context("cannot find the current folder")?;
    let joined = here.join(folder);
    let full = fs::canonicalize(&joined).unwrap_or(joined);
    let name = full.file_name().context("this folder has no name: name the program with --name NAME")?;
    Ok(name.to_string_lossy().into_owned())
}

/// Names stand in build files, in code and in paths of each language.
fn check_name(name: &str) -> anyhow::Result<()> {
    let is_allowed = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_'))
        && name.len() <= MAX_NAME_BYTES;
    if !is_allowed {
        bail!(
            "{name:?} cannot be the name of a program: use a letter, then letters, digits, - and _, {MAX_NAME_BYTES} at most (--name NAME)"
        );
    }
    Ok(())
}

/// Writes a file that does not exist yet.
fn write_new(path: &Path, text: &str) -> anyhow::Result<()> {
    let write = || -> io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        File::create_new(path)?.write_all(text.as_bytes())
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

/// Names what was written, and the next commands.
fn print_next_steps(
    folder: &Path,
    files: &[(&str, String)],
    [up, build, run]: &[String; 3],
) -> io::Result<()> {
    let mut out = io::stdout().lock();
    files.iter().try_for_each(|(path, _)| writeln!(out, "{}", folder.join(path).display()))?;
    writeln!(out, "Next:")?;
    if folder != Path::new(".") {
        writeln!(out, "  cd {}", shell_word(&folder.to_string_lossy()))?;
    }
    writeln!(
        out,
        "  {up}   # the page is at http://127.0.0.1:7070\nIn a second terminal, in the same folder:"
    )?;
    writeln!(out, "  {build}\n  {run}")
}

/// Returns a text as one word of a shell, in quotes if it needs them.
fn shell_word(text: &str) -> Cow<'_, str> {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+@,:=".contains(letter);
    if text.chars().all(is_plain) { text.into() } else { format!("'{}'", text.replace('\'', r"'\''")).into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_one_word_of_a_shell() {
        for plain in ["machine", "/srv/plant-7/machine", "../größe"] {
            assert_eq!(shell_word(plain), plain);
        }
        assert_eq!(shell_word("my machine"), "'my machine'");
        assert_eq!(shell_word("it's $HOME"), r"'it'\''s $HOME'");
    }

    #[test]
    fn names_are_those_that_each_language_takes() {
        for name in ["machine", "plant-7", "A_1"] {
            check_name(name).unwrap();
        }
        for name in ["", "7", "-x", "a b", "a/b", "ä", "a\"", &"a".repeat(65)] {
            let error = check_name(name).unwrap_err().to_string();
            assert!(error.contains("--name"), "{error}");
        }
    }
}
