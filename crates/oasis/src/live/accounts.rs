//! The accounts and the audit log of a DAC.

use anyhow::{Context, bail};
use oasis_access::{Access, AccessConfig, AuditLimits, AuditLog, LocalAccess};
use oasis_http::permissions::Permissions;
use std::{fs, path::Path};

/// Opens them for a DAC whose page is at this port, or keeps them in memory if the default folder cannot be made:
/// loopback needs no accounts.
pub fn open(config: &AccessConfig, port: u16) -> anyhow::Result<Permissions> {
    if config.insecure {
        tracing::warn!("access.insecure: everybody who can connect may do everything, without signing in");
    }
    let is_closed = config.local == LocalAccess::Token;
    let is_default = config.directory.is_empty() && !is_closed;
    let Some(folder) = config.folder() else {
        if is_closed {
            bail!(
                "access.local is \"token\", and there is no folder for the token: set --access DIR or HOME"
            );
        }
        tracing::warn!(
            "no folder for accounts: set --access DIR or HOME; there are no accounts and no audit log"
        );
        return Ok(in_memory(config));
    };
    if let Err(error) = made(&folder)
        && is_default
    {
        tracing::warn!(%error, folder = %folder.display(), "no folder for accounts: there are no accounts and no audit log");
        return Ok(in_memory(config));
    }
    let context =
        || format!("cannot open the accounts in {} (--access or access.directory)", folder.display());
    let mut access = Access::open(&folder, config).with_context(context)?;
    if config.insecure {
        access.trust_strangers();
    }
    let changed = if is_closed { access.close_to_host(port) } else { access.open_to_host(port) };
    changed.with_context(|| format!("cannot change the token of this host in {}", folder.display()))?;
    let audit = AuditLog::open(&folder.join("audit"), limits(config)).with_context(context)?;
    Ok(Permissions::open(access, Some(audit))?)
}

fn in_memory(config: &AccessConfig) -> Permissions {
    if config.insecure { Permissions::open_to_all() } else { Permissions::in_memory() }
}

/// Makes the folders above; the last one gets its mode from who opens it.
fn made(folder: &Path) -> std::io::Result<()> {
    if folder.exists() {
        return Ok(());
    }
    folder.parent().map_or(Ok(()), fs::create_dir_all)
}

/// The bounds of the audit log.
pub fn limits(config: &AccessConfig) -> AuditLimits {
    let (bytes, days) = (config.audit_bytes, config.audit_days);
    AuditLimits { file_bytes: AuditLimits::default().file_bytes.min(bytes / 8), bytes, days }
}
