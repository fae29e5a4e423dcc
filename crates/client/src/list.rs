//! The DACs that a TEM knows, and which of them has a node or is meant.

use crate::{ClientError, DacAddress, Server, data_channel};
use oasis_tem::{DacName, DacView, Kind, TemView, one_of_each_run};
use oasis_wire::pattern;
use std::{cmp::Ordering, collections::BTreeSet};

/// Names that a message suggests.
const SUGGESTIONS: usize = 3;
/// A name that is less similar is no typing error.
const SIMILAR: f64 = 0.7;

/// The DACs that a TEM knows.
#[derive(Debug, Clone)]
pub struct TemList {
    tem: Server,
    view: TemView,
}

impl TemList {
    /// Answer of this TEM.
    pub(crate) fn new(tem: Server, view: TemView) -> Self {
        Self { tem, view }
    }

    /// The TEM that has answered.
    pub fn tem(&self) -> &Server {
        &self.tem
    }

    pub(crate) fn view(&self) -> &TemView {
        &self.view
    }

    /// Puts live DACs that have a node before the others, and late ones last.
    pub(crate) fn prefer_holders(&mut self, node: &str) {
        let rank = |dac: &DacView| match has(dac, node) {
            _ if !dac.is_live() => 3,
            Some(true) => 0,
            Some(false) => 1,
            None => 2,
        };
        self.view.dacs.sort_by_key(rank);
    }

    /// All DACs.
    pub fn dacs(&self) -> &[DacView] {
        &self.view.dacs
    }

    /// Returns the DAC of this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn named(&self, name: &DacName) -> Result<&DacView, ClientError> {
        let names = || self.view.dacs.iter().map(|dac| dac.name.as_str());
        self.view.dacs.iter().find(|dac| dac.name == *name).ok_or_else(|| {
            let near = meant(name.as_str(), names());
            ClientError::NoFit(format!("the TEM at {} knows no DAC {name}{near}", self.tem.url))
        })
    }

    /// Returns the only DAC.
    ///
    /// # Errors
    /// If there is none, or several.
    pub fn only(&self) -> Result<&DacView, ClientError> {
        match &self.view.dacs[..] {
            [dac] => Ok(dac),
            [] => Err(ClientError::NoFit(format!(
                "the TEM at {} knows no DAC: start one with --tem {0}",
                self.tem.url
            ))),
            several => Err(ClientError::NoFit(format!(
                "there are several DACs: name one with --dac-name ({})",
                names(several.iter())
            ))),
        }
    }

    /// The DACs that nodes connect to: a relay has none of its own.
    pub(crate) fn for_nodes(&self) -> impl Iterator<Item = &DacView> {
        self.view.dacs.iter().filter(|dac| dac.kind == Kind::Dac)
    }

    /// Whether a node can go somewhere.
    ///
    /// # Errors
    /// If no DAC is live.
    pub(crate) fn check_live(&self) -> Result<(), ClientError> {
        if self.for_nodes().any(DacView::is_live) {
            return Ok(());
        }
        let what = if self.for_nodes().next().is_none() { "no DAC" } else { "no DAC that is live" };
        Err(ClientError::NoFit(format!(
            "the TEM at {} knows {what}: start one with --tem {0} (oasis dac)",
            self.tem.url
        )))
    }

    /// Returns the DAC that has all these nodes. A `*` in the name of a node matches any text.
    ///
    /// # Errors
    /// If there is none, or if several DACs have them.
    pub fn holder_of_all<'a>(
        &self,
        nodes: impl IntoIterator<Item = &'a str>,
    ) -> Result<&DacView, ClientError> {
        let mut found: Vec<&DacView> = Vec::new();
        for node in nodes {
            found.extend(self.holders(node)?);
        }
        found.sort_by_key(|dac| &dac.name);
        found.dedup_by_key(|dac| &dac.name);
        match found[..] {
            [dac] => Ok(dac),
            _ => Err(ClientError::NoFit(format!(
                "these instances are at several DACs: name one with --dac-name ({})",
                names(found.iter().copied())
            ))),
        }
    }

    /// Whether a node's name stands for one node.
    ///
    /// # Errors
    /// If live DACs have different nodes of this name.
    pub fn check_single(&self, node: &str) -> Result<(), ClientError> {
        let live = self.for_nodes().filter(|dac| dac.is_live());
        let connections = live.filter_map(|dac| Some((dac.name.as_str(), *dac.attached.get(node)?)));
        match &one_of_each_run(connections)[..] {
            [] | [_] => Ok(()),
            dacs => Err(ClientError::NoFit(format!(
                "{node} is connected to {}: name one with --dac-name",
                dacs.join(" and ")
            ))),
        }
    }

    /// Returns the DAC of a node, or those of all nodes that match a pattern.
    fn holders(&self, node: &str) -> Result<Vec<&DacView>, ClientError> {
        if let Some(dac) = self.holder(node) {
            return Ok(vec![dac]);
        }
        let names: BTreeSet<&str> = self
            .view
            .dacs
            .iter()
            .flat_map(|dac| dac.nodes.iter().chain(&dac.offline_nodes))
            .map(String::as_str)
            .collect();
        let matching = names.iter().filter(|name| node.contains('*') && pattern::matches(node, name));
        let found: Vec<_> = matching.filter_map(|name| self.holder(name)).collect();
        if !found.is_empty() {
            return Ok(found);
        }
        let left_out: u64 = self.view.dacs.iter().map(|dac| dac.left_out).sum();
        let beyond = match left_out {
            0 => String::new(),
            count => format!(". The TEM lacks the names of {count} nodes: name the DAC with --dac-name"),
        };
        let near = meant(node, names.into_iter());
        Err(ClientError::NoFit(format!("no DAC has a node {node:?}{near}{beyond}")))
    }

    /// The DAC of a node: that to which it is connected, and a live one if there is one. Of several, that of its last connection.
    fn holder(&self, node: &str) -> Option<&DacView> {
        let holders = self.view.dacs.iter().filter_map(|dac| Some((has(dac, node)?, dac)));
        let rank = |(is_online, dac): &(bool, &DacView)| (!is_online, dac.state);
        let is_later = |dac: &DacView, than: &DacView| {
            let connections = dac.attached.get(node).zip(than.attached.get(node));
            connections.is_some_and(|(last, before)| last.is_after(before))
        };
        let better = |best, next| match rank(&next).cmp(&rank(&best)) {
            Ordering::Less => next,
            Ordering::Equal if is_later(next.1, best.1) => next,
            _ => best,
        };
        holders.reduce(better).map(|(_, dac)| dac)
    }

    /// Returns where a DAC serves its page and its API.
    ///
    /// # Errors
    /// If its address is of no use here, or not safe.
    pub fn server(&self, dac: &DacView) -> Result<Server, ClientError> {
        let tem = &self.tem.url;
        if dac.is_tem {
            return Ok(self.tem.clone());
        }
        // The text comes from the network, and goes to a terminal in messages.
        let plain = Some(&dac.doors).filter(|text| text.bytes().all(|byte| byte.is_ascii_graphic()));
        let url: DacAddress = plain.and_then(|text| text.parse().ok()).ok_or_else(|| {
            unusable(format!("the DAC {} has no usable address: {:?}", dac.name, dac.doors))
        })?;
        // Whoever can change the list could otherwise ask for tokens in the clear.
        if tem.is_encrypted && !url.is_encrypted {
            return Err(unusable(format!(
                "the DAC {} at {url} has no TLS, and the TEM has: the token of this command would be sent in the clear",
                dac.name
            )));
        }
        self.check_reach(dac, url.is_loopback())?;
        Ok(Server { url, ca: self.tem.ca.clone() })
    }

    /// Returns where nodes connect to a DAC.
    ///
    /// # Errors
    /// If its address is of no use here, or not safe.
    pub fn channel(&self, dac: &DacView) -> Result<String, ClientError> {
        let is_plain = dac.channel.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_plain || data_channel(&dac.channel).is_err() {
            let what = format!("the DAC {} has no usable data channel: {:?}", dac.name, dac.channel);
            return Err(unusable(what));
        }
        let (scheme, plain) = match dac.channel.strip_prefix("tls://") {
            Some(plain) => ("tls://", plain),
            None => ("", dac.channel.as_str()),
        };
        if self.tem.url.is_encrypted && scheme.is_empty() {
            let what =
                format!("the data channel of the DAC {} at {plain} has no TLS, and the TEM has", dac.name);
            return Err(unusable(what));
        }
        let port = plain.rsplit_once(':').map(|(_, port)| port).unwrap_or_default();
        if dac.is_tem {
            let (host, _) = self.tem.url.socket();
            let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
            return Ok(format!("{scheme}{host}:{port}"));
        }
        let address: Result<DacAddress, _> = format!("http://{plain}").parse();
        self.check_reach(dac, address.is_ok_and(|address| address.is_loopback()))?;
        Ok(dac.channel.clone())
    }

    /// A loopback address means another host to the TEM than to this command.
    fn check_reach(&self, dac: &DacView, is_loopback: bool) -> Result<(), ClientError> {
        if is_loopback && !self.tem.url.is_loopback() {
            return Err(unusable(format!(
                "the DAC {} is reached on its own host alone ({:?}): let it listen on another address (--listen, --channel-listen)",
                dac.name, dac.doors
            )));
        }
        Ok(())
    }
}

fn unusable(what: String) -> ClientError {
    ClientError::Unusable(what)
}

fn names<'a>(dacs: impl Iterator<Item = &'a DacView>) -> String {
    dacs.map(|dac| dac.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// Whether a DAC has a node: `Some(true)` if that is connected.
fn has(dac: &DacView, node: &str) -> Option<bool> {
    let is_in = |names: &[String]| names.iter().any(|name| name == node);
    match (is_in(&dac.nodes), is_in(&dac.offline_nodes)) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        (false, false) => None,
    }
}

/// Text that follows a name that is not known.
fn meant<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> String {
    match similar(text, names) {
        None => ": list them with `oasis list --dacs`".into(),
        Some(question) => format!(": {question}"),
    }
}

/// Asks for the names that may have been meant: `did you mean "plant-7"?`.
pub fn similar<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    let rated = names.map(|name| (strsim::jaro_winkler(text, name), name));
    let mut near: Vec<_> = rated.filter(|(rate, _)| *rate >= SIMILAR).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let near: Vec<_> = near.iter().take(SUGGESTIONS).map(|(_, name)| format!("{name:?}")).collect();
    (!near.is_empty()).then(|| format!("did you mean {}?", near.join(" or ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn list(tem: &str, dacs: Value) -> TemList {
        let view = json!({"position": "00000000000000aa:1", "complete": true, "dacs": dacs});
        let tem = Server { url: tem.parse().unwrap(), ca: None };
        TemList { tem, view: serde_json::from_value(view).unwrap() }
    }

    fn dac(name: &str, doors: &str, state: &str, nodes: &[&str], offline: &[&str]) -> Value {
        json!({"name": name, "epoch": "00000000000000aa", "doors": doors, "channel": "192.0.2.7:7071", "software": "s", "state": state,
            "silent_ms": 0, "health": "ok", "nodes": nodes, "offline_nodes": offline, "left_out": 0})
    }

    fn two() -> TemList {
        let a = dac("a", "http://192.0.2.7:7070", "live", &["plant-7", "plant-8"], &["mill"]);
        let b = dac("b", "http://127.0.0.1:7070", "late", &["mill", "oven"], &["plant-7"]);
        list("http://192.0.2.1:7070", json!([a, b]))
    }

    fn found(list: &TemList, targets: &[&str]) -> Result<String, String> {
        let found = list.holder_of_all(targets.iter().copied());
        found.map(|dac| dac.name.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_node_is_at_the_dac_to_which_it_is_connected() {
        let list = two();
        assert_eq!(found(&list, &["plant-7"]).as_deref(), Ok("a"));
        assert_eq!(found(&list, &["plant-*", "plant-8"]).as_deref(), Ok("a"));
        assert_eq!(found(&list, &["mill"]).as_deref(), Ok("b"), "late, and nowhere else");
        assert!(found(&list, &["plant-7", "oven"]).unwrap_err().contains("--dac-name (a, b)"));
        let unknown = found(&list, &["plant7"]).unwrap_err();
        assert!(unknown.contains("did you mean \"plant-7\" or"), "{unknown}");
        assert!(found(&list, &["zzz"]).unwrap_err().contains("oasis list --dacs"));
        assert!(list.only().unwrap_err().to_string().contains("--dac-name (a, b)"));
        assert!(list.named(&"c".parse().unwrap()).is_err());
    }

    #[test]
    fn the_dac_of_a_node_is_that_of_its_last_connection() {
        let holder = |connections: [(&str, &str, u64); 2]| {
            let dacs = connections.map(|(name, run, attach)| {
                let mut dac = dac(name, "http://192.0.2.7:7070", "live", &["plant"], &[]);
                let run = format!("00000000-0000-0000-0000-00000000000{run}");
                dac["attached"] = json!({"plant": {"run": run, "attach": attach}});
                dac
            });
            list("http://192.0.2.1:7070", json!(dacs)).holder("plant").unwrap().name.to_string()
        };
        assert_eq!(holder([("a", "1", 2), ("b", "1", 3)]), "b");
        assert_eq!(holder([("a", "1", 3), ("b", "1", 2)]), "a");
        assert_eq!(holder([("a", "1", 2), ("b", "2", 9)]), "a", "numbers of two runs say nothing");
    }

    #[test]
    fn different_nodes_of_one_name_are_no_single_node() {
        let connected = |connections: [(&str, &str, &str, u64); 2]| {
            let dacs = connections.map(|(name, state, run, attach)| {
                let mut dac = dac(name, "http://192.0.2.7:7070", state, &["plant-7"], &[]);
                let run = format!("00000000-0000-0000-0000-00000000000{run}");
                dac["attached"] = json!({"plant-7": {"run": run, "attach": attach}});
                dac
            });
            let list = list("http://192.0.2.1:7070", json!(dacs));
            list.check_single("plant-7").map_err(|error| error.to_string())
        };
        let refused = connected([("hall-1", "live", "1", 1), ("hall-2", "live", "2", 1)]).unwrap_err();
        assert_eq!(refused, "plant-7 is connected to hall-1 and hall-2: name one with --dac-name");
        assert_eq!(connected([("hall-1", "live", "1", 1), ("hall-2", "live", "1", 2)]), Ok(()), "it moved");
        assert_eq!(connected([("hall-1", "late", "1", 1), ("hall-2", "live", "2", 1)]), Ok(()));
        assert_eq!(
            two().check_single("plant-8").map_err(|error| error.to_string()),
            Ok(()),
            "without numbers"
        );
    }

    #[test]
    fn a_node_prefers_the_dac_that_has_it_and_then_the_order_of_the_tem() {
        let dac = |name, state, nodes: &[&str], offline: &[&str]| {
            dac(name, "http://192.0.2.7:7070", state, nodes, offline)
        };
        let dacs = [
            dac("late", "late", &["plant"], &[]),
            dac("empty", "live", &[], &[]),
            dac("full", "live", &["x", "y"], &[]),
            dac("former", "live", &[], &["plant"]),
            dac("present", "live", &["plant"], &[]),
        ];
        let mut list = list("http://192.0.2.1:7070", json!(dacs));
        list.prefer_holders("plant");
        let names: Vec<_> = list.dacs().iter().map(|dac| dac.name.as_str()).collect();
        assert_eq!(names, ["present", "former", "empty", "full", "late"]);
    }

    #[test]
    fn an_address_is_used_only_where_it_means_the_same_and_is_as_safe() {
        let list = two();
        let refused = |list: &TemList, name: &str| {
            list.server(list.named(&name.parse().unwrap()).unwrap()).unwrap_err().to_string()
        };
        assert!(refused(&list, "b").contains("on its own host alone"));
        let a = list.server(list.named(&"a".parse().unwrap()).unwrap()).unwrap();
        assert_eq!(a.url.to_string(), "http://192.0.2.7:7070");
        let encrypted =
            self::list("https://tem:7070", json!([dac("a", "http://192.0.2.7:7070", "live", &[], &[])]));
        assert!(refused(&encrypted, "a").contains("no TLS"));
        assert!(encrypted.channel(encrypted.only().unwrap()).unwrap_err().to_string().contains("no TLS"));
    }

    #[test]
    fn a_dac_that_answers_itself_is_where_it_was_asked() {
        let mut own = dac("a", "http://0.0.0.0:7070", "live", &[], &[]);
        own["is_tem"] = json!(true);
        own["channel"] = json!("0.0.0.0:7071");
        let list = list("http://[2001:db8::1]:7070", json!([own]));
        let dac = list.only().unwrap();
        assert_eq!(list.server(dac).unwrap().url.to_string(), "http://[2001:db8::1]:7070");
        assert_eq!(list.channel(dac).unwrap(), "[2001:db8::1]:7071");
    }
}
