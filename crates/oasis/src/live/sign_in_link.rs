//! `oasis user sign-in-link`: another link to the page of a DAC that is closed to other users of its host.

use super::{arguments::SignInLink, serve::link_to};
use crate::broken_pipe::is_broken_pipe;
use anyhow::{Context, bail};
use oasis_site::{api, host_token};
use serde_json::Value;
use std::io::{self, Write};
use ureq::http::Method;

/// Prints a link.
pub fn run(arguments: &SignInLink) -> anyhow::Result<()> {
    let address = &arguments.server.url;
    let Some(token) = host_token::find(address, arguments.access.as_deref())? else {
        bail!(
            "there is no token of the DAC at {address} in the access folder: it needs --local token, and this command \
             the same --access (OASIS_ACCESS) and the same user"
        );
    };
    let made = api::at(&arguments.server)?.with_authorization(Some(token)).send(
        Method::POST,
        "/sign-in-links",
        None,
    )?;
    let code = made["code"].as_str().context("the DAC has sent no code")?;
    let written = writeln!(io::stdout(), "{}", link_to(&address.page(), code));
    eprintln!(
        "It signs in once, within {} minutes.",
        made["seconds"].as_u64().map_or(Value::Null, |seconds| (seconds / 60).into())
    );
    match written.map_err(anyhow::Error::from) {
        Err(error) if is_broken_pipe(&error) => Ok(()),
        other => other,
    }
}
