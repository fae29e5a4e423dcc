//! Which DAC a command talks to: one that is named by its address, or one that a TEM knows.

use crate::target::Target;
use anyhow::{Context, anyhow, bail};
use clap::Args;
use oasis_client::{DEFAULT_URL, DacAddress, FetchedTems, Server, TemAddress, TemAddresses, TemList, Tems};
use oasis_format::visible::Visible;
use oasis_site::host_token;
use oasis_tem::{DacName, DacView};
use std::{
    env,
    fmt::Display,
    path::PathBuf,
    str::FromStr,
    sync::{
        Once,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

/// Time that a tool waits for a TEM without a word.
const TEM_TIMEOUT: Duration = Duration::from_secs(1);

/// The flags that name a DAC, or a TEM that knows where it is.
#[derive(Debug, Clone, Default, Args)]
pub struct Located {
    /// Address of the DAC: http://HOST:PORT of its page, or ws://HOST:PORT/ws; https:// or wss:// if it has a certificate. `oasis tail` takes several DACs or relays, and continues at another one when it loses one [env: OASIS_URL] [default: http://127.0.0.1:7070].
    #[arg(long, value_name = "URL", global = true, num_args = 1)]
    url: Vec<DacAddress>,
    /// CA of the DAC's certificate, with https:// or wss:// [default: those that this system trusts].
    #[arg(long, value_name = "FILE", env = "OASIS_CA", global = true)]
    ca: Option<PathBuf>,
    /// Address of a TEM, which knows the DAC of each node: http://HOST:PORT of its page, or https://. May be repeated: the first one that answers counts [env: OASIS_TEM].
    #[arg(long, value_name = "URL", global = true, value_delimiter = ',', conflicts_with = "url")]
    tem: Vec<TemAddress>,
    /// Name of the DAC, as the TEM lists it [default: the one that has the node].
    #[arg(long, value_name = "NAME", global = true, conflicts_with = "url")]
    dac_name: Option<DacName>,
}

/// A DAC, and the name that a TEM knows it by.
pub type NamedServer = (Option<DacName>, Server);

impl Located {
    /// Through TEMs.
    pub fn through(tem: Vec<TemAddress>, ca: Option<PathBuf>, dac_name: Option<DacName>) -> Self {
        Self { url: Vec::new(), ca, tem, dac_name }
    }

    /// Returns the TEMs to ask, or the DAC itself. A flag wins over the environment, and an address there over a TEM.
    fn choice(&self) -> anyhow::Result<Choice> {
        let server = |url| Choice::Dac(Server { url, ca: self.ca.clone() });
        let tems =
            |addresses| Choice::Tems(Tems::new(addresses, self.ca.clone()).with_host_token(host_token::of));
        if !self.tem.is_empty() {
            return Ok(tems(TemAddresses::new(self.tem.clone())?));
        }
        match &self.url[..] {
            [] => {}
            [url] => return Ok(server(url.clone())),
            _ => bail!("--url is given several times: this command talks to one DAC"),
        }
        let known: Option<TemAddresses> = variable("OASIS_TEM")?;
        match (variable("OASIS_URL")?, known.filter(|known| !known.is_empty())) {
            (None, Some(known)) => Ok(tems(known)),
            (Some(_), Some(known)) if self.dac_name.is_some() => Ok(tems(known)),
            _ if self.dac_name.is_some() => {
                bail!("--dac-name needs the TEM that knows this name: use --tem URL")
            }
            (Some(url), _) => Ok(server(url)),
            (None, None) => {
                report_dac(DEFAULT_URL);
                Ok(server(DEFAULT_URL.parse().map_err(|why: String| anyhow!(why))?))
            }
        }
    }

    /// Returns what the TEMs list, or the DAC, which is a TEM too.
    pub fn list(&self) -> anyhow::Result<FetchedTems> {
        match self.choice()? {
            Choice::Tems(tems) => find(tems),
            Choice::Dac(server) => find(Tems::from(server).with_host_token(host_token::of)),
        }
    }

    /// Returns the DAC to which a command for this instance goes, and its name if a TEM has found it.
    ///
    /// # Errors
    /// Also if several DACs have different nodes of this name, and none of them is named: a command must not reach another one than meant.
    pub fn for_command(&self, target: &Target) -> anyhow::Result<NamedServer> {
        let tems = match self.choice()? {
            Choice::Dac(server) => return Ok((None, server)),
            Choice::Tems(tems) => tems,
        };
        let list = fetch(tems)?;
        let found = match &self.dac_name {
            Some(name) => list.named(name)?,
            None => {
                list.check_single(&target.node)?;
                list.holder_of_all([target.node.as_str()])?
            }
        };
        self.report_found(found);
        Ok((Some(found.name.clone()), list.server(found)?))
    }

    /// Returns the DAC that has these instances; without any, the DAC that is named, or the only one.
    pub fn server(&self, targets: &[&Target]) -> anyhow::Result<Server> {
        let tems = match self.choice()? {
            Choice::Dac(server) => return Ok(server),
            Choice::Tems(tems) => tems,
        };
        let list = fetch(tems)?;
        let found = match (&self.dac_name, targets) {
            (Some(name), _) => list.named(name)?,
            (None, []) => list.only()?,
            (None, targets) => list.holder_of_all(targets.iter().map(|target| target.node.as_str()))?,
        };
        self.report_found(found);
        Ok(list.server(found)?)
    }

    /// Says which DAC was found, if none was named.
    fn report_found(&self, found: &DacView) {
        warn_if_late(found);
        if self.dac_name.is_none() {
            report_dac(format_args!("{} at {}", found.name, Visible(&found.doors)));
        }
    }

    /// Returns the DACs that a follower of these instances may follow, best first: those that are named, or those that the TEM lists.
    ///
    /// # Errors
    /// If there is none.
    pub fn alternatives(&self, targets: &[&Target]) -> anyhow::Result<Vec<Server>> {
        self.alternatives_with(targets, fetch, warn_if_late)
    }

    /// Returns what [`Located::alternatives`] returns now, without a warning.
    pub fn newer_alternatives(&self, targets: &[&Target]) -> anyhow::Result<Vec<Server>> {
        let fetch_quietly = |mut tems: Tems| Ok(tems.fetch(None)?.list);
        self.alternatives_with(targets, fetch_quietly, |_| {})
    }

    fn alternatives_with(
        &self,
        targets: &[&Target],
        fetch: impl Fn(Tems) -> anyhow::Result<TemList>,
        note: impl Fn(&DacView),
    ) -> anyhow::Result<Vec<Server>> {
        if self.tem.is_empty() && self.url.len() > 1 {
            let server = |url: &DacAddress| Server { url: url.clone(), ca: self.ca.clone() };
            return Ok(self.url.iter().map(server).collect());
        }
        let tems = match self.choice()? {
            Choice::Tems(tems) if self.dac_name.is_none() => tems,
            _ => return Ok(vec![self.server(targets)?]),
        };
        let list = fetch(tems)?;
        let holder = match targets {
            [] => list.only()?,
            targets => list.holder_of_all(targets.iter().map(|target| target.node.as_str()))?,
        };
        note(holder);
        let mut servers = vec![list.server(holder)?];
        let others = list.dacs().iter().filter(|dac| dac.name != holder.name && dac.is_live());
        // One that cannot be reached from here is of no use.
        servers.extend(others.filter_map(|dac| list.server(dac).ok()));
        Ok(servers)
    }

    /// Whether a TEM lists the DACs, and none of them is named.
    pub fn lists_several(&self) -> bool {
        self.dac_name.is_none() && matches!(self.choice(), Ok(Choice::Tems(_)))
    }

    /// Returns all DACs that can be asked.
    pub fn servers(&self) -> anyhow::Result<Vec<NamedServer>> {
        let tems = match self.choice()? {
            Choice::Dac(server) => return Ok(vec![(None, server)]),
            Choice::Tems(tems) => tems,
        };
        let list = fetch(tems)?;
        let chosen: Vec<&DacView> = match &self.dac_name {
            Some(name) => vec![list.named(name)?],
            None => list.dacs().iter().collect(),
        };
        chosen.iter().for_each(|dac| warn_if_late(dac));
        chosen.into_iter().map(|dac| Ok((Some(dac.name.clone()), list.server(dac)?))).collect()
    }
}

enum Choice {
    Dac(Server),
    Tems(Tems),
}

/// Returns the list of the TEMs. Reports a list that is not current.
fn fetch(tems: Tems) -> anyhow::Result<TemList> {
    Ok(find(tems)?.list)
}

/// The same, with how old it is. Says what it waits for.
fn find(mut tems: Tems) -> anyhow::Result<FetchedTems> {
    let addresses = tems.addresses().to_string();
    let (answered, answer) = mpsc::channel::<()>();
    let found = thread::scope(|scope| {
        scope.spawn(move || {
            if let Err(RecvTimeoutError::Timeout) = answer.recv_timeout(TEM_TIMEOUT) {
                eprintln!("waiting for the TEM at {addresses}");
            }
        });
        let found = tems.fetch(None);
        drop(answered);
        found
    })?;
    found.remembered.iter().for_each(|remembered| eprintln!("{}", remembered.notice()));
    Ok(found)
}

pub fn variable<T: FromStr<Err: Display>>(name: &str) -> anyhow::Result<Option<T>> {
    let value = env::var(name).ok().filter(|value| !value.is_empty());
    value
        .map(|value| value.parse().map_err(|why| anyhow!("{why}")).with_context(|| format!("in {name}")))
        .transpose()
}

/// Says once which DAC answers, although no flag or variable names it.
fn report_dac(dac: impl Display) {
    static SAID: Once = Once::new();
    SAID.call_once(|| eprintln!("dac: {dac}"));
}

/// A late DAC may be reachable all the same: perhaps only the TEM does not hear it.
fn warn_if_late(dac: &DacView) {
    if !dac.is_live() {
        eprintln!(
            "the DAC {} is late: the TEM has not heard it for {} s; trying it at {} all the same",
            dac.name,
            dac.silent_ms / 1_000,
            Visible(&dac.doors)
        );
    }
}
