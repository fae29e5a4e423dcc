package oasis

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// ring carries packed rows from the goroutines that flush a probe to the node. Bounded; no flush waits for another
// goroutine, and none allocates.
//
// Its memory is one row of words. A record is a header, the time, the number of samples lost before it, and the row. A
// producer reserves the words of its record by moving tail, fills them, and publishes them by storing the header, which
// was 0 before. The consumer clears the words that it has read, then moves head. A record is never split: one that begins
// before the end of the ring may extend into the spill after it.
type ring struct {
	// tail and head are positions in words since the beginning. Each has a cache line of its own.
	tail atomic.Uint64
	_    [56]byte
	head atomic.Uint64
	_    [56]byte
	// lost counts the samples that found no room.
	lost atomic.Uint64
	// evicted counts those that left for newer ones: they have numbers, and appear as gaps.
	evicted atomic.Uint64
	enabled atomic.Bool
	state   atomic.Uint32

	bell     *bell
	words    []uint64
	octets   []byte // the same memory
	size     uint64 // words without the spill
	overflow Overflow

	// consuming guards the fields below, and head. Producers only ever try to lock it.
	consuming sync.Mutex
	// popped counts the records that were read or evicted.
	popped uint64
	// seenLost is the greatest number of lost samples that a record has told of.
	seenLost uint64
}

// Overflow is what happens to a sample when the ring is full. Dropped samples are counted, and reported to the DAC.
type Overflow struct {
	dropOldest bool
	wait       time.Duration
}

// DropNewest drops the sample that finds no room: the default.
func DropNewest() Overflow { return Overflow{} }

// DropOldest drops the oldest samples until there is room: the node always receives the newest.
func DropOldest() Overflow { return Overflow{dropOldest: true} }

// WaitForRoom lets a flush wait for room, at most so long. Only for goroutines that may wait.
func WaitForRoom(timeout time.Duration) Overflow { return Overflow{wait: timeout} }

const (
	recordWords = 3 // besides the row
	maxRing     = 1 << 30
	maxRow      = 512 * 1024

	headerDone    = 1 << 63
	headerInvalid = 1 << 62
	headerState   = 32

	// ringClosed is set in tail: a producer that has reserved words before publishes them, and no other reserves any.
	ringClosed = 1 << 63

	waitStep = 200 * time.Microsecond
)

// record is one sample in the ring. Its row is valid until the record is consumed.
type record struct {
	sequence uint64
	time     uint64
	state    uint16
	// isInvalid tells that the value changed while it was written.
	isInvalid bool
	row       []byte
}

// newRing takes its size in bytes, and the size of a row if all have the same, or -1.
func newRing(bytes int, rowBytes int, overflow Overflow) (*ring, error) {
	if bytes < 0 || bytes > maxRing {
		return nil, fmt.Errorf("a ring of %d bytes: 0 to %d are possible", bytes, maxRing)
	}
	size := bytes / 8
	spill := size
	if rowBytes >= 0 {
		spill = min(size, wordsOf(rowBytes))
	}
	r := &ring{words: make([]uint64, size+spill+1), size: uint64(size), overflow: overflow}
	// The memory is touched now, not by a flush.
	for i := range r.words {
		r.words[i] = 0
	}
	r.octets = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(r.words))), len(r.words)*8)
	r.enabled.Store(true)
	return r, nil
}

func wordsOf(rowBytes int) int { return recordWords + (rowBytes+7)/8 }

// reserve returns the index of the record's first word, or false if there is no room.
func (r *ring) reserve(words uint64) (uint64, bool) {
	for {
		head := r.head.Load()
		tail := r.tail.Load()
		if tail&ringClosed != 0 || tail-head+words > r.size {
			return 0, false
		}
		if r.tail.CompareAndSwap(tail, tail+words) {
			return tail % r.size, true
		}
	}
}

// close refuses all further samples. Those that are being written are still to be read.
func (r *ring) close() {
	for tail := r.tail.Load(); tail&ringClosed == 0 && !r.tail.CompareAndSwap(tail, tail|ringClosed); {
		tail = r.tail.Load()
	}
}

func (r *ring) isClosed() bool { return r.tail.Load()&ringClosed != 0 }

// isEmpty returns whether all records were read, also those that are being written.
func (r *ring) isEmpty() bool { return r.head.Load() == r.tail.Load()&^ringClosed }

// lose counts a sample that found no room. After the end of the node there are no numbers for samples.
func (r *ring) lose() {
	if !r.isClosed() {
		r.lost.Add(1)
	}
	r.bell.ringIfAsleep()
}

// room reserves words by the overflow policy. The caller counts a sample without room.
func (r *ring) room(words uint64) (uint64, bool) {
	at, ok := r.reserve(words)
	if ok || words > r.size {
		return at, ok
	}
	switch {
	case r.overflow.dropOldest:
		for !ok && !r.isClosed() && r.evict() {
			at, ok = r.reserve(words)
		}
	case r.overflow.wait > 0:
		for until := time.Now().Add(r.overflow.wait); !ok && r.enabled.Load() && time.Now().Before(until); at, ok = r.reserve(words) {
			time.Sleep(waitStep)
		}
	}
	return at, ok
}

// evict drops the oldest sample. It fails if another goroutine reads at this moment, or the oldest one is not complete.
func (r *ring) evict() bool {
	if !r.consuming.TryLock() {
		return false
	}
	defer r.consuming.Unlock()
	_, ok := r.peek()
	if ok {
		r.consume()
		r.evicted.Add(1)
	}
	return ok
}

// put copies a row into the ring. It returns whether there was room.
func (r *ring) put(time uint64, row []byte) bool {
	at, ok := r.room(uint64(wordsOf(len(row))))
	if !ok {
		r.lose()
		return false
	}
	copy(r.row(at, len(row)), row)
	r.publish(at, time, len(row), true)
	return true
}

// putValue writes the row of the value at p into the ring: layout.size says what p must be.
func (r *ring) putValue(time uint64, of *layout, p unsafe.Pointer) bool {
	size := of.size(p)
	at, ok := r.room(uint64(wordsOf(size)))
	if !ok {
		r.lose()
		return false
	}
	row, fits := of.append(r.row(at, size)[:0], p)
	r.publish(at, time, size, fits && len(row) == size)
	return true
}

func (r *ring) row(at uint64, length int) []byte {
	start := (int(at) + recordWords) * 8
	return r.octets[start : start+length : start+length]
}

func (r *ring) publish(at, time uint64, length int, isValid bool) {
	r.words[at+1], r.words[at+2] = time, r.lost.Load()
	header := uint64(length) | uint64(uint16(r.state.Load()))<<headerState | headerDone
	if !isValid {
		header |= headerInvalid
	}
	atomic.StoreUint64(&r.words[at], header)
	r.bell.ringIfAsleep()
}

// peek returns the oldest record, if it is complete. The caller has locked consuming.
func (r *ring) peek() (record, bool) {
	if r.size == 0 {
		return record{}, false
	}
	at := r.head.Load() % r.size
	header := atomic.LoadUint64(&r.words[at])
	if header == 0 {
		return record{}, false
	}
	// Producers that ran at the same time may have counted in another order than they reserved.
	r.seenLost = max(r.seenLost, r.words[at+2])
	return record{
		sequence: r.popped + 1 + r.seenLost, time: r.words[at+1], state: uint16(header >> headerState),
		isInvalid: header&headerInvalid != 0, row: r.row(at, int(uint32(header))),
	}, true
}

// consume removes the record that peek returned.
func (r *ring) consume() {
	head := r.head.Load()
	at := head % r.size
	words := uint64(wordsOf(int(uint32(r.words[at]))))
	for i := at; i < at+words; i++ {
		r.words[i] = 0
	}
	r.popped++
	r.head.Store(head + words)
}

// taken returns the number of samples so far, those without room included. The caller has locked consuming.
func (r *ring) taken() uint64 { return r.popped + r.lost.Load() }

// dropped returns the number of samples that found no room, or were evicted for newer ones.
func (r *ring) dropped() uint64 { return r.lost.Load() + r.evicted.Load() }
