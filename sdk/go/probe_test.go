package oasis

import (
	"sync"
	"testing"
	"time"
	"unsafe"
)

type loop struct {
	Turns    uint64  `oasis:"turns,kind=counter"`
	Lateness float64 `oasis:"lateness,unit=us,warn>100"`
	Phase    uint8   `oasis:"phase,enum=IDLE:0|SLEWING:1|TRACKING:2"`
	IsOn     bool
}

type varying struct {
	Name   string
	Values []float32
}

func TestAFlushAllocatesNothing(t *testing.T) {
	node := NewNode("allocations")
	fixed := Pushed[loop](node, "fixed", WhenFull(DropOldest()))
	texts := Pushed[varying](node, "texts", WhenFull(DropOldest()))
	changes := OnChange[loop](node, "changes", Deadband("lateness", 0.5), WhenFull(DropOldest()))
	if err := node.Start("127.0.0.1:1"); err != nil {
		t.Fatal(err)
	}
	defer node.cancel()
	values := []float32{1, 2, 3}
	turn := uint64(0)
	changes.Flush(loop{})
	changes.Flush(loop{Turns: 1})
	for name, flush := range map[string]func(){
		"fixed":   func() { turn++; fixed.Flush(loop{Turns: turn}) },
		"texts":   func() { texts.Flush(varying{"azimuth", values}) },
		"changes": func() { turn++; changes.Flush(loop{Turns: turn}) },
	} {
		// The node's own goroutines run meanwhile, and allocate now and then.
		if allocations := testing.AllocsPerRun(20_000, flush); allocations > 0 {
			t.Errorf("%s: %v allocations a sample", name, allocations)
		}
	}
}

func newTestRing(t *testing.T, bytes, rowBytes int, overflow Overflow) *ring {
	t.Helper()
	r, err := newRing(bytes, rowBytes, overflow)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// pop reads the next record and copies its row.
func pop(r *ring) (record, bool) {
	r.consuming.Lock()
	defer r.consuming.Unlock()
	found, ok := r.peek()
	if ok {
		found.row = append([]byte(nil), found.row...)
		r.consume()
	}
	return found, ok
}

func TestWhatFindsNoRoomIsCountedAndLeavesAGap(t *testing.T) {
	r := newTestRing(t, 100, -1, DropNewest())
	row := make([]byte, 20) // 24 bytes, and 24 for the record
	for _, wanted := range []bool{true, true, false, false} {
		if r.put(5, row) != wanted {
			t.Fatal("another number of samples has room")
		}
	}
	first, _ := pop(r)
	if !r.put(6, row) {
		t.Fatal("there is room again")
	}
	second, _ := pop(r)
	third, _ := pop(r)
	if first.sequence != 1 || second.sequence != 2 || third.sequence != 5 || third.time != 6 {
		t.Errorf("numbers %d, %d, %d", first.sequence, second.sequence, third.sequence)
	}
	if _, ok := pop(r); ok || r.taken() != 5 || r.dropped() != 2 {
		t.Errorf("%d taken, %d dropped", r.taken(), r.dropped())
	}
}

func TestTheOldestMakeRoomForTheNewest(t *testing.T) {
	r := newTestRing(t, 96, 4, DropOldest())
	for number := byte(1); number <= 9; number++ {
		if !r.put(uint64(number), []byte{number, 0, 0, 0}) {
			t.Fatalf("%d found no room", number)
		}
	}
	for wanted := uint64(7); wanted <= 9; wanted++ {
		if found, ok := pop(r); !ok || found.sequence != wanted || found.row[0] != byte(wanted) {
			t.Fatalf("%+v, wanted %d", found, wanted)
		}
	}
	if r.taken() != 9 || r.dropped() != 6 {
		t.Errorf("%d taken, %d dropped", r.taken(), r.dropped())
	}
}

func TestAFlushMayWaitForRoom(t *testing.T) {
	r := newTestRing(t, 32, 8, WaitForRoom(time.Minute))
	row := make([]byte, 8)
	r.put(1, row)
	go func() {
		for {
			if _, ok := pop(r); ok {
				return
			}
		}
	}()
	if !r.put(2, row) {
		t.Error("it has not waited")
	}
	r.overflow = WaitForRoom(time.Millisecond)
	if r.put(3, row) {
		t.Error("there was no room")
	}
	if r.put(4, make([]byte, 1000)) {
		t.Error("it is larger than the ring")
	}
}

func TestARingWithoutMemoryDropsEverySample(t *testing.T) {
	for _, bytes := range []int{0, 7, 23} {
		r := newTestRing(t, bytes, 0, DropOldest())
		if r.put(1, nil) || r.taken() != 1 {
			t.Errorf("%d bytes have room", bytes)
		}
	}
	if _, err := newRing(maxRing+1, 0, DropNewest()); err == nil {
		t.Error("a ring above the limit")
	}
}

func TestRowsOfAllSizesPassTheEndOfTheRing(t *testing.T) {
	r := newTestRing(t, 1000, -1, DropNewest())
	for number := 0; number < 5000; number++ {
		row := make([]byte, number%301)
		for i := range row {
			row[i] = byte(number)
		}
		if !r.put(uint64(number), row) {
			t.Fatalf("%d found no room", number)
		}
		if number%2 == 0 {
			continue
		}
		for wanted := number - 1; wanted <= number; wanted++ {
			found, ok := pop(r)
			if !ok || found.time != uint64(wanted) || len(found.row) != wanted%301 {
				t.Fatalf("%d: %+v", wanted, found)
			}
			for _, octet := range found.row {
				if octet != byte(wanted) {
					t.Fatalf("%d: %v", wanted, found.row)
				}
			}
		}
	}
}

// Every sample of many goroutines arrives once and in the order of its goroutine, or is counted.
func TestManyGoroutinesFlushOneRing(t *testing.T) {
	for name, overflow := range map[string]Overflow{"newest": DropNewest(), "oldest": DropOldest()} {
		t.Run(name, func(t *testing.T) {
			const goroutines, each = 4, 20_000
			r := newTestRing(t, 4096, -1, overflow)
			var done sync.WaitGroup
			for g := 0; g < goroutines; g++ {
				done.Add(1)
				go func(g int) {
					defer done.Done()
					for number := 1; number <= each; number++ {
						r.put(uint64(number), []byte{byte(g), byte(number), byte(number >> 8), byte(number >> 16)}[:1+number%4])
					}
				}(g)
			}
			ended := make(chan struct{})
			go func() { done.Wait(); close(ended) }()
			seen, sequence, last := uint64(0), uint64(0), [goroutines]uint64{}
			for running := true; running; {
				select {
				case <-ended:
					running = false
				default:
				}
				for found, ok := pop(r); ok; found, ok = pop(r) {
					g := found.row[0]
					if found.sequence <= sequence || found.time <= last[g] || len(found.row) != 1+int(found.time)%4 {
						t.Fatalf("%+v after %d, %d", found, sequence, last[g])
					}
					seen, sequence, last[g] = seen+1, found.sequence, found.time
				}
			}
			if r.taken() != goroutines*each || seen+r.dropped() != goroutines*each || seen == 0 {
				t.Errorf("%d seen, %d dropped, %d taken", seen, r.dropped(), r.taken())
			}
		})
	}
}

// A slice that another goroutine changes is a race of the program: the row never leaves its place in the ring.
func TestAValueThatGrowsWhileItIsWrittenIsInvalid(t *testing.T) {
	_, lay, err := typeAndLayout(typeOf[varying]())
	if err != nil {
		t.Fatal(err)
	}
	short, long := varying{Name: "x"}, varying{Name: "x", Values: make([]float32, 100)}
	size := lay.size(unsafe.Pointer(&short))
	row, fits := lay.append(make([]byte, 0, size), unsafe.Pointer(&long))
	if fits || len(row) > size {
		t.Errorf("%d bytes in a row of %d", len(row), size)
	}
}

// A command changes a deadband while a flush waits for room: neither waits for the other.
func TestAFlushThatWaitsHoldsNoLock(t *testing.T) {
	probe := OnChange[loop](NewNode("waiting"), "changes", RingBytes(48), WhenFull(WaitForRoom(time.Hour)))
	probe.Flush(loop{Turns: 1})
	flushed := make(chan bool)
	go func() { flushed <- probe.Flush(loop{Turns: 2}) }()
	limits := probe.pushed.limits
	for isWaiting := false; !isWaiting; time.Sleep(time.Millisecond) {
		limits.mu.Lock()
		isWaiting = limits.isKept && limits.next == nil
		limits.mu.Unlock()
	}
	if err := limits.set("lateness", nil); err != nil {
		t.Error(err)
	}
	// The end of the node ends the wait.
	probe.pushed.ring.enabled.Store(false)
	if <-flushed {
		t.Error("there was room")
	}
}
