package oasis

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
)

const (
	farewell     = 2 * time.Second        // for the last acknowledgements of a node that ends, or leaves a DAC that drains
	leave        = 500 * time.Millisecond // for the DAC to close after the goodbye
	batchesAtOne = 256                    // in one write
	firstPause   = 50 * time.Millisecond
	longestPause = time.Second
	lasted       = 200 * time.Millisecond // a connection that lasted longer has worked
	tlsScheme    = "tls://"
	maxLogged    = 64 // DACs whose last failures are remembered
)

// patience is how long a node waits for a DAC.
type patience struct{ connect, silence, ping time.Duration }

var (
	oneDAC      = patience{3 * time.Second, 5 * time.Second, time.Second}
	severalDACs = patience{1500 * time.Millisecond, 1500 * time.Millisecond, 500 * time.Millisecond}
)

// shipper keeps a connection to a DAC and sends what is in the outbox.
type shipper struct {
	node      *Node
	out       *outbox
	addresses []string
	turn      int
	patience  patience
	pause     time.Duration
	attach    uint64
	epoch     string
	isJoined  bool
	scratch   []byte
	// logged has the last failure of each DAC: it is not logged again, because a DAC may be away for days.
	logged map[string]string
}

// run connects until the node ends. At least once: a program may end before this goroutine begins.
func (s *shipper) run(ctx context.Context) error {
	for {
		address := s.addresses[s.turn%len(s.addresses)]
		began := time.Now()
		s.isJoined = false
		err := s.once(ctx, address)
		s.out.mu.Lock()
		closing := s.out.closing
		s.out.mu.Unlock()
		if closing {
			return err
		}
		wait := s.nextPause(err, time.Since(began))
		if err != nil {
			s.logFailure(address, err, wait)
		}
		s.turn++
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.node.ending: // one more attempt, for the last samples
		case <-time.After(wait):
		}
	}
}

// nextPause doubles up to a second, with jitter of a quarter. With several DACs the next one is tried soon.
func (s *shipper) nextPause(err error, connected time.Duration) time.Duration {
	var refused *Refusal
	if s.pause == 0 || (connected > lasted && !errors.As(err, &refused)) {
		s.pause = firstPause
	}
	pause := firstPause
	if (s.turn+1)%len(s.addresses) == 0 {
		pause = s.pause
		s.pause = min(2*s.pause, longestPause)
	}
	return pause * time.Duration(12+rand.Intn(9)) / 16
}

func (s *shipper) logFailure(address string, err error, wait time.Duration) {
	var refused *Refusal
	if errors.As(err, &refused) && !refused.isTemporary() {
		s.out.with(func() { s.out.refused = refused })
	}
	text := err.Error()
	switch {
	case s.isJoined:
		s.node.log.Warn("lost the connection to the DAC", "target", address, "error", text, "retry", wait)
	case s.logged[address] == text:
		s.node.log.Debug("cannot connect to the DAC", "target", address, "error", text, "retry", wait)
	default:
		s.node.log.Warn("cannot connect to the DAC: retrying every second", "target", address, "error", text)
	}
	if len(s.logged) >= maxLogged {
		s.logged = map[string]string{}
	}
	s.logged[address] = text
}

func (s *shipper) once(ctx context.Context, address string) error {
	conn, err := s.dial(ctx, address)
	if err != nil {
		return err
	}
	// The end of the node ends every read and write.
	stopClosing := context.AfterFunc(ctx, func() { conn.Close() })
	defer stopClosing()
	defer conn.Close()
	from := &frameReader{from: conn}
	if err := s.join(conn, from, address); err != nil {
		return err
	}
	s.isJoined = true
	clock := &clockOffset{}
	heard := make(chan error, 1)
	go func() { heard <- s.listen(conn, from, clock) }()
	sent, drained := s.ship(conn, clock, heard)
	if sent == nil {
		// The DAC closes when it has read the goodbye: after that the name is free for another node.
		select {
		case <-heard:
		case <-time.After(leave):
		}
		return nil
	}
	conn.Close()
	if drained {
		return nil
	}
	// The DAC's last message explains more than the failed write that it caused.
	select {
	case err := <-heard:
		if err != nil && !errors.Is(err, net.ErrClosed) {
			return err
		}
	case <-time.After(leave):
	}
	return sent
}

func (s *shipper) dial(ctx context.Context, address string) (net.Conn, error) {
	place := strings.TrimPrefix(address, tlsScheme)
	dialer := &net.Dialer{Timeout: s.patience.connect}
	conn, err := dialer.DialContext(ctx, "tcp", place)
	if err != nil {
		return nil, dialError(err)
	}
	settings := &tls.Config{MinVersion: tls.VersionTLS12}
	if s.node.config.TLS != nil {
		settings = s.node.config.TLS.Clone()
	} else if place == address {
		return conn, nil
	}
	if host, _, err := net.SplitHostPort(place); err == nil && settings.ServerName == "" {
		settings.ServerName = host
	}
	secured := tls.Client(conn, settings)
	handshake, cancel := context.WithTimeout(ctx, s.patience.silence)
	defer cancel()
	if err := secured.HandshakeContext(handshake); err != nil {
		conn.Close()
		return nil, fmt.Errorf("TLS: %w: does the DAC have a certificate for this name, of an authority in Config.TLS? (docs/guides/use-tls.md)", err)
	}
	return secured, nil
}

func dialError(err error) error {
	var unknown *net.DNSError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%w: is the DAC running (oasis dac), and is this its data channel (HOST:7071 by default)?", err)
	case errors.As(err, &unknown):
		return fmt.Errorf("%w: write the address of the DAC as HOST:PORT with a host that this one can resolve", err)
	case errors.Is(err, os.ErrDeadlineExceeded), os.IsTimeout(err):
		return fmt.Errorf("%w: nothing answers there: is the host up, and does a firewall let TCP through?", err)
	}
	return err
}

// send writes control messages and batches in one write.
func (s *shipper) send(conn net.Conn, control []any, batches [][]byte) error {
	out := s.scratch[:0]
	for _, message := range control {
		var err error
		if out, err = appendControl(out, message); err != nil {
			return err
		}
	}
	for _, batch := range batches {
		out = append(appendHeader(out, frameBatch, len(batch)), batch...)
	}
	if cap(out) <= keptBuffer {
		s.scratch = out
	} else {
		s.scratch = nil
	}
	if err := conn.SetWriteDeadline(time.Now().Add(s.patience.silence)); err != nil {
		return err
	}
	_, err := conn.Write(out)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("the DAC has taken nothing for %s: %w", s.patience.silence, err)
	}
	return err
}

// receive reads a message. The whole of it must come within the silence that the node allows.
func (s *shipper) receive(conn net.Conn, from *frameReader) (*dacMessage, error) {
	if err := conn.SetReadDeadline(time.Now().Add(s.patience.silence)); err != nil {
		return nil, err
	}
	message, err := from.message()
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, fmt.Errorf("the DAC has said nothing for %s", s.patience.silence)
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("the DAC has closed the connection: %w", err)
	}
	return message, err
}

// join says hello and registers the instances.
func (s *shipper) join(conn net.Conn, from *frameReader, address string) error {
	s.attach++
	hello := helloMessage{
		Op: "hello", Protocol: protocol, Node: s.node.identity, Secret: s.node.secret, Attach: s.attach, Drains: true,
	}
	if err := s.send(conn, []any{hello}, nil); err != nil {
		return err
	}
	welcome, err := s.receive(conn, from)
	if err != nil {
		return err
	}
	if welcome.Op != "welcome" || welcome.Protocol != protocol || welcome.Epoch == "" {
		return notADAC("%q as the answer to hello", cut(welcome.Op))
	}
	control := []any{}
	if welcome.Safe != "" {
		control = append(control, plainMessage{Op: "keep-until-safe"})
	}
	if err := s.send(conn, append(control, s.node.registration()), nil); err != nil {
		return err
	}
	answer, err := s.receive(conn, from)
	if err != nil {
		return err
	}
	topics, err := s.topics(answer)
	if err != nil {
		return err
	}
	isNew := s.epoch != "" && s.epoch != welcome.Epoch
	s.epoch = welcome.Epoch
	s.meet(topics, isNew, welcome.Safe)
	if len(s.logged) > 0 {
		// As loud as the warning before: otherwise that is the last word.
		s.node.log.Warn("connected to the DAC again", "target", address)
	} else {
		s.node.log.Info("connected to the DAC", "target", address, "software", cut(welcome.Software), "instances", len(topics))
	}
	s.logged = map[string]string{}
	return nil
}

func (s *shipper) topics(answer *dacMessage) (map[int]uint32, error) {
	var assigned []struct {
		Instance string `json:"instance"`
		Topic    uint32 `json:"topic"`
	}
	if answer.Op != "registered" || json.Unmarshal(answer.Topics, &assigned) != nil {
		return nil, notADAC("%q as the answer to register", cut(answer.Op))
	}
	topics := map[int]uint32{}
	for _, one := range assigned {
		if instance := s.node.find(one.Instance); instance != nil && one.Topic != 0 {
			topics[instance.index] = one.Topic
		}
	}
	return topics, nil
}

// meet notes the DAC. One that is new has none of the samples before: a probe on change sends its next one in any case.
func (s *shipper) meet(topics map[int]uint32, isNew bool, safeWhen string) {
	s.out.with(func() {
		s.out.spool.connected(topics, isNew, safeWhen)
		s.out.refused, s.out.wasTaken, s.out.draining = nil, true, false
		s.out.results = nil // answers to a DAC that is gone
	})
	for _, instance := range s.node.instances {
		if isNew && instance.limits != nil {
			instance.limits.renew()
		}
	}
}

// listen receives until the connection ends.
func (s *shipper) listen(conn net.Conn, from *frameReader, clock *clockOffset) error {
	for {
		message, err := s.receive(conn, from)
		if err == nil {
			err = s.hear(message, clock)
		}
		if err != nil {
			return err
		}
	}
}

func (s *shipper) hear(message *dacMessage, clock *clockOffset) error {
	switch message.Op {
	case "ack", "safe":
		pairs, err := message.topicSequences()
		if err != nil {
			return notADAC("%q with other topics than the protocol has", message.Op)
		}
		s.out.with(func() {
			for _, pair := range pairs {
				if pair[0] > 1<<32-1 {
					continue
				}
				if message.Op == "ack" {
					s.out.spool.acknowledge(uint32(pair[0]), pair[1])
				} else {
					s.out.spool.markSafe(uint32(pair[0]), pair[1])
				}
			}
		})
	case "pong":
		clock.note(message.NodeTime, message.DACTime, nowNs())
	case "command":
		s.node.command(message.command)
	case "drain":
		s.out.with(func() { s.out.draining = true })
	case "kept-ahead": // of batches that this node never sends
	default:
		return notADAC("a message %.40q", message.Op)
	}
	return nil
}

// turn is what one turn of the shipper sends.
type turn struct {
	control   []any
	batches   [][]byte
	isDone    bool
	isDrained bool
	isLate    bool
}

// ship sends until the connection breaks or the node ends. Only then it returns nil.
func (s *shipper) ship(conn net.Conn, clock *clockOffset, heard chan error) (err error, drained bool) {
	s.out.mu.Lock()
	first := s.out.counters() // before any batch: drops before this connection are not its gaps
	s.out.mu.Unlock()
	if err := s.send(conn, []any{first}, nil); err != nil {
		return err, false
	}
	nextPing := time.Now()
	var leaveBy time.Time
	for {
		now := time.Now()
		next := s.nextTurn(now, !now.Before(nextPing), &leaveBy)
		if !next.isDone && !now.Before(nextPing) {
			next.control = append(next.control, clock.ping())
			nextPing = now.Add(s.patience.ping)
		}
		if len(next.control)+len(next.batches) > 0 {
			if err := s.send(conn, next.control, next.batches); err != nil {
				return err, false
			}
		}
		switch {
		case next.isDone && next.isDrained:
			s.node.log.Info("left the DAC, which ends", "target", conn.RemoteAddr().String())
			return nil, true
		case next.isDone:
			return nil, false
		case next.isLate:
			return errors.New("the DAC did not acknowledge the last samples within 2 s"), false
		case len(next.batches) > 0:
			select {
			case err := <-heard:
				return ended(heard, err), false
			default:
				continue
			}
		}
		until := nextPing
		if !leaveBy.IsZero() && leaveBy.Before(until) {
			until = leaveBy
		}
		timer := time.NewTimer(time.Until(until))
		select {
		case <-s.out.wake:
		case <-timer.C:
		case err := <-heard:
			timer.Stop()
			return ended(heard, err), false
		}
		timer.Stop()
	}
}

// ended puts the reason back for the caller, who waits for it.
func ended(heard chan error, err error) error {
	heard <- err
	return err
}

func (s *shipper) nextTurn(now time.Time, isPingDue bool, leaveBy *time.Time) turn {
	o := s.out
	o.mu.Lock()
	defer o.mu.Unlock()
	var next turn
	for _, result := range o.results {
		next.control = append(next.control, result)
	}
	o.results = nil
	isLeaving := o.draining && !o.closing
	var shipped shipment
	if !isLeaving {
		shipped = o.spool.take(batchesAtOne)
		next.batches = shipped.batches
	}
	beginsToEnd := (isLeaving || o.closing) && leaveBy.IsZero()
	if beginsToEnd {
		*leaveBy = now.Add(farewell)
	}
	hasWaited := !leaveBy.IsZero() && !now.Before(*leaveBy)
	next.isDrained = isLeaving && (o.spool.isSettled() || hasWaited)
	next.isDone = next.isDrained || (o.closing && o.isSent(hasWaited))
	next.isLate = o.closing && hasWaited
	if shipped.tellsOfDrops || isPingDue || next.isDone || beginsToEnd {
		next.control = append(next.control, o.counters())
	}
	if next.isDone {
		reason := "shutdown"
		if next.isDrained {
			reason = "drain"
		}
		next.control = append(next.control, plainMessage{Op: "goodbye", Reason: reason})
	}
	return next
}
