//! An encrypted connection to a real PostgreSQL, with certificates generated here (`openssl`, a dependency of Debian's PostgreSQL).

use crate::{
    harness::{Oasis, eventually, oasis},
    postgresql::{Postgres, state, written},
};
use std::{fs, net::TcpListener, path::Path, process::Command};

fn openssl(folder: &Path, arguments: &[&str]) {
    let done = Command::new("openssl").args(arguments).current_dir(folder).output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A key and a self-signed certificate.
fn authority(folder: &Path, name: &str) {
    let (key, file, subject) = (format!("{name}.key"), format!("{name}.pem"), format!("/CN={name}"));
    let new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
    openssl(
        folder,
        &[&["req", "-x509"][..], &new, &["-subj", &subject, "-keyout", &key, "-out", &file]].concat(),
    );
}

/// A server that accepts only encrypted connections, as `localhost`; and the folder with `plant.pem`, its CA certificate, and `other.pem`.
fn encrypted(postgres: &mut Postgres, folder: &Path) -> u16 {
    authority(folder, "plant");
    authority(folder, "other");
    let new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    openssl(
        folder,
        &[&["req"][..], &new, &["-subj", "/CN=db", "-keyout", "db.key", "-out", "db.csr"]].concat(),
    );
    fs::write(folder.join("names"), "subjectAltName=DNS:localhost").unwrap();
    let sign =
        ["-CA", "plant.pem", "-CAkey", "plant.key", "-CAcreateserial", "-days", "2", "-extfile", "names"];
    openssl(folder, &[&["x509", "-req", "-in", "db.csr"][..], &sign, &["-out", "db.pem"]].concat());
    postgres.write("server.key", &fs::read(folder.join("db.key")).unwrap());
    postgres.write("server.crt", &fs::read(folder.join("db.pem")).unwrap());
    postgres.write("pg_hba.conf", b"local all all trust\nhostssl all all 127.0.0.1/32 trust\n");
    // PostgreSQL can neither inherit a socket nor choose a port.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    postgres.run_with_tls(port);
    port
}

#[test]
fn postgresql_is_used_over_tls_only_with_a_valid_certificate() {
    let Some(mut postgres) = Postgres::make() else { return };
    let folder = tempfile::tempdir().unwrap();
    let port = encrypted(&mut postgres, folder.path());
    let at = |host: &str, more: &str| format!("host={host} hostaddr=127.0.0.1 port={port} {more}");
    let trusting = |file: &str| format!("[postgresql]\nca_file = \"{}\"", folder.path().join(file).display());

    let mut rows = 0;
    for (address, more) in [
        (at("localhost", "sslmode=require"), trusting("plant.pem")),
        (at("localhost", ""), trusting("plant.pem")),
        (at("elsewhere", "sslmode=require"), String::new()),
        (at("elsewhere", ""), String::new()),
    ] {
        let dac = Oasis::dac(&["--config", &postgres.config_at(&address, &more)]);
        let _node = Oasis::node(dac.channel(), &["--probe", "processor@100"]);
        written(&postgres, rows + 20);
        let encrypted = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'oasis'";
        assert_eq!(postgres.query(encrypted), "t", "{address}");
        drop(dac);
        rows =
            postgres.query("SELECT count(*) FROM oasis.oasis_system_linux_processor_probe").parse().unwrap();
    }
    for (address, more, why) in [
        (at("localhost", "sslmode=require"), trusting("other.pem"), "UnknownIssuer"),
        (at("elsewhere", ""), trusting("plant.pem"), "not valid for name"),
        (at("localhost", "sslmode=disable"), String::new(), "no encryption"),
    ] {
        let dac = Oasis::dac(&["--config", &postgres.config_at(&address, &more)]);
        eventually("why it is failing", || {
            let state = state(&dac);
            let detail = state["detail"].as_str().unwrap_or_default();
            (state["condition"] == "failing" && detail.contains(why)).then_some(())
        });
    }
}

#[test]
fn a_database_without_tls_gets_nothing_if_tls_is_required_and_invalid_settings_are_refused_at_once() {
    let Some(postgres) = Postgres::start() else { return };
    let socket = format!("host={} sslmode=require", postgres.data().display());
    let dac = Oasis::dac(&["--config", &postgres.config_at(&socket, "")]);
    eventually("why it is failing", || {
        let detail = state(&dac)["detail"].as_str().unwrap_or_default().to_owned();
        detail.contains("does not support TLS").then_some(())
    });
    let config = postgres.config_at("host=localhost sslmode=verify-full", "");
    let addresses = ["--listen", "127.0.0.1:0", "--channel-listen", "127.0.0.1:0"];
    let done = oasis().arg("dac").args(addresses).args(["--config", &config]).output().unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(!done.status.success() && said.contains("postgresql.ca_file"), "{said}");
}
