use super::*;
use std::{fs, os::unix::fs::PermissionsExt, time::Duration};

fn of(text: &str) -> Result<Vec<Configured>, String> {
    let config: NotifyConfig = toml::from_str(text).map_err(|error| error.to_string())?;
    config.destinations().map_err(|error| error.to_string())
}

#[track_caller]
fn refused(text: &str, key: &str, remedy: &str) {
    let error = of(text).err().unwrap();
    assert!(error.contains(key) && error.contains(remedy), "{text}\n{error}");
}

#[test]
fn each_kind_has_a_table() {
    let config = r#"
        [control-room]
        kind = "alertmanager"
        url = ["http://127.0.0.1:9093", "http://127.0.0.2:9093"]
        [pager]
        kind = "webhook"
        url = "http://127.0.0.1:1/x"
        private = true
        give_up_after_seconds = 60
        [program]
        kind = "exec"
        program = "/bin/sh"
        per_minute = 2
    "#;
    let all = of(config).unwrap();
    let facts: Vec<_> = all.iter().map(|one| (one.name.as_str(), one.kind, one.limits.per_minute)).collect();
    let wanted = [("control-room", "alertmanager", 30), ("pager", "webhook", 30), ("program", "exec", 2)];
    assert_eq!(facts, wanted);
    assert_eq!(all[1].limits.give_up_after, Duration::from_secs(60));
    assert!(of("").unwrap().is_empty());
}

#[test]
fn what_cannot_be_used_is_refused_with_its_key() {
    refused("[a]\nkind = \"fax\"", "fax", "webhook");
    refused("[a]\nurl = \"http://x\"", "kind", "");
    refused("[a]\nkind = \"webhook\"\nsecret = \"x\"", "secret", "secret_file");
    refused("[none]\nkind = \"webhook\"", "none", "64 bytes");
    refused("[\"a\\nb\"]\nkind = \"webhook\"", "notify", "64 bytes");
    refused("[\"night shift\"]\nkind = \"webhook\"", "notify.night shift.url", "https://");
    refused("[a]\nkind = \"webhook\"", "notify.a.url", "https://");
    refused("[a]\nkind = \"webhook\"\nurl = \"example.org\"", "notify.a.url", "https://");
    refused("[a]\nkind = \"webhook\"\nurl = \"http://example.org\"", "notify.a.url", "private = true");
    refused("[a]\nkind = \"webhook\"\nurl = \"ftp://example.org\"", "notify.a.url", "https://");
    refused("[a]\nkind = \"webhook\"\nurl = \"https://x\"\nper_minute = 0", "per_minute", "1 to");
    refused("[a]\nkind = \"webhook\"\nurl = \"https://x\"\npage = \"x\"", "notify.a.page", "https://");
    refused("[a]\nkind = \"webhook\"\nurl = \"https://x\"\nca_file = \"/none\"", "notify.a.ca_file", "/none");
    refused("[a]\nkind = \"alertmanager\"", "notify.a.url", "9093");
    let many: String =
        (0..33).map(|n| format!("[a{n}]\nkind = \"webhook\"\nurl = \"https://x\"\n")).collect();
    refused(&many, "33", "32");
}

#[cfg(feature = "mail")]
#[test]
fn a_mail_that_cannot_be_sent_is_refused_with_its_key() {
    let mail = |more: &str| format!("[a]\nkind = \"mail\"\nserver = \"localhost\"\ntls = \"none\"\n{more}");
    refused(&mail(""), "notify.a.from", "address");
    refused(&mail("from = \"a@example.org\""), "notify.a.to", "list");
    refused(&mail("from = \"a\""), "notify.a.from", "address");
    refused(&mail("from = \"a@example.org\\r\\nBcc: b@example.org\""), "notify.a.from", "address");
    refused(&mail("from = \"a@example.org\"\nto = [\"x\"]"), "notify.a.to", "address");
    let many = (0..17).map(|n| format!("\"a{n}@example.org\"")).collect::<Vec<_>>().join(", ");
    refused(&mail(&format!("from = \"a@example.org\"\nto = [{many}]")), "notify.a.to", "1 to 16");
    let with_user = "from = \"a@example.org\"\nto = [\"b@example.org\"]\nuser = \"a\"";
    refused(&mail(with_user), "notify.a.password_file", "password");
    refused(&mail("").replace("localhost", "mail.example.org"), "notify.a.tls", "starttls");
    let whole = mail("from = \"Plant 3 <plant-3@example.org>\"\nto = [\"ada@example.org\"]");
    assert_eq!(of(&whole).unwrap()[0].kind, "mail");
}

#[cfg(not(feature = "mail"))]
#[test]
fn mail_that_is_not_built_is_refused() {
    refused("[a]\nkind = \"mail\"", "notify.a.kind", "feature mail");
}

#[test]
fn an_error_does_not_repeat_a_password() {
    let error = of("[a]\nkind = \"webhook\"\nurl = \"https://ada:hush@example.org\"").err().unwrap();
    assert!(error.contains("notify.a.url") && error.contains("files") && !error.contains("hush"), "{error}");
}

#[test]
fn a_secret_that_others_can_read_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret");
    fs::write(&path, "hush").unwrap();
    let mail = "server = \"localhost\"\ntls = \"none\"\nuser = \"a\"\nfrom = \"a@b.org\"\nto = [\"a@b.org\"]";
    let all = [
        ("webhook", "secret_file", "url = \"https://x\""),
        ("alertmanager", "token_file", "url = \"https://x\""),
        ("otlp", "token_file", "url = \"https://x\""),
        ("mail", "password_file", mail),
    ];
    let is_built = |kind: &str| kind != "mail" || cfg!(feature = "mail");
    for (kind, key, more) in all.into_iter().filter(|(kind, ..)| is_built(kind)) {
        let text = format!("[a]\nkind = {kind:?}\n{key} = {path:?}\n{more}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        refused(&text, &format!("notify.a.{key}"), "chmod 600");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(of(&text).is_ok());
    }
}

/// The tables in the comments of the reference.
fn documented() -> String {
    let reference = include_str!("../../../../docs/reference/oasis.toml");
    let (_, rest) = reference.split_once("\n[notify]\n").unwrap();
    let (section, _) = rest.split_once("\n\n").unwrap();
    let mut table = String::new();
    for line in section.lines().filter_map(|line| line.strip_prefix("# ")) {
        // The meaning of a value stands after it.
        let setting = line.split("   ").next().unwrap();
        let setting = setting.split("  ").next().unwrap();
        if line.starts_with('[') || line.starts_with(|c: char| c.is_ascii_lowercase()) {
            table.push_str(setting);
            table.push('\n');
        }
    }
    table
}

#[test]
fn the_reference_has_each_key_of_each_kind_with_its_default() {
    #[derive(Deserialize)]
    struct File {
        notify: NotifyConfig,
    }
    let read: File =
        toml::from_str(&documented()).unwrap_or_else(|error| panic!("{error}\n{}", documented()));
    let common = ["kind", "page", "per_minute", "give_up_after_seconds"];
    let examples = ["url", "server", "from", "to", "program"];
    assert_eq!(read.notify.0.len(), 5);
    for (name, config) in &read.notify.0 {
        let default = match config {
            DestinationConfig::Alertmanager(_) => DestinationConfig::Alertmanager(Default::default()),
            DestinationConfig::Webhook(_) => DestinationConfig::Webhook(Default::default()),
            DestinationConfig::Otlp(_) => DestinationConfig::Otlp(Default::default()),
            DestinationConfig::Exec(_) => DestinationConfig::Exec(Default::default()),
            DestinationConfig::Mail(_) => DestinationConfig::Mail(Default::default()),
        };
        let (written, default) =
            (toml::Table::try_from(config).unwrap(), toml::Table::try_from(default).unwrap());
        for (key, value) in &default {
            assert!(examples.contains(&key.as_str()) || written[key] == *value, "{name}.{key}");
            let is_there = common.contains(&key.as_str()) || documented().contains(&format!("\n{key} = "));
            assert!(is_there, "{name}.{key} is not in docs/reference/oasis.toml");
        }
    }
}
