package oasis

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"time"
)

const (
	minHertz = 0.01
	maxHertz = 1000
	// stopped is the delay after which a process, or its host, must have been stopped. Points missed by a shorter one
	// lower the rate, and are not counted.
	stopped = time.Second
	// drainAtOnce is the number of samples that are taken from a ring before another instance has its turn.
	drainAtOnce = 65_535
	// lockedAtOnce is the number for which the consumer of a ring stays locked: producers that drop the oldest sample
	// try to lock it.
	lockedAtOnce = 64
	// lastWrite is how long the end waits for goroutines that are writing to a ring.
	lastWrite = time.Second
)

func isRate(hertz float64) bool { return hertz >= minHertz && hertz <= maxHertz }

// instance is one probe instance in the node.
type instance struct {
	index int
	name  string
	kind  string
	of    *ProbeType
	node  *Node
	// ring is that of a pushed probe, limits those of a probe on change.
	ring   *ring
	limits *deadbands
	// sample is that of a periodic probe: it returns a row in the given memory.
	sample func(row []byte) ([]byte, error)
	orders chan order

	// mu guards everything below. It is locked before the node's outbox.
	mu      sync.Mutex
	enabled bool
	hertz   float64
	isOver  bool

	// The batch that is being filled. Its samples have consecutive numbers, and one state.
	encoder       *encoder
	batchState    uint16
	firstSequence uint64
	nextSequence  uint64
	before        missing
	linger        time.Duration
	lastFlush     time.Time
	isMisfit      bool
	isFailing     bool
	// notTaken counts the points of the grid that a stopped node has missed since the last sample.
	notTaken uint64
	reported progress
}

// order is a command for a periodic probe.
type order struct {
	command command
	answer  func(result)
}

// instanceState is what commands change, as the data channel has it.
type instanceState struct {
	Hertz   float64 `json:"hertz,omitempty"`
	Enabled bool    `json:"enabled"`
}

// progress is what an instance has reached.
type progress struct {
	taken uint64
	// missing are the samples after the last batch, up to taken, if none waits anywhere.
	missing missing
	state   instanceState
}

// stateNow returns it. The caller has locked mu.
func (i *instance) stateNow() instanceState { return instanceState{Hertz: i.hertz, Enabled: i.enabled} }

// taken returns the last sequence number assigned. The caller has locked mu.
func (i *instance) taken() uint64 {
	seen := i.nextSequence - 1
	if i.ring == nil {
		return seen
	}
	i.ring.consuming.Lock()
	defer i.ring.consuming.Unlock()
	return max(seen, i.ring.taken())
}

// missingTo returns what is missing after the last batch, up to a number that no sample on its way here has; nothing if
// samples wait. The caller has locked mu.
func (i *instance) missingTo(taken uint64) missing {
	if i.encoder.count() > 0 || (i.ring != nil && !i.ring.isEmpty()) {
		return missing{}
	}
	all := i.before
	all.ringFull += taken - (i.nextSequence - 1)
	return all
}

// collect takes what waits in the ring, and sends what has waited long enough. It returns whether there was anything.
func (i *instance) collect(now time.Time, isLast bool) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	before := i.nextSequence
	if i.ring != nil {
		if isLast {
			i.drainLast()
		} else {
			i.drain()
		}
	}
	i.flushIfDue(now)
	if isLast {
		i.isOver = true
		i.flush()
	}
	i.report()
	return i.nextSequence != before || i.encoder.count() > 0
}

// flushIfDue hands the batch on if its first sample has waited long enough, or the stream is idle: nothing was handed on
// within the linger time.
func (i *instance) flushIfDue(now time.Time) {
	if i.encoder.count() > 0 && now.Sub(i.lastFlush) >= i.linger {
		i.flush()
		i.lastFlush = now
	}
}

// report publishes the progress if it has changed. The caller has locked mu.
func (i *instance) report() {
	taken := i.taken()
	if now := (progress{taken, i.missingTo(taken), i.stateNow()}); now != i.reported {
		i.reported = now
		i.node.outbox.report(i.index, now)
	}
}

// drainLast takes all samples, also those that goroutines are writing, and refuses further ones.
func (i *instance) drainLast() {
	i.ring.enabled.Store(false) // nobody would empty it, or make room
	i.ring.close()
	for until := time.Now().Add(lastWrite); !i.ring.isEmpty() && time.Now().Before(until); {
		if i.drain() > 0 {
			until = time.Now().Add(lastWrite)
		} else {
			runtime.Gosched()
		}
	}
}

// drain takes samples from the ring, and returns how many.
func (i *instance) drain() (taken int) {
	for taken < drainAtOnce {
		i.ring.consuming.Lock()
		more := true
		for n := 0; more && n < lockedAtOnce; n++ {
			var found record
			if found, more = i.ring.peek(); more {
				i.take(found.sequence, found.time, found.state, 0, found.row, found.isInvalid)
				i.ring.consume()
				taken++
			}
		}
		i.ring.consuming.Unlock()
		if !more {
			break
		}
	}
	return taken
}

// take adds a sample; sequence 0 gives it the next number. A gap in the numbers begins a new batch that reports it, and so
// does another state.
func (i *instance) take(sequence, at uint64, state uint16, notTaken uint64, row []byte, isInvalid bool) {
	if sequence == 0 {
		sequence = i.nextSequence + notTaken
	}
	hole := sequence - i.nextSequence
	if hole > 0 || state != i.batchState {
		i.flush()
		notTaken = min(notTaken, hole)
		i.before.notTaken += notTaken
		i.before.ringFull += hole - notTaken
		i.batchState = state
	}
	if i.encoder.bytesHeld()+len(row) > i.node.config.BatchBytes {
		i.flush()
	}
	if i.encoder.count() == 0 {
		i.firstSequence = sequence
	}
	i.nextSequence = sequence + 1
	if err := i.encode(at, row, isInvalid); err != nil {
		i.refuse(err)
	} else {
		i.isMisfit = false
	}
	if i.encoder.count() >= i.node.config.BatchSamples {
		i.flush()
	}
}

func (i *instance) encode(at uint64, row []byte, isInvalid bool) error {
	if isInvalid {
		return fmt.Errorf("the value changed while it was flushed: another goroutine writes to its slices")
	}
	if len(row) > maxRow {
		return fmt.Errorf("a row of %d bytes: the limit is %d, so split the sample", len(row), maxRow)
	}
	return i.encoder.push(at, row)
}

// refuse drops a row that does not fit. It is counted, and logged once until a row fits again.
func (i *instance) refuse(err error) {
	if !i.isMisfit {
		i.node.log.Error("sample does not fit its schema: samples are dropped and counted until one fits",
			"instance", i.name, "error", err)
	}
	i.isMisfit = true
	i.flush()
	i.before.invalidRow++
	i.firstSequence = i.nextSequence
}

// flush hands the batch to the spool. The caller has locked mu.
func (i *instance) flush() {
	count := i.encoder.count()
	if count == 0 {
		return
	}
	octets := i.encoder.finish(Header{State: i.batchState, FirstSequence: i.firstSequence, NodeTime: nowNs()})
	batch := &queuedBatch{instance: i.index, firstSequence: i.firstSequence, count: uint64(count), octets: octets}
	i.node.outbox.push(batch, i.before)
	i.before = missing{}
	i.firstSequence = i.nextSequence
}

// execute carries out a command that needs no sample. The caller has locked mu.
func (i *instance) execute(wanted command) (instanceState, *Refusal) {
	switch wanted.Command {
	case "hertz":
		if i.ring != nil {
			return instanceState{}, refusal("not_periodic", "%q is pushed by its application and has no rate", i.name)
		}
		if wanted.Hertz == nil || !isRate(*wanted.Hertz) {
			return instanceState{}, refusal("hertz_invalid", "a rate is out of range: 0.01 to 1000 Hz are possible")
		}
		i.hertz = *wanted.Hertz
	case "enable", "disable":
		i.enabled = wanted.Command == "enable"
		if i.ring != nil {
			i.ring.enabled.Store(i.enabled && !i.isOver)
		}
	case "sample-now":
		if i.ring != nil {
			return instanceState{}, refusal("not_periodic", "%q is pushed by its application and cannot be sampled from outside", i.name)
		}
	case "trigger":
		return instanceState{}, refusal("no_recorder", "%q has no flight recorder", i.name)
	case "deadband":
		if i.limits == nil {
			return instanceState{}, refusal("not_on_change", "%q is not a probe on change: it has no deadbands", i.name)
		}
		if err := i.limits.set(wanted.Metric, wanted.Deadband); err != nil {
			return instanceState{}, refusal("deadband_invalid", "%v", err)
		}
	default:
		return instanceState{}, refusal("unknown_command", "this node does not know the command %.40q", wanted.Command)
	}
	return i.stateNow(), nil
}

// runPeriodic calls a periodic probe until the node ends. It has a goroutine of its own: a probe that hangs delays no
// other.
func (i *instance) runPeriodic() {
	next := time.Now()
	var row []byte
	for {
		i.mu.Lock()
		enabled, hertz := i.enabled, i.hertz
		i.mu.Unlock()
		wait := time.Duration(math.MaxInt64)
		if enabled {
			wait = max(time.Until(next), 0)
		}
		timer := time.NewTimer(wait)
		select {
		case <-i.node.stop:
			timer.Stop()
			return
		case wanted := <-i.orders:
			timer.Stop()
			row = i.obey(wanted, row)
			// A new rate has a grid of its own, and the points while the probe was disabled were not due.
			if wanted.command.Command == "hertz" || (wanted.command.Command == "enable" && !enabled) {
				next = time.Now()
			}
		case <-timer.C:
			missed := uint64(0)
			next, missed = nextPoint(next, time.Now(), time.Duration(float64(time.Second)/hertz))
			row = i.sampleOnce(row, missed)
		}
	}
}

// nextPoint returns the next point of the grid after now, and how many were missed if the delay was so long that the
// process must have been stopped.
func nextPoint(due, now time.Time, period time.Duration) (time.Time, uint64) {
	next := due.Add(period)
	if next.After(now) {
		return next, 0
	}
	points := uint64(now.Sub(next)/period) + 1
	next = next.Add(period * time.Duration(points))
	if now.Sub(due) < stopped {
		points = 0
	}
	return next, points
}

func (i *instance) obey(wanted order, row []byte) []byte {
	i.mu.Lock()
	state, failure := i.execute(wanted.command)
	i.mu.Unlock()
	if failure == nil && wanted.command.Command == "sample-now" {
		row = i.sampleOnce(row, 0)
		i.mu.Lock()
		i.flush()
		i.mu.Unlock()
	}
	wanted.answer(result{Done: &state, Failed: failure})
	return row
}

// sampleOnce calls the probe. A failure yields no sample, and is logged once.
func (i *instance) sampleOnce(row []byte, missed uint64) []byte {
	at := nowNs()
	row, err := i.callSample(row[:0])
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.isOver {
		return row
	}
	// Their numbers are given with the next sample that is taken.
	i.notTaken += missed
	if err != nil && !i.isFailing {
		i.node.log.Warn("probe failed to take a sample: the node retries at the probe's rate", "instance", i.name, "error", err)
	}
	if i.isFailing = err != nil; i.isFailing {
		return row
	}
	i.take(0, at, 0, i.notTaken, row, false)
	i.notTaken = 0
	i.flushIfDue(time.Now())
	i.report()
	i.node.bell.ringIfAsleep()
	return row
}

// callSample survives a panic of the program's own code: it ends neither its program nor the other probes.
func (i *instance) callSample(row []byte) (_ []byte, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("it panicked: %.200v", reason)
		}
	}()
	return i.sample(row)
}
