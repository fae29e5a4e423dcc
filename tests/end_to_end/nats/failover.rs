//! DACs without archives: NATS alone has what a killed DAC had received.

use super::{INSTANCE, Nats, archive, import};
use crate::{
    failover::{Random, Union, is_online, number_in_environment, received, times},
    harness::{Oasis, eventually, eventually_shown, get, oasis},
};
use std::{
    fs, thread,
    time::{Duration, Instant},
};

/// Kills in a usual run. `OASIS_FAILOVER_KILLS=1000` asks for more.
const KILLS: usize = 20;

/// Two DACs that copy to NATS, and a node that knows both.
struct Site {
    url: String,
    dacs: [Option<Oasis>; 2],
    addresses: [(String, String); 2],
}

impl Site {
    fn new(nats: &Nats) -> Self {
        let url = nats.url();
        let dacs = [0, 1].map(|_| Oasis::dac(&["--nats", &url]));
        let addresses = [&dacs[0], &dacs[1]].map(|dac| (dac.listen().to_owned(), dac.channel().to_owned()));
        Self { url, dacs: dacs.map(Some), addresses }
    }

    fn dac(&self, number: usize) -> &Oasis {
        self.dacs[number].as_ref().expect("it runs")
    }

    fn start_again(&mut self, number: usize) {
        let (listen, channel) = &self.addresses[number];
        self.dacs[number] = Some(Oasis::dac_at(listen, channel, &["--nats", &self.url]));
    }

    fn until_receives(&self, number: usize, since: Instant) -> Duration {
        let before = received(self.dac(number));
        eventually_shown("samples at the other DAC", || {
            let dac = self.dac(number);
            if received(dac) > before && is_online(dac) { Ok(()) } else { Err(get(dac, "/api/v1/nodes")) }
        });
        since.elapsed()
    }
}

#[test]
fn nats_has_each_sample_of_dacs_that_are_killed() {
    let (nats, folder) = (Nats::start(), tempfile::tempdir().unwrap());
    let kills = number_in_environment("OASIS_FAILOVER_KILLS").unwrap_or(KILLS);
    let seed = number_in_environment("OASIS_FAILOVER_SEED").unwrap_or(1);
    let mut random = Random(seed as u64);
    let mut site = Site::new(&nats);
    let log = fs::File::create(folder.path().join("node.log")).unwrap();
    let (first, second) = (site.dac(0).channel().to_owned(), site.dac(1).channel().to_owned());
    let arguments =
        ["--name", "plant", "--probe", &format!("{INSTANCE}@1000"), "--dac", &first, "--dac", &second];
    let node = Oasis::node_started_by(oasis(), log, &arguments);
    let mut home = eventually("a home of the node", || {
        (0..2).find(|&number| received(site.dac(number)) > 0 && is_online(site.dac(number)))
    });
    let mut recoveries = Vec::with_capacity(kills);
    for _ in 0..kills {
        thread::park_timeout(Duration::from_millis(random.below(700)));
        let dac = site.dacs[home].take().unwrap();
        let killed = Instant::now();
        dac.kill();
        recoveries.push(site.until_receives(1 - home, killed));
        site.start_again(home);
        home = 1 - home;
    }
    assert!(node.stop().success());
    let last =
        crate::harness::instance(site.dac(home), "plant", INSTANCE).unwrap()["ledger"]["last_sequence"]
            .as_u64();
    for dac in site.dacs.iter_mut().filter_map(Option::take) {
        assert!(dac.stop().success());
    }
    let filled = archive(&folder, "filled");
    let said = import(&nats.url(), &filled);
    let union = Union::of(&[filled]);
    println!(
        "{kills} kills, seed {seed}, copies in NATS alone: {} samples, {} undeclared, {} twice or altered; {}; {}",
        union.samples.len(),
        union.undeclared().len(),
        union.wrong,
        times(recoveries),
        said.trim()
    );
    union.assert_whole();
    let newest = union.samples.keys().map(|(_, sequence)| *sequence).max();
    assert_eq!(newest, last, "the copy ends where the node ended");
}
