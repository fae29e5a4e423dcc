//! In place of announcements by multicast DNS, for programs that are built without it: settings that ask for one are refused.

use std::net::SocketAddr;

/// A TEM that nothing announces.
pub struct AnnouncedTem {
    /// As in an announcement.
    pub name: String,
    /// As in an announcement.
    pub listen: SocketAddr,
    /// As in an announcement.
    pub doors: String,
    /// As in an announcement.
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
        anyhow::bail!("mdns in [tem] (--mdns) needs mDNS, which this program is built without")
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
