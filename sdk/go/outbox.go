package oasis

import "sync"

// maxResults bounds the answers to commands that wait for the shipper.
const maxResults = 256

// outbox is what the goroutines of a node share: batches and answers to send, and how far each instance is.
type outbox struct {
	// mu guards all fields below. It is locked for moving pointers, never while encoding or writing.
	mu       sync.Mutex
	spool    *spool
	reached  []progress
	results  []result
	draining bool
	closing  bool
	refused  *Refusal
	wasTaken bool

	// wake has room for one signal to the shipper.
	wake chan struct{}
}

func newOutbox(spoolBytes, instances int) *outbox {
	return &outbox{spool: newSpool(spoolBytes, instances), reached: make([]progress, instances), wake: make(chan struct{}, 1)}
}

// with accesses the contents, and wakes the shipper.
func (o *outbox) with(change func()) {
	o.mu.Lock()
	change()
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

func (o *outbox) push(batch *queuedBatch, before missing) {
	o.with(func() {
		// Reported with the batch, so that counters never lag the samples that were sent.
		o.reached[batch.instance].taken = max(o.reached[batch.instance].taken, batch.last())
		o.reached[batch.instance].missing = missing{}
		o.spool.push(batch, before)
	})
}

func (o *outbox) report(index int, now progress) {
	o.mu.Lock()
	o.reached[index] = now
	o.mu.Unlock()
}

func (o *outbox) answer(result result) {
	o.with(func() {
		if len(o.results) < maxResults {
			o.results = append(o.results, result)
		}
	})
}

// counters returns those of all instances for the ledger of the DAC. The caller has locked mu.
func (o *outbox) counters() countersMessage {
	message := countersMessage{Op: "counters", Instances: []counters{}}
	for i := range o.spool.accounts {
		if account := &o.spool.accounts[i]; account.topic != 0 {
			one := counters{
				Topic: account.topic, Taken: o.reached[i].taken, Sent: account.sent.sequence, Dropped: account.sent.dropped,
			}
			// Batches may wait in the spool, or be lost there: the loss after the last one sent is unknown then.
			if after := o.reached[i].missing; after.total() > 0 && one.Sent+after.total() == one.Taken {
				one.AfterSent = &drops{Ring: after.ringFull, Invalid: after.invalidRow, NotTaken: after.notTaken}
			}
			message.Instances = append(message.Instances, one)
		}
	}
	return message
}

// isSent returns whether a node that ends has nothing to wait for, or has waited long enough and only waits for the
// samples to be safe. The caller has locked mu.
func (o *outbox) isSent(hasWaited bool) bool {
	return o.spool.isFinished() || (hasWaited && o.spool.isReceived())
}
