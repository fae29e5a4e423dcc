//! Asks TEMs. The first one that answers counts; one that is silent delays the others by a moment only.

use crate::{
    Api, ClientError, DacAddress, HostToken, Server, TemAddress, TemAddresses, TemList, mdns, memory::Memory,
    token,
};
use oasis_tem::{TemView, order};
use std::{
    path::PathBuf,
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread,
    time::{Duration, Instant},
};

/// Timeout of a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// Most bytes of a list: 1,000 DACs and 10,000 names of nodes are less.
const MAX_LIST_BYTES: u64 = 8 << 20;
/// The next TEM is asked if the one before has not answered within this time.
const STAGGER: Duration = Duration::from_millis(250);

/// The TEMs that were configured.
#[derive(Debug, Clone)]
pub struct Tems {
    addresses: TemAddresses,
    ca: Option<PathBuf>,
    host_token: Option<HostToken>,
    /// The one that has answered last: it is asked first.
    last: Option<DacAddress>,
    /// TEMs that mDNS has found.
    discovered: Vec<DacAddress>,
}

/// Answer of the TEMs, or the last one that is remembered.
#[derive(Debug, Clone)]
pub struct FetchedTems {
    /// The DACs.
    pub list: TemList,
    /// Why no TEM has answered, and the age of the list, if it is one from before.
    pub remembered: Option<Remembered>,
}

/// A list from before.
#[derive(Debug, Clone)]
pub struct Remembered {
    /// Why no TEM has answered.
    pub why: String,
    /// Time since the TEM has sent it.
    pub age: Duration,
}

impl Remembered {
    /// Returns the sentence for the user.
    pub fn notice(&self) -> String {
        format!("{}; using its list of {} s ago", self.why, self.age.as_secs())
    }
}

/// A question to one TEM.
#[derive(Debug, Clone)]
struct Question {
    node: Option<String>,
    host_token: Option<HostToken>,
}

impl Tems {
    /// TEMs whose certificates are of this CA, or of one that the system trusts.
    pub fn new(addresses: TemAddresses, ca: Option<PathBuf>) -> Self {
        Self { addresses, ca, host_token: None, last: None, discovered: Vec::new() }
    }

    /// Shows the token of this host to TEMs on this host that need one.
    #[must_use]
    pub fn with_host_token(self, host_token: HostToken) -> Self {
        Self { host_token: Some(host_token), ..self }
    }

    /// The TEMs as they were named.
    pub fn addresses(&self) -> &TemAddresses {
        &self.addresses
    }

    /// Asks for the DACs, in the order in which this node tries them if there is one. The answer is remembered, and used while no TEM answers.
    ///
    /// # Errors
    /// If a TEM refuses, or if none answers and none has answered before.
    pub fn fetch(&mut self, node: Option<&str>) -> Result<FetchedTems, ClientError> {
        let error = match self.fetch_list(node) {
            Ok(list) => {
                if let Some(memory) = Memory::of(&list.tem().url) {
                    memory.write(list.view());
                }
                return Ok(FetchedTems { list, remembered: None });
            }
            Err(error) if error.is_final() => return Err(error),
            Err(error) => error,
        };
        let Some((tem, mut view, age)) = self.remember() else { return Err(error) };
        if let Some(node) = node {
            order::for_node(&mut view.dacs, node);
        }
        let why = match &error {
            ClientError::Silent(silent) if silent.len() == 1 => {
                format!("the TEM at {} does not answer", tem.url)
            }
            error => error.to_string(),
        };
        // Nothing was heard since then.
        let milliseconds = u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
        for dac in &mut view.dacs {
            dac.silent_ms = dac.silent_ms.saturating_add(milliseconds);
        }
        let mut list = TemList::new(tem, view);
        node.iter().for_each(|node| list.prefer_holders(node));
        Ok(FetchedTems { list, remembered: Some(Remembered { why, age }) })
    }

    /// As above, for a process that keeps the last answer itself.
    ///
    /// # Errors
    /// If a TEM refuses, or none answers.
    pub fn fetch_list(&mut self, node: Option<&str>) -> Result<TemList, ClientError> {
        let mut list = match self.ask_known(node) {
            // Others may have come.
            Err(error) if self.discovers() && !error.is_final() => {
                self.discover(error)?;
                self.ask_known(node)?
            }
            asked => asked?,
        };
        self.last = Some(list.tem().url.clone());
        node.iter().for_each(|node| list.prefer_holders(node));
        Ok(list)
    }

    fn ask_known(&self, node: Option<&str>) -> Result<TemList, ClientError> {
        let host_token = self.host_token.filter(|_| !self.discovers());
        Question { node: node.map(str::to_owned), host_token }.ask_all(self.in_order())
    }

    fn in_order(&self) -> Vec<Server> {
        let mut servers = self.servers();
        servers.sort_by_key(|server| self.last.as_ref() != Some(&server.url));
        servers
    }

    fn servers(&self) -> Vec<Server> {
        let named = self.addresses.iter().filter_map(|address| match address {
            TemAddress::Url(url) => Some(url),
            TemAddress::Mdns(_) => None,
        });
        let all = named.chain(&self.discovered);
        all.map(|url| Server { url: url.clone(), ca: self.ca.clone() }).collect()
    }

    fn discovers(&self) -> bool {
        self.addresses.iter().any(|address| matches!(address, TemAddress::Mdns(_)))
    }

    /// Looks for TEMs by mDNS. `otherwise` is what is wrong with those that are known.
    fn discover(&mut self, otherwise: ClientError) -> Result<(), ClientError> {
        self.check_trust()?;
        let names = self.addresses.iter().filter_map(|address| match address {
            TemAddress::Mdns(name) => Some(name.as_deref()),
            TemAddress::Url(_) => None,
        });
        let mut found = Vec::new();
        for name in names {
            match mdns::discover(name) {
                Ok(addresses) => found.extend(addresses),
                Err(error) if found.is_empty() && self.servers().is_empty() => return Err(error),
                Err(error) => tracing::debug!("{error}"),
            }
        }
        // Whoever names a CA wants TLS: others could pretend to be the TEM.
        found.retain(|url| url.is_encrypted || self.ca.is_none());
        if found.is_empty() && self.servers().is_empty() {
            let what = "only TEMs without TLS were found by mDNS, and a CA is named: start one with TLS (tls.certificate), or leave out --ca";
            return Err(ClientError::Discovery(what.into()));
        }
        if found.iter().all(|url| self.discovered.contains(url)) {
            return Err(otherwise);
        }
        self.discovered = found;
        Ok(())
    }

    /// Any host can announce a TEM with a certificate of a public authority, or with none: a token is shown to TEMs of a named CA alone.
    fn check_trust(&self) -> Result<(), ClientError> {
        if self.ca.is_none() && token::authorization()?.is_some() {
            let what = "a token is not shown to a TEM that was found by mDNS: name the CA of the TEM (--ca, OASIS_CA, node.ca), or its address \
                        (--tem https://HOST:PORT)";
            return Err(ClientError::Unusable(what.into()));
        }
        Ok(())
    }

    /// The newest list of these TEMs that is remembered.
    fn remember(&self) -> Option<(Server, TemView, Duration)> {
        let lists = self.servers().into_iter().filter_map(|server| {
            let (view, age) = Memory::of(&server.url)?.read()?;
            Some((server, view, age))
        });
        lists.min_by_key(|(_, _, age)| *age)
    }
}

impl From<Server> for Tems {
    fn from(server: Server) -> Self {
        vec![server].into()
    }
}

impl From<Vec<Server>> for Tems {
    /// Creates a client of servers that have one CA.
    fn from(servers: Vec<Server>) -> Self {
        let ca = servers.first().and_then(|server| server.ca.clone());
        Self::new(servers.into_iter().map(|server| server.url).collect(), ca)
    }
}

impl Question {
    /// Asks one after the other, without waiting long for any. A TEM without DACs may have just started: it counts if no other one has any.
    fn ask_all(self, servers: Vec<Server>) -> Result<TemList, ClientError> {
        if let [server] = &servers[..] {
            return self.request_list(server).map_err(|error| silent(vec![(server.url.to_string(), error)]));
        }
        // Each of them ends by itself before that.
        let deadline = Instant::now() + REQUEST_TIMEOUT + STAGGER * servers.len() as u32;
        let (answers, inbox) = mpsc::channel();
        let (mut waiting, mut under_way) = (servers.into_iter(), 0);
        let (mut empty, mut failed) = (None, Vec::new());
        loop {
            let next = waiting.next();
            let has_next = next.is_some();
            if let Some(server) = next {
                self.clone().spawn(server, answers.clone())?;
                under_way += 1;
            } else if under_way == 0 {
                break;
            }
            let rest = deadline.saturating_duration_since(Instant::now());
            match inbox.recv_timeout(if has_next { STAGGER.min(rest) } else { rest }) {
                Ok((_, Ok(list))) if !list.dacs().is_empty() => return Ok(list),
                Ok((_, Ok(list))) => {
                    under_way -= 1;
                    empty = Some(list);
                }
                Ok((tem, Err(error))) => {
                    under_way -= 1;
                    failed.push((tem, error));
                }
                Err(RecvTimeoutError::Timeout) if rest > STAGGER => {}
                Err(_) => break,
            }
        }
        empty.ok_or_else(|| silent(failed))
    }

    /// The thread ends after [`REQUEST_TIMEOUT`].
    fn spawn(
        self,
        server: Server,
        answers: Sender<(String, Result<TemList, ClientError>)>,
    ) -> Result<(), ClientError> {
        thread::Builder::new().name("oasis-ask".into()).spawn(move || {
            // The receiver is closed if another TEM has answered.
            let _ = answers.send((server.url.to_string(), self.request_list(&server)));
        })?;
        Ok(())
    }

    fn request_list(&self, server: &Server) -> Result<TemList, ClientError> {
        let api = Api::within(server, Some(REQUEST_TIMEOUT))?.with_host_token(self.host_token);
        let query: Vec<_> = self.node.iter().map(|node| ("node", node.as_str())).collect();
        Ok(TemList::new(server.clone(), api.get_bounded("/tem", &query, MAX_LIST_BYTES)?))
    }
}

/// A refusal says more than silence.
fn silent(mut failed: Vec<(String, ClientError)>) -> ClientError {
    match failed.iter().position(|(_, error)| error.is_final()) {
        Some(at) => failed.swap_remove(at).1,
        None => ClientError::Silent(failed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        io::{BufRead, BufReader, Write},
        net::{TcpListener, TcpStream},
        sync::{Arc, Mutex},
    };

    const DACS: &str = r#"{"position": "00000000000000aa:1", "complete": true, "dacs": [{"name": "hall-1", "epoch": "00000000000000aa",
        "doors": "http://127.0.0.1:1", "channel": "127.0.0.1:2", "software": "s", "state": "live", "silent_ms": 0, "health": "ok",
        "nodes": ["plant"], "offline_nodes": [], "left_out": 0}]}"#;
    const NO_DAC: &str = r#"{"position": "00000000000000aa:1", "complete": true, "dacs": []}"#;

    /// Answers of a server to each request.
    #[derive(Debug, Clone, Copy)]
    enum Answer {
        Json(&'static str, &'static str),
        /// Bytes of another protocol.
        Bytes(&'static [u8]),
        /// Nothing, ever.
        Silence,
    }

    const OK: &str = "200 OK";

    /// A server that is not a TEM, but answers like one. It ends with the test's process.
    struct FakeTem {
        address: String,
        requests: Arc<Mutex<Vec<String>>>,
    }

    impl FakeTem {
        fn new(answer: Answer) -> Self {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = format!("http://{}", listener.local_addr().unwrap());
            let requests = Arc::<Mutex<Vec<String>>>::default();
            let seen = requests.clone();
            thread::spawn(move || {
                let mut held = Vec::new();
                for stream in listener.incoming() {
                    let stream = stream.unwrap();
                    seen.lock().unwrap().push(request(&stream));
                    respond(&stream, answer);
                    if let Answer::Silence = answer {
                        held.push(stream);
                    }
                }
            });
            Self { address, requests }
        }
    }

    /// The first line of a request, after all of it.
    fn request(stream: &TcpStream) -> String {
        let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
        let first = lines.next().unwrap_or_default();
        lines.find(String::is_empty);
        first
    }

    fn respond(mut stream: &TcpStream, answer: Answer) {
        let bytes = match answer {
            Answer::Json(status, body) => {
                let length = body.len();
                format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
                    .into_bytes()
            }
            Answer::Bytes(bytes) => bytes.to_vec(),
            Answer::Silence => return,
        };
        // A client that has gone needs no answer.
        let _ = stream.write_all(&bytes);
    }

    /// Address without a listener.
    fn nobody() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    }

    fn tems(addresses: &[&str]) -> Tems {
        Tems::new(addresses.join(",").parse().unwrap(), None)
    }

    fn names(list: &TemList) -> Vec<&str> {
        list.dacs().iter().map(|dac| dac.name.as_str()).collect()
    }

    #[test]
    fn one_tem_of_several_is_enough_and_is_asked_first_from_then_on() {
        let (good, dead, silent) =
            (FakeTem::new(Answer::Json(OK, DACS)), nobody(), FakeTem::new(Answer::Silence));
        let mut several = tems(&[&dead, &silent.address, &good.address]);
        assert_eq!(names(&several.fetch_list(Some("plant")).unwrap()), ["hall-1"]);
        assert_eq!(several.in_order()[0].url.to_string(), good.address);
        assert_eq!(names(&several.fetch_list(Some("plant")).unwrap()), ["hall-1"]);
        assert_eq!(good.requests.lock().unwrap()[..], ["GET /api/v1/tem?node=plant HTTP/1.1"; 2]);
    }

    #[test]
    fn a_tem_that_knows_no_dac_counts_if_the_others_know_none() {
        let (empty, full) = (FakeTem::new(Answer::Json(OK, NO_DAC)), FakeTem::new(Answer::Json(OK, DACS)));
        assert_eq!(names(&tems(&[&empty.address, &full.address]).fetch_list(None).unwrap()), ["hall-1"]);
        assert!(tems(&[&empty.address, &nobody()]).fetch_list(None).unwrap().dacs().is_empty());
    }

    #[test]
    fn what_is_wrong_with_a_tem_is_said_with_the_remedy() {
        let refused = r#"{"type": "/problems/sign_in_required", "detail": "who are you?"}"#;
        let plain = r#"{"type": "/problems/plaintext", "detail": "this port speaks TLS only: use https://"}"#;
        for (answer, words, is_final) in [
            (Answer::Json(OK, "{}"), vec!["missing field", "not a DAC or a TEM"], false),
            (Answer::Json(OK, "<html>"), vec!["not a DAC or a TEM"], false),
            (Answer::Json("404 Not Found", "nothing here"), vec!["404", "not a DAC or a TEM"], false),
            (Answer::Json("302 Found", ""), vec!["302"], false),
            (Answer::Json("401 Unauthorized", refused), vec!["OASIS_TOKEN_FILE"], true),
            (Answer::Json("429 Too Many Requests", refused), vec!["OASIS_TOKEN_FILE"], false),
            (Answer::Json("400 Bad Request", plain), vec!["https://"], true),
            (Answer::Bytes(b"\x20\x00\x00\x00\x02{}"), vec!["no DAC at", "7070"], false),
            (Answer::Bytes(b""), vec!["is `oasis tem` running", "--tem", "OASIS_TEM"], false),
        ] {
            let tem = FakeTem::new(answer);
            let error = tems(&[&tem.address]).fetch_list(None).unwrap_err();
            let text = error.to_string();
            assert!(words.iter().all(|word| text.contains(word)), "{answer:?}: {text}");
            assert_eq!(error.is_final(), is_final, "{answer:?}: {text}");
        }
        let (first, second) = (nobody(), nobody());
        let text = tems(&[&first, &second]).fetch_list(None).unwrap_err().to_string();
        assert!(
            text.contains("no TEM of 2 answers") && text.contains(&first) && text.contains(&second),
            "{text}"
        );
        assert_eq!(text.matches("oasis tem").count(), 1, "the remedy is the same for all: {text}");
    }

    #[test]
    fn a_refusal_of_one_tem_does_not_hide_the_answer_of_another() {
        let refusing = FakeTem::new(Answer::Json("403 Forbidden", r#"{"detail": "not you"}"#));
        let good = FakeTem::new(Answer::Json(OK, DACS));
        assert_eq!(names(&tems(&[&refusing.address, &good.address]).fetch_list(None).unwrap()), ["hall-1"]);
        let error = tems(&[&refusing.address, &nobody()]).fetch_list(None).unwrap_err();
        assert_eq!(error.to_string(), "not you");
    }
}
