//! `oasis command`

use crate::{cli::Send, client::Client};
use oasis_dac::Wish;
use serde_json::json;

/// Sends one command and says what the instance does now.
pub async fn run(arguments: Send) -> anyhow::Result<()> {
    let wish = Wish::try_from(arguments.what)?;
    let mut client = Client::connect(&arguments.server.url).await?;
    let mut message = serde_json::to_value(&wish)?;
    message["op"] = json!("command");
    message["node"] = json!(arguments.target.node);
    message["instance"] = json!(arguments.target.instance);
    let id = client.request(message).await?;
    let done = client.answer(id).await?;
    let state = if done["enabled"] == true { "enabled" } else { "disabled" };
    if let Wish::Demand(range) = wish {
        let (min, max) = (range.min(), range.max());
        println!("{}: {min} to {max} Hz as those who read ask for, {state}", arguments.target);
        return Ok(());
    }
    match done["hertz"].as_f64() {
        Some(hertz) => println!("{}: {hertz} Hz, {state}", arguments.target),
        None => println!("{}: {state}", arguments.target),
    }
    Ok(())
}
