//! Lists a DAC: in its own TEM, in others, and in the local network.

use super::running::RunningDac;
use oasis_api::{Api, Registrant, Reporter, Tem};
use oasis_client::Server;
use oasis_dac::config::TemConfig;
use oasis_site::{
    announcement::AnnouncedTem,
    registration::{self, Registrations},
    revive::revive,
};
use oasis_tem::Kind;
use std::{net::SocketAddr, sync::Arc};

impl RunningDac {
    /// Lists the DAC in its own TEM, and in others if it has any.
    pub(super) fn list(
        &mut self,
        registrant: Option<Arc<Registrant>>,
        api: &Api,
        own_tem: &Arc<Tem>,
        (config, remotes, names): (&TemConfig, Vec<Server>, &[String]),
    ) -> anyhow::Result<()> {
        let reporter = |registrant: &Arc<Registrant>, host: Option<&str>, tem: Option<&Server>| {
            let at = |listen: &str| match listen {
                "" => String::new(),
                listen => registration::advertised(listen, host, tem),
            };
            let (http, channel) = (at(&self.http), at(&self.channel));
            let (s, tls) = if self.tls.is_some() { ("s", "tls://") } else { ("", "") };
            let channel = if channel.is_empty() { channel } else { format!("{tls}{channel}") };
            Reporter::new(api.clone(), registrant.clone(), format!("http{s}://{http}"), channel)
        };
        let own = registrant.clone().map(|registrant| {
            let reporter = reporter(&registrant, None, None);
            (registrant, reporter)
        });
        let (tem, health) = (own_tem.clone(), self.dac.health.clone());
        tokio::spawn(revive(health, "tem", move || registration::keep_own(tem.clone(), own.clone())));
        let host = self.known_host(config, names);
        let mut registrations = Registrations::default();
        for (registrant, remote) in
            registrant.iter().flat_map(|one| remotes.iter().map(move |tem| (one, tem)))
        {
            let listed = (registrant.clone(), reporter(registrant, host, Some(remote)));
            registrations.start(remote.clone(), config, listed, (own_tem.clone(), &self.dac.health))?;
        }
        self.registrations = registrations;
        Ok(())
    }

    /// The host that others reach this process at, if the settings say so.
    fn known_host<'a>(&self, config: &'a TemConfig, names: &'a [String]) -> Option<&'a str> {
        // A certificate rarely has the address of its host.
        let certified = names.first().filter(|_| self.tls.is_some() && self.is_anywhere());
        Some(config.host.as_str()).filter(|host| !host.is_empty()).or(certified.map(String::as_str))
    }

    /// Whether it listens on all addresses of this host.
    fn is_anywhere(&self) -> bool {
        self.http.parse().is_ok_and(|address: SocketAddr| address.ip().is_unspecified())
    }

    /// Returns the address of the page for others; empty if it is not known.
    fn known_page(&self, config: &TemConfig, names: &[String]) -> String {
        let host = self.known_host(config, names);
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        match host.is_some() || !self.is_anywhere() {
            true => format!("{scheme}://{}", registration::advertised(&self.http, host, None)),
            false => String::new(),
        }
    }

    /// Announces the TEM in the local network, if it shall. A host without multicast is no reason to fail.
    pub(super) fn announce(&mut self, config: &TemConfig, names: &[String]) -> anyhow::Result<()> {
        if !config.mdns {
            return Ok(());
        }
        let name = registration::name(config, Kind::Dac)?.to_string();
        let (doors, is_encrypted) = (self.known_page(config, names), self.tls.is_some());
        let announced = AnnouncedTem { name, listen: self.http.parse()?, doors, is_encrypted };
        announced.check()?;
        match announced.announce() {
            Ok(announcement) => {
                tracing::info!(name = %announced.name, "this TEM is announced in the local network");
                self.announcement = Some(announcement);
            }
            Err(error) => tracing::warn!("this TEM is not announced in the local network: {error:#}"),
        }
        Ok(())
    }
}
