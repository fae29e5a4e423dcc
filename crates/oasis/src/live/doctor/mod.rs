//! `oasis doctor`: whether this host can run OASIS, and what to do where it cannot.

mod addresses;
mod certificate;
mod clock;
mod disk;
mod limits;

use super::answers;
use crate::{
    config::Config,
    features,
    output_format::{Format, OutputFlags},
};
use anyhow::bail;
use clap::Args;
use oasis_format::visible::Visible;
use serde_json::{Value, json};
use std::{
    io::{self, Write},
    path::PathBuf,
};

#[derive(Debug, Args)]
pub struct Arguments {
    /// Configuration file of the DAC to be checked [default: what oasis up does without one].
    #[arg(long, value_name = "FILE", env = "OASIS_CONFIG")]
    config: Option<PathBuf>,
    /// Folder of its archive, in place of archive.directory.
    #[arg(long, value_name = "DIR", env = "OASIS_ARCHIVE")]
    archive: Option<String>,
    #[command(flatten)]
    output: OutputFlags,
}

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Severity {
    Fine,
    /// The DAC works, but not as well as it could.
    Warning,
    /// The DAC will not work.
    Problem,
}

impl Severity {
    fn name(self) -> &'static str {
        match self {
            Self::Fine => "ok",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

/// The result of one check.
#[derive(Debug)]
struct Finding {
    weight: Severity,
    about: &'static str,
    /// One sentence.
    says: String,
    /// Advice to the user; empty if there is none.
    remedy: String,
}

impl Finding {
    fn fine(about: &'static str, says: impl Into<String>) -> Self {
        Self { weight: Severity::Fine, about, says: says.into(), remedy: String::new() }
    }

    fn warning(about: &'static str, says: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { weight: Severity::Warning, about, says: says.into(), remedy: remedy.into() }
    }

    fn problem(about: &'static str, says: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { weight: Severity::Problem, about, says: says.into(), remedy: remedy.into() }
    }

    fn to_json(&self) -> Value {
        let remedy = Some(&self.remedy).filter(|remedy| !remedy.is_empty());
        json!({"check": self.about, "result": self.weight.name(), "detail": self.says, "remedy": remedy})
    }
}

/// Checks everything, and prints what it found.
///
/// # Errors
/// If there is a problem.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let findings = check(arguments);
    let mut out = io::stdout().lock();
    for finding in &findings {
        match arguments.output.format() {
            Format::Json => writeln!(out, "{}", finding.to_json())?,
            Format::Text => write(&mut out, finding)?,
        }
    }
    let problems = findings.iter().filter(|finding| finding.weight == Severity::Problem).count();
    match problems {
        0 => Ok(()),
        1 => bail!("1 problem: its remedy is above"),
        _ => bail!("{problems} problems: their remedies are above"),
    }
}

fn check(arguments: &Arguments) -> Vec<Finding> {
    let mut findings = vec![Finding::fine("version", oasis_dac::SOFTWARE)];
    let mut config = match Config::read(arguments.config.as_deref()) {
        Ok(config) => config,
        Err(error) => {
            let remedy =
                "name a file that can be read, without what is wrong; docs/reference/oasis.toml has all keys";
            let says = format!("{error:#}").split_whitespace().collect::<Vec<_>>().join(" ");
            findings.push(Finding::problem("configuration", says, remedy));
            Config::default()
        }
    };
    findings.push(features(&config));
    if let Some(directory) = arguments.archive.as_ref().filter(|directory| !directory.is_empty()) {
        config.archive.directory.clone_from(directory);
    }
    config.place_archive(false);
    findings.extend(addresses::check(&config.doors.listen, &config.channel.listen));
    findings.push(certificate::check(&config.tls));
    findings.push(clock::check());
    findings.push(limits::check());
    findings.push(disk::check(&config.archive, answers::is_dac(&config.doors.listen)));
    findings
}

/// Whether the program is built with all that the settings ask for.
fn features(config: &Config) -> Finding {
    match config.check_features() {
        Ok(()) => Finding::fine("features", features::summary()),
        Err(error) => Finding::problem("features", features::summary(), error.to_string()),
    }
}

fn write(out: &mut impl Write, finding: &Finding) -> io::Result<()> {
    let word = finding.weight.name();
    writeln!(out, "{word:<9}{:<15}{}", finding.about, Visible(&finding.says))?;
    if !finding.remedy.is_empty() {
        writeln!(out, "{:24}remedy: {}", "", Visible(&finding.remedy))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_configuration_is_a_problem_and_hides_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("oasis.toml");
        std::fs::write(&config, "[archive]\ncommit = 1\n").unwrap();
        let findings =
            check(&Arguments { config: Some(config), archive: None, output: OutputFlags::default() });
        let wrong = findings.iter().find(|finding| finding.about == "configuration").unwrap();
        assert!(wrong.weight == Severity::Problem && wrong.says.contains("line 2"), "{wrong:?}");
        for about in ["version", "features", "page", "data channel", "TLS", "clock", "open files", "archive"]
        {
            assert!(findings.iter().any(|finding| finding.about == about), "{about}");
        }
    }

    #[test]
    fn what_is_wrong_is_followed_by_its_remedy() {
        let mut text = Vec::new();
        write(&mut text, &Finding::problem("page", "127.0.0.1:7070 is in use\u{1b}[31m", "choose another"))
            .unwrap();
        let text = String::from_utf8(text).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("problem  page           127.0.0.1:7070 is in use"), "{text:?}");
        assert!(lines[1].trim_start() == "remedy: choose another" && !text.contains('\u{1b}'), "{text:?}");
    }
}
