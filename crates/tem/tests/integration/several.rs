//! Several TEMs that exchange their directories, under a simulated network and simulated clocks: a failure is a seed.
//!
//! Each step is 10 ms. A world has 2 to 4 TEMs in a line, a ring or all together, and 1 to 8 DACs, each of which reaches some of the TEMs. Requests take 0 to
//! 30 ms each way. For 60 s, links are cut (a request over a cut link fails after 300 ms), DACs are killed, end in order, restart, TEMs are killed and restart
//! without memory, processes stop and continue, and clocks run up to 5 % too fast or too slow. One peer lies. Then all links heal, and nothing else happens.

use oasis_tem::{
    ChangePosition, Content, DacName, Directory, HEARTBEAT, Health, Heartbeat, Identity, Kind, LATE_AFTER,
    Limits, Liveness, Load, NodeNames, Peer, Pulse, Record, Report, SealKey, Sealed, peer,
};
use oasis_wire::quantity::Epoch;
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
    time::Duration,
};

const STEP: Duration = Duration::from_millis(10);
const TROUBLE: Duration = Duration::from_secs(60);
/// Time after which all lists must be equal.
const HEALED: Duration = Duration::from_secs(1);
/// Time until a request over a cut link fails.
const CUT: Duration = Duration::from_millis(300);
/// Until what was cut, stopped or killed is late everywhere.
const SETTLE: Duration = Duration::from_secs(3);

/// A small generator of numbers (splitmix64): the same for a seed on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn one_in(&mut self, chance: u64) -> bool {
        self.below(chance) == 0
    }
}

/// A clock that runs at a speed of its own, and not while its process is stopped.
#[derive(Clone, Copy)]
struct Clock {
    /// Thousandths of the simulated time.
    speed: u32,
    shown: Duration,
}

impl Clock {
    fn new(random: &mut Random) -> Self {
        Self {
            speed: 950 + u32::try_from(random.below(101)).unwrap(),
            shown: Duration::from_secs(random.below(1_000)),
        }
    }

    fn tick(&mut self) {
        self.shown += STEP * self.speed / 1_000;
    }
}

struct Tem {
    identity: Identity,
    directory: Directory,
    clock: Clock,
    peers: Vec<Link>,
    /// Stopped until then.
    stopped: Duration,
    is_up: bool,
}

/// A peer as a TEM asks it.
struct Link {
    to: usize,
    peer: Peer,
    under_way: Option<Flight>,
}

/// A report under way: first to the peer, then the answer back.
enum Flight {
    Request(Box<Report>, Duration),
    Answer(Box<Report>, Duration),
    Fails(Duration),
}

struct Dac {
    name: DacName,
    key: SealKey,
    epoch: u64,
    beat: u64,
    names_revision: u64,
    nodes: Vec<String>,
    /// TEMs that it registers at.
    tems: Vec<usize>,
    /// For each of them: revision of the names that it has.
    sent: BTreeMap<usize, u64>,
    due: Duration,
    is_up: bool,
    stopped: Duration,
    /// When it was killed or stopped last.
    silent_since: Duration,
    /// Heartbeats under way.
    under_way: VecDeque<(Duration, usize, Heartbeat)>,
}

struct World {
    random: Random,
    time: Duration,
    tems: Vec<Tem>,
    dacs: Vec<Dac>,
    /// Cut links: between TEMs, and from a DAC to a TEM.
    cut_tems: BTreeSet<(usize, usize)>,
    cut_dacs: BTreeSet<(usize, usize)>,
    next_epoch: u64,
    counts: Counts,
}

/// Numbers of events and of checks.
#[derive(Debug, Default)]
struct Counts {
    worlds: u64,
    exchanges: u64,
    heartbeats: u64,
    cuts: u64,
    kills: u64,
    departures: u64,
    restarts: u64,
    tem_restarts: u64,
    stops: u64,
    lies: u64,
    forged: u64,
    equal_lists: u64,
    dead_never_live: u64,
    live_unchanged: u64,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let count = usize::try_from(2 + random.below(3)).unwrap();
        let shape = random.below(3);
        let mut tems: Vec<Tem> = (0..count).map(|number| Tem::new(number, &mut random)).collect();
        for (number, tem) in tems.iter_mut().enumerate() {
            let peers: Vec<usize> = match shape {
                // A line, a ring, or each with all.
                0 => (number + 1..count).take(1).collect(),
                1 => vec![(number + 1) % count],
                _ => (0..count).filter(|other| *other != number).collect(),
            };
            tem.connect(&peers);
        }
        let dacs = (0..1 + random.below(8)).map(|number| Dac::new(number, count, &mut random)).collect();
        let counts = Counts { worlds: 1, ..Counts::default() };
        Self {
            random,
            time: Duration::ZERO,
            tems,
            dacs,
            cut_tems: BTreeSet::new(),
            cut_dacs: BTreeSet::new(),
            next_epoch: 1_000,
            counts,
        }
    }

    fn run(mut self) -> Counts {
        while self.time < TROUBLE {
            self.cause_trouble();
            self.step();
        }
        self.heal();
        // A process that was killed just now is late only after 1.5 s.
        while self.time < TROUBLE + SETTLE {
            self.step();
        }
        self.cut_again();
        self.cut_tems.clear();
        self.cut_dacs.clear();
        let healed = self.time;
        while self.time < healed + HEALED {
            self.step();
        }
        self.check_equal();
        self.counts
    }

    fn step(&mut self) {
        self.time += STEP;
        for number in 0..self.dacs.len() {
            self.run_dac(number);
        }
        for number in 0..self.tems.len() {
            self.run_tem(number);
        }
        self.check_dead();
    }

    /// Returns the latency of a message.
    fn latency(&mut self) -> Duration {
        Duration::from_millis(self.random.below(31))
    }

    fn run_dac(&mut self, number: usize) {
        let latency = self.latency();
        let (time, dac) = (self.time, &mut self.dacs[number]);
        if dac.is_up && time >= dac.stopped && time >= dac.due {
            dac.due = time + HEARTBEAT;
            for tem in dac.tems.clone() {
                let heartbeat = dac.heartbeat(tem);
                dac.under_way.push_back((time + latency, tem, heartbeat));
            }
        }
        while let Some((at, tem, _)) = dac.under_way.front() {
            let (at, tem) = (*at, *tem);
            if at > time {
                break;
            }
            let Some((_, _, heartbeat)) = dac.under_way.pop_front() else { break };
            if self.cut_dacs.contains(&(number, tem)) || !self.tems[tem].runs(time) {
                dac.sent.remove(&tem);
                continue;
            }
            self.counts.heartbeats += 1;
            let (revision, clock) = (heartbeat.names_revision, self.tems[tem].clock.shown);
            match self.tems[tem].directory.beat(&dac.name, heartbeat, clock) {
                Ok(accepted) if accepted.wants_names => drop(dac.sent.remove(&tem)),
                Ok(_) => drop(dac.sent.insert(tem, revision)),
                Err(_) => drop(dac.sent.remove(&tem)),
            }
        }
    }

    fn run_tem(&mut self, number: usize) {
        if !self.tems[number].is_up || self.time < self.tems[number].stopped {
            return;
        }
        self.tems[number].clock.tick();
        let clock = self.tems[number].clock.shown;
        self.tems[number].directory.advance(clock);
        for link in 0..self.tems[number].peers.len() {
            self.run_link(number, link);
        }
    }

    fn run_link(&mut self, from: usize, link: usize) {
        let (latency, time) = (self.latency(), self.time);
        let Tem { directory, peers, clock, .. } = &mut self.tems[from];
        let clock = clock.shown;
        let Link { to, peer, under_way } = &mut peers[link];
        let to = *to;
        let is_cut = self.cut_tems.contains(&(from.min(to), from.max(to)));
        match under_way.take() {
            None if peer.pause(clock).is_zero() => {
                let report = peer.request(directory);
                *under_way = Some(Flight::Request(Box::new(report), time + latency));
            }
            None => {}
            Some(Flight::Request(report, at)) if time >= at => {
                let answered =
                    if is_cut || !self.tems[to].runs(time) { None } else { self.answer(from, to, *report) };
                let next = match answered {
                    Some(answer) => Flight::Answer(Box::new(answer), time + latency),
                    None => Flight::Fails(time + CUT),
                };
                self.tems[from].peers[link].under_way = Some(next);
            }
            Some(Flight::Answer(report, at)) if time >= at => {
                if is_cut {
                    *under_way = Some(Flight::Fails(time + CUT));
                } else {
                    peer.on_answer(*report, directory, clock).unwrap();
                    self.counts.exchanges += 1;
                }
            }
            Some(Flight::Fails(at)) if time >= at => peer.on_failure(clock),
            other => *under_way = other,
        }
    }

    fn answer(&mut self, from: usize, to: usize, report: Report) -> Option<Report> {
        let via: Arc<str> = self.tems[from].identity.doors.as_str().into();
        let Tem { directory, identity, clock, .. } = &mut self.tems[to];
        Some(peer::answer(report, identity, directory, (&via, |_: &DacName| true), clock.shown).unwrap())
    }

    fn cause_trouble(&mut self) {
        if !self.random.one_in(20) {
            return;
        }
        let (tem, dac) = (self.any(self.tems.len()), self.any(self.dacs.len()));
        match self.random.below(12) {
            0 | 1 => self.toggle_tems(tem),
            2 | 3 => {
                self.counts.cuts += 1;
                if !self.cut_dacs.remove(&(dac, tem)) {
                    self.cut_dacs.insert((dac, tem));
                }
            }
            4 if self.dacs[dac].is_up => self.kill(dac),
            5 if self.dacs[dac].is_up => self.end(dac),
            4..=6 if !self.dacs[dac].is_up => self.restart(dac),
            7 => {
                self.counts.stops += 1;
                self.dacs[dac].stopped = self.time + Duration::from_millis(self.random.below(4_000));
                self.dacs[dac].silent_since = self.time;
            }
            8 => {
                self.counts.stops += 1;
                self.tems[tem].stopped = self.time + Duration::from_millis(self.random.below(4_000));
            }
            9 if self.random.one_in(4) => self.restart_tem(tem),
            10 => self.lie(tem, dac),
            _ => {
                let dac = &mut self.dacs[dac];
                dac.names_revision += 1;
                dac.nodes = vec![format!("node-{}-{}", dac.name, dac.names_revision)];
            }
        }
    }

    fn any(&mut self, count: usize) -> usize {
        usize::try_from(self.random.below(count as u64)).unwrap()
    }

    fn toggle_tems(&mut self, tem: usize) {
        self.counts.cuts += 1;
        let other = (tem + 1) % self.tems.len();
        let link = (tem.min(other), tem.max(other));
        if !self.cut_tems.remove(&link) {
            self.cut_tems.insert(link);
        }
    }

    fn kill(&mut self, dac: usize) {
        self.counts.kills += 1;
        let dac = &mut self.dacs[dac];
        (dac.is_up, dac.silent_since) = (false, self.time);
        dac.under_way.clear();
    }

    /// A DAC says goodbye to those TEMs that it reaches.
    fn end(&mut self, number: usize) {
        self.counts.departures += 1;
        let dac = &mut self.dacs[number];
        (dac.is_up, dac.silent_since) = (false, self.time);
        dac.under_way.clear();
        let (epoch, beat) = (Epoch(dac.epoch), dac.beat + 1);
        let seal = dac.key.seal(Sealed { name: &dac.name, epoch, beat, content: Content::Leave }).unwrap();
        for tem in dac.tems.clone() {
            if !self.cut_dacs.contains(&(number, tem)) && self.tems[tem].runs(self.time) {
                let clock = self.tems[tem].clock.shown;
                self.tems[tem].directory.leave(&dac.name, (epoch, beat), Some(seal.signature), clock);
            }
        }
    }

    fn restart(&mut self, dac: usize) {
        self.counts.restarts += 1;
        self.next_epoch += 1;
        let dac = &mut self.dacs[dac];
        (dac.epoch, dac.beat, dac.is_up, dac.due) = (self.next_epoch, 0, true, self.time);
        dac.sent.clear();
    }

    /// A TEM keeps nothing on disk.
    fn restart_tem(&mut self, number: usize) {
        self.counts.tem_restarts += 1;
        self.next_epoch += 1;
        let peers: Vec<usize> = self.tems[number].peers.iter().map(|link| link.to).collect();
        let tem = &mut self.tems[number];
        tem.identity.tem = Epoch(self.next_epoch);
        tem.directory = Directory::new(Limits::default());
        tem.clock = Clock::new(&mut self.random);
        tem.connect(&peers);
    }

    /// A peer invents a heartbeat of a DAC, the end of it, or another process under its name.
    fn lie(&mut self, tem: usize, dac: usize) {
        self.counts.lies += 1;
        let lie = self.random.below(4);
        let (clock, dac) = (self.tems[tem].clock.shown, &self.dacs[dac]);
        let directory = &mut self.tems[tem].directory;
        // A TEM knows a DAC that was never heard here only from its peers.
        let Some(before) = directory.members().find(|member| *member.name() == dac.name).cloned() else {
            return;
        };
        let Some(record) =
            directory.report((Epoch(1), ""), None, &[]).members.into_iter().find(|one| one.name == dac.name)
        else {
            return;
        };
        let nothing = directory.report(
            (Epoch(1), ""),
            Some(ChangePosition { tem: Epoch(1), revision: u64::MAX, pulses: 0 }),
            &[],
        );
        let mut report = Report { members: Vec::new(), pulses: Vec::new(), left: Vec::new(), ..nothing };
        let (epoch, beat) = (record.heartbeat.epoch, record.heartbeat.beat + 1_000);
        let signature = record.heartbeat.seal.map(|seal| seal.signature);
        match lie {
            0 => report.members.push(Record {
                heartbeat: Heartbeat { beat, doors: "http://203.0.113.66:1".into(), ..record.heartbeat },
                ..record
            }),
            1 => report.pulses.push(Pulse {
                name: dac.name.clone(),
                epoch,
                beat,
                silent_ms: 0,
                signature,
                health: Health::Ok,
                load: Load::default(),
                names_revision: None,
            }),
            2 => report.left.push(oasis_tem::EndedDac { name: dac.name.clone(), epoch, beat, signature }),
            // The record that the DAC has signed, once more.
            _ => report.members.push(record),
        }
        let via: Arc<str> = "http://203.0.113.66:7000".into();
        directory.hear_of(report, &via, |_| true, clock);
        let after = directory.members().find(|member| *member.name() == dac.name).cloned().unwrap();
        let said = |member: &oasis_tem::Member| {
            (member.epoch(), member.beat(), member.doors().to_owned(), member.via().map(str::to_owned))
        };
        assert_eq!(said(&before), said(&after), "a lie was believed: {lie}");
        assert!(
            after.liveness() == before.liveness() || after.liveness() == Liveness::Late,
            "a lie has revived {}",
            dac.name
        );
        self.counts.forged += u64::from(lie < 3);
        self.counts.live_unchanged += 1;
    }

    /// Ends all trouble but the partitions.
    fn heal(&mut self) {
        for tem in &mut self.tems {
            tem.stopped = tem.stopped.min(self.time);
        }
        for dac in &mut self.dacs {
            dac.stopped = dac.stopped.min(self.time);
        }
    }

    /// A partition that begins when nothing else happens, and in which DACs come and go.
    fn cut_again(&mut self) {
        self.toggle_tems(0);
        let dac = self.any(self.dacs.len());
        let until = self.time + Duration::from_secs(5);
        match self.dacs[dac].is_up {
            true => self.end(dac),
            false => self.restart(dac),
        }
        while self.time < until {
            self.step();
        }
    }

    /// A DAC that has not sent anything for long is live nowhere, whatever TEMs tell each other.
    fn check_dead(&mut self) {
        // Clocks are 5 % off, a TEM looks ten times a second, and a message takes 30 ms a hop. What a TEM has heard ages only while it runs.
        let bound = LATE_AFTER * 11 / 10 + Duration::from_millis(400);
        if !self.tems.iter().all(|tem| tem.has_run_for(bound, self.time)) {
            return;
        }
        for dac in self.dacs.iter().filter(|dac| !dac.is_up) {
            if self.time.saturating_sub(dac.silent_since) < bound {
                continue;
            }
            for tem in &self.tems {
                let listed = tem.directory.members().find(|member| *member.name() == dac.name);
                let is_live = listed.is_some_and(|member| member.liveness() == Liveness::Live);
                assert!(
                    !is_live,
                    "{} is dead since {:?}, and live at {:?}",
                    dac.name, dac.silent_since, self.time
                );
                self.counts.dead_never_live += 1;
            }
        }
    }

    fn check_equal(&mut self) {
        let lists: Vec<_> = self.tems.iter().map(Tem::live).collect();
        for list in &lists {
            assert_eq!(
                list, &lists[0],
                "lists differ {HEALED:?} after all links have healed: {:#?}",
                self.tems
            );
            self.counts.equal_lists += 1;
        }
        let up: BTreeSet<&str> =
            self.dacs.iter().filter(|dac| dac.is_up).map(|dac| dac.name.as_str()).collect();
        let listed: BTreeSet<&str> = lists[0].keys().map(String::as_str).collect();
        assert_eq!(listed, up, "the live DACs are those that live");
        for dac in self.dacs.iter().filter(|dac| dac.is_up) {
            assert_eq!(lists[0][dac.name.as_str()].2, dac.nodes, "names of {}", dac.name);
        }
    }
}

impl std::fmt::Debug for Tem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let now = self.directory.now();
        let members = self.directory.members().map(|member| {
            let (via, silence) = (member.via(), member.silence(now));
            format!(
                "{} {} #{} {:?} via {via:?}, silent {silence:?}",
                member.name(),
                member.epoch(),
                member.beat(),
                member.liveness()
            )
        });
        f.debug_struct(&self.identity.doors)
            .field("peers", &self.peers.iter().map(|link| link.to).collect::<Vec<_>>())
            .field("members", &members.collect::<Vec<_>>())
            .field("counters", &self.directory.counters())
            .finish()
    }
}

impl Tem {
    fn new(number: usize, random: &mut Random) -> Self {
        let identity =
            Identity { tem: Epoch(number as u64 + 1), doors: format!("http://192.0.2.{}:7000", number + 1) };
        Self {
            identity,
            directory: Directory::new(Limits::default()),
            clock: Clock::new(random),
            peers: Vec::new(),
            stopped: Duration::ZERO,
            is_up: true,
        }
    }

    fn connect(&mut self, peers: &[usize]) {
        let link = |&to: &usize| {
            let peer = Peer::new(self.identity.clone(), &format!("http://192.0.2.{}:7000", to + 1));
            Link { to, peer, under_way: None }
        };
        self.peers = peers.iter().map(link).collect();
    }

    fn runs(&self, time: Duration) -> bool {
        self.is_up && time >= self.stopped
    }

    /// Whether it was not stopped lately.
    fn has_run_for(&self, long: Duration, time: Duration) -> bool {
        time.saturating_sub(self.stopped) >= long
    }

    /// Live DACs: name, epoch, address, nodes.
    fn live(&self) -> BTreeMap<String, (Epoch, String, Vec<String>)> {
        let live = self.directory.members().filter(|member| member.liveness() == Liveness::Live);
        live.map(|member| {
            (member.name().to_string(), (member.epoch(), member.doors().to_owned(), member.online().to_vec()))
        })
        .collect()
    }
}

impl Dac {
    fn new(number: u64, tems: usize, random: &mut Random) -> Self {
        let name: DacName = format!("dac-{number}").parse().unwrap();
        let count = 1 + random.below(tems as u64);
        let first = usize::try_from(random.below(tems as u64)).unwrap();
        let tems = (0..usize::try_from(count).unwrap()).map(|next| (first + next) % tems).collect();
        Self {
            key: SealKey::of_secret(b"token", &name).unwrap(),
            epoch: 100 + number,
            beat: 0,
            names_revision: 1,
            nodes: vec![format!("node-{name}")],
            name,
            tems,
            sent: BTreeMap::new(),
            due: Duration::from_millis(random.below(500)),
            is_up: true,
            stopped: Duration::ZERO,
            silent_since: Duration::ZERO,
            under_way: VecDeque::new(),
        }
    }

    fn heartbeat(&mut self, tem: usize) -> Heartbeat {
        self.beat += 1;
        let names = NodeNames { online: self.nodes.clone(), ..NodeNames::default() };
        let has_names = self.sent.get(&tem) == Some(&self.names_revision);
        let mut heartbeat = Heartbeat {
            epoch: Epoch(self.epoch),
            beat: self.beat,
            kind: Kind::Dac,
            doors: format!("http://192.0.2.100:{}", 1_000 + self.epoch % 1_000),
            channel: "192.0.2.100:7071".into(),
            software: "test".into(),
            health: Health::Ok,
            load: Load::default(),
            names_revision: self.names_revision,
            names: (!has_names).then_some(names),
            seal: None,
        };
        heartbeat.seal(&self.name, &self.key);
        heartbeat
    }
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.worlds += other.worlds;
        self.exchanges += other.exchanges;
        self.heartbeats += other.heartbeats;
        self.cuts += other.cuts;
        self.kills += other.kills;
        self.departures += other.departures;
        self.restarts += other.restarts;
        self.tem_restarts += other.tem_restarts;
        self.stops += other.stops;
        self.lies += other.lies;
        self.forged += other.forged;
        self.equal_lists += other.equal_lists;
        self.dead_never_live += other.dead_never_live;
        self.live_unchanged += other.live_unchanged;
    }
}

/// `OASIS_SEEDS=FROM..TO` runs others, such as one that has failed.
fn seeds() -> std::ops::Range<u64> {
    let text = std::env::var("OASIS_SEEDS").unwrap_or_else(|_| "0..24".into());
    let (from, to) = text.split_once("..").unwrap();
    from.parse().unwrap()..to.parse().unwrap()
}

#[test]
fn lists_are_equal_after_every_partition_and_the_dead_stay_dead() {
    let mut counts = Counts::default();
    for seed in seeds() {
        let done = std::panic::catch_unwind(|| World::new(seed).run());
        match done {
            Ok(done) => counts.add(&done),
            Err(_) => panic!("OASIS_SEEDS={seed}..{} fails", seed + 1),
        }
    }
    println!("{counts:#?}");
}
