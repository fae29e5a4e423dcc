//! The token of a DAC that is closed to other users of its host: commands of its own user find it in the access folder.

use anyhow::{Context, bail};
use oasis_access::{AccessConfig, host_token_file};
use oasis_client::{ClientError, DacAddress};
use serde::Deserialize;
use std::{
    env,
    fs::File,
    io::{ErrorKind, Read},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// Longest token that is read, bytes.
const MAX_TOKEN_BYTES: u64 = 4_096;
/// Longest configuration that is read, bytes.
const MAX_CONFIGURATION_BYTES: u64 = 1024 * 1024;

/// The same for a client of the API, with the usual folder of accounts.
///
/// # Errors
/// As [`find`].
pub fn of(address: &DacAddress) -> Result<Option<String>, ClientError> {
    find(address, None).map_err(|error| ClientError::HostToken(format!("{error:#}")))
}

/// Returns the value of `Authorization` for a DAC on this host, if its token is in the folder of accounts. The token is
/// never sent elsewhere.
///
/// # Errors
/// If others can read the token, or the configuration cannot be read.
pub fn find(address: &DacAddress, folder: Option<&Path>) -> anyhow::Result<Option<String>> {
    let (_, port) = address.socket();
    if !address.is_loopback() {
        return Ok(None);
    }
    let folder = match folder {
        Some(folder) => Some(folder.to_owned()),
        None => usual_folder()?,
    };
    folder.map_or(Ok(None), |folder| read(&host_token_file(&folder, port)))
}

/// The folder of accounts, as a DAC with the same environment has it.
fn usual_folder() -> anyhow::Result<Option<PathBuf>> {
    let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    match variable("OASIS_ACCESS") {
        Some(folder) => Ok(Some(folder)),
        None => Ok(read_section(variable("OASIS_CONFIG").as_deref())?.folder()),
    }
}

/// A configuration file, without its other sections.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Configuration {
    access: AccessConfig,
}

/// Returns the section of the accounts of a configuration file, or the defaults without one.
fn read_section(path: Option<&Path>) -> anyhow::Result<AccessConfig> {
    let Some(path) = path else { return Ok(AccessConfig::default()) };
    let within = || format!("cannot read the configuration {}", path.display());
    let mut text = String::new();
    let file = File::open(path).with_context(within)?;
    file.take(MAX_CONFIGURATION_BYTES).read_to_string(&mut text).with_context(within)?;
    let configuration: Configuration = toml::from_str(&text).with_context(within)?;
    Ok(configuration.access)
}

fn read(path: &Path) -> anyhow::Result<Option<String>> {
    let context = || format!("cannot read the token of this host in {}", path.display());
    let file = match File::open(path) {
        Ok(file) => file,
        // Another user's DAC.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) => {
            return Ok(None);
        }
        Err(error) => return Err(error).with_context(context),
    };
    if file.metadata().with_context(context)?.mode() & 0o077 != 0 {
        bail!("others can read {}: restart the DAC, which makes another token", path.display());
    }
    let mut text = String::new();
    file.take(MAX_TOKEN_BYTES).read_to_string(&mut text).with_context(context)?;
    let token = text.trim();
    let is_token = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    Ok(is_token.then(|| format!("Bearer {token}")))
}
