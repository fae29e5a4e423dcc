package oasis

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

const (
	protocol     = 1
	frameHeader  = 5
	frameBatch   = 1
	frameControl = 2
	maxFrameBody = 4 << 20
	readStep     = 16 * 1024
	keptBuffer   = 256 * 1024
	maxText      = 1024 // bytes kept of a text of the DAC
)

// Messages to the DAC (docs/reference/data-channel.md).
type (
	helloMessage struct {
		Op       string   `json:"op"`
		Protocol int      `json:"protocol"`
		Node     identity `json:"node"`
		Secret   UUID     `json:"secret"`
		Attach   uint64   `json:"attach"`
		Drains   bool     `json:"drains"`
	}
	registerMessage struct {
		Op        string       `json:"op"`
		Types     []*ProbeType `json:"types"`
		Instances []registered `json:"instances"`
	}
	countersMessage struct {
		Op        string     `json:"op"`
		Instances []counters `json:"instances"`
	}
	// plainMessage has nothing but its op, and `goodbye` its reason.
	plainMessage struct {
		Op     string `json:"op"`
		Reason string `json:"reason,omitempty"`
	}
)

type pingMessage struct {
	Op          string  `json:"op"`
	NodeTime    uint64  `json:"node_time"`
	ClockOffset *int64  `json:"clock_offset_ns"`
	RoundTrip   *uint64 `json:"round_trip_ns"`
}

type identity struct {
	Name     string `json:"name"`
	UUID     UUID   `json:"uuid"`
	Run      UUID   `json:"run"`
	Host     string `json:"host"`
	Software string `json:"software"`
	PID      int    `json:"pid"`
}

type registered struct {
	Name   string  `json:"name"`
	Type   UUID    `json:"type"`
	Kind   string  `json:"kind"`
	Demand *Demand `json:"demand,omitempty"`
	instanceState
}

type counters struct {
	Topic   uint32 `json:"topic"`
	Taken   uint64 `json:"taken"`
	Sent    uint64 `json:"sent"`
	Dropped drops  `json:"dropped"`
	// AfterSent has all samples after Sent, up to Taken, if no batch will contain any of them.
	AfterSent *drops `json:"after_sent,omitempty"`
}

// result answers a command.
type result struct {
	Op     string         `json:"op"`
	ID     uint64         `json:"id"`
	Done   *instanceState `json:"done,omitempty"`
	Failed *Refusal       `json:"failed,omitempty"`
}

// Refusal is why a DAC has refused the node, or the node a command. docs/reference/data-channel.md lists the codes.
type Refusal struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Error returns message and code.
func (r *Refusal) Error() string { return fmt.Sprintf("%s (%s)", r.Message, r.Code) }

func refusal(code, format string, values ...any) *Refusal {
	return &Refusal{Code: code, Message: fmt.Sprintf(format, values...)}
}

// isTemporary returns whether a DAC that refused a node may take it a moment later.
func (r *Refusal) isTemporary() bool {
	switch r.Code {
	case "draining", "hello_timeout", "idle_timeout", "memory_limit", "node_moved":
		return true
	}
	return false
}

// dacMessage is a message of the DAC, of any op. Fields that it does not know are ignored.
type dacMessage struct {
	Op       string          `json:"op"`
	Protocol int             `json:"protocol"`
	Epoch    string          `json:"epoch"`
	Software string          `json:"software"`
	Safe     string          `json:"safe"`
	Topics   json.RawMessage `json:"topics"`
	NodeTime uint64          `json:"node_time"`
	DACTime  uint64          `json:"dac_time"`
	Code     string          `json:"code"`
	Message  string          `json:"message"`
	command
}

// command is a command to an instance.
type command struct {
	ID       uint64   `json:"id"`
	UUID     *UUID    `json:"uuid"`
	Instance string   `json:"instance"`
	Command  string   `json:"command"`
	Hertz    *float64 `json:"hertz"`
	Metric   string   `json:"metric"`
	Deadband *float64 `json:"deadband"`
}

// key tells two commands apart.
func (c *command) key() string {
	argument := func(value *float64) string {
		if value == nil {
			return ""
		}
		return fmt.Sprint(*value)
	}
	return fmt.Sprintf("%q %s %s %q %s", c.Instance, c.Command, argument(c.Hertz), c.Metric, argument(c.Deadband))
}

// topicSequences reads the pairs of `ack` and `safe`.
func (m *dacMessage) topicSequences() ([][2]uint64, error) {
	var pairs [][2]uint64
	err := json.Unmarshal(m.Topics, &pairs)
	return pairs, err
}

// cut bounds a text of the DAC, which is logged.
func cut(text string) string {
	if len(text) > maxText {
		return text[:maxText] + "…"
	}
	return text
}

// appendControl appends a control message with its header.
func appendControl(out []byte, message any) ([]byte, error) {
	text, err := json.Marshal(message)
	if err != nil {
		return out, err
	}
	if len(text) > maxFrameBody {
		return out, fmt.Errorf("a control message of %d bytes: a DAC takes %d at most", len(text), maxFrameBody)
	}
	return append(appendHeader(out, frameControl, len(text)), text...), nil
}

func appendHeader(out []byte, kind byte, body int) []byte {
	return append(binary.LittleEndian.AppendUint32(out, uint32(body+1)), kind)
}

// frameReader splits what the DAC sends into frames. Its buffer grows with the bytes that arrive, not with the length that
// they claim.
type frameReader struct {
	from   io.Reader
	buffer []byte
}

// next returns the body of the next control message, valid until the next call.
func (f *frameReader) next() ([]byte, error) {
	var header [frameHeader]byte
	if _, err := io.ReadFull(f.from, header[:]); err != nil {
		return nil, err
	}
	if string(header[:]) == "HTTP/" {
		return nil, fmt.Errorf("what answers speaks HTTP: this is the port of a page; use that of the data channel (HOST:7071 by default)")
	}
	length := binary.LittleEndian.Uint32(header[:4])
	switch {
	case length == 0:
		return nil, notADAC("a frame without a kind")
	case length > maxFrameBody+1:
		return nil, notADAC("a frame of %d bytes, the limit is %d", length, maxFrameBody+1)
	case header[4] != frameControl:
		return nil, notADAC("a frame of kind %#02x", header[4])
	}
	if cap(f.buffer) > keptBuffer {
		f.buffer = nil
	}
	f.buffer = f.buffer[:0]
	for left := int(length) - 1; left > 0; {
		start, step := len(f.buffer), min(left, readStep)
		f.buffer = append(f.buffer, make([]byte, step)...)
		read, err := io.ReadFull(f.from, f.buffer[start:])
		if err != nil {
			return nil, fmt.Errorf("the DAC ended a frame after %d of %d bytes: %w", start+read, length-1, err)
		}
		left -= step
	}
	return f.buffer, nil
}

// message returns the next message. A refusal is an error of type *Refusal.
func (f *frameReader) message() (*dacMessage, error) {
	body, err := f.next()
	if err != nil {
		return nil, err
	}
	var message dacMessage
	if err := json.Unmarshal(body, &message); err != nil {
		return nil, notADAC("a control message that is not JSON of the protocol: %v, in %.60q", err, bytes.TrimSpace(body))
	}
	if message.Op == "refused" {
		return nil, &Refusal{Code: cut(message.Code), Message: cut(message.Message)}
	}
	return &message, nil
}

func notADAC(format string, values ...any) error {
	return fmt.Errorf("what answers sent %s: is this the data channel of a DAC (HOST:7071 by default), and of this version?",
		fmt.Sprintf(format, values...))
}
