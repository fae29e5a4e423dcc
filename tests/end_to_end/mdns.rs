//! A TEM announces itself in the local network, if it is asked to.

use crate::harness::{Oasis, TEST_TIMEOUT, oasis};
use mdns_sd::{IfKind, ServiceDaemon, ServiceEvent};
use std::{fs, time::Instant};

const SERVICE: &str = "_oasis-tem._tcp.local.";

/// Browses the loopback interface alone; none on a host without multicast there.
fn browser() -> Option<ServiceDaemon> {
    let daemon = ServiceDaemon::new().ok()?;
    daemon.disable_interface(IfKind::All).ok()?;
    daemon.enable_interface(IfKind::LoopbackV4).ok()?;
    Some(daemon)
}

#[test]
fn a_tem_is_announced_with_the_address_of_its_page_until_it_ends() {
    let Some(browser) = browser() else { return println!("skipped: no multicast on this host") };
    let folder = tempfile::tempdir().unwrap();
    let name = format!("oasis-test-{}", std::process::id());
    let config = folder.path().join("oasis.toml");
    fs::write(&config, format!("[tem]\nname = \"{name}\"\n")).unwrap();
    let arguments = ["tem", "--listen", "127.0.0.1:0", "--mdns", "--config", config.to_str().unwrap()];
    let tem = Oasis::start_as_written(oasis(), &arguments);
    let events = browser.browse(SERVICE).unwrap();
    let deadline = Instant::now() + TEST_TIMEOUT;
    let full_name = format!("{name}.{SERVICE}");
    let url = loop {
        let event = events.recv_deadline(deadline).expect("an announcement");
        if let ServiceEvent::ServiceResolved(service) = event
            && service.get_fullname() == full_name
        {
            break service.get_property_val_str("url").map(str::to_owned);
        }
    };
    assert_eq!(url.as_deref(), Some(tem.http()));
    assert!(tem.stop().success());
    loop {
        let event = events.recv_deadline(deadline).expect("a farewell");
        if let ServiceEvent::ServiceRemoved(_, gone) = event
            && gone == full_name
        {
            break;
        }
    }
    browser.shutdown().unwrap();
}

#[test]
fn a_certificate_without_a_host_cannot_be_announced() {
    let folder = tempfile::tempdir().unwrap();
    let authority = oasis_tls::Authority::create(&folder.path().join("ca")).unwrap();
    let server = authority.issue_server(&["127.0.0.1".into()], oasis_tls::Lifetime::days(30)).unwrap();
    let (access, certificate, key) = (folder.path().join("access"), server.certificate, server.key);
    let done = oasis()
        .args(["tem", "--mdns", "--listen", "0.0.0.0:0", "--tls-certificate"])
        .arg(certificate)
        .arg("--tls-key")
        .arg(key)
        .arg("--access")
        .arg(access)
        .output()
        .unwrap();
    let reason = String::from_utf8_lossy(&done.stderr);
    assert!(!done.status.success() && reason.contains("tem.host"), "{reason}");
}
