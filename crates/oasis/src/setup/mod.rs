//! `oasis setup`: everything that a DAC for other hosts needs, in one folder. What is there already stays as it is.

mod settings;

use crate::{
    access::{folder::Folder, token},
    time_flag,
};
use anyhow::{Context, bail};
use clap::Args;
use oasis_access::NewToken;
use oasis_tls::{Authority, Issued, Lifetime};
use oasis_wire::quantity::Nanos;
use settings::Settings;
use std::{
    fs::{self, DirBuilder, File},
    io::{self, Write},
    net::SocketAddr,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

/// How long the certificate lives: Mozilla's guidelines ask for less than 366 days.
const DAYS: u32 = 365;
/// How long the first token lives.
const TOKEN_NANOS: u64 = 90 * 86_400 * 1_000_000_000;

#[derive(Debug, Args)]
pub struct Arguments {
    /// Host names and addresses that clients use, without a port [default: this host's name]; localhost and 127.0.0.1 are added.
    #[arg(env = "OASIS_NAMES", value_delimiter = ',')]
    names: Vec<String>,
    /// Folder for all of it, created if it does not exist.
    #[arg(long, value_name = "DIR", env = "OASIS_DIRECTORY")]
    directory: PathBuf,
    /// Address of page, API and doors.
    #[arg(long, value_name = "HOST:PORT", default_value = "0.0.0.0:7070")]
    listen: SocketAddr,
    /// Address for nodes.
    #[arg(long, value_name = "HOST:PORT", default_value = "0.0.0.0:7071")]
    channel_listen: SocketAddr,
}

/// Makes what is missing, and says what there is.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let site = Site::open(&arguments.directory)?;
    let names = names(&arguments.names)?;
    let certificate = site.certificate(&names)?;
    let token = site.first_token()?;
    let config = site.configuration(&Settings {
        directory: &site.folder,
        listen: arguments.listen,
        channel_listen: arguments.channel_listen,
        certificate: &certificate,
        names: &names,
    })?;
    say(&site, &config, token.as_deref(), &names, arguments.listen.port()).or_else(|error| {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Ok(()),
            _ => Err(error.into()),
        }
    })
}

fn say(site: &Site, config: &Path, token: Option<&Path>, names: &[String], port: u16) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let first = names.first().map_or("localhost", String::as_str);
    writeln!(out, "{} is ready for a DAC:", site.folder.display())?;
    writeln!(out, "  settings     {}", config.display())?;
    writeln!(
        out,
        "  CA           {}  (clients and nodes need it; no secret)",
        site.authority.certificate().display()
    )?;
    match token {
        Some(token) => writeln!(out, "  admin token  {}  (new; valid for 90 days)", token.display())?,
        None => writeln!(out, "  accounts     {}  (as they were)", site.accounts().display())?,
    }
    writeln!(out, "Next: oasis dac --config {}", config.display())?;
    writeln!(
        out,
        "Then: oasis node token NAME --access {}, and oasis node enroll --url https://{first}:{port} --ca {}",
        site.accounts().display(),
        site.authority.certificate().display()
    )
}

/// The folder, with its CA.
struct Site {
    folder: PathBuf,
    authority: Authority,
}

impl Site {
    fn open(folder: &Path) -> anyhow::Result<Self> {
        let created = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        created.with_context(|| format!("cannot create {}", folder.display()))?;
        let folder = fs::canonicalize(folder)?;
        let ca = folder.join("ca");
        let authority = match ca.join("ca.pem").exists() {
            true => Authority::open(&ca)?,
            false => Authority::create(&ca)?,
        };
        Ok(Self { folder, authority })
    }

    fn accounts(&self) -> PathBuf {
        self.folder.join("access")
    }

    /// The certificate of the server: the one of the settings, or a new one.
    fn certificate(&self, names: &[String]) -> anyhow::Result<Issued> {
        let first = names.first().context("no name")?;
        let at = |ending: &str| self.folder.join("ca").join(format!("server-{first}.{ending}"));
        let issued = Issued { certificate: at("pem"), key: at("key") };
        if issued.certificate.exists() && issued.key.exists() {
            return Ok(issued);
        }
        Ok(self.authority.issue_server(names, Lifetime::days(DAYS))?)
    }

    /// A token of an administrator in a file of mode 0600, unless there are accounts already.
    fn first_token(&self) -> anyhow::Result<Option<PathBuf>> {
        let folder = Folder::at(self.accounts());
        let accounts = folder.read()?;
        if !accounts.users().is_empty() || !accounts.tokens().is_empty() {
            return Ok(None);
        }
        let (name, roles) = ("first-admin".parse()?, ["admin".parse()?].into());
        let now = time_flag::now();
        let expires = Some(Nanos(now.0.saturating_add(TOKEN_NANOS)));
        let new = NewToken { name, roles, owner: None, embed: false, scope: Vec::new(), expires };
        let path = self.folder.join("admin.token");
        token::create(&folder, new, now, Some(&path))?;
        Ok(Some(path))
    }

    fn configuration(&self, settings: &Settings<'_>) -> anyhow::Result<PathBuf> {
        let path = self.folder.join("oasis.toml");
        if path.exists() {
            return Ok(path);
        }
        let written =
            File::options().write(true).create_new(true).mode(0o600).open(&path).and_then(|mut file| {
                file.write_all(settings.to_toml().as_bytes()).and_then(|()| file.sync_all())
            });
        written.with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }
}

/// The names for the certificate.
fn names(given: &[String]) -> anyhow::Result<Vec<String>> {
    let given: Vec<String> = given.iter().map(|name| name.trim().to_owned()).collect();
    if let Some(bad) = given.iter().find(|name| name.is_empty() || name.contains(['/', ' '])) {
        bail!(
            "{bad:?} is not a host name: write names and addresses without a port, such as dac.example.org"
        );
    }
    let host = || fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned();
    let mut names = if given.is_empty() { vec![host()] } else { given };
    names.retain(|name| !name.is_empty());
    for local in ["localhost", "127.0.0.1"] {
        if !names.iter().any(|name| name == local) {
            names.push(local.into());
        }
    }
    Ok(names)
}
