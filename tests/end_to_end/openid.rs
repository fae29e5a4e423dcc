//! Sign-in by a certified provider of OpenID Connect, npm's `oidc-provider`, in a process of its own.

use crate::harness::{Oasis, eventually, oasis, repository};
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    fs,
    io::{self, BufRead, BufReader, Write},
    os::unix::fs::PermissionsExt,
    process::{Child, ChildStdout, Command, Stdio},
};
use tempfile::TempDir;
use ureq::{Agent, http::Request};

const PASSWORD: &str = "correct horse battery";
const SECRET: &str = "a secret of provider and client that is long enough";

/// The provider; it ends with this value.
struct Provider {
    child: Child,
    stdout: BufReader<ChildStdout>,
    issuer: String,
}

impl Provider {
    /// None without Node, which is said.
    fn start() -> Option<Self> {
        let folder = repository();
        let mut command = Command::new("node");
        command.arg(folder.join("tests/openid/provider.mjs")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let Ok(mut child) = command.spawn() else {
            let _ = writeln!(io::stderr(), "SKIPPED: there is no node: install Node.js, then run `npm ci`");
            return None;
        };
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let issuer = line(&mut stdout);
        assert!(issuer.starts_with("http://"), "the provider does not start: run `npm ci`");
        Some(Self { child, stdout, issuer })
    }

    fn send_command(&mut self, text: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{text}").unwrap();
        assert_eq!(line(&mut self.stdout), "ready");
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn line(from: &mut impl BufRead) -> String {
    let mut line = String::new();
    from.read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}

/// A DAC whose people sign in by the provider.
struct Plant {
    folder: TempDir,
    dac: Oasis,
    provider: Provider,
}

impl Plant {
    /// The provider does not work yet.
    fn start(more: &str) -> Option<Self> {
        let provider = Provider::start()?;
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        fs::write(path("secret"), SECRET).unwrap();
        fs::set_permissions(path("secret"), fs::Permissions::from_mode(0o600)).unwrap();
        let config = format!(
            "[access.oidc]\nissuer = {:?}\nclient_id = \"oasis\"\nclient_secret_file = {:?}\nlabel = \"Plant login\"\n{more}\n",
            provider.issuer,
            path("secret")
        );
        fs::write(path("oasis.toml"), config).unwrap();
        let dac = Oasis::dac(&["--config", &path("oasis.toml"), "--access", &path("access")]);
        Some(Self { folder, dac, provider })
    }

    fn working(more: &str) -> Option<Self> {
        let mut plant = Self::start(more)?;
        let redirect = format!("{}/sign-in/oidc/callback", plant.dac.http());
        plant.provider.send_command(&redirect);
        Some(plant)
    }

    fn said(&self, arguments: &[&str]) -> String {
        let mut command = oasis();
        command.args(arguments).env("OASIS_ACCESS", self.folder.path().join("access")).stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(PASSWORD.as_bytes());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Principal and result of each sign-in by the provider.
    fn recorded(&self) -> Vec<(String, String)> {
        let lines = self.said(&["audit-log", "show", "--format", "json", "--action", "sign-in:oidc"]);
        let records = lines.lines().map(|line| -> Value { serde_json::from_str(line).unwrap() });
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        records.map(|record| (text(&record["principal"]), text(&record["result"]))).collect()
    }

    /// Signs in: returns where the browser ends, and its principal at the DAC.
    fn sign_in(&self, who: &str) -> (String, Value) {
        let mut browser = Browser::default();
        let end = browser.sign_in(self, who);
        (end, browser.who(self))
    }
}

/// Follows redirections, with cookies.
#[derive(Default)]
struct Browser {
    cookies: HashMap<(String, String), String>,
}

impl Browser {
    /// Returns status and location.
    fn get(&mut self, url: &str) -> (u16, String) {
        let authority = authority(url);
        let own = self.cookies.iter().filter(|((of, _), value)| *of == authority && !value.is_empty());
        let cookies: Vec<_> = own.map(|((_, name), value)| format!("{name}={value}")).collect();
        // As a browser does after a link or a redirection of another site.
        let request = Request::builder().uri(url).header("cookie", cookies.join("; "));
        let request = request.header("sec-fetch-site", "cross-site").header("sec-fetch-mode", "navigate");
        let config = Agent::config_builder().http_status_as_error(false).max_redirects(0);
        let agent: Agent = config.max_redirects_will_error(false).build().into();
        let answer = agent.run(request.body(()).unwrap()).unwrap();
        for cookie in answer.headers().get_all("set-cookie") {
            let pair = cookie.to_str().unwrap().split(';').next().unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            self.cookies.insert((authority.clone(), name.to_owned()), value.to_owned());
        }
        let location = answer.headers().get("location").map(|location| location.to_str().unwrap());
        (answer.status().as_u16(), location.map(|location| joined(url, location)).unwrap_or_default())
    }

    /// Returns the address to which the provider sends the browser back.
    fn callback(&mut self, plant: &Plant, who: &str) -> String {
        let (status, url) = self.get(&format!("{}/sign-in/oidc", plant.dac.http()));
        assert_eq!(status, 303);
        let mut url = format!("{url}&login_hint={who}");
        for _ in 0..10 {
            if !url.starts_with(&plant.provider.issuer) {
                return url;
            }
            url = self.get(&url).1;
        }
        panic!("the provider does not come to an end: {url}");
    }

    fn sign_in(&mut self, plant: &Plant, who: &str) -> String {
        let back = self.callback(plant, who);
        let (status, end) = self.get(&back);
        assert_eq!(status, 303, "{back}");
        end
    }

    fn who(&mut self, plant: &Plant) -> Value {
        let url = format!("{}/api/v1/session", plant.dac.http());
        let authority = authority(&url);
        let own = self.cookies.iter().filter(|((of, _), value)| *of == authority && !value.is_empty());
        let cookies: Vec<_> = own.map(|((_, name), value)| format!("{name}={value}")).collect();
        let mut answer = ureq::get(&url).header("cookie", cookies.join("; ")).call().unwrap();
        serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap()
    }
}

fn authority(url: &str) -> String {
    url.split('/').nth(2).unwrap().to_owned()
}

/// A place of a redirection as a URL.
fn joined(base: &str, location: &str) -> String {
    if location.starts_with("http") {
        return location.to_owned();
    }
    format!("http://{}/{}", authority(base), location.trim_start_matches("../").trim_start_matches('/'))
}

const ROLES: &str = "[access.oidc.roles]\nfitters = [\"operator\"]";

#[test]
fn a_person_of_the_provider_gets_the_roles_of_its_groups() {
    let Some(plant) = Plant::working(ROLES) else { return };
    let (end, who) = plant.sign_in("ada");
    assert_eq!(end, format!("{}/", plant.dac.http()));
    assert_eq!(
        (&who["kind"], &who["name"], &who["roles"]),
        (&json!("person"), &json!("ada"), &json!(["operator"]))
    );
    assert_eq!(who["provider"], "Plant login");
    // The second time the account is there.
    assert_eq!(plant.sign_in("ada").1["name"], "ada");
    // None of the groups of `eve` has a role, and the other user refuses.
    for (who, code) in [("eve", "no_role"), ("nobody", "denied")] {
        let (end, session) = plant.sign_in(who);
        assert!(end.ends_with(&format!("/#sign-in-failed={code}")), "{end}");
        assert_eq!(session["kind"], "local");
    }
    let recorded = plant.recorded();
    let expected = [
        ("person:ada", "done"),
        ("person:ada", "done"),
        ("person:eve", "none of the groups"),
        ("stranger", "the provider of identity has refused: access_denied"),
    ];
    assert_eq!(recorded.len(), expected.len(), "{recorded:?}");
    for ((who, result), (expected, begin)) in recorded.iter().zip(expected) {
        assert!(who == expected && result.starts_with(begin), "{recorded:?}");
    }
}

#[test]
fn without_roles_of_groups_the_accounts_decide() {
    let Some(plant) = Plant::working("") else { return };
    assert!(plant.sign_in("ada").0.ends_with("#sign-in-failed=no_account"));
    plant.said(&["user", "add", "ada", "--no-password", "--role", "viewer"]);
    // The provider does not vouch for people with a password.
    plant.said(&["user", "add", "eve", "--password-file", "-", "--role", "admin"]);
    let who = eventually("an account", || {
        let who = plant.sign_in("ada").1;
        (who["kind"] == "person").then_some(who)
    });
    assert_eq!(who["roles"], json!(["viewer"]));
    assert!(plant.sign_in("eve").0.ends_with("#sign-in-failed=no_account"));
    let recorded = plant.recorded();
    assert!(recorded.last().unwrap().1.contains("belongs to somebody else"), "{recorded:?}");
}

#[test]
fn an_answer_of_another_sign_in_is_refused() {
    let Some(plant) = Plant::working(ROLES) else { return };
    let failed = |end: &str, code: &str| assert!(end.ends_with(&format!("/#sign-in-failed={code}")), "{end}");
    // Another state, and a browser that has begun nothing.
    let mut browser = Browser::default();
    let back = browser.callback(&plant, "ada");
    let (before, state) = back.split_once("state=").unwrap();
    let rest = state.split_once('&').map_or("", |(_, rest)| rest);
    let mut attacked = Browser { cookies: browser.cookies.clone() };
    failed(&attacked.get(&format!("{before}state=another&{rest}")).1, "other_flow");
    failed(&Browser::default().get(&back).1, "other_flow");
    // A browser that has begun another one: an attacker's code would sign it in as the attacker.
    let mut victim = Browser::default();
    victim.callback(&plant, "eve");
    failed(&victim.get(&back).1, "other_flow");
    // The right browser, once.
    let cookies = browser.cookies.clone();
    assert_eq!(browser.get(&back).1, format!("{}/", plant.dac.http()));
    failed(&Browser { cookies }.get(&back).1, "bad_answer");
    failed(&browser.get(&back).1, "other_flow");
    let recorded = plant.recorded();
    let did_not = recorded.iter().filter(|(_, result)| result.contains("did not take its code back")).count();
    assert_eq!(did_not, 1, "{recorded:?}");
}

#[test]
fn a_forged_id_token_is_refused() {
    let Some(mut plant) = Plant::working(ROLES) else { return };
    for (forging, reason) in [
        ("nonce", "nonce"),
        ("no-nonce", "nonce"),
        ("audience", "audience"),
        ("another-audience-too", "audience"),
        ("issuer", "issuer"),
        ("expired", "expired"),
        ("none", ""),
        ("secret", ""),
        ("key", "ignature"),
        ("unknown-key", "key"),
    ] {
        plant.provider.send_command(forging);
        let (end, who) = plant.sign_in("ada");
        assert!(end.ends_with("/#sign-in-failed=bad_answer"), "{forging}: {end}");
        assert_eq!(who["kind"], "local", "{forging}");
        let (principal, result) = plant.recorded().pop().unwrap();
        assert_eq!(principal, "stranger");
        assert!(
            result.starts_with("the ID token is refused") && result.contains(reason),
            "{forging}: {result}"
        );
    }
    plant.provider.send_command("honest");
    assert_eq!(plant.sign_in("ada").1["name"], "ada");
}

#[test]
fn while_the_provider_is_down_people_with_a_password_sign_in() {
    let Some(mut plant) = Plant::start(ROLES) else { return };
    plant.said(&["user", "add", "bob", "--password-file", "-", "--role", "viewer"]);
    let begin = || Browser::default().get(&format!("{}/sign-in/oidc", plant.dac.http())).1;
    assert!(begin().ends_with("/#sign-in-failed=provider_down"));
    let body = json!({"name": "bob", "password": PASSWORD}).to_string();
    eventually("bob has signed in", || {
        ureq::post(format!("{}/api/v1/session", plant.dac.http())).send(&body).ok()
    });
    // The provider is asked again, after a pause.
    let redirect = format!("{}/sign-in/oidc/callback", plant.dac.http());
    plant.provider.send_command(&redirect);
    let who = eventually("the provider is used", || {
        let begin = Browser::default().get(&format!("{}/sign-in/oidc", plant.dac.http())).1;
        begin.starts_with(&plant.provider.issuer).then(|| plant.sign_in("ada").1)
    });
    assert_eq!(who["name"], "ada");
}

#[test]
fn a_secret_that_others_can_read_ends_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let (secret, config) = (folder.path().join("secret"), folder.path().join("oasis.toml"));
    fs::write(&secret, SECRET).unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o640)).unwrap();
    let section = format!(
        "[access.oidc]\nissuer = \"https://id.example\"\nclient_id = \"oasis\"\nclient_secret_file = {secret:?}\n"
    );
    fs::write(&config, section).unwrap();
    let mut command = oasis();
    command
        .args(["dac", "--listen", "127.0.0.1:0", "--channel-listen", "127.0.0.1:0", "--config"])
        .arg(config);
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && said.contains("[access.oidc]") && said.contains("mode 640"),
        "{said}"
    );
}
