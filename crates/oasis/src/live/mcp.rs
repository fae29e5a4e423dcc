//! `oasis mcp`: the Model Context Protocol on standard input and output, for assistants that start programs.

use crate::live::locate::Located;
use anyhow::Context;
use clap::Args;
use oasis_client::Api;
use oasis_mcp::{ApiError, ApiRequest, DacApi, Headers, MAX_MESSAGE_BYTES};
use oasis_site::api;
use serde_json::{Value, json};
use std::{
    io::{self, BufRead, Read, Write},
    sync::{Mutex, PoisonError},
};
use tokio::runtime::{Builder, Runtime};
use ureq::http::Method;

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    located: Located,
}

/// Answers messages, one a line, until the input ends.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let dac = Dac(Mutex::new(api::at(&arguments.located.server(&[])?)?));
    let runtime = Builder::new_current_thread().build().context("no thread for requests")?;
    serve(&dac, &runtime, io::stdin().lock(), io::stdout().lock())?;
    Ok(())
}

fn serve(
    dac: &impl DacApi,
    runtime: &Runtime,
    mut input: impl BufRead,
    mut output: impl Write,
) -> io::Result<()> {
    let mut line = Vec::new();
    while read_line(&mut input, &mut line)? {
        let answer = match line.len() > MAX_MESSAGE_BYTES {
            true => Some(too_long()),
            false if line.trim_ascii().is_empty() => None,
            false => runtime.block_on(oasis_mcp::answer(dac, &line, Headers::none())).message,
        };
        if let Some(answer) = answer {
            writeln!(output, "{answer}")?;
            output.flush()?;
        }
    }
    Ok(())
}

/// Reads a line without its end; of one that is too long, the beginning. Returns whether there was one.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let limit = MAX_MESSAGE_BYTES as u64 + 1;
    if input.by_ref().take(limit).read_until(b'\n', line)? == 0 {
        return Ok(false);
    }
    if line.ends_with(b"\n") {
        line.pop();
    } else if line.len() > MAX_MESSAGE_BYTES {
        input.skip_until(b'\n')?;
    }
    Ok(true)
}

fn too_long() -> Value {
    let message = format!("the message has more than {MAX_MESSAGE_BYTES} bytes");
    json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32_600, "message": message}})
}

/// The DAC, asked by one request at a time.
struct Dac(Mutex<Api>);

impl DacApi for Dac {
    async fn send(&self, request: ApiRequest) -> Result<Value, ApiError> {
        let api = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let query: Vec<(&str, &str)> = request.query.iter().map(|(name, value)| (*name, &**value)).collect();
        let answer = match &request.body {
            None => api.get(&request.path, &query),
            Some(body) => api.send(Method::POST, &request.path, Some(body)),
        };
        answer.map_err(|error| ApiError(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Silent;

    impl DacApi for Silent {
        async fn send(&self, _: ApiRequest) -> Result<Value, ApiError> {
            Err(ApiError("no DAC".into()))
        }
    }

    fn served(input: &[u8]) -> Vec<Value> {
        let runtime = Builder::new_current_thread().build().unwrap();
        let mut output = Vec::new();
        serve(&Silent, &runtime, input, &mut output).unwrap();
        let lines = output.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
    }

    #[test]
    fn each_request_is_answered_on_a_line_and_notifications_are_not() {
        let answers = served(
            b"{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\"}\n\n{\"jsonrpc\": \"2.0\", \"method\": \"notifications/initialized\"}\r\nno JSON",
        );
        assert_eq!(answers.len(), 2);
        assert_eq!(answers[0], json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
        assert_eq!(answers[1]["error"]["code"], -32_700);
    }

    #[test]
    fn a_line_that_is_too_long_is_refused_and_the_next_one_is_answered() {
        let mut input = vec![b' '; MAX_MESSAGE_BYTES + 10];
        input.extend(b"\n{\"jsonrpc\": \"2.0\", \"id\": 2, \"method\": \"ping\"}\n");
        let answers = served(&input);
        assert_eq!(answers[0]["error"]["code"], -32_600);
        assert_eq!(answers[1]["id"], 2);
    }
}
