package oasis

import (
	"sync"
	"time"
)

const (
	exchanges = 16        // the best of a quarter of a minute counts
	drift     = 1_500_000 // nanoseconds that two clocks drift apart meanwhile: 100 ppm
)

// nowNs returns nanoseconds since 1970-01-01 UTC.
func nowNs() uint64 { return uint64(time.Now().UnixNano()) }

// clockOffset estimates the clock of the DAC from ping and pong. The error of an exchange is at most half its round trip,
// so the shortest one counts (RFC 5905, 10).
type clockOffset struct {
	mu    sync.Mutex // guards known
	known []exchange
}

type exchange struct {
	roundTrip uint64
	offset    int64
}

// note records that a ping left at `sent`, the DAC's clock read `dac`, and the answer arrived at `received`.
func (c *clockOffset) note(sent, dac, received uint64) {
	if received < sent {
		return // the node's clock was set back meanwhile
	}
	roundTrip := received - sent
	offset := int64(dac - (sent + roundTrip/2))
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := c.known[:0]
	for _, known := range c.known {
		// Both cannot be right: one of the clocks was set meanwhile.
		if distance(known.offset, offset) <= known.roundTrip/2+roundTrip/2+drift {
			kept = append(kept, known)
		}
	}
	if len(kept) == exchanges {
		kept = append(kept[:0], kept[1:]...)
	}
	c.known = append(kept, exchange{roundTrip, offset})
}

func distance(a, b int64) uint64 {
	if a < b {
		a, b = b, a
	}
	return uint64(a) - uint64(b)
}

// ping returns the next ping, with the estimate so far.
func (c *clockOffset) ping() pingMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	message := pingMessage{Op: "ping", NodeTime: nowNs()}
	for i := range c.known {
		if best := &c.known[i]; message.RoundTrip == nil || best.roundTrip < *message.RoundTrip {
			offset, roundTrip := best.offset, best.roundTrip
			message.ClockOffset, message.RoundTrip = &offset, &roundTrip
		}
	}
	return message
}
