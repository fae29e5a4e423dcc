// Program seccomp prints the filter of system calls that runtimes apply as RuntimeDefault to containers without capabilities.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/moby/profiles/seccomp"
	"github.com/opencontainers/runtime-spec/specs-go"
)

func main() {
	container := &specs.Spec{Process: &specs.Process{Capabilities: &specs.LinuxCapabilities{}}}
	filter, err := seccomp.GetDefaultProfile(container)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	text, err := json.Marshal(filter)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(string(text))
}
