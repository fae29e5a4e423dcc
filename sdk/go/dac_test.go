package oasis

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const waitFor = 2 * time.Minute

// realDAC is a process of a real DAC.
type realDAC struct {
	t       *testing.T
	state   string
	process *exec.Cmd
	// more are further arguments.
	more []string
	// HTTP is the address of its page, Channel that of its data channel.
	HTTP, Channel string
}

// oasisBinary returns the program to test with: OASIS_BIN, or the debug build.
func oasisBinary(t *testing.T) string {
	t.Helper()
	path := os.Getenv("OASIS_BIN")
	if path == "" {
		path = filepath.Join("..", "..", "target", "debug", "oasis")
	}
	path, err := filepath.Abs(path)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Fatalf("%v: build it (cargo build -p oasis), or name another in OASIS_BIN", err)
	}
	return path
}

// startDAC runs a DAC with an archive until the test ends.
func startDAC(t *testing.T, more ...string) *realDAC {
	t.Helper()
	d := &realDAC{t: t, state: t.TempDir(), Channel: "127.0.0.1:0", more: more}
	d.start()
	t.Cleanup(d.stop)
	return d
}

func (d *realDAC) start() {
	d.t.Helper()
	arguments := []string{
		"dac", "--listen", "127.0.0.1:0", "--channel-listen", d.Channel, "--archive", filepath.Join(d.state, "archive"), "--ready-json",
	}
	d.process = exec.Command(oasisBinary(d.t), append(arguments, d.more...)...)
	// Accounts and audit log are not those of the developer.
	d.process.Env = append(os.Environ(), "XDG_STATE_HOME="+d.state)
	out, err := d.process.StdoutPipe()
	if err == nil {
		err = d.process.Start()
	}
	if err != nil {
		d.t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var ready struct{ HTTP, Channel string }
	if err != nil || json.Unmarshal(line, &ready) != nil {
		d.t.Fatalf("the DAC is not ready: %s %v", line, err)
	}
	d.HTTP, d.Channel = ready.HTTP, ready.Channel
}

// stop ends it as its operator would.
func (d *realDAC) stop() {
	_ = d.process.Process.Signal(os.Interrupt)
	_ = d.process.Wait()
}

// kill ends it without a last word.
func (d *realDAC) kill() {
	_ = d.process.Process.Kill()
	_ = d.process.Wait()
}

func (d *realDAC) get(path string, into any) {
	d.t.Helper()
	answer, err := http.Get(d.HTTP + path)
	if err != nil {
		d.t.Fatal(err)
	}
	d.read(answer, into)
}

func (d *realDAC) read(answer *http.Response, into any) {
	d.t.Helper()
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		d.t.Fatalf("%s: %s %v", answer.Status, text, err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		d.t.Fatalf("%s: %v", text, err)
	}
}

// command sends a command and returns its outcome. A node that a busy host has kept from its DAC comes back.
func (d *realDAC) command(fields map[string]any) map[string]any {
	d.t.Helper()
	for until := time.Now().Add(waitFor); ; time.Sleep(10 * time.Millisecond) {
		outcome := d.commandOnce(fields)
		if outcome["type"] != "/problems/node_offline" || time.Now().After(until) {
			return outcome
		}
	}
}

func (d *realDAC) commandOnce(fields map[string]any) map[string]any {
	d.t.Helper()
	body, err := json.Marshal(fields)
	if err != nil {
		d.t.Fatal(err)
	}
	answer, err := http.Post(d.HTTP+"/api/v1/commands", "application/json", bytes.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	defer answer.Body.Close()
	outcome := map[string]any{}
	if err := json.NewDecoder(answer.Body).Decode(&outcome); err != nil {
		d.t.Fatal(err)
	}
	return outcome
}

// ledger is what the DAC knows of an instance's samples.
type ledger struct {
	Received, Missing, Unexplained uint64
	LastSequence                   uint64 `json:"last_sequence"`
	Node                           map[string]uint64
	Losses, Causes                 map[string]uint64
	Archive                        struct{ Stored uint64 }
}

func (d *realDAC) ledger(node, name string) (ledger, bool) {
	d.t.Helper()
	var known struct {
		Instances []struct {
			Node, Instance string
			Ledger         ledger
		}
	}
	d.get("/api/v1/ledger", &known)
	for _, one := range known.Instances {
		if one.Node == node && one.Instance == name {
			return one.Ledger, true
		}
	}
	return ledger{}, false
}

// eventually waits for a ledger of which something holds.
func (d *realDAC) eventually(node, name string, holds func(ledger) bool) ledger {
	d.t.Helper()
	for until := time.Now().Add(waitFor); ; time.Sleep(10 * time.Millisecond) {
		found, isKnown := d.ledger(node, name)
		if isKnown && holds(found) {
			return found
		}
		if time.Now().After(until) {
			d.t.Fatalf("the ledger of %s/%s stays at %+v", node, name, found)
		}
	}
}

// sql returns the first row of a query over the archive, its cells separated by commas.
func (d *realDAC) sql(query string) string {
	d.t.Helper()
	out, err := exec.Command(oasisBinary(d.t), "sql", "--archive", filepath.Join(d.state, "archive"), "--format", "csv", query).CombinedOutput()
	if err != nil {
		d.t.Fatalf("%s: %v: %s", query, err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) < 2 {
		d.t.Fatalf("%s: %s", query, out)
	}
	return fmt.Sprint(strings.TrimSpace(lines[1]))
}
