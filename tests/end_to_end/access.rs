//! `oasis user`, `token`, `role` and `audit-log`.

use crate::harness::oasis;
use serde_json::Value;
use std::{
    fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Output, Stdio},
};
use tempfile::TempDir;

const PASSWORD: &str = "correct horse battery";

/// A folder of accounts.
struct Accounts(TempDir);

impl Accounts {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The file of accounts.
    fn file(&self) -> PathBuf {
        self.path("access/access.toml")
    }

    fn run_with(&self, arguments: &[&str], input: &str) -> Output {
        let mut command = oasis();
        command.args(arguments).env("OASIS_ACCESS", self.path("access"));
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Fails if the command ends before it reads.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    }

    /// Returns the output of a command.
    fn said(&self, arguments: &[&str]) -> String {
        let output = self.run_with(arguments, PASSWORD);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Its error.
    fn refused(&self, arguments: &[&str]) -> String {
        let output = self.run_with(arguments, PASSWORD);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success(), "{arguments:?}: {said}");
        said
    }

    fn records(&self) -> Vec<Value> {
        let lines = self.said(&["audit-log", "show", "--format", "json"]);
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn users_are_added_changed_and_removed() {
    let accounts = Accounts::new();
    assert!(accounts.said(&["user", "list"]).contains("local     admin"));
    assert!(!accounts.path("access").exists(), "a list creates nothing");
    accounts.said(&["user", "add", "ada", "--role", "operator", "--password-file", "-"]);
    assert_eq!((mode(&accounts.file()), mode(&accounts.path("access"))), (0o600, 0o700));
    accounts.said(&["role", "set", "fitter", "--allow", "read,command:enable plant-*/pump"]);
    accounts.said(&["user", "set-roles", "ada", "fitter"]);
    accounts.said(&["user", "set-roles", "stranger", "viewer"]);
    let list = accounts.said(&["user", "list", "--format", "json"]);
    let list: Vec<Value> = list.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let roles = |name: &str| list.iter().find(|user| user["name"] == name).unwrap()["roles"].to_string();
    assert_eq!([roles("ada"), roles("stranger")], [r#"["fitter"]"#, r#"["viewer"]"#]);
    assert!(accounts.refused(&["role", "remove", "fitter"]).contains("user ada has the role fitter"));
    assert!(accounts.refused(&["user", "set-roles", "ada", "boss"]).contains("`oasis role set boss`"));
    assert!(accounts.refused(&["user", "add", "local", "--no-password"]).contains("reserved"));
    assert_eq!(accounts.said(&["role", "show", "fitter"]), "read,command:enable plant-*/pump\n");
    accounts.said(&["user", "remove", "ada"]);
    accounts.said(&["role", "remove", "fitter"]);
    assert!(!accounts.said(&["role", "list"]).contains("fitter"));
}

#[test]
fn passwords_are_neither_arguments_nor_readable_by_others() {
    let accounts = Accounts::new();
    let add = ["user", "add", "ada", "--role", "viewer"];
    assert!(accounts.refused(&add).contains("--password-file FILE"));
    assert!(
        accounts.refused(&[&add[..], &["--password", PASSWORD]].concat()).contains("unexpected argument")
    );
    let file = accounts.path("password");
    fs::write(&file, format!("{PASSWORD}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let with_file = [&add[..], &["--password-file", file.to_str().unwrap()]].concat();
    assert!(accounts.refused(&with_file).contains("others can read it (mode 644)"));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    accounts.said(&with_file);
    let short = accounts.run_with(&["user", "set-password", "ada", "--password-file", "-"], "short\n");
    assert!(String::from_utf8_lossy(&short.stderr).contains("at least 12"));
    fs::set_permissions(accounts.file(), fs::Permissions::from_mode(0o640)).unwrap();
    assert!(accounts.refused(&["user", "list"]).contains("others can read"));
}

#[test]
fn a_token_is_shown_once_and_kept_as_a_hash() {
    let accounts = Accounts::new();
    let token = accounts.said(&["token", "create", "grafana", "--role", "viewer", "--expires", "12h"]);
    assert!(token.starts_with("oasis_") && token.trim_end().len() == 58, "{token}");
    let file = accounts.path("kiosk.token");
    let to_file = ["--token-file", file.to_str().unwrap()];
    let kiosk = [
        "token",
        "create",
        "kiosk",
        "--role",
        "viewer",
        "--embed",
        "--scope",
        "read plant-7/*",
        "--expires",
        "never",
    ];
    assert_eq!(accounts.said(&[&kiosk[..], &to_file].concat()), "");
    let written = fs::read_to_string(&file).unwrap();
    assert!(written.starts_with("oasis_") && mode(&file) == 0o600);
    assert!(accounts.refused(&[&kiosk[..], &to_file].concat()).contains("File exists"));
    let list = accounts.said(&["token", "list"]);
    assert!(list.contains("embed; read plant-7/*") && list.contains("never"), "{list}");
    accounts.said(&["token", "revoke", "grafana"]);
    assert!(accounts.refused(&["token", "revoke", "grafana"]).contains("`oasis token list`"));
    let audit = accounts.path("access/audit");
    let files = fs::read_dir(audit).unwrap().map(|entry| entry.unwrap().path()).chain([accounts.file()]);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for secret in [&token, &written] {
            assert!(!text.contains(&secret[15..50]), "{}", file.display());
        }
    }
}

#[test]
fn changes_of_rights_are_recorded_and_a_changed_record_is_found() {
    let accounts = Accounts::new();
    accounts.said(&["user", "set-roles", "local"]);
    accounts.refused(&["user", "remove", "eve"]);
    let records = accounts.records();
    let summary: Vec<_> =
        records.iter().map(|record| (&record["action"], &record["result"], &record["of"])).collect();
    assert_eq!(summary.len(), 4, "{records:?}");
    assert!(records[0]["principal"].as_str().unwrap().starts_with("command-line:uid-"));
    assert_eq!(
        (&records[0]["action"], &records[0]["arguments"]["roles"]),
        (&"user:set-roles".into(), &Value::Array(vec![]))
    );
    assert_eq!((&records[1]["result"], &records[1]["of"]), (&"done".into(), &1.into()));
    assert!(records[3]["result"].as_str().unwrap().starts_with("failed: there is no user eve"));
    let newest = accounts.said(&["audit-log", "show", "-n", "1", "--action", "user:"]);
    assert!(newest.starts_with("4 ") && newest.lines().count() == 1, "{newest}");
    let intact = accounts.said(&["audit-log", "verify"]);
    assert!(intact.starts_with("intact: 4 records in 1 file\nhead 4:"), "{intact}");
    let head = intact.lines().nth(1).unwrap().split([' ', ':']).skip(1).take(2).collect::<Vec<_>>().join(":");
    accounts.said(&["user", "set-roles", "local", "admin"]);
    accounts.said(&["audit-log", "verify", "--head", &head]);

    let log = accounts.path("access/audit/audit-00000000000000000001.jsonl");
    let text = fs::read_to_string(&log).unwrap();
    fs::write(&log, text.replace("eve", "bob")).unwrap();
    let output = accounts.run_with(&["audit-log", "verify"], "");
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("jsonl, line 3: ") && said.contains("DAMAGED: "), "{said}");
    assert!(accounts.refused(&["user", "set-roles", "local"]).contains("audit log is damaged"));
}

#[test]
fn the_configuration_names_the_folder() {
    let accounts = Accounts::new();
    let config = accounts.path("oasis.toml");
    fs::write(&config, format!("[access]\ndirectory = {:?}\n", accounts.path("elsewhere"))).unwrap();
    let mut command = oasis();
    command.args(["user", "add", "ada", "--no-password", "--config", config.to_str().unwrap()]);
    assert!(command.output().unwrap().status.success());
    assert!(accounts.path("elsewhere/access.toml").exists());
    let mut command = oasis();
    command.args(["audit-log", "verify"]).env("XDG_STATE_HOME", accounts.path("none"));
    let said = String::from_utf8(command.output().unwrap().stderr).unwrap();
    assert!(said.contains("none/oasis/access/audit"), "{said}");
}
