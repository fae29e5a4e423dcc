//! A DAC with an archive that is filled before it serves, as after a long operation.

use super::{oasis, runtime};
use crate::order::{obey, ready};
use clap::{Args, Subcommand};
use oasis_api::Api;
use oasis_dac::{Config, Dac};
use oasis_doors::{Doors, DoorsConfig, ShardChoice};
use oasis_handler::Supervisor;
use oasis_store::ArchiveConfig;
use std::{future, path::PathBuf, sync::Arc};
use tokio::net::TcpListener;

/// Batches between two looks at whether the archive keeps up.
const AHEAD: u64 = 64;
/// Counters that nothing repeats in take this many bytes a sample, about.
const NOISE_BYTES: u64 = 32;

/// Which archive, and what goes into it first.
#[derive(Debug, Args)]
pub struct ArchiveArguments {
    /// Its folder.
    directory: PathBuf,
    #[command(subcommand)]
    fill: Option<Fill>,
}

/// The samples that are stored before serving.
#[derive(Debug, Clone, Copy, Subcommand)]
pub enum Fill {
    /// So many samples at this rate, up to now, in batches as a node makes them.
    Past {
        /// Samples a second.
        hertz: u64,
        /// How long ago the first one was taken.
        seconds: u64,
    },
    /// Samples that do not compress, until about so many bytes are on the disk.
    Bytes {
        /// How many.
        bytes: u64,
    },
}

/// Serves until there are no more orders.
pub fn serve(archived: &ArchiveArguments) -> anyhow::Result<()> {
    let runtime = runtime()?;
    let dac = Dac::new(Config::default());
    // Nothing is evicted.
    let config = ArchiveConfig {
        directory: archived.directory.to_string_lossy().into_owned(),
        retention: vec![oasis_store::RetentionRule { instances: "*".into(), days: 0, bytes: 0 }],
        rollup_bytes: 0,
        ..ArchiveConfig::default()
    };
    let opened = oasis_store::open(config)?;
    oasis_archive::restore(&opened, &dac.registry)?;
    let archive = Arc::new(oasis_archive::Archive::new(opened));
    let handlers = Arc::new(Supervisor::new(dac.clone(), None, vec![archive.clone()]));
    handlers.start("archive")?;
    let mut feed = oasis::Feed::new(dac.clone())?;
    runtime.block_on(fill(archived.fill, &mut feed, &archive))?;
    let config = DoorsConfig { shards: ShardChoice::Fixed(1), ..DoorsConfig::default() };
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
    let place = listener.local_addr()?.to_string();
    let served = archive.clone();
    runtime.spawn(async move {
        let api = Api::new(Doors::new(dac, config, Some(served))?, handlers)?;
        oasis_api::serve(api, listener, future::pending()).await
    });
    ready(&[place])?;
    obey(|_| anyhow::bail!("this server publishes nothing"))
}

async fn fill(
    fill: Option<Fill>,
    feed: &mut oasis::Feed,
    archive: &oasis_archive::Archive,
) -> anyhow::Result<()> {
    let now = crate::packet::now();
    let (samples, in_batch, step, noise) = match fill {
        None => return Ok(()),
        Some(Fill::Past { hertz, seconds }) => {
            // As many as a node collects in 10 ms, or in a minute for slow rates.
            let in_batch = if hertz >= 100 { hertz / 100 } else { 60 };
            (hertz * seconds, in_batch, 1_000_000_000 / hertz, false)
        }
        Some(Fill::Bytes { bytes }) => (bytes / NOISE_BYTES, 4_000, 1_000, true),
    };
    let mut time = now - samples * step;
    for batch in 0..samples / in_batch {
        feed.batch(
            in_batch,
            |_| {
                time += step;
                time
            },
            noise,
        )?;
        if batch % AHEAD == AHEAD - 1 || batch + 1 == samples / in_batch {
            archive.flush().await?;
        }
    }
    Ok(())
}
