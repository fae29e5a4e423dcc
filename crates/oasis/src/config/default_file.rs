//! The configuration file of a command that names none.

use oasis_format::visible::Visible;
use std::{
    env,
    path::{Path, PathBuf},
    sync::Once,
};

/// The settings of this host, where packages install them.
const SYSTEM_FILE: &str = "/etc/oasis.toml";

/// Returns the file that is named, else that of this user or, for root, that of the host if `has_system`. An empty name is none.
pub fn find(named: Option<&Path>, has_system: bool) -> Option<PathBuf> {
    if let Some(named) = named {
        return (!named.as_os_str().is_empty()).then(|| named.to_owned());
    }
    let system = (has_system && is_root()).then(|| PathBuf::from(SYSTEM_FILE));
    let found =
        user_file(|name| env::var(name).ok()).into_iter().chain(system).find(|file| file.is_file())?;
    static SAID: Once = Once::new();
    SAID.call_once(|| eprintln!("configuration: {}", Visible(&found.display().to_string())));
    Some(found)
}

#[cfg(target_os = "linux")]
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(not(target_os = "linux"))]
fn is_root() -> bool {
    false
}

/// `oasis/oasis.toml` in `$XDG_CONFIG_HOME` or `~/.config`; none without a home.
fn user_file(variable: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let folder = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")))?;
    Some(folder.join("oasis/oasis.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_a_user_is_in_the_folder_of_configurations() {
        let file = |variables: &[(&str, &str)]| {
            let variable = |name: &str| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            };
            user_file(variable).map(|path| path.display().to_string())
        };
        let expected = |path: &str| Some(path.to_owned());
        assert_eq!(file(&[("HOME", "/home/me")]), expected("/home/me/.config/oasis/oasis.toml"));
        let both = [("HOME", "/home/me"), ("XDG_CONFIG_HOME", "/settings")];
        assert_eq!(file(&both), expected("/settings/oasis/oasis.toml"));
        let relative = [("HOME", "/home/me"), ("XDG_CONFIG_HOME", "settings")];
        assert_eq!(file(&relative), expected("/home/me/.config/oasis/oasis.toml"));
        assert_eq!(file(&[]), None);
    }

    #[test]
    fn an_empty_name_is_no_file() {
        assert_eq!(find(Some(Path::new("")), true), None);
        assert_eq!(find(Some(Path::new("site.toml")), true), Some("site.toml".into()));
    }
}
