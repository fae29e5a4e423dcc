//! A DAC with an archive that is filled before it serves, as after a long operation.

use super::{log_records, oasis, runtime};
use crate::order::{ready, run_orders};
use clap::{Args, Subcommand};
use oasis_api::Api;
use oasis_dac::{Config, Dac};
use oasis_doors::{Doors, DoorsConfig, ShardChoice};
use oasis_ei_node::LogProbe;
use oasis_handler::Supervisor;
use oasis_store::ArchiveConfig;
use std::{future, path::PathBuf, sync::Arc};
use tokio::net::TcpListener;

/// Batches between two checks whether the archive keeps up.
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
    /// Samples at this rate for this time, up to now, in batches as a node makes them.
    Past {
        /// Samples a second.
        hertz: u64,
        /// Age of the first one.
        seconds: u64,
    },
    /// Samples that do not compress, until about this many bytes are on the disk.
    Bytes {
        /// Number of bytes.
        bytes: u64,
    },
    /// Log records, one a millisecond, up to now.
    Logs {
        /// Number of records.
        records: u64,
        /// Records in a batch.
        in_batch: u64,
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
    runtime.block_on(async {
        match archived.fill {
            None => Ok(()),
            Some(Fill::Logs { records, in_batch }) => fill_logs(records, in_batch, &dac, &archive).await,
            Some(fill) => fill_counters(fill, &dac, &archive).await,
        }
    })?;
    let config = DoorsConfig { shards: ShardChoice::Fixed(1), ..DoorsConfig::default() };
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
    let place = listener.local_addr()?.to_string();
    let served = archive.clone();
    runtime.spawn(async move {
        let api = Api::new(Doors::new(dac, config, Some(served))?, handlers)?;
        oasis_api::serve(api, listener, future::pending()).await
    });
    ready(&[place])?;
    run_orders(|_| anyhow::bail!("this server publishes nothing"))
}

async fn fill_counters(fill: Fill, dac: &Arc<Dac>, archive: &oasis_archive::Archive) -> anyhow::Result<()> {
    let now = crate::packet::now();
    let (samples, in_batch, step, noise) = match fill {
        Fill::Past { hertz, seconds } => {
            // As many as a node collects in 10 ms, or in a minute for slow rates.
            let in_batch = if hertz >= 100 { hertz / 100 } else { 60 };
            (hertz * seconds, in_batch, 1_000_000_000 / hertz, false)
        }
        Fill::Bytes { bytes } => (bytes / NOISE_BYTES, 4_000, 1_000, true),
        Fill::Logs { .. } => return Ok(()),
    };
    let mut feed = oasis::Feed::new(dac.clone())?;
    let begin = now - samples * step;
    in_batches(samples / in_batch, archive, || feed.batch(in_batch, |number| begin + number * step, noise))
        .await
}

async fn fill_logs(
    records: u64,
    in_batch: u64,
    dac: &Arc<Dac>,
    archive: &oasis_archive::Archive,
) -> anyhow::Result<()> {
    const STEP: u64 = 1_000_000;
    let mut feed = oasis::Feed::of::<LogProbe>(dac.clone(), log_records::LOG)?;
    let begin = crate::packet::now() - records * STEP;
    in_batches(records / in_batch, archive, || {
        feed.batch_of(in_batch, |number| begin + number * STEP, |number| log_records::record(number, records))
    })
    .await
}

/// Adds batches, as fast as the archive stores them.
async fn in_batches(
    count: u64,
    archive: &oasis_archive::Archive,
    mut add: impl FnMut() -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    for batch in 0..count {
        add()?;
        if batch % AHEAD == AHEAD - 1 || batch + 1 == count {
            archive.flush().await?;
        }
    }
    Ok(())
}
