//! The experiments of Mueller 2014, chapter 3: what varies, and with which values.

use clap::ValueEnum;
use std::time::Duration;

/// A server under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, ValueEnum)]
pub enum Rival {
    /// DAC and doors: a shard is a worker.
    Oasis,
    /// engine.io under Node's cluster.
    #[value(name = "engine.io")]
    EngineIo,
    /// socketcluster-server under Node's cluster.
    #[value(name = "socketcluster")]
    SocketCluster,
}

impl Rival {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Oasis => "OASIS",
            Self::EngineIo => "engine.io",
            Self::SocketCluster => "SocketCluster",
        }
    }
}

/// One measurement of one server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// Workers, or shards.
    pub workers: usize,
    /// New connections a second, of all clients together.
    pub rate: f64,
    /// For how long connections are opened; then the same time passes with all of them open.
    pub ramp: Duration,
    /// Mean time between two pings of a connection: each draws its own between 0 and twice this.
    pub period: Duration,
    /// Size of the file that answers a ping; 0 for the worker's counter.
    pub file: usize,
}

impl Cell {
    /// Connections at the end of the ramp.
    pub fn connections(&self) -> usize {
        (self.rate * self.ramp.as_secs_f64()) as usize
    }
}

/// An experiment: cells that differ in one variable.
#[derive(Debug, Clone, Copy)]
pub struct Experiment {
    /// As it is chosen on the command line.
    pub name: &'static str,
    /// Its figures in the paper.
    pub figures: &'static str,
    /// Its question.
    pub question: &'static str,
    /// The variable, and its values.
    pub variable: &'static str,
    cells: fn() -> Vec<Cell>,
}

/// Two clients, each with 20 new connections a second for a minute; a ping each 2.5 s.
const REFERENCE: Cell = Cell {
    workers: 1,
    rate: 40.0,
    ramp: Duration::from_secs(60),
    period: Duration::from_millis(2_500),
    file: 0,
};

/// Section 3.5: four seconds between pings, and a file of 81 bytes.
const FILES: Cell = Cell { period: Duration::from_secs(4), file: 81, ..REFERENCE };

/// All of them, in the paper's order.
pub const EXPERIMENTS: [Experiment; 7] = [
    Experiment {
        name: "clients",
        figures: "3.1",
        question: "Does twice the number of clients open twice as many connections?",
        variable: "clients: 15 new connections a second each, for 120 s",
        cells: || {
            let of =
                |clients: f64| Cell { rate: 15.0 * clients, ramp: Duration::from_secs(120), ..REFERENCE };
            vec![of(1.0), of(2.0)]
        },
    },
    Experiment {
        name: "workers",
        figures: "3.3, 3.4, 3.6 to 3.9",
        question: "How much more does a server with more workers serve?",
        variable: "workers: 1, 3, 5, 7",
        cells: || [1, 3, 5, 7].map(|workers| Cell { workers, ..REFERENCE }).into(),
    },
    Experiment {
        name: "crowded",
        figures: "3.5",
        question: "What happens with more workers than cores?",
        variable: "workers: 1, and 4 for each core; 80 new connections a second for 80 s",
        cells: || {
            let crowded = Cell { rate: 80.0, ramp: Duration::from_secs(80), ..REFERENCE };
            let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
            vec![crowded, Cell { workers: 4 * cores, ..crowded }]
        },
    },
    Experiment {
        name: "period",
        figures: "3.10, 3.11",
        question: "What does a ping cost?",
        variable: "mean time between pings: 4 s, 3 s",
        cells: || vec![FILES, Cell { period: Duration::from_secs(3), ..FILES }],
    },
    Experiment {
        name: "connections",
        figures: "3.10, 3.12",
        question: "What does a connection cost?",
        variable: "connections: 2,400, 3,600",
        cells: || vec![FILES, Cell { rate: 60.0, ..FILES }],
    },
    Experiment {
        name: "payload",
        figures: "3.10, 3.13",
        question: "What does a large answer cost?",
        variable: "file: 81 bytes, 1 kB, 500 kB",
        cells: || [81, 1_000, 500_000].map(|file| Cell { file, ..FILES }).into(),
    },
    Experiment {
        name: "concurrent",
        figures: "3.14",
        question: "How many connections does a server keep?",
        variable: "25,000 connections, a ping each 6 s",
        cells: || {
            let period = Duration::from_secs(6);
            vec![Cell { rate: 166.7, ramp: Duration::from_secs(150), period, ..REFERENCE }]
        },
    },
];

impl Experiment {
    /// Its cells, with the paper's values, or with a quick run's: a tenth of the connections in a tenth of the time.
    pub fn cells(&self, is_quick: bool) -> Vec<Cell> {
        let mut cells = (self.cells)();
        if is_quick {
            cells.iter_mut().for_each(|cell| cell.ramp /= 12);
        }
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_has_2400_and_25000_connections() {
        let cells = |name: &str, is_quick| {
            EXPERIMENTS.iter().find(|experiment| experiment.name == name).unwrap().cells(is_quick)
        };
        assert!(cells("workers", false).iter().all(|cell| cell.connections() == 2_400));
        assert_eq!(cells("concurrent", false)[0].connections(), 25_005);
        assert_eq!(cells("connections", false)[1].connections(), 3_600);
        assert_eq!(cells("workers", true)[3], Cell { workers: 7, ramp: Duration::from_secs(5), ..REFERENCE });
    }
}
