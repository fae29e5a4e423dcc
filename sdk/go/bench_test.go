//go:build unix

package oasis

import (
	"log/slog"
	"syscall"
	"testing"
	"time"
)

// drained is the number of flushes between two times that a benchmark empties the ring, as a node does.
const drained = 8192

// processor returns the processor time of this process: other processes disturb it less than the time of a clock.
func processor(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// measure reports the processor time of each call; the ring is emptied between whiles, which does not count.
func measure(b *testing.B, r *ring, call func(i int)) {
	b.ReportAllocs()
	b.ResetTimer()
	total := time.Duration(0)
	for done := 0; done < b.N; {
		until := min(done+drained, b.N)
		before := processor(b)
		for ; done < until; done++ {
			call(done)
		}
		total += processor(b) - before
		if r != nil {
			b.StopTimer()
			for _, ok := r.peek(); ok; _, ok = r.peek() {
				r.consume()
			}
			b.StartTimer()
		}
	}
	b.ReportMetric(float64(total.Nanoseconds())/float64(b.N), "cpu-ns/op")
}

func BenchmarkFlush(b *testing.B) {
	probe := Pushed[loop](NewNode("bench"), "loop", RingBytes(1<<20))
	measure(b, probe.pushed.ring, func(i int) {
		if !probe.Flush(loop{Turns: uint64(i), Lateness: 1.5, Phase: 2, IsOn: true}) {
			b.Fatal("no room")
		}
	})
}

func BenchmarkFlushOfTexts(b *testing.B) {
	probe := Pushed[varying](NewNode("bench"), "texts", RingBytes(1<<20))
	values := []float32{1, 2, 3, 4}
	measure(b, probe.pushed.ring, func(int) {
		if !probe.Flush(varying{"azimuth", values}) {
			b.Fatal("no room")
		}
	})
}

// The clock alone, which is a part of each flush.
func BenchmarkClock(b *testing.B) {
	measure(b, nil, func(int) { nowNs() })
}

func BenchmarkFlushIntoAFullRing(b *testing.B) {
	probe := Pushed[loop](NewNode("bench"), "loop", RingBytes(256))
	measure(b, nil, func(i int) { probe.Flush(loop{Turns: uint64(i)}) })
}

func BenchmarkFlushThatDropsTheOldest(b *testing.B) {
	probe := Pushed[loop](NewNode("bench"), "loop", RingBytes(4096), WhenFull(DropOldest()))
	measure(b, nil, func(i int) { probe.Flush(loop{Turns: uint64(i)}) })
}

func BenchmarkFlushOfADisabledProbe(b *testing.B) {
	probe := Pushed[loop](NewNode("bench"), "loop", Disabled())
	measure(b, nil, func(i int) { probe.Flush(loop{Turns: uint64(i)}) })
}

func BenchmarkLog(b *testing.B) {
	handler := NewHandler(NewNode("bench"), "log", nil, RingBytes(4<<20))
	logger := slog.New(handler)
	measure(b, handler.pushed.ring, func(i int) { logger.Info("pressure is high", "bar", 8.1, "pump", i) })
}

// BenchmarkEncode measures the cost of a sample in the node itself.
func BenchmarkEncode(b *testing.B) {
	of, err := TypeOf[loop]()
	if err != nil {
		b.Fatal(err)
	}
	row, err := EncodeRow(of, []any{uint64(1), 1.5, uint64(2), true})
	if err != nil {
		b.Fatal(err)
	}
	e := newEncoder(of)
	measure(b, nil, func(i int) {
		if err := e.push(uint64(i)*1_000_000, row); err != nil {
			b.Fatal(err)
		}
		if e.count() == 1024 {
			e.finish(Header{FirstSequence: 1, NodeTime: uint64(i) * 1_000_000})
		}
	})
}
