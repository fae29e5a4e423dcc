use super::*;
use crate::{Doors, config::DoorsConfig};
use oasis_dac::{Config, Dac};

fn doors(shards: usize) -> Doors {
    let config = DoorsConfig { shards: ShardChoice::Fixed(shards), ..DoorsConfig::default() };
    Doors::new(Dac::new(Config::default()), config, None).unwrap()
}

#[tokio::test]
async fn a_shard_that_panics_starts_again_with_another_inbox() {
    let doors = doors(1);
    let home = doors.shards.fleet.roster.open()[0].clone();
    let before = home.inbox().clone();
    before.post(crate::websocket::inbox::Event::Panic);
    while Arc::ptr_eq(&before, &home.inbox()) {
        tokio::task::yield_now().await;
    }
    // The thread that works again is watched again.
    while !doors.dac.health.findings().is_empty() {
        tokio::task::yield_now().await;
    }
    let thread = Arc::downgrade(&home);
    drop((home, doors));
    while thread.strong_count() > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn shards_come_and_go_and_the_number_of_one_that_ended_is_used_again() {
    let doors = doors(1);
    let numbers = || doors.shards.view().threads.iter().map(|thread| thread.number).collect::<Vec<_>>();
    doors.shards.choose(ShardChoice::Fixed(4)).unwrap();
    assert_eq!((numbers(), doors.shards.view().shards), (vec![0, 1, 2, 3], 4));
    doors.shards.choose(ShardChoice::Fixed(2)).unwrap();
    assert_eq!(doors.shards.view().shards, 2);
    while numbers() != [0, 1] {
        tokio::task::yield_now().await;
    }
    doors.shards.choose(ShardChoice::Fixed(3)).unwrap();
    assert_eq!(numbers(), [0, 1, 2]);
    assert_eq!(doors.dac.shards.figures().len(), 3);
}

#[tokio::test]
async fn auto_begins_with_the_shards_that_there_are() {
    let doors = doors(1);
    doors.shards.choose(ShardChoice::Auto).unwrap();
    let view = doors.shards.view();
    assert_eq!((view.choice, view.shards), (ShardChoice::Auto, 1));
}
