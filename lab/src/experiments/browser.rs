//! A browser without a window, with a profile of its own.

use super::devtools::DevTools;
use crate::cpu;
use anyhow::{Context, bail};
use std::{
    fs,
    process::{Child, Command, Stdio},
    str::FromStr,
};
use tempfile::TempDir;

/// Which browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Chromium, or Chrome.
    Chromium,
    /// Firefox.
    Firefox,
}

impl FromStr for Kind {
    type Err = anyhow::Error;

    fn from_str(name: &str) -> anyhow::Result<Self> {
        match name {
            "chromium" => Ok(Self::Chromium),
            "firefox" => Ok(Self::Firefox),
            other => bail!("BROWSER={other}: chromium or firefox"),
        }
    }
}

impl Kind {
    /// Programs by which it may be installed.
    fn programs(self) -> &'static [&'static str] {
        match self {
            Self::Chromium => &["chromium", "chromium-browser", "google-chrome"],
            Self::Firefox => &["firefox-esr", "firefox"],
        }
    }

    /// The installed program.
    fn program(self) -> anyhow::Result<&'static str> {
        let runs = |program: &&&str| {
            let mut version = Command::new(program);
            version.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
            version.status().is_ok_and(|status| status.success())
        };
        self.programs().iter().find(runs).copied().with_context(|| {
            format!("none of {} is installed: install one from your distribution", self.programs().join(", "))
        })
    }
}

/// A browser that shows a page until it is dropped.
#[derive(Debug)]
pub struct Browser {
    kind: Kind,
    process: Child,
    /// Removed after the process has ended.
    profile: TempDir,
}

/// The memory of the pages at one moment, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TabMemory {
    /// Resident memory of the processes that show pages.
    pub resident: u64,
    /// Memory that is private to the processes, without files.
    pub private: u64,
}

impl Browser {
    /// Opens a page.
    pub fn open(kind: Kind, page: &str) -> anyhow::Result<Self> {
        let profile = tempfile::tempdir()?;
        let mut command = Command::new(kind.program()?);
        match kind {
            Kind::Chromium => {
                command
                    .arg(format!("--user-data-dir={}", profile.path().display()))
                    // The port keeps the browser running; only the test of memory connects to it.
                    .args(["--headless=new", "--remote-debugging-port=0", "--no-first-run", "--disable-gpu"])
                    .args(["--disable-background-networking", "--disable-dev-shm-usage", "--disable-sync"]);
                if rustix::process::geteuid().is_root() {
                    command.arg("--no-sandbox");
                }
            }
            Kind::Firefox => {
                fs::write(profile.path().join("user.js"), PREFERENCES)?;
                command.args(["--headless", "--no-remote", "--profile"]).arg(profile.path());
            }
        }
        let process = command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = process.spawn().context("cannot start the browser")?;
        Ok(Self { kind, process, profile })
    }

    /// Attaches to the page, if the browser is one that allows it.
    pub fn tools(&self) -> anyhow::Result<Option<DevTools>> {
        match self.kind {
            Kind::Chromium => DevTools::attach(self.profile.path()).map(Some),
            Kind::Firefox => Ok(None),
        }
    }

    /// The memory of its pages: that of the processes that show them.
    pub fn tab_memory(&self) -> TabMemory {
        let shows_pages = |pid: &u32| {
            let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let command = String::from_utf8_lossy(&command);
            // Chromium's renderers, and Firefox's content processes.
            command.contains("--type=renderer") || command.ends_with("tab\0")
        };
        let tabs = cpu::family(self.process.id()).into_iter().filter(shows_pages);
        // A process may end between two looks.
        let memory = tabs.filter_map(|pid| Some((cpu::resident(pid).ok()?, cpu::private(pid).ok()?)));
        memory.fold(TabMemory::default(), |sum, (resident, private)| TabMemory {
            resident: sum.resident + resident,
            private: sum.private + private,
        })
    }

    /// Fails if the browser has ended.
    pub fn check(&mut self) -> anyhow::Result<()> {
        match self.process.try_wait()? {
            None => Ok(()),
            Some(status) => bail!("the browser ended: {status}"),
        }
    }
}

/// A first start that asks nothing and loads nothing, and times as exact as the page of one origin may have them.
const PREFERENCES: &str = r#"user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("browser.startup.homepage_override.mstone", "ignore");
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("toolkit.telemetry.reportingpolicy.firstRun", false);
user_pref("browser.aboutwelcome.enabled", false);
user_pref("app.update.enabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
"#;

impl Drop for Browser {
    fn drop(&mut self) {
        // The process may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
