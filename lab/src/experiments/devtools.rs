//! Chromium's DevTools protocol, as much as the memory of a page needs: <https://chromedevtools.github.io/devtools-protocol/>.

use anyhow::{Context, bail};
use serde_json::{Value, json};
use std::{
    fs,
    net::TcpStream,
    path::Path,
    thread,
    time::{Duration, Instant},
};
use tokio_tungstenite::tungstenite::{Message, WebSocket, client};

/// Timeout of the browser for its address, and for each answer.
const BROWSER_TIMEOUT: Duration = Duration::from_secs(30);
/// Interval between two reads of its address.
const ADDRESS_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A connection to the page of a browser.
#[derive(Debug)]
pub struct DevTools {
    socket: WebSocket<TcpStream>,
    /// The attached page.
    session: String,
    number: u64,
}

impl DevTools {
    /// Attaches to the first page of the browser with this profile.
    pub fn attach(profile: &Path) -> anyhow::Result<Self> {
        let until = Instant::now() + BROWSER_TIMEOUT;
        let (port, path) = loop {
            if let Some(address) =
                address(&fs::read_to_string(profile.join("DevToolsActivePort")).unwrap_or_default())
            {
                break address;
            }
            if Instant::now() > until {
                bail!("the browser does not say where its DevTools listen");
            }
            thread::sleep(ADDRESS_POLL_INTERVAL);
        };
        let stream = TcpStream::connect(("127.0.0.1", port)).context("DevTools")?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(BROWSER_TIMEOUT))?;
        let (socket, _) = client(format!("ws://127.0.0.1:{port}{path}"), stream).context("DevTools")?;
        let mut tools = Self { socket, session: String::new(), number: 0 };
        let targets = tools.call("Target.getTargets", json!({}))?;
        let targets = targets["targetInfos"].as_array().context("DevTools without targets")?;
        let page =
            targets.iter().find(|target| target["type"] == "page").context("a browser without a page")?;
        let attach = json!({"targetId": page["targetId"], "flatten": true});
        let attached = tools.call("Target.attachToTarget", attach)?;
        tools.session = attached["sessionId"].as_str().context("DevTools without a session")?.to_owned();
        Ok(tools)
    }

    /// The memory that the page's scripts hold after their garbage was collected, bytes: objects and buffers.
    pub fn heap(&mut self) -> anyhow::Result<u64> {
        self.call("HeapProfiler.collectGarbage", json!({}))?;
        let usage = self.call("Runtime.getHeapUsage", json!({}))?;
        let of = |name: &str| usage[name].as_f64().unwrap_or_default() as u64;
        Ok(of("usedSize") + of("embedderHeapUsedSize") + of("backingStorageSize"))
    }

    /// Calls a method, of the page once it is attached, and returns its result.
    fn call(&mut self, method: &str, parameters: Value) -> anyhow::Result<Value> {
        self.number += 1;
        let mut call = json!({"id": self.number, "method": method, "params": parameters});
        if !self.session.is_empty() {
            call["sessionId"] = json!(self.session);
        }
        self.socket.send(Message::text(call.to_string())).with_context(|| method.to_owned())?;
        loop {
            // Events may come before the answer.
            let Message::Text(text) = self.socket.read().with_context(|| method.to_owned())? else {
                continue;
            };
            let mut answer: Value = serde_json::from_str(&text)?;
            if answer["id"] == self.number {
                return match answer.get("error") {
                    Some(error) => bail!("{method}: {error}"),
                    None => Ok(answer["result"].take()),
                };
            }
        }
    }
}

/// Port and path, of the two lines that the browser writes into its profile.
fn address(text: &str) -> Option<(u16, String)> {
    let (port, path) = text.split_once('\n')?;
    let path = path.trim();
    path.starts_with('/').then_some((port.trim().parse().ok()?, path.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_browser_writes_its_port_and_a_path() {
        assert_eq!(address("41021\n/devtools/browser/9b"), Some((41_021, "/devtools/browser/9b".into())));
        // The browser is just writing them.
        assert_eq!((address(""), address("41021\n"), address("x\n/a")), (None, None, None));
    }
}
