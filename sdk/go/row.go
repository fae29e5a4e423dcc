package oasis

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// ErrMalformed is what every error about bytes that are no row, packet or batch wraps.
var ErrMalformed = errors.New("malformed")

func malformed(at int, format string, values ...any) error {
	return fmt.Errorf("%w bytes at offset %d: %s", ErrMalformed, at, fmt.Sprintf(format, values...))
}

// reader reads untrusted bytes. The first error stays; after it every read returns zero.
type reader struct {
	bytes []byte
	at    int
	err   error
	// order and aligned are those of CDR; rows are little-endian and packed.
	order   binary.ByteOrder
	aligned bool
}

func (r *reader) left() int { return len(r.bytes) - r.at }

func (r *reader) fail(at int, format string, values ...any) {
	if r.err == nil {
		r.err = malformed(at, format, values...)
	}
}

// take returns the next bytes, or nil if there are too few.
func (r *reader) take(count int) []byte {
	if r.err != nil {
		return nil
	}
	if count < 0 || count > r.left() {
		r.fail(r.at, "%d bytes are needed, %d are left", count, r.left())
		return nil
	}
	r.at += count
	return r.bytes[r.at-count : r.at]
}

func (r *reader) align(width int) {
	if rest := r.at % width; rest != 0 {
		r.take(width - rest)
	}
}

// fixed reads a little-endian number of `width` bytes, widened by zeros; in CDR aligned, and in its order.
func (r *reader) fixed(width int) uint64 {
	if r.aligned {
		r.align(width)
	}
	octets := r.take(width)
	if octets == nil {
		return 0
	}
	switch width {
	case 1:
		return uint64(octets[0])
	case 2:
		return uint64(r.order.Uint16(octets))
	case 4:
		return uint64(r.order.Uint32(octets))
	}
	return r.order.Uint64(octets)
}

func (r *reader) varint() uint64 {
	start := r.at
	var value uint64
	for shift := 0; shift < 64; shift += 7 {
		octet := r.take(1)
		if octet == nil {
			return 0
		}
		value |= uint64(octet[0]&0x7f) << shift
		if octet[0] < 0x80 {
			// The tenth byte has room for one bit only.
			if shift == 63 && octet[0] > 1 {
				break
			}
			return value
		}
	}
	r.fail(start, "a varint exceeds 64 bits")
	return 0
}

// count reads the number of elements of a vector, each of which takes a byte at least.
func (r *reader) count() int {
	at := r.at
	count := uint64(0)
	if r.aligned {
		count = r.fixed(4)
	} else {
		count = r.varint()
	}
	if r.err == nil && count > uint64(r.left()) {
		r.fail(at, "a vector has more elements than there are bytes")
	}
	if r.err != nil {
		return 0
	}
	return int(count)
}

func (r *reader) text() string {
	at := r.at
	var octets []byte
	if r.aligned {
		octets = r.terminated()
	} else {
		length := r.varint()
		octets = r.take(int(min(length, math.MaxInt32)))
	}
	if r.err == nil && !utf8.Valid(octets) {
		r.fail(at, "a string is not UTF-8")
	}
	if r.err != nil {
		return ""
	}
	return string(octets)
}

// terminated reads the string of CDR, which ends with NUL.
func (r *reader) terminated() []byte {
	length := r.fixed(4)
	at := r.at
	octets := r.take(int(min(length, math.MaxInt32)))
	if r.err != nil {
		return nil
	}
	if len(octets) == 0 || octets[len(octets)-1] != 0 {
		r.fail(at, "a string does not end with NUL")
		return nil
	}
	return octets[:len(octets)-1]
}

// value reads a value: bool, int64, uint64, float32, float64, string, or []any for vectors and structs.
func (r *reader) value(of *Type) any {
	switch of.Kind {
	case String:
		return r.text()
	case Vector:
		count := r.count()
		// Grows with the bytes that were read, not with the number that they claim.
		values := make([]any, 0, min(count, 64))
		for i := 0; i < count && r.err == nil; i++ {
			values = append(values, r.value(of.Element))
		}
		return values
	case Struct:
		values := make([]any, len(of.Members))
		for i := range of.Members {
			values[i] = r.value(&of.Members[i].Type)
		}
		return values
	}
	at := r.at
	bits := widen(of.Kind, r.fixed(of.Kind.width()))
	if of.Kind == Boolean && bits > 1 {
		r.fail(at, "a boolean is neither 0 nor 1")
	}
	return valueOf(of.Kind, bits)
}

// skip reads a value and keeps nothing.
func (r *reader) skip(of *Type) {
	switch of.Kind {
	case String:
		at := r.at
		length := r.varint()
		if octets := r.take(int(min(length, math.MaxInt32))); r.err == nil && !utf8.Valid(octets) {
			r.fail(at, "a string is not UTF-8")
		}
	case Vector:
		for count := r.count(); count > 0 && r.err == nil; count-- {
			r.skip(of.Element)
		}
	case Struct:
		for i := range of.Members {
			r.skip(&of.Members[i].Type)
		}
	case Boolean:
		at := r.at
		if r.fixed(1) > 1 {
			r.fail(at, "a boolean is neither 0 nor 1")
		}
	default:
		r.take(of.Kind.width())
	}
}

// widen extends the bits of a fixed value to 64: by sign if its type has one.
func widen(kind Kind, bits uint64) uint64 {
	if !kind.isSigned() {
		return bits
	}
	unused := 64 - 8*kind.width()
	return uint64(int64(bits<<unused) >> unused)
}

// valueOf returns the value that 64 bits of a column stand for.
func valueOf(kind Kind, bits uint64) any {
	switch {
	case kind == Boolean:
		return bits != 0
	case kind == Real32:
		return math.Float32frombits(uint32(bits))
	case kind == Real64:
		return math.Float64frombits(bits)
	case kind.isSigned():
		return int64(bits)
	}
	return bits
}

// writer appends values. Its first error stays.
type writer struct {
	bytes   []byte
	err     error
	order   binary.ByteOrder
	aligned bool
}

func (w *writer) align(width int) {
	for len(w.bytes)%width != 0 {
		w.bytes = append(w.bytes, 0)
	}
}

func (w *writer) fixed(width int, bits uint64) {
	if w.aligned {
		w.align(width)
	}
	var octets [8]byte
	switch width {
	case 1:
		octets[0] = byte(bits)
	case 2:
		w.order.PutUint16(octets[:], uint16(bits))
	case 4:
		w.order.PutUint32(octets[:], uint32(bits))
	default:
		w.order.PutUint64(octets[:], bits)
	}
	w.bytes = append(w.bytes, octets[:width]...)
}

func (w *writer) count(count int) {
	if w.aligned {
		w.fixed(4, uint64(count))
	} else {
		w.bytes = binary.AppendUvarint(w.bytes, uint64(count))
	}
}

func (w *writer) text(text string) {
	if w.aligned {
		w.fixed(4, uint64(len(text)+1))
		w.bytes = append(append(w.bytes, text...), 0)
		return
	}
	w.count(len(text))
	w.bytes = append(w.bytes, text...)
}

func (w *writer) value(of *Type, name string, value any) {
	switch of.Kind {
	case String:
		text, ok := value.(string)
		if !ok || !utf8.ValidString(text) {
			w.misfit(of, name, value)
			return
		}
		w.text(text)
	case Vector, Struct:
		w.values(of, name, value)
	default:
		bits, ok := bitsOf(of.Kind, value)
		if !ok {
			w.misfit(of, name, value)
			return
		}
		w.fixed(of.Kind.width(), bits)
	}
}

func (w *writer) values(of *Type, name string, value any) {
	values, ok := value.([]any)
	if !ok || (of.Kind == Struct && len(values) != len(of.Members)) {
		w.misfit(of, name, value)
		return
	}
	if of.Kind == Struct {
		for i := range of.Members {
			w.value(&of.Members[i].Type, name+"."+of.Members[i].Name, values[i])
		}
		return
	}
	w.count(len(values))
	for _, element := range values {
		w.value(of.Element, name, element)
	}
}

func (w *writer) misfit(of *Type, name string, value any) {
	if w.err == nil {
		w.err = fmt.Errorf("%s: expected %s, got %T %.40v", name, of.Kind, value, value)
	}
}

// bitsOf returns the bits of a value, unless its type cannot hold it.
func bitsOf(kind Kind, value any) (uint64, bool) {
	switch value := value.(type) {
	case bool:
		if value {
			return 1, kind == Boolean
		}
		return 0, kind == Boolean
	case int64:
		return uint64(value), kind.isSigned() && holds(kind, uint64(value))
	case uint64:
		return value, kind >= Uint8 && kind <= Uint64 && holds(kind, value)
	case float32:
		return uint64(math.Float32bits(value)), kind == Real32
	case float64:
		return math.Float64bits(value), kind == Real64
	}
	return 0, false
}

// holds returns whether a type can hold a value that was widened to 64 bits.
func holds(kind Kind, bits uint64) bool {
	if kind == Boolean {
		return bits <= 1
	}
	if width := 8 * kind.width(); width < 64 && !kind.isSigned() {
		return bits>>width == 0
	}
	return widen(kind, bits) == bits
}

// EncodeRow returns the packed row of a sample, its metrics in the order of the schema. Values are bool, int64, uint64,
// float32, float64, string, and []any for vectors and structs. An error names the metric.
func EncodeRow(of *ProbeType, values []any) ([]byte, error) {
	w := writer{order: binary.LittleEndian}
	err := w.metrics(of, values)
	return w.bytes, err
}

func (w *writer) metrics(of *ProbeType, values []any) error {
	if len(values) != len(of.Metrics) {
		return fmt.Errorf("%s: %d values for %d metrics", of.Name, len(values), len(of.Metrics))
	}
	for i := range of.Metrics {
		w.value(&of.Metrics[i].Type, of.Name+"."+of.Metrics[i].Name, values[i])
	}
	return w.err
}

// DecodeRow reads a packed row, as EncodeRow takes it. Errors wrap ErrMalformed.
func DecodeRow(of *ProbeType, row []byte) ([]any, error) {
	r := reader{bytes: row, order: binary.LittleEndian}
	return r.metrics(of)
}

// metrics reads a sample and expects the end of the bytes after it.
func (r *reader) metrics(of *ProbeType) ([]any, error) {
	values := make([]any, len(of.Metrics))
	for i := range of.Metrics {
		values[i] = r.value(&of.Metrics[i].Type)
	}
	if r.err == nil && r.left() > 0 {
		r.fail(r.at, "%d bytes are left after the last metric", r.left())
	}
	if r.err != nil {
		return nil, r.err
	}
	return values, nil
}
