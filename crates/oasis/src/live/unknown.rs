//! Explains an instance that a DAC does not know: whether it knows the node, and which names are similar.

use crate::target::Target;
use oasis_client::{Api, ClientError, Server, similar};
use oasis_format::visible::Visible;
use oasis_site::api;
use oasis_wire::pattern::matches;
use serde_json::Value;
use std::fmt;
use tokio::task::spawn_blocking;

/// A DAC does not know this instance.
#[derive(Debug)]
pub struct UnknownInstance {
    /// Its name.
    pub target: Target,
    /// The reason that the DAC gave.
    pub reason: String,
}

impl fmt::Display for UnknownInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.target, self.reason)
    }
}

impl std::error::Error for UnknownInstance {}

/// Returns an error that says more, if this one is about an instance that the DAC does not know.
pub async fn explained(error: anyhow::Error, server: &Server) -> anyhow::Error {
    let Some(UnknownInstance { target, .. }) = error.downcast_ref() else { return error };
    let (server, target) = (server.clone(), target.clone());
    match spawn_blocking(move || explain(&server, &target)).await {
        Ok(Ok(text)) => anyhow::anyhow!(text),
        // The answer of the DAC is enough.
        _ => error,
    }
}

fn explain(server: &Server, target: &Target) -> Result<String, ClientError> {
    let api = api::prompt(server)?;
    let nodes = names(&api.get("/nodes", &[])?["nodes"], "name");
    if nodes.contains(&target.node) {
        let instances = api.get("/instances", &[("node", &target.node)])?;
        return Ok(no_instance(target, &names(&instances["instances"], "instance")));
    }
    let name = own_name(&api)?;
    let dac = name.as_ref().map_or(server.url.to_string(), |name| format!("{name} ({})", server.url));
    if name.is_none() && nodes.is_empty() && api.get("/session", &[])?["reads_everything"] == true {
        return Ok(format!("{dac} has no node {:?}: this is a TEM: use --tem {dac}", target.node));
    }
    Ok(no_node(&dac, &target.node, &nodes))
}

/// The name of this DAC in its own list; none of a TEM, or if the caller may not see it.
fn own_name(api: &Api) -> Result<Option<String>, ClientError> {
    let list = api.get("/tem", &[])?;
    let own = list["dacs"].as_array().into_iter().flatten().find(|dac| dac["is_tem"] == true);
    Ok(own.and_then(|dac| Some(Visible(dac["name"].as_str()?).to_string())))
}

fn names(list: &Value, field: &str) -> Vec<String> {
    let names = list.as_array().into_iter().flatten().filter_map(|entry| entry[field].as_str());
    names.map(str::to_owned).collect()
}

/// Whether a name has a text in it, or matches it if that has a `*`.
pub fn fits(wanted: &str, name: &str) -> bool {
    if wanted.contains('*') { matches(wanted, name) } else { name.contains(wanted) }
}

/// Returns the error if nothing in a list matches a text.
pub fn nothing_fits(what: &str, wanted: &str, names: &[String], list: &str) -> String {
    let suggestion = similar(wanted, names.iter().map(String::as_str));
    let remedy = suggestion.unwrap_or_else(|| "a text in a name fits it, and * any text".into());
    format!("no {what} fits {wanted:?}: {remedy} (`{list}` has all)")
}

fn no_instance(target: &Target, known: &[String]) -> String {
    let remedy = similar(&target.instance, known.iter().map(String::as_str))
        .unwrap_or_else(|| "list its instances with `oasis list`".into());
    format!("node {:?} has no instance {:?}: {remedy}", target.node, target.instance)
}

fn no_node(dac: &str, node: &str, known: &[String]) -> String {
    let remedy = similar(node, known.iter().map(String::as_str)).unwrap_or_else(|| {
        "list its instances with `oasis list`, or find the DAC of the node with --tem".into()
    });
    format!("{dac} has no node {node:?}: {remedy}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_in_which_nothing_fits_says_so_and_suggests() {
        assert!(fits("ant", "plant-7") && fits("plant-*", "plant-7/pump") && fits("", "x"));
        assert!(!fits("mill", "plant-7") && !fits("ant*", "plant-7"));
        let names = ["plant-7/pump".to_owned()];
        let said = nothing_fits("label", "plant-7/pmp", &names, "oasis label list");
        assert_eq!(
            said,
            "no label fits \"plant-7/pmp\": did you mean \"plant-7/pump\"? (`oasis label list` has all)"
        );
        assert!(nothing_fits("label", "z*", &names, "oasis label list").contains("any text"));
    }

    #[test]
    fn similar_names_are_suggested() {
        let known = ["processor".to_owned(), "memory".to_owned()];
        let target: Target = "plant/procesor".parse().unwrap();
        assert_eq!(
            no_instance(&target, &known),
            "node \"plant\" has no instance \"procesor\": did you mean \"processor\"?"
        );
        assert!(no_instance(&target, &[]).contains("oasis list"));
        let said = no_node("hall-1 (http://127.0.0.1:7070)", "plant7", &["plant-7".to_owned()]);
        assert_eq!(said, "hall-1 (http://127.0.0.1:7070) has no node \"plant7\": did you mean \"plant-7\"?");
    }
}
