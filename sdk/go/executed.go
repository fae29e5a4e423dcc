package oasis

import "sync"

// maxExecuted is the number of commands that are remembered. The oldest is forgotten first.
const maxExecuted = 1000

// executed remembers the commands that succeeded: one that comes again, through another DAC or relay, is answered and not
// executed. A command that failed has changed nothing, so it may be tried again.
type executed struct {
	mu    sync.Mutex // guards all fields
	known map[UUID]execution
	order []UUID
}

type execution struct {
	key   string
	state instanceState
}

// outcome returns that of a command that was executed, or nil.
func (e *executed) outcome(wanted *command) *result {
	e.mu.Lock()
	defer e.mu.Unlock()
	if wanted.UUID == nil {
		return nil
	}
	known, isKnown := e.known[*wanted.UUID]
	if !isKnown {
		return nil
	}
	if known.key != wanted.key() {
		return &result{Failed: refusal("uuid_reused", "UUID %s names another command, which was executed: give each command its own", wanted.UUID)}
	}
	state := known.state
	return &result{Done: &state}
}

func (e *executed) remember(done *command, state instanceState) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if done.UUID == nil {
		return
	}
	if e.known == nil {
		e.known = map[UUID]execution{}
	}
	if _, isKnown := e.known[*done.UUID]; isKnown {
		return
	}
	if len(e.order) == maxExecuted {
		delete(e.known, e.order[0])
		e.order = append(e.order[:0], e.order[1:]...)
	}
	e.known[*done.UUID] = execution{done.key(), state}
	e.order = append(e.order, *done.UUID)
}
