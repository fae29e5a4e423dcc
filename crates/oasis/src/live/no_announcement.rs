//! In place of announcements by multicast DNS, for programs that are built without it: settings that ask for one are refused.

use crate::features::MDNS;
use std::net::SocketAddr;

/// A TEM that nothing announces.
#[expect(dead_code, reason = "nothing announces it")]
pub struct AnnouncedTem {
    pub name: String,
    pub listen: SocketAddr,
    pub doors: String,
    pub is_encrypted: bool,
}

/// No announcement.
pub enum Announcement {}

impl AnnouncedTem {
    /// Refuses it.
    ///
    /// # Errors
    /// Always.
    pub fn check(&self) -> anyhow::Result<()> {
        MDNS.require("mdns in [tem] (--mdns)")
    }

    /// Refuses it.
    ///
    /// # Errors
    /// Always.
    pub fn announce(&self) -> anyhow::Result<Announcement> {
        self.check()?;
        anyhow::bail!("nothing announces {}", self.name)
    }
}

impl Announcement {
    /// Ends it.
    pub fn end(self) {
        match self {}
    }
}
