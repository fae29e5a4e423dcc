package oasis

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The first program of the documentation, as a newcomer writes it: in a module of its own, outside the tree.
func TestTheProgramOfTheDocumentationRuns(t *testing.T) {
	dac := startDAC(t)
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "sdk", "go.md"))
	if err != nil {
		t.Fatal(err)
	}
	program := regexp.MustCompile("(?s)```go\n(package main\n.*?)```").FindSubmatch(page)
	if program == nil {
		t.Fatal("docs/sdk/go.md has no program")
	}
	text := strings.NewReplacer("127.0.0.1:7071", dac.Channel, "turn < 6000", "turn < 50").Replace(string(program[1]))
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "main.go"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, arguments := range [][]string{
		{"mod", "init", "motor"}, {"mod", "edit", "-replace", "oasis=" + here}, {"mod", "tidy"}, {"run", "."},
	} {
		command := exec.Command("go", arguments...)
		command.Dir = folder
		command.Env = append(os.Environ(), "GOFLAGS=", "GOPROXY=off")
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(arguments, " "), err, out)
		}
	}
	found := dac.eventually("machine", "motor", func(l ledger) bool { return l.Received == 50 })
	if found.Missing != 0 || found.Unexplained != 0 {
		t.Errorf("%+v", found)
	}
}
