//! A database that ends while the DAC writes to it.

use super::Scenario;
use crate::faults::{system::postgres::Postgres, world::World};
use std::thread;

pub const SCENARIOS: &[Scenario] = &[Scenario {
    name: "kill-postgresql",
    about: "PostgreSQL is killed during commits, 50 times (needs PostgreSQL)",
    is_quick: true,
    run: kill_postgresql,
}];

const TABLE: &str = "oasis.oasis_system_linux_processor_probe";

fn kill_postgresql(world: &mut World) -> anyhow::Result<()> {
    let mut postgres = match Postgres::start(world.folder().join("postgresql")) {
        Ok(postgres) => postgres,
        Err(error) => {
            world.outcome.skipped = Some(format!("{error:#}"));
            return Ok(());
        }
    };
    world.settings.more = format!("[postgresql]\nurl = {:?}\ncommit_ms = 20\n", postgres.address());
    world.start_pair()?;
    for _ in 0..world.repeated(50) {
        thread::sleep(world.random.millis(0..1_000));
        postgres.kill()?;
        // The archive must not notice.
        world.settle()?;
        postgres.run()?;
    }
    world.recover()?;
    // The clean end of the DAC waits until the database has every row.
    world.judge()?;
    let wanted = world.outcome.account.stored;
    let rows = postgres.count(&format!("SELECT count(*) FROM {TABLE}"))?;
    let numbers = postgres.count(&format!("SELECT count(DISTINCT (run, sequence)) FROM {TABLE}"))?;
    world.outcome.notes.insert("rows", rows);
    if rows != wanted || numbers != wanted {
        let failure = format!("PostgreSQL has {rows} rows of {numbers} samples; the archive has {wanted}");
        world.outcome.failures.push(failure);
    }
    Ok(())
}
