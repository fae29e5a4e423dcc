//! The principal of a request or of a stream.

use super::{Permissions, refusal::Refusal};
use oasis_access::{Ended, Kind, Moment, Principal, Target, Verb, Verdict, decide};
use std::{mem, net::SocketAddr};

/// A principal, and from where it asks.
#[derive(Debug, Clone)]
pub struct Caller {
    principal: Principal,
    peer: SocketAddr,
    /// Generation of the rights that was checked last.
    generation: u64,
}

impl Caller {
    /// A principal whose rights are at least those of this generation.
    pub(super) fn new(principal: Principal, peer: SocketAddr, generation: u64) -> Self {
        Self { principal, peer, generation }
    }

    /// The principal.
    pub fn principal(&self) -> &Principal {
        &self.principal
    }

    /// Its address.
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Returns the author of what it does, for people: `http 127.0.0.1:40112`, `person:ada http 10.1.2.3:40112`.
    pub fn author(&self, door: &str) -> String {
        let peer = self.peer;
        match self.principal.kind() {
            Kind::Local | Kind::Stranger => format!("{door} {peer}"),
            Kind::Person | Kind::Program => format!("{} {door} {peer}", self.principal),
        }
    }

    /// Returns an author as this caller may know it: only who may read everything learns the addresses of others.
    pub fn shown_author<'a>(&self, author: &'a str) -> &'a str {
        let (who, address) = author.rsplit_once(' ').unwrap_or((author, ""));
        if !self.sees_everything() && address.parse::<SocketAddr>().is_ok() { who } else { author }
    }

    /// Whether it may do something.
    pub fn may(&self, verb: Verb, target: Target<'_>) -> bool {
        decide(&self.principal, verb, target).is_allowed()
    }

    /// Whether it may know of an instance.
    pub fn sees(&self, node: &str, instance: &str) -> bool {
        self.reads(Target::Instance { node, instance })
    }

    /// Whether it may know of a node: there can be an instance that it sees.
    pub fn sees_node(&self, node: &str) -> bool {
        self.reads(Target::SomeOfNode(node))
    }

    /// Whether it may know of everything: then nothing has to be left out for it.
    pub fn sees_everything(&self) -> bool {
        self.reads(Target::Dac)
    }

    /// Whether there is anything that it may read.
    pub fn sees_something(&self) -> bool {
        self.reads(Target::SomeOfDac)
    }

    fn reads(&self, target: Target<'_>) -> bool {
        self.may(Verb::ReadLive, target) || self.may(Verb::ReadPast, target)
    }

    /// Asks for a permission on an instance. To be asked before the instance is looked up: the answer must not depend on whether it exists.
    ///
    /// # Errors
    /// If it is not permitted.
    pub fn authorize_instance(&self, verb: Verb, node: &str, instance: &str) -> Result<(), Refusal> {
        self.authorize(verb, Target::Instance { node, instance })
    }

    /// Asks for a permission.
    ///
    /// # Errors
    /// If it is not permitted.
    pub fn authorize(&self, verb: Verb, target: Target<'_>) -> Result<(), Refusal> {
        self.authorize_one_of(&[verb], target)
    }

    /// Asks for one of several permissions; none, if there are none to ask for.
    ///
    /// # Errors
    /// If none is permitted.
    pub fn authorize_one_of(&self, verbs: &[Verb], target: Target<'_>) -> Result<(), Refusal> {
        let mut refused = None;
        for verb in verbs {
            match decide(&self.principal, *verb, target) {
                Verdict::Allowed => return Ok(()),
                verdict => refused = refused.or(Some(verdict)),
            }
        }
        refused.map_or(Ok(()), |verdict| Err(Refusal::new(verdict, &self.principal, verbs, target)))
    }

    /// Brings the rights up to date. Whether they may be others than before. Two comparisons and two clocks, if nothing has changed.
    ///
    /// # Errors
    /// If there are none any more: the stream must end.
    pub fn refresh(&mut self, permissions: &Permissions) -> Result<bool, Ended> {
        let generation = permissions.access.generation();
        permissions.access.check(&mut self.principal, Moment::now())?;
        Ok(mem::replace(&mut self.generation, generation) != generation)
    }

    /// This host, which may do everything without accounts: for tests.
    pub fn local() -> Self {
        let permissions = Permissions::in_memory();
        Self::new(permissions.access.local(), ([127, 0, 0, 1], 1).into(), permissions.access.generation())
    }
}
