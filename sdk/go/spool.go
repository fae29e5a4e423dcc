package oasis

// missing counts samples that have a sequence number but are in no batch, by cause (docs/reference/loss.md).
type missing struct {
	ringFull, invalidRow, notTaken uint64
}

func (m missing) total() uint64 { return m.ringFull + m.invalidRow + m.notTaken }

// drops is what `counters` report of an instance.
type drops struct {
	Ring     uint64 `json:"ring"`
	Spool    uint64 `json:"spool"`
	KeptBack uint64 `json:"kept_back"`
	Invalid  uint64 `json:"invalid"`
	NotTaken uint64 `json:"not_taken"`
}

// queuedBatch is a batch on its way to the DAC.
type queuedBatch struct {
	instance      int
	firstSequence uint64
	count         uint64
	// before counts the samples missing since the run began, up to this batch.
	before missing
	octets []byte
}

func (b *queuedBatch) last() uint64 { return b.firstSequence + b.count - 1 }

// batchOverhead is the memory of a batch in addition to its bytes.
const batchOverhead = 128

func (b *queuedBatch) cost() int { return cap(b.octets) + batchOverhead }

// place is a position in the sequence numbers of an instance, and the drops before it.
type place struct {
	sequence uint64
	dropped  drops
}

// advance moves past a batch. It returns how many samples were dropped before it.
func (p *place) advance(batch *queuedBatch) uint64 {
	hole := uint64(0)
	if batch.firstSequence-1 > p.sequence {
		hole = batch.firstSequence - 1 - p.sequence
	}
	left := hole
	explain := func(told *uint64, before uint64) {
		if before > *told {
			here := min(left, before-*told)
			*told += here
			left -= here
		}
	}
	explain(&p.dropped.Ring, batch.before.ringFull)
	explain(&p.dropped.Invalid, batch.before.invalidRow)
	explain(&p.dropped.NotTaken, batch.before.notTaken)
	p.dropped.Spool += left
	p.sequence = batch.last()
	return hole
}

// account is the state of one instance.
type account struct {
	topic  uint32
	before missing
	// acknowledged and safe are the last sequence numbers that the DAC has received, and that are safe.
	acknowledged, safe uint64
	// reached is the last one that can have reached a DAC.
	reached uint64
	// released is up to the last sample that left the spool, received and sent up to those of this DAC and connection.
	released, received, sent place
}

// spool keeps batches until they are safe at the DAC. Bounded; drops are counted for each instance.
//
// The queue has three parts: batches that the DAC has received and that are not safe yet, batches in transit, and unsent
// ones. Above the bound the oldest received batch leaves first, because only the end of its DAC could lose it; then the
// oldest unsent one is dropped. Batches in transit stay: at most half of the bound.
type spool struct {
	queue          []*queuedBatch
	received, sent int
	bytes, transit int
	limit          int
	accounts       []account
	instances      map[uint32]int
	// safeWhen is what makes samples safe at this DAC; empty if they are as soon as they are received.
	safeWhen string
}

func newSpool(limit, instances int) *spool {
	return &spool{limit: limit, accounts: make([]account, instances), instances: map[uint32]int{}}
}

// push queues a batch with the samples missing before it, and drops others if needed.
func (s *spool) push(batch *queuedBatch, before missing) {
	account := &s.accounts[batch.instance]
	account.before.ringFull += before.ringFull
	account.before.invalidRow += before.invalidRow
	account.before.notTaken += before.notTaken
	batch.before = account.before
	s.queue = append(s.queue, batch)
	s.bytes += batch.cost()
	for s.bytes > s.limit && (s.releaseFirst(true) || s.dropUnsent()) {
		continue
	}
}

func (s *spool) dropUnsent() bool {
	if s.sent == len(s.queue) {
		return false
	}
	s.remove(s.sent)
	return true
}

// remove takes a batch out of the queue. The caller adjusts the parts.
func (s *spool) remove(at int) *queuedBatch {
	batch := s.queue[at]
	s.bytes -= batch.cost()
	if at == 0 {
		s.queue[0] = nil
		s.queue = s.queue[1:]
		return batch
	}
	copy(s.queue[at:], s.queue[at+1:])
	s.queue[len(s.queue)-1] = nil
	s.queue = s.queue[:len(s.queue)-1]
	return batch
}

// connected handles a new connection: the instances have these topics, and batches in transit may be lost. A new DAC
// receives everything that is not safe.
func (s *spool) connected(topics map[int]uint32, isNew bool, safeWhen string) {
	s.safeWhen = safeWhen
	if isNew {
		s.received = 0
		for i := range s.accounts {
			account := &s.accounts[i]
			account.received, account.acknowledged = account.released, account.released.sequence
		}
	}
	s.instances = make(map[uint32]int, len(topics))
	for i := range s.accounts {
		s.accounts[i].topic = 0
	}
	for instance, topic := range topics {
		s.accounts[instance].topic = topic
		s.instances[topic] = instance
	}
	for i := range s.accounts {
		s.accounts[i].sent = s.accounts[i].received
	}
	s.sent, s.transit = s.received, 0
}

func (s *spool) hasUnsent() bool { return s.sent < len(s.queue) && s.transit <= s.limit/2 }

// shipment is what one turn sends. After drops it begins with the batch that reports them, and no later batch reports
// drops: the counters that are sent before it stand for that one gap.
type shipment struct {
	batches      [][]byte
	tellsOfDrops bool
}

func (s *spool) take(most int) shipment {
	s.noteReceived()
	var out shipment
	for len(out.batches) < most && s.hasUnsent() {
		batch := s.queue[s.sent]
		account := &s.accounts[batch.instance]
		next := account.sent
		dropped := next.advance(batch)
		if account.topic == 0 || (dropped > 0 && len(out.batches) > 0) {
			break
		}
		account.sent = next
		account.reached = max(account.reached, next.sequence)
		stamp(batch.octets, account.topic, uint32(min(dropped, 1<<32-1)))
		out.tellsOfDrops = out.tellsOfDrops || dropped > 0
		out.batches = append(out.batches, batch.octets)
		s.transit += batch.cost()
		s.sent++
	}
	return out
}

// acknowledge notes that the DAC has received everything of a topic up to a sequence number. A DAC cannot have received
// what was never sent.
func (s *spool) acknowledge(topic uint32, sequence uint64) {
	if instance, isKnown := s.instances[topic]; isKnown {
		account := &s.accounts[instance]
		account.acknowledged = max(account.acknowledged, min(sequence, account.reached))
	}
	s.noteReceived()
}

// markSafe notes that everything of a topic up to a sequence number is safe, and so it was received: the first
// acknowledgement may have been lost with an earlier connection.
func (s *spool) markSafe(topic uint32, sequence uint64) {
	if instance, isKnown := s.instances[topic]; isKnown {
		account := &s.accounts[instance]
		sequence = min(sequence, account.reached)
		account.safe = max(account.safe, sequence)
		account.acknowledged = max(account.acknowledged, sequence)
	}
	s.noteReceived()
}

// noteReceived moves the received batches, from the oldest on: a connection keeps order, so the front is not stuck for
// long.
func (s *spool) noteReceived() {
	for s.received < len(s.queue) {
		front := s.queue[s.received]
		account := &s.accounts[front.instance]
		if front.last() > account.acknowledged {
			break
		}
		account.received.advance(front)
		if account.sent.sequence < account.received.sequence {
			account.sent = account.received
		}
		if s.received < s.sent {
			s.transit -= front.cost()
		} else {
			// An earlier connection has carried it.
			s.sent++
		}
		s.received++
		if s.safeWhen == "" {
			account.safe = max(account.safe, front.last())
		}
	}
	for s.releaseFirst(false) {
		continue
	}
}

// releaseFirst removes the oldest received batch if it is safe, or in any case.
func (s *spool) releaseFirst(inAnyCase bool) bool {
	if s.received == 0 {
		return false
	}
	account := &s.accounts[s.queue[0].instance]
	if !inAnyCase && s.queue[0].last() > account.safe {
		return false
	}
	account.released.advance(s.remove(0))
	s.received--
	s.sent--
	return true
}

// countUnreceived returns how many samples in the spool no DAC has acknowledged.
func (s *spool) countUnreceived() uint64 {
	count := uint64(0)
	for _, batch := range s.queue[s.received:] {
		count += batch.count
	}
	return count
}

func (s *spool) isReceived() bool { return s.received == len(s.queue) }

func (s *spool) isAwaited() bool { return s.safeWhen == "stored" || s.safeWhen == "copied" }

// isSettled returns whether the DAC owes no acknowledgement of a batch that was sent to it.
func (s *spool) isSettled() bool { return s.transit == 0 && (s.sent == 0 || !s.isAwaited()) }

// isFinished returns whether a node that ends has nothing to wait for.
func (s *spool) isFinished() bool {
	return s.isReceived() && (len(s.queue) == 0 || !s.isAwaited())
}
