//! Where the newest samples of a time begin: in the topic log, or where that has not enough of them in the archive.

use super::{Asker, Fetched, archived::blocking, fetch::log_goes_on};
use oasis_dac::Instance;
use oasis_store::{History, Listed, Newest, ReadError};
use oasis_wire::{
    batch,
    quantity::{Offset, Position},
};

impl Asker {
    /// Goes to the oldest of the newest samples that are wanted.
    pub(super) async fn fetch_newest(&self, newest: Newest) -> Result<Fetched, ReadError> {
        let instance = self.instance.clone();
        let (mut newest, held) = blocking(move || Ok(find_held(&instance, newest))).await?;
        let epoch = self.epoch();
        if let Some(archive) = self.archived.archive.as_ref().filter(|_| !newest.is_found()) {
            if self.archived.lags(&self.instance) {
                // What it could not store it will not find either.
                let _ = archive.flush().await;
            }
            let (node, name) = (self.instance.node.clone(), self.instance.name.clone());
            let before = Position { epoch, offset: held.first };
            let ask = move |history: &History| history.past_newest(&node, &name, &mut newest, before);
            if let Some(past) = self.archived.read(archive, ask).await? {
                return self.read(self.place(past)).await;
            }
        }
        Ok(log_goes_on(Position { epoch, offset: held.begin }, Vec::new(), false))
    }
}

/// What the topic log has of the samples that are wanted.
struct Held {
    /// Where the log begins.
    first: Offset,
    /// Where those that are wanted begin; behind all if there are none.
    begin: Offset,
}

fn find_held(instance: &Instance, mut newest: Newest) -> (Newest, Held) {
    let log = &instance.log;
    let read = log.read(log.state().first_offset, usize::MAX);
    let first = read.segments.first().map_or(log.next(), |segment| segment.first_held());
    let mut held = Held { first, begin: log.next() };
    for segment in read.segments.iter().rev() {
        let Ok(times) = batch::times(segment.batch()) else { continue };
        let range = (times.iter().min().copied(), times.iter().max().copied());
        let (Some(least), Some(greatest)) = range else { continue };
        let (first, count) = (segment.first_held(), times.len() as u64);
        let listed = Listed { first, count, times: (least, greatest) };
        if let Some(begin) = newest.take(&listed, || Some(times)) {
            held.begin = begin;
        }
        if newest.is_found() {
            break;
        }
    }
    (newest, held)
}
