//! `oasis man-pages`: the help of each command as a manual page.

#[cfg(not(feature = "man-pages"))]
use crate::features::MAN_PAGES;
#[cfg(feature = "man-pages")]
use crate::groups;
use clap::{Args, Command};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Arguments {
    /// Folder for the pages, created if it does not exist.
    pub folder: PathBuf,
}

/// Writes `oasis.1`, and a page such as `oasis-dac.1` for each command.
#[cfg(feature = "man-pages")]
pub fn run(arguments: &Arguments, command: Command) -> anyhow::Result<()> {
    use anyhow::Context;

    let folder = &arguments.folder;
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(command.clone(), folder))
        .and_then(|()| std::fs::write(folder.join("oasis.1"), overview(&command)?));
    written.with_context(|| format!("cannot write manual pages to {}", folder.display()))
}

/// Renders the page of `oasis`, with its commands in groups.
#[cfg(feature = "man-pages")]
fn overview(command: &Command) -> std::io::Result<Vec<u8>> {
    use clap_mangen::Man;

    let mut page = Vec::new();
    let man = Man::new(command.clone());
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    for section in groups::sections(command) {
        Man::new(section).render_subcommands_section(&mut page)?;
    }
    man.render_extra_section(&mut page)?;
    man.render_version_section(&mut page)?;
    Ok(page)
}

#[cfg(not(feature = "man-pages"))]
pub fn run(_: &Arguments, _: Command) -> anyhow::Result<()> {
    Err(MAN_PAGES.missing("oasis man-pages"))
}

#[cfg(all(test, feature = "man-pages"))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;
    use std::fs;

    #[test]
    fn each_command_has_a_page() {
        let folder = tempfile::tempdir().unwrap();
        let pages = folder.path().join("man1");
        run(&Arguments { folder: pages.clone() }, Cli::command()).unwrap();
        let page = |name: &str| fs::read_to_string(pages.join(name)).unwrap();
        assert!(page("oasis.1").contains("oasis\\-export(1)"));
        assert!(
            page("oasis.1").contains("Administer a site") && !page("oasis.1").contains("oasis\\-forget(1)")
        );
        assert!(page("oasis-archive-check.1").contains(".SH SYNOPSIS"));
        assert!(page("oasis-export.1").contains("Examples:"));
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = run(&Arguments { folder: file.path().join("man1") }, Cli::command()).unwrap_err();
        assert!(error.to_string().contains(&*file.path().to_string_lossy()), "{error}");
    }
}
