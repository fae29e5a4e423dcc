package oasis

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

type turns struct {
	Turn uint64  `oasis:"turn,kind=counter"`
	Load float64 `oasis:"load,unit=%,min=0,max=100,warn>90"`
	Note string
}

func startNode(t *testing.T, node *Node, dac string) {
	t.Helper()
	if err := node.Start(dac); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = node.Close() })
}

// deliver waits until a DAC has everything that was flushed, and ends the node. How long that takes is not tested.
func deliver(t *testing.T, node *Node) {
	t.Helper()
	for until := time.Now().Add(waitFor); !isDelivered(node); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("the DAC does not have the samples")
		}
	}
	if err := node.Close(); err != nil {
		t.Log(err)
	}
}

func isDelivered(node *Node) bool {
	for _, instance := range node.instances {
		instance.mu.Lock()
		isEmpty := instance.encoder.count() == 0 && (instance.ring == nil || instance.ring.head.Load() == instance.ring.tail.Load())
		instance.mu.Unlock()
		if !isEmpty {
			return false
		}
	}
	node.outbox.mu.Lock()
	defer node.outbox.mu.Unlock()
	return node.outbox.wasTaken && len(node.outbox.spool.queue) == 0
}

func TestEverySampleReachesARealDAC(t *testing.T) {
	dac := startDAC(t)
	node := NewNode("go")
	probe := Pushed[turns](node, "turns", RingBytes(1<<20))
	startNode(t, node, dac.Channel)
	for i := uint64(1); i <= 10_000; i++ {
		if !probe.Flush(turns{Turn: i, Load: float64(i) / 100, Note: "turn"}) {
			t.Fatalf("no room for %d", i)
		}
	}
	deliver(t, node)
	found := dac.eventually("go", "turns", func(l ledger) bool { return l.Received == 10_000 })
	if found.Missing != 0 || found.Unexplained != 0 {
		t.Errorf("%+v", found)
	}
	dac.stop()
	if row := dac.sql("SELECT count(*), min(sequence), max(sequence), sum(turn), max(load), min(note) FROM oasis_turns"); row != "10000,1,10000,50005000,100,turn" {
		t.Errorf("the archive has %s", row)
	}
}

func TestACommandChangesTheRate(t *testing.T) {
	dac := startDAC(t)
	node := NewNode("go")
	var calls atomic.Uint64
	Periodic(node, "slow", 0.01, func() (turns, error) { return turns{Turn: calls.Add(1)}, nil })
	pushed := Pushed[turns](node, "pushed")
	changes := OnChange[turns](node, "changes", Deadband("load", 5))
	startNode(t, node, dac.Channel)
	dac.eventually("go", "slow", func(l ledger) bool { return l.Received == 1 })
	slow := func(command string, fields ...any) map[string]any {
		wanted := map[string]any{"node": "go", "instance": "slow", "command": command}
		for i := 0; i < len(fields); i += 2 {
			wanted[fields[i].(string)] = fields[i+1]
		}
		return dac.command(wanted)
	}
	if outcome := slow("hertz", "hertz", 200); outcome["hertz"] != 200.0 {
		t.Fatal(outcome)
	}
	dac.eventually("go", "slow", func(l ledger) bool { return l.Received > 50 })
	if outcome := slow("disable"); outcome["enabled"] != false {
		t.Fatal(outcome)
	}
	before := calls.Load()
	if outcome := slow("sample-now"); outcome["enabled"] != false {
		t.Fatal(outcome)
	}
	if calls.Load() != before+1 {
		t.Errorf("%d calls after %d", calls.Load(), before)
	}
	found := dac.eventually("go", "slow", func(l ledger) bool { return l.Received == before+1 })
	if found.Missing != 0 {
		t.Errorf("%+v", found)
	}
	if outcome := slow("enable"); outcome["enabled"] != true || outcome["hertz"] != 200.0 {
		t.Fatal(outcome)
	}

	// A pushed probe has no rate, but it can be switched off.
	outcome := dac.command(map[string]any{"node": "go", "instance": "pushed", "command": "hertz", "hertz": 1})
	if outcome["type"] != "/problems/refused" {
		t.Errorf("%v", outcome)
	}
	dac.command(map[string]any{"node": "go", "instance": "pushed", "command": "disable"})
	if pushed.Enabled() || pushed.Flush(turns{}) {
		t.Error("it takes samples")
	}

	// A probe on change keeps what differs by more than its deadband, which a command changes.
	for _, load := range []float64{10, 14, 16, 20} {
		changes.Flush(turns{Load: load})
	}
	dac.eventually("go", "changes", func(l ledger) bool { return l.Received == 2 })
	outcome = dac.command(map[string]any{"node": "go", "instance": "changes", "command": "deadband", "metric": "load", "deadband": 1})
	if outcome["enabled"] != true {
		t.Fatal(outcome)
	}
	changes.Flush(turns{Load: 18})
	dac.eventually("go", "changes", func(l ledger) bool { return l.Received == 3 })
}

func TestADACThatRestartsLosesNothingUnexplained(t *testing.T) {
	dac := startDAC(t)
	node := NewNode("go")
	probe := Pushed[turns](node, "turns", RingBytes(1<<20))
	startNode(t, node, dac.Channel)
	turn := uint64(0)
	flush := func(count int) {
		for i := 0; i < count; i++ {
			turn++
			probe.Flush(turns{Turn: turn})
		}
	}
	flush(1000)
	dac.eventually("go", "turns", func(l ledger) bool { return l.Received == 1000 })
	dac.stop()
	flush(1000)
	dac.start()
	flush(1000)
	dac.eventually("go", "turns", func(l ledger) bool { return l.Received+l.Losses["stored_before"] >= 2000 })
	// Killed: what it had received and not stored is sent again.
	flush(1000)
	dac.kill()
	flush(1000)
	dac.start()
	deliver(t, node)
	found, _ := dac.ledger("go", "turns")
	if found.Unexplained != 0 {
		t.Errorf("%+v", found)
	}
	dac.stop()
	if row := dac.sql(`SELECT count(*), max(sequence), sum(turn) FROM oasis_turns`); row != "5000,5000,12502500" {
		t.Errorf("the archive has %s", row)
	}
}

func TestANameThatAnotherNodeHasIsAnError(t *testing.T) {
	dac := startDAC(t)
	first := NewNode("twice")
	Pushed[turns](first, "turns")
	startNode(t, first, dac.Channel)
	dac.eventually("twice", "turns", func(ledger) bool { return true })
	second := NewNodeWith("twice", Config{Logger: slog.New(slog.NewTextHandler(discard{}, nil))})
	Pushed[turns](second, "turns")
	startNode(t, second, dac.Channel)
	for until := time.Now().Add(waitFor); second.Refusal() == nil && time.Now().Before(until); {
		time.Sleep(time.Millisecond)
	}
	if err := second.Close(); err == nil || !strings.Contains(err.Error(), "name_taken") {
		t.Errorf("%v", err)
	}
}

type discard struct{}

func (discard) Write(octets []byte) (int, error) { return len(octets), nil }

func TestThePortOfAPageIsNamed(t *testing.T) {
	dac := startDAC(t)
	said := &report{}
	node := NewNodeWith("go", Config{Logger: slog.New(slog.NewTextHandler(said, nil))})
	Pushed[turns](node, "turns")
	startNode(t, node, strings.TrimPrefix(dac.HTTP, "http://"))
	said.waitFor(t, "this is the port of a page")
}

func TestRecordsOfSlogReachARealDAC(t *testing.T) {
	dac := startDAC(t)
	node := NewNode("go")
	logger := slog.New(NewHandler(node, "log", slog.LevelInfo))
	startNode(t, node, dac.Channel)
	logger.Debug("not wanted")
	logger.With("pump", 7).WithGroup("pressure").Warn("pressure is high", "bar", 8.1)
	deliver(t, node)
	dac.eventually("go", "log", func(l ledger) bool { return l.Received == 1 })
	dac.stop()
	row := dac.sql(`SELECT level, target, message, line > 0, fields FROM oasis_program_log_probe`)
	for _, part := range []string{"WARN", "oasis", "pressure is high", "pump", "7", "pressure.bar", "8.1"} {
		if !strings.Contains(row, part) {
			t.Errorf("%s lacks %s", row, part)
		}
	}
}

func TestANodeGoesToItsNextDAC(t *testing.T) {
	first, second := startDAC(t), startDAC(t)
	node := NewNodeWith("go", Config{Logger: slog.New(slog.NewTextHandler(discard{}, nil))})
	probe := Pushed[turns](node, "turns")
	startNode(t, node, first.Channel+","+second.Channel)
	flush := func() {
		for i := 0; i < 100; i++ {
			probe.Flush(turns{Turn: 1})
		}
	}
	flush()
	first.eventually("go", "turns", func(l ledger) bool { return l.Received == 100 })
	first.stop()
	flush()
	found := second.eventually("go", "turns", func(l ledger) bool { return l.Received == 100 })
	if found.Unexplained != 0 {
		t.Errorf("%+v", found)
	}
	deliver(t, node)
	second.stop()
	for _, dac := range []*realDAC{first, second} {
		if row := dac.sql("SELECT count(*) FROM oasis_turns"); row != "100" {
			t.Errorf("an archive has %s", row)
		}
	}
}

// certificate writes a certificate for 127.0.0.1 and its key, and returns who trusts it.
func certificate(t *testing.T) (arguments []string, pool *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, &about, &about, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	write := func(name, kind string, octets []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: octets}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	pool = x509.NewCertPool()
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool.AddCert(parsed)
	return []string{
		"--tls-certificate", write("dac.pem", "CERTIFICATE", der), "--tls-key", write("dac.key", "PRIVATE KEY", private),
	}, pool
}

func TestSamplesReachADACWithTLS(t *testing.T) {
	arguments, pool := certificate(t)
	dac := startDAC(t, arguments...)
	plain := strings.TrimPrefix(dac.Channel, tlsScheme)
	trusting := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}
	for _, c := range []struct {
		address  string
		settings *tls.Config
		wanted   string
	}{
		{plain, nil, "tls_required"},
		{tlsScheme + plain, nil, "have a certificate for"},
		{plain, trusting, ""},
		{tlsScheme + plain, trusting, ""},
	} {
		said := &report{}
		node := NewNodeWith("go", Config{Logger: slog.New(slog.NewTextHandler(said, nil)), TLS: c.settings})
		probe := Pushed[turns](node, "turns")
		startNode(t, node, c.address)
		probe.Flush(turns{Turn: 1})
		if c.wanted == "" {
			deliver(t, node)
			continue
		}
		said.waitFor(t, c.wanted)
		if err := node.Close(); err == nil {
			t.Errorf("%q: the DAC has the sample", c.wanted)
		}
	}
	dac.stop()
	if row := dac.sql("SELECT count(*) FROM oasis_turns"); row != "2" {
		t.Errorf("the archive has %s", row)
	}
}
