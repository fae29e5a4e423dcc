module oasis.example/seccomp

go 1.24.0

require (
	github.com/moby/profiles/seccomp v0.3.0
	github.com/opencontainers/runtime-spec v1.3.0
)

require golang.org/x/sys v0.33.0 // indirect
