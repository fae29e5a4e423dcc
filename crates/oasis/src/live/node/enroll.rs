//! `oasis node enroll`: makes the node's key, and gets a certificate for it from the DAC.

use super::state::{Enrollment, NodeState};
use anyhow::{Context, anyhow, bail};
use clap::Args;
use oasis_client::{ClientError, Server, token};
use oasis_probe::host_name;
use oasis_site::api;
use oasis_tls::NodeKey;
use serde_json::json;
use std::{fs, path::PathBuf};
use ureq::http::Method;

#[derive(Debug, Args)]
pub struct Enroll {
    #[command(flatten)]
    server: Server,
    /// Name of the node [default: the host's name].
    #[arg(long, env = "OASIS_NODE_NAME")]
    name: Option<String>,
    /// File with the token of `oasis node token`, which others cannot read [default: OASIS_TOKEN or OASIS_TOKEN_FILE].
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Data channel of the DAC [default: that of the answer, at the host of --url].
    #[arg(long, value_name = "tls://HOST:PORT", env = "OASIS_DAC")]
    dac: Option<String>,
    /// Folder of the node's key and certificate [default: ~/.local/state/oasis/node].
    #[arg(long, value_name = "DIR", env = "OASIS_NODE_STATE")]
    state: Option<PathBuf>,
}

/// Enrolls the node of this host.
pub fn run(arguments: &Enroll) -> anyhow::Result<()> {
    let server = &arguments.server;
    if !server.url.is_encrypted {
        bail!(
            "a node is enrolled over TLS only: use https://HOST:PORT (--url), and --ca FILE if the DAC's CA is your own"
        );
    }
    let name = arguments.name.clone().unwrap_or_else(host_name);
    let state = NodeState::find(arguments.state.as_deref());
    let state = state.ok_or_else(|| anyhow!("no folder is named: use --state DIR, or set HOME"))?;
    state.create()?;
    let key = key(&state)?;
    let token = arguments.token_file.as_deref().map(token::from_file).transpose()?;
    let request = json!({"name": name, "request": key.request(&name)?});
    let api = api::at(server)?.with_authorization(token);
    let sent = api.send(Method::POST, "/nodes/enroll", Some(&request));
    let answer = sent.map_err(|error| explained(error, &name))?;
    let text = |member: &str| {
        answer[member]
            .as_str()
            .ok_or_else(|| anyhow!("the answer of the DAC has no {member}: is it an older one?"))
    };
    let dac = match &arguments.dac {
        Some(dac) => dac.clone(),
        None => {
            let port =
                answer["channel_port"].as_u64().context("the answer of the DAC has no channel_port")?;
            let (host, _) = server.url.socket();
            let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
            format!("tls://{host}:{port}")
        }
    };
    state.write(&state.certificate(), text("certificate")?, 0o644)?;
    if let Some(ca) = &server.ca {
        let pem = fs::read_to_string(ca).with_context(|| format!("cannot read {} (--ca)", ca.display()))?;
        state.write(&state.ca(), &pem, 0o644)?;
    }
    state.remember(&Enrollment { name: name.clone(), dac: dac.clone() })?;
    println!("{name} is enrolled until {}.", text("until")?);
    println!("  certificate  {}", state.certificate().display());
    println!("  private key  {}", state.key().display());
    println!("  data channel {dac}");
    println!("Next: oasis node");
    Ok(())
}

/// Returns an error with advice about a token that is missing or not good. The DAC cannot distinguish a used token from
/// one that never existed.
fn explained(error: ClientError, name: &str) -> anyhow::Error {
    let remedy = |what| {
        anyhow!(
            "{what} on the DAC's host (oasis node token {name} --token-file FILE), and name its file here (--token-file)"
        )
    };
    match error.refusal().map(|refused| refused.code.as_str()) {
        Some("sign_in_required") => remedy("the DAC asks for a token: make one"),
        Some("bad_token" | "token_used") => {
            remedy("the token has been used, has expired, or is not one of this DAC: make another one")
        }
        _ => error.into(),
    }
}

/// The key of an earlier attempt, or a new one.
fn key(state: &NodeState) -> anyhow::Result<NodeKey> {
    if state.key().exists() {
        return Ok(NodeKey::read(&state.key())?);
    }
    let key = NodeKey::generate()?;
    state.write(&state.key(), &key.private_pem(), 0o600)?;
    Ok(key)
}
