package oasis

import (
	"testing"
	"time"
)

// queued returns a batch of 10 samples that has 100 bytes with its overhead.
func queued(instance int, first uint64) *queuedBatch {
	return &queuedBatch{instance: instance, firstSequence: first, count: 10, octets: make([]byte, headerBytes, 100-batchOverhead+200)}
}

const queuedCost = 300

func connectedSpool(batches int) *spool {
	s := newSpool(batches*queuedCost, 2)
	s.connected(map[int]uint32{0: 7, 1: 8}, false, "stored")
	return s
}

func firsts(shipped shipment) []uint64 {
	var found []uint64
	for _, octets := range shipped.batches {
		found = append(found, uint64(octets[8])|uint64(octets[9])<<8)
	}
	return found
}

func pushed10(s *spool, instance int, first uint64, before missing) {
	batch := queued(instance, first)
	batch.octets[8], batch.octets[9] = byte(first), byte(first>>8)
	s.push(batch, before)
}

func TestASpoolSendsInOrderAndKeepsUntilSafe(t *testing.T) {
	s := connectedSpool(10)
	pushed10(s, 0, 1, missing{})
	pushed10(s, 1, 1, missing{})
	if found := s.take(10); len(found.batches) != 2 || found.tellsOfDrops {
		t.Fatalf("%+v", found)
	}
	s.acknowledge(7, 10)
	if s.isReceived() || len(s.queue) != 2 {
		t.Error("one is in transit")
	}
	s.acknowledge(8, 10)
	if !s.isReceived() || s.isFinished() || len(s.queue) != 2 {
		t.Error("both are received, none is safe")
	}
	s.markSafe(7, 10)
	s.markSafe(8, 10)
	if !s.isFinished() || len(s.queue) != 0 || s.bytes != 0 || s.transit != 0 {
		t.Errorf("%+v", s)
	}
}

func TestANewDACReceivesAgainWhatIsNotSafe(t *testing.T) {
	s := connectedSpool(10)
	for first := uint64(1); first <= 21; first += 10 {
		pushed10(s, 0, first, missing{})
	}
	s.take(10)
	s.acknowledge(7, 20)
	s.markSafe(7, 10)
	s.connected(map[int]uint32{0: 9}, false, "stored")
	if found := firsts(s.take(10)); len(found) != 1 || found[0] != 21 {
		t.Errorf("the same DAC receives %v", found)
	}
	s.connected(map[int]uint32{0: 3}, true, "stored")
	found := s.take(10)
	if numbers := firsts(found); len(numbers) != 2 || numbers[0] != 11 || found.batches[0][4] != 3 {
		t.Errorf("another DAC receives %v", numbers)
	}
	// The DAC had the samples already, from its archive.
	s.markSafe(3, 30)
	if !s.isFinished() || len(s.queue) != 0 {
		t.Errorf("%+v", s)
	}
}

func TestAFullSpoolDropsTheOldestUnsentAndTellsOfIt(t *testing.T) {
	s := connectedSpool(4)
	for first := uint64(1); first <= 61; first += 10 {
		pushed10(s, 0, first, missing{})
	}
	if s.bytes > s.limit || len(s.queue) != 4 {
		t.Fatalf("%d bytes of %d", s.bytes, s.limit)
	}
	// Lost in the ring before the eighth batch.
	pushed10(s, 0, 76, missing{ringFull: 5})
	found := s.take(10)
	if numbers := firsts(found); len(numbers) != 3 || numbers[0] != 41 || !found.tellsOfDrops || found.batches[0][40] != 40 {
		t.Errorf("%v %+v", numbers, found.tellsOfDrops)
	}
	if dropped := s.accounts[0].sent.dropped; dropped.Spool != 40 || dropped.Ring != 0 {
		t.Errorf("%+v", dropped)
	}
	s.acknowledge(7, 70)
	// The next gap has a shipment of its own: counters that are sent before it stand for it alone.
	found = s.take(10)
	if numbers := firsts(found); len(numbers) != 1 || numbers[0] != 76 || !found.tellsOfDrops {
		t.Errorf("%v", numbers)
	}
	if dropped := s.accounts[0].sent.dropped; dropped.Spool != 40 || dropped.Ring != 5 {
		t.Errorf("%+v", dropped)
	}
}

func TestAtMostHalfOfASpoolIsInTransit(t *testing.T) {
	s := connectedSpool(10)
	for first := uint64(1); first <= 91; first += 10 {
		pushed10(s, 0, first, missing{})
	}
	if found := s.take(100); len(found.batches) != 6 {
		t.Errorf("%d in transit", len(found.batches))
	}
	// Received ones leave first: they are lost only if their DAC ends before it has stored them.
	s.acknowledge(7, 30)
	pushed10(s, 0, 101, missing{})
	if s.bytes > s.limit || s.accounts[0].sent.dropped.Spool != 0 || s.queue[0].firstSequence != 11 {
		t.Errorf("%d bytes, %+v", s.bytes, s.queue[0])
	}
}

func TestNoDACHasReceivedWhatWasNeverSent(t *testing.T) {
	s := connectedSpool(10)
	pushed10(s, 0, 1, missing{})
	s.acknowledge(7, 1<<63)
	s.markSafe(7, 1<<63)
	s.acknowledge(99, 10)
	if len(s.queue) != 1 || len(s.take(1).batches) != 1 {
		t.Error("it has left the spool")
	}
}

func TestPointsMissedWhileTheProcessWasStoppedAreCounted(t *testing.T) {
	node := NewNode("stopped")
	of, err := TypeOf[shapeNothing]()
	if err != nil {
		t.Fatal(err)
	}
	i := node.add("beat", "periodic", of)
	node.outbox = newOutbox(1<<20, 1)
	i.take(0, 1, 0, 0, nil, false)
	i.take(0, 2, 0, 6000, nil, false)
	i.take(0, 3, 2, 0, nil, false) // another state
	i.flush()
	found := node.outbox.spool.queue
	if len(found) != 3 || found[1].firstSequence != 6002 || found[1].before.notTaken != 6000 || found[2].firstSequence != 6003 || found[2].octets[2] != 2 {
		t.Errorf("%+v %+v", found[1], found[2])
	}
}

func TestTheGridOfAPeriodicProbe(t *testing.T) {
	start := time.Now()
	at := func(milliseconds int) time.Time { return start.Add(time.Duration(milliseconds) * time.Millisecond) }
	for _, c := range []struct {
		due, now, next int
		missed         uint64
	}{{0, 0, 10, 0}, {10, 13, 20, 0}, {20, 57, 60, 0}, {10, 60_010, 60_020, 6000}} {
		next, missed := nextPoint(at(c.due), at(c.now), 10*time.Millisecond)
		if !next.Equal(at(c.next)) || missed != c.missed {
			t.Errorf("%+v: %v, %d", c, next.Sub(start), missed)
		}
	}
}

func TestTheShortestExchangeCountsAndStepsOfAClockDoNot(t *testing.T) {
	clock := &clockOffset{}
	if first := clock.ping(); first.ClockOffset != nil {
		t.Error("there is an estimate without an exchange")
	}
	clock.note(1_000_000, 9_000_050, 1_000_100)
	clock.note(2_000_000, 10_000_400, 2_000_800)
	clock.note(2_000, 5_000, 1_000)
	if found := clock.ping(); *found.ClockOffset != 8_000_000 || *found.RoundTrip != 100 {
		t.Errorf("%d %d", *found.ClockOffset, *found.RoundTrip)
	}
	clock.note(3_000_000, 21_000_400, 3_000_800)
	if found := clock.ping(); *found.ClockOffset != 18_000_000 || *found.RoundTrip != 800 {
		t.Errorf("%d %d", *found.ClockOffset, *found.RoundTrip)
	}
	for i := uint64(0); i < 100; i++ {
		clock.note(i*1000, i*1000, i*1000+2)
	}
	if len(clock.known) > exchanges {
		t.Errorf("%d are kept", len(clock.known))
	}
}

func TestARunBelongsToOneSecret(t *testing.T) {
	secret := UUID{15: 1}
	if run := runOf(secret); run.String() != "cb8c9558-d2d6-8bd9-ae19-3fb9300a5b34" {
		t.Errorf("run %s", run)
	}
}

func TestACommandThatComesAgainIsNotExecutedAgain(t *testing.T) {
	var known executed
	rate := 5.0
	first := command{UUID: &UUID{1}, Instance: "a", Command: "hertz", Hertz: &rate}
	if known.outcome(&first) != nil {
		t.Error("it was never executed")
	}
	known.remember(&first, instanceState{Hertz: 5, Enabled: true})
	if again := known.outcome(&first); again == nil || again.Done.Hertz != 5 {
		t.Errorf("%+v", again)
	}
	other := first
	other.Command = "enable"
	if again := known.outcome(&other); again == nil || again.Failed.Code != "uuid_reused" {
		t.Errorf("%+v", again)
	}
	for i := 0; i < maxExecuted; i++ {
		known.remember(&command{UUID: &UUID{2, byte(i), byte(i >> 8)}}, instanceState{})
	}
	if known.outcome(&first) != nil || len(known.known) != maxExecuted || len(known.order) != maxExecuted {
		t.Error("the oldest is not forgotten")
	}
}
