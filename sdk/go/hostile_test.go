package oasis

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// report collects what a node logs.
type report struct {
	mu    sync.Mutex
	lines strings.Builder
}

func (r *report) Write(octets []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lines.Write(octets)
}

func (r *report) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lines.String()
}

// waitFor waits until something is reported.
func (r *report) waitFor(t *testing.T, text string) {
	t.Helper()
	for until := time.Now().Add(waitFor); !strings.Contains(r.String(), text); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("%q is not reported:\n%.2000s", text, r)
		}
	}
}

// falseDAC accepts connections, and treats each as a function wants.
func falseDAC(t *testing.T, treat func(conn net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var open sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() { cancel(); listener.Close(); open.Wait() })
	open.Add(1)
	go func() {
		defer open.Done()
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			open.Add(1)
			go func() {
				defer open.Done()
				defer conn.Close()
				defer context.AfterFunc(ctx, func() { conn.Close() })()
				treat(conn)
			}()
		}
	}()
	return listener.Addr().String()
}

func reply(conn net.Conn, messages ...string) {
	var out []byte
	for _, message := range messages {
		out = append(appendHeader(out, frameControl, len(message)), message...)
	}
	_, _ = conn.Write(out)
}

const (
	aWelcome    = `{"op":"welcome","protocol":1,"epoch":"e","software":"false","safe":"stored"}`
	aRegistered = `{"op":"registered","topics":[{"instance":"turns","topic":1},{"instance":"slow","topic":1},{"instance":"?","topic":9},{"instance":"turns","topic":0}]}`
)

// after welcomes a node, and then sends more.
func after(messages ...string) func(net.Conn) {
	return func(conn net.Conn) {
		reply(conn, append([]string{aWelcome, aRegistered}, messages...)...)
		_, _ = io.Copy(io.Discard, conn)
	}
}

func send(octets ...byte) func(net.Conn) {
	return func(conn net.Conn) {
		_, _ = conn.Write(octets)
		_, _ = io.Copy(io.Discard, conn)
	}
}

func TestANodeSurvivesWhateverAnswers(t *testing.T) {
	garbage := make([]byte, 1<<16)
	rand.New(rand.NewSource(1)).Read(garbage)
	long := strings.Repeat("x", maxFrameBody-100)
	cases := map[string]struct {
		treat  func(net.Conn)
		report string
	}{
		"garbage":           {send(garbage...), "what answers sent"},
		"zeros":             {send(make([]byte, 100)...), "a frame without a kind"},
		"a huge frame":      {send(0xff, 0xff, 0xff, 0xff, 2), "a frame of 4294967295 bytes, the limit is 4194305"},
		"a batch":           {send(5, 0, 0, 0, 1, 1, 1, 1, 1), "a frame of kind 0x01"},
		"half a frame":      {send(100, 0, 0, 0, 2, '{'), "the DAC has said nothing for"},
		"nothing":           {send(), "the DAC has said nothing for"},
		"half, and the end": {func(c net.Conn) { _, _ = c.Write([]byte{100, 0, 0, 0, 2, '{'}) }, "the DAC ended a frame after 1 of 99 bytes"},
		"the end":           {func(net.Conn) {}, "the DAC has closed the connection"},
		"a page":            {send([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")...), "this is the port of a page"},
		"mail":              {send([]byte("220 mail.example.org ESMTP\r\n")...), "is this the data channel of a DAC"},
		"no JSON":           {func(c net.Conn) { reply(c, "hello"); _, _ = io.Copy(io.Discard, c) }, "is not JSON of the protocol"},
		"deep JSON":         {func(c net.Conn) { reply(c, strings.Repeat("[", 1<<20)); _, _ = io.Copy(io.Discard, c) }, "is not JSON of the protocol"},
		"long JSON":         {func(c net.Conn) { reply(c, `"`+long+`"`); _, _ = io.Copy(io.Discard, c) }, "is not JSON of the protocol"},
		"another version":   {func(c net.Conn) { reply(c, `{"op":"welcome","protocol":9,"epoch":"e"}`); _, _ = io.Copy(io.Discard, c) }, "as the answer to hello"},
		"a long refusal": {func(c net.Conn) {
			reply(c, `{"op":"refused","code":"x","message":"`+long+`"}`)
			_, _ = io.Copy(io.Discard, c)
		}, "xxx…"},
		"a lost registration": {func(c net.Conn) { reply(c, aWelcome, aWelcome); _, _ = io.Copy(io.Discard, c) }, "as the answer to register"},
		"false topics": {func(c net.Conn) {
			reply(c, aWelcome, `{"op":"registered","topics":{"a":1}}`)
			_, _ = io.Copy(io.Discard, c)
		}, "as the answer to register"},
		"false ack":        {after(`{"op":"ack","topics":[[1]]}`, `{"op":"ack","topics":[[1,18446744073709551615],[99999999999,1]]}`, `{"op":"ack","topics":[["a",-1]]}`), "with other topics than the protocol has"},
		"no ack":           {after(`{"op":"safe"}`), "with other topics than the protocol has"},
		"another message":  {after(`{"op":"open-the-door"}`), "a message"},
		"a second welcome": {after(aWelcome), "a message"},
	}
	for name, c := range cases {
		c := c
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := &report{}
			node := NewNodeWith("hostile", Config{Logger: slog.New(slog.NewTextHandler(said, nil)), SpoolBytes: 1 << 16})
			if strings.Contains(c.report, "has said nothing") {
				node.patience.silence = 300 * time.Millisecond
			}
			probe := Pushed[turns](node, "turns")
			Periodic(node, "slow", 100, func() (turns, error) { return turns{}, nil })
			address := falseDAC(t, c.treat)
			startNode(t, node, address)
			for until := time.Now().Add(waitFor); !strings.Contains(said.String(), c.report); time.Sleep(time.Millisecond) {
				probe.Flush(turns{Note: "meanwhile"})
				if time.Now().After(until) {
					t.Fatalf("%q is not reported:\n%.2000s", c.report, said)
				}
			}
			if !strings.Contains(said.String(), address) || len(said.String()) > 20_000 {
				t.Errorf("the report lacks the address or is long:\n%.2000s", said)
			}
			node.outbox.mu.Lock()
			defer node.outbox.mu.Unlock()
			if held := node.outbox.spool.bytes; held > 1<<16 {
				t.Errorf("%d bytes in a spool of %d", held, 1<<16)
			}
		})
	}
}

func TestAFloodOfCommandsIsAnsweredWithinBounds(t *testing.T) {
	var flood []string
	for i := 0; i < 5000; i++ {
		flood = append(flood,
			fmt.Sprintf(`{"op":"command","id":%d,"instance":"turns","command":"%s"}`, i, strings.Repeat("x", i%300)),
			fmt.Sprintf(`{"op":"command","id":%d,"instance":"hangs","command":"hertz","hertz":%d}`, i, i%2000),
			fmt.Sprintf(`{"op":"command","id":%d,"instance":"?","command":"enable"}`, i))
	}
	node := NewNodeWith("flooded", Config{Logger: slog.New(slog.NewTextHandler(&report{}, nil))})
	probe := Pushed[turns](node, "turns")
	forever := make(chan struct{})
	defer close(forever)
	Periodic(node, "hangs", 1000, func() (turns, error) { <-forever; return turns{}, nil })
	codes := make(chan string, 1<<16)
	address := falseDAC(t, func(conn net.Conn) {
		go reply(conn, append([]string{aWelcome, aRegistered}, flood...)...)
		readMessages(conn, func(message map[string]any) {
			if failed, _ := message["failed"].(map[string]any); failed != nil && len(codes) < cap(codes) {
				codes <- failed["code"].(string)
			}
		})
	})
	startNode(t, node, address)
	wanted := map[string]bool{"unknown_command": true, "busy": true, "unknown_instance": true}
	timeout := time.After(waitFor)
	for len(wanted) > 0 {
		select {
		case code := <-codes:
			delete(wanted, code)
		case <-timeout:
			t.Fatalf("no answers %v", wanted)
		}
	}
	probe.Flush(turns{})
	if err := node.Close(); err == nil {
		t.Error("a DAC that acknowledges nothing has everything")
	}
}

// readMessages reads control messages, and skips batches.
func readMessages(conn net.Conn, each func(map[string]any)) {
	for {
		var header [frameHeader]byte
		if _, err := io.ReadFull(conn, header[:]); err != nil {
			return
		}
		body := make([]byte, int(header[0])|int(header[1])<<8|int(header[2])<<16-1)
		if _, err := io.ReadFull(conn, body); err != nil {
			return
		}
		message := map[string]any{}
		if header[4] == frameControl && json.Unmarshal(body, &message) == nil {
			each(message)
		}
	}
}

// A day without a DAC: memory stays bounded, and what was dropped is counted.
func TestMemoryIsBoundedWithoutADAC(t *testing.T) {
	const bound = 1 << 20
	node := NewNodeWith("alone", Config{SpoolBytes: bound, Logger: slog.New(slog.NewTextHandler(&report{}, nil))})
	probe := Pushed[turns](node, "turns", RingBytes(1<<16))
	startNode(t, node, "127.0.0.1:1")
	note := strings.Repeat("n", 1000)
	for sent := 0; sent < 3_000; {
		if probe.Flush(turns{Turn: uint64(sent), Note: note}) {
			sent++
		} else {
			runtime.Gosched()
		}
	}
	node.outbox.mu.Lock()
	defer node.outbox.mu.Unlock()
	if held := node.outbox.spool.bytes; held > bound || held < bound/4 {
		t.Errorf("%d bytes in a spool of %d", held, bound)
	}
}

func TestAPanicOfTheProgramsOwnFunctionsEndsNothing(t *testing.T) {
	said := &report{}
	node := NewNodeWith("panicking", Config{Logger: slog.New(slog.NewTextHandler(said, nil))})
	calls := make(chan struct{}, 1000)
	Periodic(node, "panics", 1000, func() (turns, error) {
		select {
		case calls <- struct{}{}:
		default:
		}
		panic("planted")
	})
	logger := slog.New(NewHandler(node, "log", nil))
	startNode(t, node, "127.0.0.1:1")
	logger.Info("a value that panics", "value", panicking{}, "stringer", slog.AnyValue(panicking{}))
	for i := 0; i < 3; i++ {
		<-calls
	}
	said.waitFor(t, "planted")
}

type panicking struct{}

func (panicking) LogValue() slog.Value { panic("planted") }
func (panicking) String() string       { panic("planted") }

func TestMistakesAreReportedByStart(t *testing.T) {
	node := NewNode("bad\nname")
	Pushed[int](node, "int").Flush(1)
	Pushed[turns](node, "twice")
	Pushed[turns](node, "twice").Flush(turns{})
	Pushed[turns](node, "")
	Pushed[turns](node, "large", RingBytes(1<<31))
	OnChange[turns](node, "deadband", Deadband("loads", 1))
	OnChange[turns](node, "text", Deadband("note", 1))
	OnChange[turns](node, "negative", Deadband("load", -1))
	Periodic(node, "fast", 1001, func() (turns, error) { return turns{}, nil })
	Periodic[turns](node, "none", 1, nil)
	err := node.Start("7071")
	for _, part := range []string{
		"without control characters", "its fields are the metrics", "duplicate instance", "a ring of 2147483648 bytes",
		`no metric "loads"`, "is no number", "use 0 or more", "0.01 to 1000 Hz", "has no function", "HOST:PORT",
	} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not reported: %v", part, err)
		}
	}
	if node.Close() != nil || node.Refusal() != nil {
		t.Error("a node that has not started has something to close")
	}
	late := NewNodeWith("late", Config{Logger: slog.New(slog.NewTextHandler(&report{}, nil))})
	startNode(t, late, "127.0.0.1:1")
	if Pushed[turns](late, "late").Flush(turns{}) {
		t.Error("a probe was added after the start")
	}
	if late.Start("127.0.0.1:1") == nil {
		t.Error("a node starts twice")
	}
}

func FuzzDecodeBatch(f *testing.F) {
	var vectors batchVectors
	readVectors(f, "native-batch.json", &vectors)
	for i, c := range vectors.Valid {
		f.Add(uint8(i), fromHex(f, c.Bytes))
	}
	for _, c := range vectors.Invalid.Cases {
		f.Add(uint8(1), fromHex(f, c.Bytes))
	}
	f.Fuzz(func(t *testing.T, which uint8, octets []byte) {
		of := &vectors.Valid[int(which)%len(vectors.Valid)].Schema
		batch, err := DecodeBatch(of, octets)
		if err != nil {
			return
		}
		// A value that was read is written and read again without a change.
		e := newEncoder(of)
		for i := range batch.Times {
			values, err := batch.Sample(i)
			if err != nil {
				t.Fatal(err)
			}
			row, err := EncodeRow(of, values)
			if err != nil {
				t.Fatal(err)
			}
			if err := e.push(batch.Times[i], row); err != nil {
				t.Fatal(err)
			}
		}
		again, err := DecodeBatch(of, e.finish(batch.Header))
		if err != nil {
			t.Fatal(err)
		}
		for i := range batch.Columns {
			if !same(batch.Columns[i], again.Columns[i]) {
				t.Fatalf("column %d: %v, then %v", i, batch.Columns[i], again.Columns[i])
			}
		}
	})
}

func FuzzFramesOfADAC(f *testing.F) {
	for _, message := range []string{aWelcome, aRegistered, `{"op":"ack","topics":[[1,2]]}`, `{"op":"command","id":1,"instance":"a","command":"hertz","hertz":2}`} {
		f.Add(append(appendHeader(nil, frameControl, len(message)), message...))
	}
	f.Fuzz(func(t *testing.T, octets []byte) {
		node := NewNodeWith("fuzzed", Config{Logger: slog.New(slog.NewTextHandler(discard{}, nil))})
		Pushed[turns](node, "a")
		node.outbox = newOutbox(1<<16, len(node.instances))
		ship := &shipper{node: node, out: node.outbox, logged: map[string]string{}}
		from := &frameReader{from: bytes.NewReader(octets)}
		for {
			message, err := from.message()
			if err != nil {
				return
			}
			if topics, err := ship.topics(message); err == nil {
				ship.meet(topics, true, cut(message.Safe))
			}
			_ = ship.hear(message, &clockOffset{})
		}
	})
}
