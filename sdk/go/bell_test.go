package oasis

import (
	"testing"
	"time"
)

func TestTheCollectorSleepsWhileProbesAreSilentAndIsWokenByASample(t *testing.T) {
	b, now := newBell(), time.Now()
	b.last = now
	for polls := time.Duration(0); polls*look < silence; polls++ {
		if b.pause(now.Add(polls*look), false, look) != look || b.asleep.Load() {
			t.Fatal("it slept too early")
		}
	}
	now = now.Add(silence)
	if b.pause(now, false, look) != look || !b.asleep.Load() {
		t.Error("it did not poll once more after it set the bell")
	}
	if b.pause(now.Add(look), false, look) != maxSleep {
		t.Error("it did not sleep")
	}
	b.ringIfAsleep()
	b.ringIfAsleep()
	<-b.rung
	if len(b.rung) != 0 || b.asleep.Load() {
		t.Error("it was woken twice")
	}
	if b.pause(now, false, look) != look || b.pause(now, true, look) != look {
		t.Error("it did not stay awake")
	}
}

func TestASampleReachesANodeThatSleeps(t *testing.T) {
	node := NewNode("sleeper")
	probe := Pushed[struct{ Value int64 }](node, "counter")
	if err := node.Start("127.0.0.1:1"); err != nil {
		t.Fatal(err)
	}
	defer node.Close()
	for !node.bell.asleep.Load() {
		time.Sleep(look)
	}
	probe.Flush(struct{ Value int64 }{1})
	for held := false; !held; time.Sleep(look) {
		node.outbox.mu.Lock()
		held = node.outbox.reached[0].taken == 1
		node.outbox.mu.Unlock()
	}
}
