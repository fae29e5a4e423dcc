package oasis

import (
	"log/slog"
	"testing"
)

// A flush that finds room: the ring drops its oldest samples, so that no node has to keep up.
func BenchmarkFlush(b *testing.B) {
	node := NewNode("bench")
	probe := Pushed[loop](node, "loop", RingBytes(1<<20), WhenFull(DropOldest()))
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		probe.Flush(loop{Turns: uint64(i), Lateness: 1.5, Phase: 2, IsOn: true})
	}
}

func BenchmarkFlushOfTexts(b *testing.B) {
	node := NewNode("bench")
	probe := Pushed[varying](node, "texts", RingBytes(1<<20), WhenFull(DropOldest()))
	values := []float32{1, 2, 3, 4}
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		probe.Flush(varying{"azimuth", values})
	}
}

func BenchmarkFlushIntoAFullRing(b *testing.B) {
	node := NewNode("bench")
	probe := Pushed[loop](node, "loop", RingBytes(256))
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		probe.Flush(loop{Turns: uint64(i)})
	}
}

func BenchmarkFlushOfADisabledProbe(b *testing.B) {
	node := NewNode("bench")
	probe := Pushed[loop](node, "loop", Disabled())
	for i := 0; i < b.N; i++ {
		probe.Flush(loop{Turns: uint64(i)})
	}
}

func BenchmarkLog(b *testing.B) {
	node := NewNode("bench")
	logger := slog.New(NewHandler(node, "log", nil, WhenFull(DropOldest())))
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		logger.Info("pressure is high", "bar", 8.1, "pump", i)
	}
}

func BenchmarkEncodeBatch(b *testing.B) {
	of, err := TypeOf[loop]()
	if err != nil {
		b.Fatal(err)
	}
	e := newEncoder(of)
	row, err := EncodeRow(of, []any{uint64(1), 1.5, uint64(2), true})
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; i < b.N; i++ {
		if err := e.push(uint64(i)*1_000_000, row); err != nil {
			b.Fatal(err)
		}
		if e.count() == 1024 {
			e.finish(Header{FirstSequence: 1, NodeTime: uint64(i) * 1_000_000})
		}
	}
}
