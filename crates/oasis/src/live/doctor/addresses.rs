//! Whether a DAC could listen where it shall.

use super::{super::answers, Finding};
use std::{
    io::ErrorKind,
    net::{TcpListener, ToSocketAddrs},
};

/// The page, and the data channel. Either is empty if the DAC has none.
pub(super) fn check(page: &str, channel: &str) -> Vec<Finding> {
    let at = |about, flag, key, listen: &str| match bound(listen) {
        _ if listen.is_empty() => Finding::fine(about, "not wanted"),
        Ok(()) => Finding::fine(about, format!("{listen} is free")),
        Err(error) if error.kind() == ErrorKind::AddrInUse && answers::is_dac(page) => {
            Finding::fine(about, format!("{listen} is in use: a DAC runs at http://{page}"))
        }
        Err(error) => Finding::problem(
            about,
            format!("cannot listen on {listen}: {error}"),
            format!(
                "choose another address: {flag} HOST:PORT of oasis up and dac, or {key} in the configuration"
            ),
        ),
    };
    if !page.is_empty() && page == channel && !page.ends_with(":0") {
        let says = format!("{page} is the address of the page, too");
        let remedy = "choose another port for one of them: doors.listen, channel.listen";
        return vec![
            at("page", "--listen", "doors.listen", page),
            Finding::problem("data channel", says, remedy),
        ];
    }
    vec![
        at("page", "--listen", "doors.listen", page),
        at("data channel", "--channel-listen", "channel.listen", channel),
    ]
}

fn bound(listen: &str) -> std::io::Result<()> {
    let addresses: Vec<_> = listen.to_socket_addrs()?.collect();
    TcpListener::bind(&*addresses).map(drop)
}

#[cfg(test)]
mod tests {
    use super::{super::Severity, *};

    #[test]
    fn an_address_in_use_is_a_problem_with_its_flag() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let listen = taken.local_addr().unwrap().to_string();
        let [page, channel] = &check("127.0.0.1:0", &listen)[..] else { panic!() };
        assert_eq!(page.weight, Severity::Fine);
        assert_eq!(channel.weight, Severity::Problem);
        assert!(channel.says.contains(&listen) && channel.remedy.contains("--channel-listen"), "{channel:?}");
    }

    #[test]
    fn an_address_of_another_host_is_a_problem() {
        let [page, channel] = &check("192.0.2.1:7070", "no port")[..] else { panic!() };
        assert_eq!((page.weight, channel.weight), (Severity::Problem, Severity::Problem));
        assert!(check("", "").iter().all(|finding| finding.weight == Severity::Fine));
    }
}
