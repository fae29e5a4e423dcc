//! Identification of the caller: a token, a ticket, the cookie of a session, this host, or a stranger.

use super::{Caller, Permissions};
use crate::{named_host::Named, problem::Problem, proxies::Proxied};
use axum::{
    extract::ConnectInfo,
    http::{HeaderMap, HeaderValue, Request, StatusCode, header, uri::Authority},
};
use oasis_access::{Ended, Moment, Secret, SignInError};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The path of WebSockets, which alone takes tickets.
const WEBSOCKET: &str = "/ws";
/// The code of a ticket that is not good.
pub(super) const BAD_TICKET: &str = "bad_ticket";
/// The codes of tokens that are not good.
pub(super) const BAD_TOKENS: [&str; 2] = ["bad_credentials", "bad_token"];

/// Headers by which proxies say for whom they ask: such a request does not come from this host.
const FORWARDING: [&str; 7] = [
    "forwarded",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-forwarded-port",
    "x-real-ip",
];

impl Permissions {
    /// Returns who has sent a request: the owner of its token; else of its ticket; else of its session; else `local`, if it comes from this host, for this host, and not through
    /// a proxy; else a stranger.
    ///
    /// # Errors
    /// Status 401 for a token, a ticket or a session that is not valid: there is no second guess.
    pub fn identify<B>(&self, request: &Request<B>) -> Result<Caller, Problem> {
        let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0);
        // A request without an address comes from elsewhere.
        let peer = peer.unwrap_or_else(|| (Ipv4Addr::UNSPECIFIED, 0).into());
        // The generation is read before the look-up: a change during it is seen later.
        let generation = self.access.generation();
        let headers = request.headers();
        let credentials = headers.get(header::AUTHORIZATION).filter(|value| !is_empty_token(value));
        let principal = if let Some(credentials) = credentials {
            let token = bearer(credentials).ok_or_else(|| {
                unauthorized(
                    "bad_credentials",
                    "write Authorization: Bearer and a token (oasis token create)".into(),
                )
            })?;
            self.access
                .token(token, Moment::now())
                .map_err(|ended| unauthorized("bad_token", ended.to_string()))?
        } else if let Some(ticket) = ticket(request) {
            let origin = headers.get(header::ORIGIN).map(|origin| origin.to_str().unwrap_or_default());
            let detail = "the ticket was used, is older than 30 s, or is of another origin: POST /api/v1/tickets returns another one";
            let redeemed = self.access.redeem(ticket, origin, Moment::now());
            redeemed.ok_or_else(|| unauthorized(BAD_TICKET, detail.into()))?
        } else if let Some(cookie) = session_cookie(headers) {
            let session = self.access.session(cookie, Moment::now());
            session.map_err(|ended| unauthorized("session_ended", ended.to_string()))?
        } else if is_local(request, peer.ip()) {
            self.access.from_this_host()
        } else {
            self.access.stranger()
        };
        Ok(Caller::new(principal, peer, generation))
    }

    /// Returns who connects by a protocol without HTTP and shows nothing: `local` from this host, else a stranger.
    pub fn without_credentials(&self, peer: SocketAddr) -> Caller {
        let generation = self.access.generation();
        let principal = match peer.ip().to_canonical().is_loopback() {
            true => self.access.from_this_host(),
            false => self.access.stranger(),
        };
        Caller::new(principal, peer, generation)
    }

    /// Returns who connects by a protocol without HTTP and shows a token.
    ///
    /// # Errors
    /// If the token is not valid.
    pub fn with_token(&self, token: &str, peer: SocketAddr) -> Result<Caller, Ended> {
        let generation = self.access.generation();
        Ok(Caller::new(self.access.token(token, Moment::now())?, peer, generation))
    }

    /// Returns who connects by a protocol without HTTP and shows the password of an account, with the cookie of the session
    /// that begins. Blocks for tens of milliseconds.
    ///
    /// # Errors
    /// If name or password are wrong, or there were too many attempts.
    pub fn with_password(
        &self,
        (name, password): (&str, &str),
        peer: SocketAddr,
    ) -> Result<(Caller, Secret), SignInError> {
        let generation = self.access.generation();
        let signed_in = self.access.sign_in(name, password, peer.ip(), Moment::now())?;
        Ok((Caller::new(signed_in.principal, peer, generation), signed_in.cookie))
    }

    /// A caller without any right, for a request whose credentials are not valid.
    pub(crate) fn nobody<B>(&self, request: &Request<B>) -> Caller {
        let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0);
        let peer = peer.unwrap_or_else(|| (Ipv4Addr::UNSPECIFIED, 0).into());
        Caller::new(self.access.nobody(), peer, self.access.generation())
    }
}

/// Returns the ticket in the URL of a WebSocket.
fn ticket<B>(request: &Request<B>) -> Option<&str> {
    let query = request.uri().query().filter(|_| request.uri().path() == WEBSOCKET)?;
    query.split('&').find_map(|parameter| parameter.strip_prefix("ticket="))
}

fn unauthorized(code: &str, detail: String) -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, code, detail)
}

/// Clients of InfluxDB send `Token ` if they have none.
fn is_empty_token(credentials: &HeaderValue) -> bool {
    credentials.to_str().is_ok_and(|text| text.trim_end().eq_ignore_ascii_case("token"))
}

fn bearer(credentials: &HeaderValue) -> Option<&str> {
    let (scheme, token) = credentials.to_str().ok()?.split_once(' ')?;
    // Clients of InfluxDB say Token.
    let is_known = ["bearer", "token"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    is_known.then(|| token.trim())
}

/// Returns the name of the cookie of a session. It contains the port, because browsers send cookies to all ports of a host.
pub fn cookie_name(headers: &HeaderMap) -> String {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let authority = host.and_then(|host| host.parse::<Authority>().ok());
    match authority.and_then(|authority| authority.port_u16()) {
        Some(port) => format!("oasis-session-{port}"),
        None => "oasis-session".into(),
    }
}

/// Returns the cookie of a session.
pub fn session_cookie(headers: &HeaderMap) -> Option<&str> {
    named_cookie(headers, &cookie_name(headers))
}

/// Returns the value of a cookie.
pub fn named_cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(header::COOKIE).into_iter().filter_map(|cookies| cookies.to_str().ok());
    let pairs = all.flat_map(|cookies| cookies.split(';')).filter_map(|cookie| cookie.trim().split_once('='));
    pairs.into_iter().find(|(found, _)| *found == name).map(|(_, value)| value)
}

/// Returns whether the request comes from this host and is for this host, and not from a proxy for others.
fn is_local<B>(request: &Request<B>, peer: IpAddr) -> bool {
    let headers = request.headers();
    peer.to_canonical().is_loopback()
        && request.extensions().get::<Proxied>().is_none()
        && Named::of(request).is_ok_and(|named| named.is_loopback())
        && !FORWARDING.iter().any(|name| headers.contains_key(*name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_access::{Kind, NewToken};

    fn request(peer: [u8; 4], headers: &[(&str, &str)]) -> Request<()> {
        let mut request =
            Request::builder().uri("/api/v1/nodes").extension(ConnectInfo(SocketAddr::from((peer, 9))));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap()
    }

    #[test]
    fn only_this_host_without_a_proxy_is_local() {
        let permissions = Permissions::in_memory();
        let kind = |peer, headers: &[(&str, &str)]| {
            permissions.identify(&request(peer, headers)).unwrap().principal().kind()
        };
        let here = [127, 0, 0, 1];
        for host in
            ["127.0.0.1:7070", "localhost", "[::1]:7070", "LOCALHOST.:7070", "plant.localhost", "127.0.0.2"]
        {
            assert_eq!(kind(here, &[("host", host)]), Kind::Local, "{host}");
        }
        assert_eq!(kind(here, &[]), Kind::Stranger);
        assert_eq!(kind(here, &[("host", "localhost"), ("host", "localhost")]), Kind::Stranger);
        assert_eq!(kind([10, 1, 2, 3], &[("host", "127.0.0.1:7070")]), Kind::Stranger);
        for host in [
            "dac.example",
            "10.1.2.3:7070",
            "localhost.evil.example",
            "",
            "127.0.0.1@evil.example",
            "evil.example@127.0.0.1",
        ] {
            assert_eq!(kind(here, &[("host", host)]), Kind::Stranger, "{host}");
        }
        for name in FORWARDING {
            assert_eq!(kind(here, &[("host", "localhost"), (name, "x")]), Kind::Stranger, "{name}");
        }
    }

    #[test]
    fn what_a_trusted_proxy_sends_is_never_local() {
        let permissions = Permissions::in_memory();
        let mut request = request([127, 0, 0, 1], &[("host", "localhost")]);
        request.extensions_mut().insert(Proxied { is_encrypted: true });
        assert_eq!(permissions.identify(&request).unwrap().principal().kind(), Kind::Stranger);
    }

    #[test]
    fn bad_credentials_are_never_local() {
        let permissions = Permissions::in_memory();
        for headers in [
            [("authorization", "Bearer oasis_00000000_x")],
            [("authorization", "Token oasis_00000000_x")],
            [("authorization", "Basic YTpi")],
            [("authorization", "")],
            [("cookie", "a=b; oasis-session=x")],
        ] {
            assert!(permissions.identify(&request([127, 0, 0, 1], &headers)).is_err(), "{headers:?}");
        }
        let no_token = [("host", "localhost:7070"), ("authorization", "Token ")];
        let caller = permissions.identify(&request([127, 0, 0, 1], &no_token)).unwrap();
        assert_eq!(caller.principal().kind(), Kind::Local);
        // The cookie of a DAC at another port.
        let other = [("host", "localhost:7070"), ("cookie", "oasis-session-7171=x")];
        assert_eq!(
            permissions.identify(&request([127, 0, 0, 1], &other)).unwrap().principal().kind(),
            Kind::Local
        );
    }

    #[test]
    fn a_ticket_opens_one_websocket_of_its_origin() {
        let permissions = Permissions::in_memory();
        let origin = "https://ops.example";
        let make = || {
            let made = permissions.access.ticket(&permissions.access.local(), Some(origin), Moment::now());
            made.unwrap().reveal().to_owned()
        };
        let ask = |path: &str, ticket: &str, origin: &str| {
            let request = Request::builder().uri(format!("{path}?packets=one&ticket={ticket}"));
            let peer = ConnectInfo(SocketAddr::from(([10, 1, 2, 3], 9)));
            let request = request.header("origin", origin).extension(peer).body(()).unwrap();
            permissions.identify(&request).map(|caller| caller.principal().kind())
        };
        let ticket = make();
        // Only WebSockets take tickets, and one that is shown elsewhere is still good.
        assert_eq!(ask("/api/v1/nodes", &ticket, origin).unwrap(), Kind::Stranger);
        assert_eq!(ask("/ws", &ticket, origin).unwrap(), Kind::Local);
        assert!(ask("/ws", &ticket, origin).unwrap_err().is(BAD_TICKET));
        assert!(ask("/ws", &make(), "https://evil.example").unwrap_err().is(BAD_TICKET));
        assert!(ask("/ws", "", origin).unwrap_err().is(BAD_TICKET));
    }

    #[test]
    fn a_token_counts_more_than_the_address() {
        let permissions = Permissions::in_memory();
        let (name, roles) = ("kiosk".parse().unwrap(), ["viewer".parse().unwrap()].into());
        let new = NewToken { name, roles, owner: None, embed: true, scope: Vec::new(), expires: None };
        let made = permissions.access.change(|accounts| accounts.create_token(new, Moment::now().wall));
        let header = format!("bearer {}", made.unwrap().1.reveal());
        let caller = permissions.identify(&request([127, 0, 0, 1], &[("authorization", &header)])).unwrap();
        assert_eq!(caller.principal().to_string(), "program:kiosk");
        assert_eq!(caller.author("http"), "program:kiosk http 127.0.0.1:9");
        assert!(
            caller.sees_everything()
                && !caller.may(oasis_access::Verb::Enable, oasis_access::Target::SomeOfDac)
        );
    }
}
