package oasis

import (
	"sync/atomic"
	"time"
)

const (
	// silence is how long no probe has a sample before the collector sleeps. Probes that are flushed more often never wake it.
	silence = 40 * time.Millisecond
	// maxSleep is the longest sleep of the collector.
	maxSleep = 250 * time.Millisecond
)

// bell wakes the collector of a node, which sleeps while all probes are silent. While there are samples it polls, and a
// flush only reads whether it sleeps.
type bell struct {
	asleep atomic.Bool
	rung   chan struct{}
	// The collector has seen the last sample at last, and settled tells that it has polled once since it set asleep.
	last    time.Time
	settled bool
}

func newBell() *bell { return &bell{rung: make(chan struct{}, 1), last: time.Now()} }

// ringIfAsleep wakes the collector after a sample if it sleeps. It never waits.
func (b *bell) ringIfAsleep() {
	if b != nil && b.asleep.Load() && b.asleep.CompareAndSwap(true, false) {
		select {
		case b.rung <- struct{}{}:
		default:
		}
	}
}

// pause returns how long the collector waits for the bell, after a poll that has found samples or not. A sample that came
// before asleep was set is found by one more poll; one that comes later finds it set.
func (b *bell) pause(now time.Time, hasSamples bool, interval time.Duration) time.Duration {
	isSet := b.asleep.Load()
	wasWoken := b.settled && !isSet
	switch {
	case hasSamples || wasWoken:
		b.asleep.Store(false)
		b.last, b.settled = now, false
	case isSet:
		b.settled = true
		return max(interval, maxSleep)
	case now.Sub(b.last) >= silence:
		b.asleep.Store(true)
	}
	return interval
}
