//! A PostgreSQL server with a folder of its own, which can be killed.

use crate::faults::waiting::{RECOVERY_TIMEOUT, until};
use anyhow::{Context, bail};
use std::{
    fs,
    os::unix::{
        fs::{PermissionsExt, chown},
        process::CommandExt,
    },
    path::PathBuf,
    process::{Child, Command, Stdio},
};

/// PostgreSQL refuses to run as root.
const USER: &str = "postgres";

/// The server.
#[derive(Debug)]
pub struct Postgres {
    folder: PathBuf,
    programs: PathBuf,
    user: Option<(u32, u32)>,
    server: Option<Child>,
}

impl Postgres {
    /// Creates a database and starts its server. Fails without PostgreSQL.
    pub fn start(folder: PathBuf) -> anyhow::Result<Self> {
        let programs = programs().context("there is no PostgreSQL: make postgresql")?;
        let user = other_user()?;
        fs::create_dir(&folder)?;
        if let Some((user, group)) = user {
            chown(&folder, Some(user), Some(group))?;
            // The folder of the scenario is closed to others.
            let above = folder.parent().context("a folder without a parent")?;
            fs::set_permissions(above, fs::Permissions::from_mode(0o755))?;
        }
        let mut postgres = Self { folder, programs, user, server: None };
        let made = postgres
            .command("initdb")
            .args(["--no-sync", "--auth=trust", "--encoding=UTF8", "--locale=C", "--username=postgres", "-D"])
            .arg(&postgres.folder)
            .output()?;
        if !made.status.success() {
            bail!("initdb: {}", String::from_utf8_lossy(&made.stderr));
        }
        postgres.run()?;
        Ok(postgres)
    }

    /// The address for `postgresql.url`.
    pub fn address(&self) -> String {
        format!("host={} user=postgres dbname=postgres", self.folder.display())
    }

    /// Starts the server and waits until it answers.
    pub fn run(&mut self) -> anyhow::Result<()> {
        let server = self
            .command("postgres")
            .arg("-D")
            .arg(&self.folder)
            .args(["-c", "listen_addresses=", "-c", "fsync=off", "-k"])
            .arg(&self.folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        self.server = Some(server);
        until("PostgreSQL answers", RECOVERY_TIMEOUT, || {
            let asked = self.command("pg_isready").arg("-q").arg("-h").arg(&self.folder).status();
            asked.is_ok_and(|status| status.success()).then_some(()).ok_or("it does not")
        })
    }

    /// Ends it as a power failure would: all its processes at once.
    pub fn kill(&mut self) -> anyhow::Result<()> {
        let stopped =
            self.command("pg_ctl").args(["stop", "-m", "immediate", "-D"]).arg(&self.folder).output()?;
        if !stopped.status.success() {
            bail!("pg_ctl: {}", String::from_utf8_lossy(&stopped.stderr));
        }
        self.server.take().context("no server runs")?.wait()?;
        Ok(())
    }

    /// The answer to a query with one number.
    pub fn count(&self, sql: &str) -> anyhow::Result<u64> {
        let asked = self
            .command("psql")
            .args(["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-U", "postgres", "-h"])
            .arg(&self.folder)
            .args(["-c", sql])
            .output()?;
        if !asked.status.success() {
            bail!("{sql}: {}", String::from_utf8_lossy(&asked.stderr));
        }
        let text = String::from_utf8_lossy(&asked.stdout);
        text.trim().parse().with_context(|| format!("{sql}: {text}"))
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        if let Some((user, group)) = self.user {
            command.uid(user).gid(group);
        }
        // That user may not have access to the current folder.
        command.current_dir("/");
        command
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if self.server.is_some() {
            let _ = self.kill();
        }
    }
}

/// The folder of the server's programs on Debian.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?.flatten();
    let folders = versions.map(|version| version.path().join("bin"));
    folders.filter(|folder| folder.join("initdb").exists()).max()
}

/// The user that runs the server if the lab runs as root.
fn other_user() -> anyhow::Result<Option<(u32, u32)>> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    let users = fs::read_to_string("/etc/passwd")?;
    let line = users.lines().find(|line| line.starts_with(&format!("{USER}:")));
    let mut fields = line.context("there is no user postgres")?.split(':').skip(2).map(str::parse);
    match (fields.next(), fields.next()) {
        (Some(Ok(user)), Some(Ok(group))) => Ok(Some((user, group))),
        _ => bail!("the user postgres has no numbers in /etc/passwd"),
    }
}
