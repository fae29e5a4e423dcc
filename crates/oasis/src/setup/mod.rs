//! `oasis setup`: everything that a DAC for other hosts needs, in one folder. What is there already stays as it is.

mod differences;
mod settings;

use crate::{
    access::{folder::Folder, token},
    time_flag,
};
use anyhow::{Context, bail};
use clap::Args;
use differences::RequestedOptions;
use oasis_access::NewToken;
use oasis_tls::{Authority, Issued, Lifetime};
use oasis_wire::quantity::Nanos;
use settings::{KeptSettings, Settings};
use std::{
    fs::{self, DirBuilder, File},
    io::{self, Write},
    net::{IpAddr, Ipv4Addr, SocketAddr},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

/// Address of page, API and doors, unless another one is named.
const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 7070);
/// Address for nodes, unless another one is named.
const CHANNEL_LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 7071);
/// Lifetime of the certificate: Mozilla's guidelines ask for less than 366 days.
const CERTIFICATE_DAYS: u32 = 365;
/// Lifetime of the first token.
const TOKEN_NANOS: u64 = 90 * 86_400 * 1_000_000_000;

#[derive(Debug, Args)]
pub struct Arguments {
    /// Host names and addresses that clients use, without a port [default: this host's name]; localhost and 127.0.0.1 are added.
    #[arg(env = "OASIS_NAMES", value_delimiter = ',')]
    names: Vec<String>,
    /// Folder for all of it, created if it does not exist.
    #[arg(long, value_name = "DIR", alias = "directory", env = "OASIS_DIRECTORY")]
    dir: PathBuf,
    /// Address of page, API and doors [default: 0.0.0.0:7070].
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<SocketAddr>,
    /// Address for nodes [default: 0.0.0.0:7071].
    #[arg(long, value_name = "HOST:PORT")]
    channel_listen: Option<SocketAddr>,
}

/// Makes what is missing, says what there is, and warns of what differs from this command.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let site = Site::open(&arguments.dir)?;
    let given = given(&arguments.names)?;
    let names = with_local(&given);
    let path = site.folder.join("oasis.toml");
    let kept = KeptSettings::read(&path)?;
    if kept.as_ref().is_none_or(KeptSettings::has_lost_its_certificate) {
        let certificate = site.certificate(&names)?;
        if kept.is_none() {
            let settings = Settings {
                directory: &site.folder,
                listen: arguments.listen.unwrap_or(LISTEN),
                channel_listen: arguments.channel_listen.unwrap_or(CHANNEL_LISTEN),
                certificate: &certificate,
                names: &names,
            };
            settings.write(&path)?;
        }
    }
    let settings = KeptSettings::read(&path)?.unwrap_or_default();
    let token = site.first_token()?;
    print_next_steps(&site, &path, token.as_deref(), &settings.page(&names)).or_else(|error| match error
        .kind()
    {
        io::ErrorKind::BrokenPipe => Ok(()),
        _ => Err(error),
    })?;
    let (listen, channel_listen) = (arguments.listen, arguments.channel_listen);
    let asked = RequestedOptions { names: &given, listen, channel_listen };
    warn(&asked.differences(&settings, &path, &site.ca()));
    Ok(())
}

/// A warning only: a container runs this at each start.
fn warn(differences: &[String]) {
    if differences.is_empty() {
        return;
    }
    eprintln!(
        "WARNING: this site was set up before and stays as it is, without all that this command asks for:"
    );
    differences.iter().for_each(|difference| eprintln!("  {difference}"));
    eprintln!("A running DAC takes a new certificate by itself, and changed settings when it starts again.");
}

fn print_next_steps(site: &Site, config: &Path, token: Option<&Path>, page: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let ca = site.ca().join("ca.pem");
    writeln!(out, "{} is ready for a DAC:", site.folder.display())?;
    writeln!(out, "  settings     {}", config.display())?;
    writeln!(out, "  CA           {}  (clients and nodes need it; no secret)", ca.display())?;
    match token {
        Some(token) => writeln!(out, "  admin token  {}  (new; valid for 90 days)", token.display())?,
        None => writeln!(out, "  accounts     {}  (as they were)", site.accounts().display())?,
    }
    writeln!(out, "Next: oasis dac --config {}", config.display())?;
    writeln!(
        out,
        "Then: oasis node token NAME --access {}, and oasis node enroll --url {page} --ca {}",
        site.accounts().display(),
        ca.display()
    )
}

/// The folder, with its CA.
struct Site {
    folder: PathBuf,
    /// Another `oasis setup` of the folder waits until this one has ended.
    _lock: File,
}

impl Site {
    fn open(folder: &Path) -> anyhow::Result<Self> {
        let created = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        created.with_context(|| format!("cannot create {}", folder.display()))?;
        let folder = fs::canonicalize(folder)?;
        let lock = File::open(&folder).and_then(|file| file.lock().map(|()| file));
        let lock = lock.with_context(|| format!("cannot lock {}", folder.display()))?;
        let site = Self { folder, _lock: lock };
        if !site.ca().join("ca.pem").exists() {
            Authority::create(&site.ca())?;
        }
        Ok(site)
    }

    fn ca(&self) -> PathBuf {
        self.folder.join("ca")
    }

    fn accounts(&self) -> PathBuf {
        self.folder.join("access")
    }

    /// The certificate of the server: one that was issued for the first name, or a new one.
    fn certificate(&self, names: &[String]) -> anyhow::Result<Issued> {
        let first = names.first().context("no name")?;
        let at = |ending: &str| self.ca().join(format!("server-{first}.{ending}"));
        let issued = Issued { certificate: at("pem"), key: at("key") };
        if issued.certificate.exists() && issued.key.exists() {
            return Ok(issued);
        }
        Ok(Authority::open(&self.ca())?.issue_server(names, Lifetime::days(CERTIFICATE_DAYS))?)
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
}

/// The names that the user has given.
fn given(names: &[String]) -> anyhow::Result<Vec<String>> {
    let given: Vec<String> = names.iter().map(|name| name.trim().to_owned()).collect();
    if let Some(bad) = given.iter().find(|name| name.is_empty() || name.contains(['/', ' '])) {
        bail!(
            "{bad:?} is not a host name: write names and addresses without a port, such as dac.example.org"
        );
    }
    Ok(given)
}

/// The names for the certificate: those given, or that of this host, and those that every host has.
fn with_local(given: &[String]) -> Vec<String> {
    let host = || fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned();
    let mut names = if given.is_empty() { vec![host()] } else { given.to_vec() };
    names.retain(|name| !name.is_empty());
    for local in ["localhost", "127.0.0.1"] {
        if !names.iter().any(|name| name == local) {
            names.push(local.into());
        }
    }
    names
}
