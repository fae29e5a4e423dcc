//! Asks a DAC for its health, again and again, while a scenario runs.

use crate::faults::system::http;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

const REQUEST_INTERVAL: Duration = Duration::from_millis(100);
/// An answer that takes longer counts as none.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// Results of the requests.
#[derive(Debug, Clone, Default)]
pub struct RequestStatistics {
    /// Requests.
    pub asked: u64,
    /// Answers other than 200 within the deadline.
    pub failed: u64,
    /// The slowest answer.
    pub slowest: Duration,
    /// The first failure, for the report.
    pub first_failure: Option<String>,
}

/// Requests of `/healthz`, until it is finished.
#[derive(Debug)]
pub struct Watch {
    is_over: Arc<AtomicBool>,
    asking: Option<JoinHandle<RequestStatistics>>,
}

impl Watch {
    /// Begins.
    pub fn start(address: &str) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let (address, over) = (address.to_owned(), is_over.clone());
        let asking = thread::spawn(move || {
            let mut seen = RequestStatistics::default();
            while !over.load(Ordering::Relaxed) {
                seen.request(&address);
                thread::sleep(REQUEST_INTERVAL);
            }
            seen
        });
        Self { is_over, asking: Some(asking) }
    }

    /// Ends.
    pub fn finish(mut self) -> RequestStatistics {
        self.is_over.store(true, Ordering::Relaxed);
        self.asking.take().and_then(|asking| asking.join().ok()).unwrap_or_default()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

impl RequestStatistics {
    fn request(&mut self, address: &str) {
        let began = Instant::now();
        let failure = match http::request(address, "GET", "/healthz", ANSWER_TIMEOUT) {
            Ok(answer) if answer.status == 200 => None,
            Ok(answer) => Some(format!("/healthz: {} {}", answer.status, answer.body)),
            Err(error) => Some(format!("/healthz: {error:#}")),
        };
        self.asked += 1;
        self.slowest = self.slowest.max(began.elapsed());
        self.failed += u64::from(failure.is_some());
        if self.first_failure.is_none() {
            self.first_failure = failure;
        }
    }
}
