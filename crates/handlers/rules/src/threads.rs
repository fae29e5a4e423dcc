//! Threads that do a part of the work of another one, and give it back.

use std::{
    io,
    panic::resume_unwind,
    sync::mpsc::{Receiver, Sender, channel},
    thread::JoinHandle,
};

/// Threads that wait for jobs. They end when this is dropped, which waits for them.
#[derive(Debug)]
pub struct Threads<Job, Done>(Vec<Worker<Job, Done>>);

#[derive(Debug)]
struct Worker<Job, Done> {
    jobs: Option<Sender<Job>>,
    done: Receiver<Done>,
    thread: Option<JoinHandle<()>>,
}

impl<Job: Send + 'static, Done: Send + 'static> Threads<Job, Done> {
    /// Starts a thread for each of these.
    ///
    /// # Errors
    /// If the system refuses one.
    pub fn start<Work: FnMut(Job) -> Done + Send + 'static>(
        name: &str,
        work: impl IntoIterator<Item = Work>,
    ) -> io::Result<Self> {
        let start = |(number, work): (usize, Work)| Worker::start(format!("{name}-{number}"), work);
        (1..).zip(work).map(start).collect::<io::Result<_>>().map(Self)
    }

    /// Threads in number.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Gives each thread a job, does `own` meanwhile, and returns what they have done, in the order of the jobs. Jobs beyond the threads are dropped.
    ///
    /// # Panics
    /// If a thread has panicked, in the same way.
    pub fn share<T>(&mut self, jobs: Vec<Job>, own: impl FnOnce() -> T) -> (T, Vec<Done>) {
        let mut busy = 0;
        for (worker, job) in self.0.iter_mut().zip(jobs) {
            worker.begin(job);
            busy += 1;
        }
        let own = own();
        (own, self.0.iter_mut().take(busy).map(Worker::end).collect())
    }
}

impl<Job: Send + 'static, Done: Send + 'static> Worker<Job, Done> {
    fn start(name: String, mut work: impl FnMut(Job) -> Done + Send + 'static) -> io::Result<Self> {
        let (jobs, next) = channel();
        let (results, done) = channel();
        let run = move || {
            for job in next {
                if results.send(work(job)).is_err() {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name(name).spawn(run)?;
        Ok(Self { jobs: Some(jobs), done, thread: Some(thread) })
    }
}

impl<Job, Done> Worker<Job, Done> {
    fn begin(&mut self, job: Job) {
        if self.jobs.as_ref().is_none_or(|jobs| jobs.send(job).is_err()) {
            self.fail();
        }
    }

    fn end(&mut self) -> Done {
        match self.done.recv() {
            Ok(done) => done,
            Err(_) => self.fail(),
        }
    }

    /// Nothing is lost in silence: who waits for a thread that panicked does the same.
    fn fail(&mut self) -> ! {
        let ended = self.thread.take().map(JoinHandle::join);
        match ended {
            Some(Err(panic)) => resume_unwind(panic),
            _ => resume_unwind(Box::new("a thread has ended before its work")),
        }
    }
}

impl<Job, Done> Drop for Worker<Job, Done> {
    fn drop(&mut self) {
        // No job follows.
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // Its panic was printed, and this may be one already.
            drop(thread.join());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    fn doubling(threads: usize) -> Threads<u32, u32> {
        let double = || {
            |job: u32| {
                assert_ne!(job, 13, "13 is not doubled");
                job * 2
            }
        };
        Threads::start("double", std::iter::repeat_with(double).take(threads)).unwrap()
    }

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        let mut threads = doubling(3);
        assert_eq!(threads.len(), 3);
        for _ in 0..100 {
            assert_eq!(threads.share(vec![1, 2, 3], || "own"), ("own", vec![2, 4, 6]));
            assert_eq!(threads.share(vec![5], || ()).1, [10]);
            assert!(threads.share(vec![], || ()).1.is_empty());
        }
        assert_eq!(doubling(0).share(vec![], || 1), (1, vec![]));
    }

    #[test]
    fn a_panic_of_a_thread_is_one_of_who_waits_for_it() {
        let mut threads = doubling(2);
        for jobs in [vec![1, 13], vec![1, 2]] {
            let shared = catch_unwind(AssertUnwindSafe(|| threads.share(jobs, || ())));
            let message = shared.unwrap_err();
            let message = message.downcast_ref::<String>().map_or("ended", |message| message);
            assert!(message.contains("13 is not doubled") || message == "ended", "{message}");
        }
    }
}
