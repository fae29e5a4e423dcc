// Package oasis is an EI node inside a Go program: it sends samples of the program to a DAC, and obeys its commands.
//
//	type Motor struct {
//		RPM         float64 `oasis:"rpm,unit=1/min,max=9000"`
//		Temperature float32 `oasis:"temperature,unit=Cel,warn>80,alarm>95"`
//	}
//
//	node := oasis.NewNode("machine")
//	motor := oasis.Pushed[Motor](node, "motor")
//	if err := node.Start("127.0.0.1:7071"); err != nil {
//		log.Fatal(err)
//	}
//	defer node.Close()
//	motor.Flush(Motor{RPM: 2900, Temperature: 61})
//
// A sample is a struct. Each exported field is a metric; it may be a number, a bool, a string, or slices, arrays and
// structs of these. Fields of an embedded struct come first, in its place. The tag `oasis` has the name and options:
//
//	oasis:"NAME,unit=UCUM,kind=counter|gauge|state|event,label=TEXT,min=N,max=N,warn>N,warn<N,alarm>N,alarm<N"
//	oasis:"mode,enum=IDLE:0|RUNNING:5|FAILED:6,alarm=FAILED"
//	oasis:"-"
//
// The tag `doc` is documentation. A blank field, `_ struct{}`, has the tags of the type itself:
//
//	oasis:"Plant::Engine,uuid=6f0f6e7e-3f0b-4c58-9d3c-0d7b6f2a9f31,version=1.2,demand=1..100"
package oasis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"os"
	"reflect"
	"strings"
	"sync"
	"time"
	"unicode"
	"unsafe"
)

// Version is that of this package.
const Version = "0.1.0"

const (
	maxName     = 1024                 // bytes of the name of a node or an instance
	look        = 2 * time.Millisecond // between two looks at the rings, unless all probes are silent
	maxOrders   = 16                   // commands that wait for a periodic probe
	closeWithin = farewell + time.Second
)

// Config has the bounds and options of a node. Zero values are defaults.
type Config struct {
	// RingBytes is the memory between a pushed probe and the node, 64 KiB by default, at most 1 GiB. A sample takes its
	// row, rounded up to eight bytes, and 24 bytes. Rows of varying sizes need up to twice the memory.
	RingBytes int
	// SpoolBytes is the memory for batches that wait for the DAC, 16 MiB by default. Above it the oldest are dropped and
	// counted.
	SpoolBytes int
	// BatchSamples and BatchBytes bound a batch: 1,024 samples (at most 65,535) and 512 KiB.
	BatchSamples, BatchBytes int
	// Linger is how long a sample of a busy stream waits for others, 10 ms by default. One of an idle stream is sent at
	// once.
	Linger time.Duration
	// UUID is the node's identity across runs; by default it is derived from host and name.
	UUID UUID
	// TLS has the authorities and the node's certificate for a DAC with TLS (docs/guides/use-tls.md). By default the
	// authorities of the system are trusted for addresses with tls://. With it every connection is encrypted.
	TLS *tls.Config
	// Logger takes what the node reports of itself. By default that is warnings to standard error.
	Logger *slog.Logger
}

// Node is an EI node. Add its probes, start it, and close it before the program ends.
type Node struct {
	name      string
	config    Config
	log       *slog.Logger
	instances []*instance
	types     []*ProbeType
	byName    map[string]*instance
	identity  identity
	secret    UUID
	outbox    *outbox
	bell      *bell
	executed  executed
	patience  patience

	// mu guards the fields below.
	mu        sync.Mutex
	problems  []error
	isStarted bool
	isClosed  bool
	closeErr  error
	cancel    context.CancelFunc
	// stop is closed when the node takes no more samples, ending when the last ones are in the outbox, closed at the end.
	stop, ending, closed chan struct{}
	collected            chan struct{}
	shipped              chan error
}

// NewNode makes a node without probes. The name is unique among the nodes of a DAC.
func NewNode(name string) *Node { return NewNodeWith(name, Config{}) }

// NewNodeWith makes a node with a configuration.
func NewNodeWith(name string, config Config) *Node {
	defaults := func(value *int, usual, most int) {
		if *value <= 0 {
			*value = usual
		}
		*value = min(*value, most)
	}
	if config.RingBytes <= 0 {
		config.RingBytes = 64 * 1024
	}
	defaults(&config.SpoolBytes, 16<<20, math.MaxInt)
	defaults(&config.BatchSamples, 1024, maxSamples)
	defaults(&config.BatchBytes, maxRow, maxRow)
	if config.Linger <= 0 {
		config.Linger = 10 * time.Millisecond
	}
	node := &Node{
		name: name, config: config, log: config.Logger, byName: map[string]*instance{}, patience: oneDAC, bell: newBell(),
		stop: make(chan struct{}), ending: make(chan struct{}), closed: make(chan struct{}),
	}
	if node.log == nil {
		node.log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	node.log = node.log.With("node", name)
	if err := checkName("node", name); err != nil {
		node.problem(err)
	} else if strings.ContainsAny(name, "/*") {
		node.problem(fmt.Errorf("name of the node %.60q is refused: use no / and no *, which patterns such as NODE/* would take for theirs", name))
	}
	return node
}

func checkName(what, name string) error {
	if len(name) >= 1 && len(name) <= maxName && strings.IndexFunc(name, unicode.IsControl) < 0 {
		return nil
	}
	return fmt.Errorf("name of the %s %.60q is refused: use 1 to %d bytes without control characters, such as line ends", what, name, maxName)
}

// problem keeps an error for Start: probes are declared without looking at errors.
func (n *Node) problem(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.problems = append(n.problems, err)
}

// add adds an instance. The mistakes that it finds are reported by Start.
func (n *Node) add(name, kind string, of *ProbeType) *instance {
	n.mu.Lock()
	defer n.mu.Unlock()
	refuse := func(err error) *instance {
		n.problems = append(n.problems, err)
		return nil
	}
	if n.isStarted {
		n.log.Error("a probe was added to a node that has started: add it before Start, its samples are not sent", "instance", name)
		return nil
	}
	if err := checkName("instance", name); err != nil {
		return refuse(err)
	}
	if n.byName[name] != nil {
		return refuse(fmt.Errorf("duplicate instance %q of node %q: names must be unique within a node", name, n.name))
	}
	added := &instance{
		index: len(n.instances), name: name, kind: kind, of: of, node: n, enabled: true, encoder: newEncoder(of),
		firstSequence: 1, nextSequence: 1, linger: n.config.Linger,
	}
	if kind == "event" {
		added.linger = 0
	}
	n.instances = append(n.instances, added)
	n.byName[name] = added
	for _, known := range n.types {
		if known.UUID == of.UUID {
			return added
		}
	}
	n.types = append(n.types, of)
	return added
}

func (n *Node) find(name string) *instance { return n.byName[name] }

// registration is the message that registers the instances as they are now.
func (n *Node) registration() registerMessage {
	message := registerMessage{Op: "register", Types: n.types, Instances: []registered{}}
	if message.Types == nil {
		message.Types = []*ProbeType{}
	}
	for _, instance := range n.instances {
		instance.mu.Lock()
		one := registered{Name: instance.name, Type: instance.of.UUID, Kind: instance.kind, instanceState: instance.stateNow()}
		instance.mu.Unlock()
		if instance.kind == "periodic" && instance.of.Rate != nil {
			one.Demand = instance.of.Rate.Demand
		}
		message.Instances = append(message.Instances, one)
	}
	return message
}

// Start begins to sample, and to connect to the data channel of a DAC: "HOST:PORT", or "tls://HOST:PORT". With several, separated by commas,
// the node goes to the next one when it loses one. It does not wait for a DAC: while none can be reached, samples are kept
// within bounds. An error is a mistake in the declaration of the node; then nothing has started.
func (n *Node) Start(dac string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	addresses, err := addressesOf(dac)
	if err := errors.Join(append(n.problems, err)...); err != nil {
		return err
	}
	if n.isStarted {
		return fmt.Errorf("node %q has started already", n.name)
	}
	if n.secret, err = randomUUID(); err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "localhost"
	}
	id := n.config.UUID
	if id == (UUID{}) {
		id = derivedUUID("oasis node " + host + "/" + n.name)
	}
	n.identity = identity{
		Name: n.name, UUID: id, Run: runOf(n.secret), Host: host, Software: "oasis-go " + Version, PID: os.Getpid(),
	}
	n.outbox = newOutbox(n.config.SpoolBytes, len(n.instances))
	for i, instance := range n.instances {
		n.outbox.reached[i].state = instance.stateNow()
	}
	n.isStarted = true
	n.run(addresses)
	return nil
}

func addressesOf(dac string) ([]string, error) {
	addresses := strings.Split(dac, ",")
	for i, address := range addresses {
		addresses[i] = strings.TrimSpace(address)
		if _, port, err := net.SplitHostPort(strings.TrimPrefix(addresses[i], tlsScheme)); err != nil || port == "" {
			return nil, fmt.Errorf("%.60q is no address of a data channel: write it as HOST:PORT or tls://HOST:PORT, such as 127.0.0.1:7071", address)
		}
	}
	return addresses, nil
}

// run starts the goroutines. The caller has locked mu.
func (n *Node) run(addresses []string) {
	ctx, cancel := context.WithCancel(context.Background())
	n.cancel = cancel
	n.collected, n.shipped = make(chan struct{}), make(chan error, 1)
	if len(addresses) > 1 {
		n.patience = severalDACs
	}
	ship := &shipper{node: n, out: n.outbox, addresses: addresses, patience: n.patience, logged: map[string]string{}}
	for _, instance := range n.instances {
		if instance.sample != nil {
			go instance.runPeriodic()
		}
	}
	go n.collect()
	go func() { n.shipped <- ship.run(ctx) }()
}

// collect empties the rings until the node ends. The application must not pay for waking it, so it polls while there are
// samples, and sleeps after a while without.
func (n *Node) collect() {
	defer close(n.collected)
	interval := n.config.Linger
	for _, instance := range n.instances {
		if instance.ring != nil {
			interval = min(look, n.config.Linger)
		}
	}
	pause := interval
	for isLast := false; !isLast; {
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-n.bell.rung:
			timer.Stop()
		case <-n.stop:
			timer.Stop()
			isLast = true
		}
		now := time.Now()
		hasSamples := false
		for _, instance := range n.instances {
			hasSamples = instance.collect(now, isLast) || hasSamples
		}
		pause = n.bell.pause(now, hasSamples, interval)
	}
}

// command passes a command of the DAC to its instance. It never waits.
func (n *Node) command(wanted command) {
	answer := func(answered result) {
		answered.Op, answered.ID = "result", wanted.ID
		if answered.Failed != nil {
			answered.Done = nil
		} else {
			n.executed.remember(&wanted, *answered.Done)
		}
		n.outbox.answer(answered)
	}
	instance := n.find(wanted.Instance)
	if instance == nil {
		answer(result{Failed: refusal("unknown_instance", "this node has no instance %.60q", wanted.Instance)})
		return
	}
	if known := n.executed.outcome(&wanted); known != nil {
		answer(*known)
		return
	}
	n.log.Info("command", "instance", instance.name, "command", cut(wanted.Command))
	if instance.sample == nil {
		instance.mu.Lock()
		state, failure := instance.execute(wanted)
		instance.mu.Unlock()
		answer(result{Done: &state, Failed: failure})
		return
	}
	select {
	case instance.orders <- order{wanted, answer}:
	default:
		answer(result{Failed: refusal("busy", "the probe %q has not returned for so long that %d commands wait: look at its function", instance.name, maxOrders)})
	}
}

// Refusal returns why the DAC that answered last has refused the node, such as name_taken. It is nil once a DAC has taken
// the node, and before any has answered.
func (n *Node) Refusal() *Refusal {
	n.mu.Lock()
	isStarted := n.isStarted
	n.mu.Unlock()
	if !isStarted {
		return nil
	}
	n.outbox.mu.Lock()
	defer n.outbox.mu.Unlock()
	return n.outbox.refused
}

// Close takes the last samples, sends them, and waits up to two seconds for the DAC to acknowledge them. An error says why
// it has not received them, and is a warning of the log, too. Probes refuse samples from then on. A second call waits for
// the first one, and returns the same.
func (n *Node) Close() error {
	n.mu.Lock()
	if !n.isStarted {
		n.mu.Unlock()
		return nil
	}
	isFirst := !n.isClosed
	n.isClosed = true
	n.mu.Unlock()
	if isFirst {
		n.closeErr = n.end()
		close(n.closed)
	}
	<-n.closed
	return n.closeErr
}

func (n *Node) end() error {
	close(n.stop)
	<-n.collected
	n.outbox.with(func() { n.outbox.closing = true })
	close(n.ending)
	timer := time.AfterFunc(closeWithin, n.cancel)
	err := <-n.shipped
	timer.Stop()
	n.cancel()
	if err == nil {
		return nil
	}
	if refused := n.Refusal(); refused != nil {
		err = refused
	}
	n.outbox.mu.Lock()
	left := n.outbox.spool.countUnreceived()
	n.outbox.mu.Unlock()
	// A program may ignore the error, such as that of a deferred call.
	n.log.Warn("the node ends, and the DAC does not have its last samples", "samples", left, "error", err)
	return fmt.Errorf("node %q ends, and the DAC does not have its last samples: %w", n.name, err)
}

// Probe is a probe that the program flushes, from any goroutine. No flush waits, unless WaitForRoom says so, and none
// allocates.
type Probe[T any] struct{ pushed *pushed }

// pushed is a Probe without its type.
type pushed struct {
	ring   *ring
	layout *layout
	limits *deadbands
}

// Option changes how a probe is added.
type Option func(*options)

type options struct {
	ringBytes int
	overflow  Overflow
	deadbands map[string]float64
	disabled  bool
}

// RingBytes sets the memory between the probe and the node.
func RingBytes(bytes int) Option { return func(o *options) { o.ringBytes = bytes } }

// WhenFull sets what happens to a sample when the ring is full.
func WhenFull(overflow Overflow) Option { return func(o *options) { o.overflow = overflow } }

// Deadband sets the deadband of a metric of a probe on change, in the metric's unit. Any change of a metric without one
// counts; a deadband of infinity ignores the metric.
func Deadband(metric string, deadband float64) Option {
	return func(o *options) { o.deadbands[metric] = deadband }
}

// Disabled starts the probe disabled: it takes no samples until the command `enable`.
func Disabled() Option { return func(o *options) { o.disabled = true } }

// Pushed adds a probe that the program flushes.
func Pushed[T any](node *Node, instance string, with ...Option) *Probe[T] {
	return &Probe[T]{node.pushed(instance, "pushed", reflect.TypeOf((*T)(nil)).Elem(), with)}
}

// Event adds a probe that the program flushes when something happens. Its samples do not wait for others to share a batch.
func Event[T any](node *Node, instance string, with ...Option) *Probe[T] {
	return &Probe[T]{node.pushed(instance, "event", reflect.TypeOf((*T)(nil)).Elem(), with)}
}

// OnChange adds a probe that the program flushes, and that keeps only samples in which a metric has changed by more than
// its Deadband.
func OnChange[T any](node *Node, instance string, with ...Option) *Probe[T] {
	return &Probe[T]{node.pushed(instance, "on-change", reflect.TypeOf((*T)(nil)).Elem(), with)}
}

// Periodic adds a probe that the node calls `hertz` times a second, 0.01 to 1,000, until a command changes the rate. Each
// has a goroutine of its own. If the function fails or panics, there is no sample: the node logs that once, and calls
// again at the probe's rate.
func Periodic[T any](node *Node, instance string, hertz float64, sample func() (T, error), with ...Option) {
	of, lay, err := typeAndLayout(reflect.TypeOf((*T)(nil)).Elem())
	settings := optionsOf(node, with)
	switch {
	case err != nil:
		node.problem(err)
		return
	case !isRate(hertz):
		node.problem(fmt.Errorf("rate %v of %q: 0.01 to 1000 Hz are possible", hertz, instance))
		return
	case sample == nil:
		node.problem(fmt.Errorf("the probe %q has no function", instance))
		return
	}
	added := node.add(instance, "periodic", of)
	if added == nil {
		return
	}
	added.hertz, added.enabled, added.orders = hertz, !settings.disabled, make(chan order, maxOrders)
	added.sample = func(row []byte) ([]byte, error) {
		value, err := sample()
		if err != nil {
			return row, err
		}
		if size := lay.size(unsafe.Pointer(&value)); size > cap(row) {
			row = make([]byte, 0, size)
		}
		row, fits := lay.append(row, unsafe.Pointer(&value))
		if !fits {
			return row, errors.New("the value changed while its row was written: another goroutine writes to its slices")
		}
		return row, nil
	}
}

func optionsOf(node *Node, with []Option) options {
	settings := options{ringBytes: node.config.RingBytes, deadbands: map[string]float64{}}
	for _, option := range with {
		option(&settings)
	}
	return settings
}

// pushed adds a probe with a ring. One that cannot be added takes no samples, and Start says why.
func (n *Node) pushed(name, kind string, t reflect.Type, with []Option) *pushed {
	of, lay, err := typeAndLayout(t)
	if err != nil {
		n.problem(err)
		return &pushed{}
	}
	return n.pushedOf(name, kind, of, lay, with)
}

func (n *Node) pushedOf(name, kind string, of *ProbeType, lay *layout, with []Option) *pushed {
	settings := optionsOf(n, with)
	made, err := newRing(settings.ringBytes, lay.fixed, settings.overflow)
	if err != nil {
		n.problem(fmt.Errorf("probe %q: %w", name, err))
		return &pushed{}
	}
	made.bell = n.bell
	var limits *deadbands
	if kind == "on-change" {
		if limits, err = newDeadbands(of, settings.deadbands); err != nil {
			n.problem(fmt.Errorf("probe %q: %w", name, err))
			return &pushed{}
		}
	}
	added := n.add(name, kind, of)
	if added == nil {
		return &pushed{}
	}
	made.enabled.Store(!settings.disabled)
	added.ring, added.limits, added.enabled = made, limits, !settings.disabled
	return &pushed{ring: made, layout: lay, limits: limits}
}

// Flush takes a sample now. It returns whether there was room: a sample without room is dropped and counted, and the DAC
// reports the loss.
func (p *Probe[T]) Flush(sample T) bool {
	// Not even the clock is read for a probe that is off.
	return p.Enabled() && p.pushed.flush(nowNs(), unsafe.Pointer(&sample))
}

// FlushAt takes a sample of another time.
func (p *Probe[T]) FlushAt(sample T, at time.Time) bool {
	return p.Enabled() && p.pushed.flush(uint64(at.UnixNano()), unsafe.Pointer(&sample))
}

// SetState sets the state of the following samples. 0 is normal, the program gives the others a meaning.
func (p *Probe[T]) SetState(state uint16) {
	if p.pushed.ring != nil {
		p.pushed.ring.state.Store(uint32(state))
	}
}

// Dropped returns the number of samples that found no room so far.
func (p *Probe[T]) Dropped() uint64 {
	if p.pushed.ring == nil {
		return 0
	}
	return p.pushed.ring.dropped()
}

// Enabled returns whether samples are taken: a command may have disabled the probe.
func (p *Probe[T]) Enabled() bool { return p.pushed.ring != nil && p.pushed.ring.enabled.Load() }

// flush takes the value at p, of the type that the layout was made of. The probe is enabled.
func (p *pushed) flush(at uint64, value unsafe.Pointer) bool {
	if p.limits != nil {
		return p.flushChange(at, value)
	}
	return p.ring.putValue(at, p.layout, value)
}

// flushChange keeps a sample that is a change. If another goroutine compares one at this moment, it keeps it in any case.
func (p *pushed) flushChange(at uint64, value unsafe.Pointer) bool {
	d := p.limits
	if !d.mu.TryLock() {
		return p.ring.putValue(at, p.layout, value)
	}
	size := p.layout.size(value)
	if size > cap(d.next) {
		d.next = make([]byte, 0, size)
	}
	row, _ := p.layout.append(d.next[:0], value)
	if !d.isChange(row) {
		d.next = row
		d.mu.Unlock()
		return true
	}
	// Not locked while it waits for room, if it may: a command needs the lock, and the node what the command has locked.
	d.next = nil
	d.mu.Unlock()
	fits := p.ring.put(at, row)
	if d.mu.TryLock() {
		// A change that finds no room counts as dropped. The next one is compared with what the DAC really has.
		if fits {
			d.kept, row, d.isKept = row, d.kept, true
		}
		d.next = row
		d.mu.Unlock()
	}
	return fits
}
