package oasis

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Programs, their processes and goroutines, and how they end (docs/sdk/go.md): accepted samples are stored, or declared
// as lost. The test program starts itself again for them.

const (
	programVariable = "OASIS_TEST_PROGRAM"
	// programSamples is how many a program flushes at once.
	programSamples = 200
	programPause   = 200 * time.Microsecond
)

func TestMain(m *testing.M) {
	if mode, isProgram := os.LookupEnv(programVariable); isProgram {
		runProgram(mode, os.Args[1], os.Args[2])
		return
	}
	os.Exit(m.Run())
}

// runProgram is a program with a node. It prints how many samples were accepted.
func runProgram(mode, dac, name string) {
	node := NewNode(name)
	probe := Pushed[turns](node, "turns")
	if err := node.Start(dac); err != nil {
		panic(err)
	}
	flush := func() {
		accepted := 0
		for i := 0; i < programSamples; i++ {
			if probe.Flush(turns{Turn: uint64(i)}) {
				accepted++
			}
		}
		fmt.Println("accepted", accepted)
	}
	in := bufio.NewReader(os.Stdin)
	listen := func() { _, _ = in.ReadString('\n') }
	if mode == "notify" {
		flushUntilASignal(node, probe)
		return
	}
	flush()
	switch mode {
	case "close":
		_ = node.Close()
	case "close and exit":
		_ = node.Close()
		os.Exit(3)
	case "panic with close":
		defer node.Close()
		panic("a mistake of the program")
	case "children":
		for _, child := range []string{"-1", "-2"} {
			command := programCommand("close", dac, name+child)
			command.Stdout, command.Stderr = os.Stdout, os.Stderr
			if err := command.Run(); err != nil {
				panic(err)
			}
		}
		flush()
		_ = node.Close()
	case "wait":
		listen()
		flush()
		listen()
		_ = node.Close()
	default:
		listen()
		flush()
		endWithoutClose(mode)
	}
}

func endWithoutClose(mode string) {
	itself, err := os.FindProcess(os.Getpid())
	if err != nil {
		panic(err)
	}
	switch mode {
	case "return":
	case "exit":
		os.Exit(3)
	case "panic":
		panic("a mistake of the program")
	case "SIGTERM":
		_ = itself.Signal(syscall.SIGTERM)
		select {}
	case "SIGKILL":
		_ = itself.Kill()
		select {}
	default:
		panic(mode)
	}
}

// flushUntilASignal flushes from several goroutines until the node has ended.
func flushUntilASignal(node *Node, probe *Probe[turns]) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var accepted atomic.Int64
	var isOver atomic.Bool
	var flushing sync.WaitGroup
	for i := 0; i < 4; i++ {
		flushing.Add(1)
		go func() {
			defer flushing.Done()
			for !isOver.Load() {
				if probe.Flush(turns{Turn: 1}) {
					accepted.Add(1)
				}
				time.Sleep(programPause)
			}
		}()
	}
	<-ctx.Done()
	_ = node.Close()
	isOver.Store(true)
	flushing.Wait()
	fmt.Println("accepted", accepted.Load())
}

func programCommand(mode, dac, name string) *exec.Cmd {
	command := exec.Command(os.Args[0], dac, name)
	command.Env = append(os.Environ(), programVariable+"="+mode)
	return command
}

// startedProgram is a process of runProgram.
type startedProgram struct {
	t        *testing.T
	command  *exec.Cmd
	in       *os.File
	out, err bytes.Buffer
}

func startProgram(t *testing.T, dac *realDAC, mode, name string) *startedProgram {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	p := &startedProgram{t: t, command: programCommand(mode, dac.Channel, name), in: write}
	p.command.Stdin, p.command.Stdout, p.command.Stderr = read, &p.out, &p.err
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// proceed writes the line that the program waits for.
func (p *startedProgram) proceed() {
	p.t.Helper()
	if _, err := p.in.WriteString("\n"); err != nil {
		p.t.Fatal(err)
	}
}

// wait waits for its end, and returns its status: -1 after a signal.
func (p *startedProgram) wait() int {
	p.t.Helper()
	hangs := time.AfterFunc(waitFor, func() { _ = p.command.Process.Kill() })
	_ = p.command.Wait()
	if !hangs.Stop() {
		p.t.Fatal("the program hangs")
	}
	p.in.Close()
	return p.command.ProcessState.ExitCode()
}

// accepted returns how many samples were, also those of its children.
func (p *startedProgram) accepted() (sum uint64) {
	p.t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(p.out.String()), "\n") {
		count, err := strconv.ParseUint(strings.TrimPrefix(line, "accepted "), 10, 64)
		if err != nil {
			p.t.Fatalf("%v: %s", err, p.err.String())
		}
		sum += count
	}
	return sum
}

// isStored returns whether everything that the DAC has received is in its archive.
func isStored(l ledger) bool { return l.Archive.Stored == l.Received }

func checkStored(t *testing.T, dac *realDAC, node, name string, samples uint64) {
	t.Helper()
	found := dac.eventually(node, name, func(l ledger) bool { return l.Archive.Stored == samples })
	if found.Received != samples || found.Missing != 0 || found.Unexplained != 0 {
		t.Errorf("%s/%s: %+v", node, name, found)
	}
}

func TestCloseDeliversTheLastSamplesHoweverTheProgramEnds(t *testing.T) {
	dac := startDAC(t)
	for mode, status := range map[string]int{"close": 0, "close and exit": 3, "panic with close": 2} {
		program := startProgram(t, dac, mode, mode)
		if found := program.wait(); found != status {
			t.Errorf("%s: status %d: %s", mode, found, program.err.String())
		}
		if program.accepted() != programSamples {
			t.Errorf("%s: %d accepted", mode, program.accepted())
		}
		checkStored(t, dac, mode, "turns", programSamples)
	}
}

func TestASignalThatAProgramHandlesDeliversTheLastSamples(t *testing.T) {
	dac := startDAC(t)
	for _, with := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		name := with.String()
		program := startProgram(t, dac, "notify", name)
		dac.eventually(name, "turns", func(l ledger) bool { return l.Archive.Stored > programSamples })
		if err := program.command.Process.Signal(with); err != nil {
			t.Fatal(err)
		}
		if status := program.wait(); status != 0 {
			t.Fatalf("status %d: %s", status, program.err.String())
		}
		found := dac.eventually(name, "turns", isStored)
		// A ring that was full has refused samples: they are missing, and were not accepted.
		if accounted := found.Archive.Stored + found.Missing - found.Causes["ring_full"]; accounted != program.accepted() || found.Unexplained != 0 {
			t.Errorf("%d accepted, %+v", program.accepted(), found)
		}
	}
}

func TestAProgramThatEndsWithoutCloseLosesItsLastSamplesOnly(t *testing.T) {
	dac := startDAC(t)
	for mode, status := range map[string]int{"return": 0, "exit": 3, "panic": 2, "SIGTERM": -1, "SIGKILL": -1} {
		ended := startProgram(t, dac, mode, mode)
		checkStored(t, dac, mode, "turns", programSamples)
		ended.proceed()
		if found := ended.wait(); found != status {
			t.Errorf("%s: status %d: %s", mode, found, ended.err.String())
		}
		// Its next run has the name, and numbers of its own.
		next := startProgram(t, dac, "wait", mode)
		next.proceed()
		dac.eventually(mode, "turns", func(l ledger) bool {
			return l.LastSequence == 2*programSamples && l.Received >= 3*programSamples
		})
		next.proceed()
		if status := next.wait(); status != 0 {
			t.Fatalf("status %d: %s", status, next.err.String())
		}
		found := dac.eventually(mode, "turns", isStored)
		accepted, accounted := ended.accepted()+next.accepted(), found.Archive.Stored+found.Missing
		if accepted != 4*programSamples || accounted < accepted-programSamples || accounted > accepted || found.Unexplained != 0 {
			t.Errorf("%s: %d accepted, %+v", mode, accepted, found)
		}
	}
}

func TestASecondProcessOfTheSameNameIsToldOnStandardError(t *testing.T) {
	dac := startDAC(t)
	first := startProgram(t, dac, "wait", "same")
	checkStored(t, dac, "same", "turns", programSamples)
	// The program ignores the error of Close, and ends at once.
	second := startProgram(t, dac, "close", "same")
	second.wait()
	if said := second.err.String(); !strings.Contains(said, "name_taken") || !strings.Contains(said, fmt.Sprintf("samples=%d", programSamples)) {
		t.Errorf("it says %q", said)
	}
	first.proceed()
	first.proceed()
	if status := first.wait(); status != 0 || first.err.Len() > 0 {
		t.Errorf("status %d: %s", status, first.err.String())
	}
	checkStored(t, dac, "same", "turns", first.accepted())
}

func TestAProcessThatAProgramStartsHasItsOwnNode(t *testing.T) {
	dac := startDAC(t)
	tree := startProgram(t, dac, "children", "tree")
	if status := tree.wait(); status != 0 || tree.accepted() != 4*programSamples {
		t.Errorf("status %d, %d accepted: %s", status, tree.accepted(), tree.err.String())
	}
	checkStored(t, dac, "tree", "turns", 2*programSamples)
	checkStored(t, dac, "tree-1", "turns", programSamples)
	checkStored(t, dac, "tree-2", "turns", programSamples)
}

func TestGoroutinesFlushAtOnceWhileOthersLog(t *testing.T) {
	dac := startDAC(t)
	node := NewNode("go")
	probe := Pushed[turns](node, "turns")
	logger := slog.New(NewHandler(node, "log", nil, RingBytes(1<<20)))
	startNode(t, node, dac.Channel)
	const goroutines, flushes, records = 100, 200, 20
	var accepted atomic.Uint64
	var all sync.WaitGroup
	for i := 0; i < goroutines; i++ {
		all.Add(2)
		go func() {
			defer all.Done()
			for i := uint64(0); i < flushes; i++ {
				if probe.Flush(turns{Turn: i}) {
					accepted.Add(1)
				}
			}
		}()
		go func() {
			defer all.Done()
			for i := 0; i < records; i++ {
				logger.Info("turn", "number", i)
			}
		}()
	}
	all.Wait()
	if err := node.Close(); err != nil {
		t.Fatal(err)
	}
	// Samples without room are missing, also after the last one with room.
	found := dac.eventually("go", "turns", func(l ledger) bool { return l.Archive.Stored == accepted.Load() })
	if found.Archive.Stored+found.Missing != goroutines*flushes || found.Causes["ring_full"] != found.Missing || found.Unexplained != 0 {
		t.Errorf("%d accepted, %+v", accepted.Load(), found)
	}
	checkStored(t, dac, "go", "log", goroutines*records)
}

func TestAClosedNodeRefusesSamplesAndClosesAgain(t *testing.T) {
	dac := startDAC(t)
	node := NewNode("go")
	probe := Pushed[turns](node, "turns")
	waiting := Pushed[turns](node, "waiting", WhenFull(WaitForRoom(waitFor)))
	changes := OnChange[turns](node, "changes")
	logger := slog.New(NewHandler(node, "log", nil))
	startNode(t, node, dac.Channel)
	if !probe.Flush(turns{Turn: 1}) || !changes.Flush(turns{Turn: 1}) {
		t.Fatal("there is room")
	}
	var both sync.WaitGroup
	for i := 0; i < 2; i++ {
		both.Add(1)
		go func() {
			defer both.Done()
			if err := node.Close(); err != nil {
				t.Error(err)
			}
		}()
	}
	both.Wait()
	if probe.Flush(turns{Turn: 2}) || waiting.Flush(turns{Turn: 2}) || changes.Flush(turns{Turn: 1}) || probe.FlushAt(turns{Turn: 2}, time.Unix(1, 0)) {
		t.Error("a sample was accepted that nobody sends")
	}
	logger.Warn("too late for the node, and no error")
	checkStored(t, dac, "go", "turns", 1)
	checkStored(t, dac, "go", "changes", 1)
}

func TestALargeRingIsEmptiedAtTheEnd(t *testing.T) {
	dac := startDAC(t)
	node := NewNode("go")
	probe := Pushed[loop](node, "loop", RingBytes(16<<20))
	const samples = 3 * drainAtOnce
	for i := uint64(0); i < samples; i++ {
		if !probe.Flush(loop{Turns: i}) {
			t.Fatal("no room")
		}
	}
	startNode(t, node, dac.Channel)
	if err := node.Close(); err != nil {
		t.Fatal(err)
	}
	checkStored(t, dac, "go", "loop", samples)
}

func TestAClosedRingRefusesSamplesAndKeepsThoseThatItHas(t *testing.T) {
	for _, overflow := range []Overflow{DropNewest(), DropOldest(), WaitForRoom(waitFor)} {
		r := newTestRing(t, 64, 3, overflow)
		row := []byte{1, 2, 3}
		if !r.put(1, row) || !r.put(2, row) {
			t.Fatal("there is room")
		}
		r.close()
		r.close()
		if r.overflow.wait == 0 && r.put(3, row) {
			t.Error("a sample was accepted")
		}
		if found, ok := pop(r); !ok || found.time != 1 || r.isEmpty() {
			t.Errorf("%+v", found)
		}
		r.enabled.Store(false)
		if r.put(4, row) {
			t.Error("a sample was accepted because there is room")
		}
		if found, ok := pop(r); !ok || found.time != 2 || !r.isEmpty() || r.dropped() != 0 || r.taken() != 2 {
			t.Errorf("%+v, %d dropped, %d taken", found, r.dropped(), r.taken())
		}
	}
}
