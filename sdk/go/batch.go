package oasis

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// Header is the fixed part of a native batch (docs/reference/native-batch.md).
type Header struct {
	// State is that of the probe for all samples; 0 is normal.
	State uint16
	// Topic is the number that the DAC gave the instance.
	Topic uint32
	// FirstSequence is the number of the first sample; the others follow without gaps.
	FirstSequence uint64
	// Offset is the place of the first sample in the topic log.
	Offset uint64
	// NodeTime and DACTime are nanoseconds since 1970-01-01 UTC, by each clock.
	NodeTime, DACTime uint64
	// DroppedBefore counts the samples dropped between the batch before and this one.
	DroppedBefore uint32
	// Count is the number of samples.
	Count uint16
	// Columns is one more than there are metrics.
	Columns uint16
}

// Batch is a decoded native batch.
type Batch struct {
	Header
	// Times are those of the samples, nanoseconds since 1970-01-01 UTC by the node's clock.
	Times []uint64
	// Columns has the values of each metric: bool, int64, uint64, float32, float64, string, or []any for vectors and structs.
	Columns [][]any
}

const (
	headerBytes = 48
	maxBatch    = 1 << 20 // bytes
	maxValues   = 4 << 20 // samples times columns
	maxSamples  = 65_535
	batchKind   = 1
	maxRice     = 56
	riceEscape  = 24
)

// encoding is how a column is written.
type encoding uint8

const (
	plain encoding = iota
	delta
	rice
	xor
	rows
	constant
)

// timeKind is the type of column 0.
const timeKind = Int64

func (e encoding) suits(kind Kind) bool {
	switch e {
	case plain:
		return kind.width() > 0
	case delta, rice, constant:
		return kind.width() > 0 && !kind.isReal()
	case xor:
		return kind.isReal()
	case rows:
		return kind.width() == 0
	}
	return false
}

// DecodeBatch reads a native batch of this type. Errors wrap ErrMalformed. What it allocates is bounded by the bytes,
// and by the 4,194,304 values that a batch may have.
func DecodeBatch(of *ProbeType, octets []byte) (*Batch, error) {
	header, err := checkedHeader(of, octets)
	if err != nil {
		return nil, err
	}
	r := &reader{bytes: octets, at: headerBytes + int(header.Columns), order: binary.LittleEndian}
	batch := &Batch{Header: header}
	batch.Times = r.column(encoding(octets[headerBytes]), timeKind, int(header.Count), header.NodeTime)
	for i := range of.Metrics {
		if r.err != nil {
			return nil, r.err
		}
		batch.Columns = append(batch.Columns, r.metric(encoding(octets[headerBytes+1+i]), &of.Metrics[i].Type, int(header.Count)))
	}
	if r.err == nil && r.left() > 0 {
		r.fail(r.at, "%d bytes are left after the last column", r.left())
	}
	if r.err != nil {
		return nil, r.err
	}
	return batch, nil
}

// Sample returns the values of the sample with this index.
func (b *Batch) Sample(index int) ([]any, error) {
	if index < 0 || index >= len(b.Times) {
		return nil, errors.New("the batch has no such sample")
	}
	values := make([]any, len(b.Columns))
	for i, column := range b.Columns {
		values[i] = column[index]
	}
	return values, nil
}

func checkedHeader(of *ProbeType, octets []byte) (Header, error) {
	var header Header
	if len(octets) < headerBytes {
		return header, malformed(0, "%d bytes are too short for the header of a batch", len(octets))
	}
	le := binary.LittleEndian
	header = Header{
		State: le.Uint16(octets[2:]), Topic: le.Uint32(octets[4:]), FirstSequence: le.Uint64(octets[8:]),
		Offset: le.Uint64(octets[16:]), NodeTime: le.Uint64(octets[24:]), DACTime: le.Uint64(octets[32:]),
		DroppedBefore: le.Uint32(octets[40:]), Count: le.Uint16(octets[44:]), Columns: le.Uint16(octets[46:]),
	}
	columns := int(header.Columns)
	switch {
	case octets[0] != batchKind:
		return header, malformed(0, "message kind %#02x is no batch", octets[0])
	case octets[1] != 1:
		return header, malformed(1, "version %d of batches is unknown", octets[1])
	case header.Count == 0:
		return header, malformed(44, "a batch without samples")
	case len(octets) > maxBatch:
		return header, malformed(0, "a batch of %d bytes: at most %d are allowed", len(octets), maxBatch)
	case int(header.Count)*columns > maxValues:
		return header, malformed(44, "%d samples of %d columns exceed %d values", header.Count, columns, maxValues)
	case columns != len(of.Metrics)+1:
		return header, malformed(46, "%d columns, the schema has %d with the time", columns, len(of.Metrics)+1)
	case len(octets) < headerBytes+columns:
		return header, malformed(headerBytes, "%d bytes are too short for the directory", len(octets))
	}
	for i, code := range octets[headerBytes : headerBytes+columns] {
		kind := timeKind
		if i > 0 {
			kind = of.Metrics[i-1].Type.Kind
		}
		if !encoding(code).suits(kind) {
			return header, malformed(headerBytes+i, "encoding %d of column %d is unknown or of another type", code, i)
		}
	}
	return header, nil
}

func (r *reader) metric(how encoding, of *Type, count int) []any {
	if how == rows {
		values := make([]any, 0, min(count, r.left()))
		for i := 0; i < count && r.err == nil; i++ {
			values = append(values, r.value(of))
		}
		return values
	}
	column := r.column(how, of.Kind, count, 0)
	values := make([]any, len(column))
	for i, bits := range column {
		values[i] = valueOf(of.Kind, bits)
	}
	return values
}

// column reads a column of fixed width: integers widened to 64 bits, reals as their bits.
func (r *reader) column(how encoding, kind Kind, count int, base uint64) []uint64 {
	at := r.at
	var values []uint64
	switch how {
	case constant:
		values = repeated(nil, base+unzigzag(r.varint()), count)
	case delta:
		values = r.deltas(count, base)
	case rice:
		values = r.rice(count, base)
	case xor:
		return r.xors(kind, count)
	default:
		return r.plain(kind, count)
	}
	for _, value := range values {
		if !holds(kind, value) {
			r.fail(at, "a column has a value out of the range of %s", kind)
			return nil
		}
	}
	return values
}

func (r *reader) plain(kind Kind, count int) []uint64 {
	width := kind.width()
	r.align(width)
	if r.err == nil && count*width > r.left() {
		r.fail(r.at, "%d bytes are needed, %d are left", count*width, r.left())
	}
	if r.err != nil {
		return nil
	}
	values := make([]uint64, count)
	for i := range values {
		values[i] = widen(kind, r.fixed(width))
		if !holds(kind, values[i]) {
			r.fail(r.at-width, "a value is out of the range of %s", kind)
		}
	}
	return values
}

func (r *reader) deltas(count int, base uint64) []uint64 {
	before := base + unzigzag(r.varint())
	values := append(make([]uint64, 0, count), before)
	for len(values) < count && r.err == nil {
		at := r.at
		token := r.varint()
		if token/4 > uint64(count-len(values)) {
			r.fail(at, "a run exceeds its column")
			return nil
		}
		values = repeated(values, before, int(token/4))
		code := token % 4
		if len(values) == count {
			if code != 0 {
				r.fail(at, "a value follows the last run")
			}
			break
		}
		switch code {
		case 0:
			before += unzigzag(r.varint())
		case 3:
			before--
		default:
			before += code
		}
		values = append(values, before)
	}
	return values
}

func (r *reader) xors(kind Kind, count int) []uint64 {
	values := make([]uint64, 0, count)
	before := uint64(0)
	for len(values) < count && r.err == nil {
		at := r.at
		run := r.varint()
		if run > uint64(count-len(values)) {
			r.fail(at, "a run exceeds its column")
			return nil
		}
		values = repeated(values, before, int(run))
		if len(values) == count {
			break
		}
		at = r.at
		swapped := r.varint()
		if kind == Real32 && swapped>>32 != 0 {
			r.fail(at, "a value is out of the range of %s", kind)
			return nil
		}
		before ^= swap(kind, swapped)
		values = append(values, before)
	}
	return values
}

func (r *reader) rice(count int, base uint64) []uint64 {
	value := base + unzigzag(r.varint())
	values := append(make([]uint64, 0, count), value)
	if count == 1 {
		return values
	}
	step := unzigzag(r.varint())
	at := r.at
	k := int(r.fixed(1))
	if k > maxRice {
		r.fail(at, "a Rice parameter exceeds %d", maxRice)
	}
	from := bitReader{from: r}
	for len(values) < count && r.err == nil {
		value += step + unzigzag(from.residual(k))
		values = append(values, value)
	}
	if r.err == nil && from.word != 0 {
		r.fail(r.at-1, "unused bits are not 0")
	}
	return values
}

// bitReader reads bits from the least significant one of each byte on.
type bitReader struct {
	from   *reader
	word   uint64
	length int
}

func (b *bitReader) residual(k int) uint64 {
	ones := 0
	for ones < riceEscape && b.get(1) == 1 {
		ones++
	}
	if ones == riceEscape {
		return b.get(64)
	}
	return uint64(ones)<<k | b.get(k)
}

func (b *bitReader) get(count int) uint64 {
	var value uint64
	for have := 0; have < count; {
		if b.length == 0 {
			b.word, b.length = b.from.fixed(1), 8
			if b.from.err != nil {
				return 0
			}
		}
		taken := min(count-have, b.length)
		value |= b.word & (1<<taken - 1) << have
		b.word >>= taken
		b.length -= taken
		have += taken
	}
	return value
}

func repeated(values []uint64, value uint64, count int) []uint64 {
	for ; count > 0; count-- {
		values = append(values, value)
	}
	return values
}

// zigzag folds signs: 0, -1, 1, -2 become 0, 1, 2, 3.
func zigzag(value uint64) uint64   { return value<<1 ^ uint64(int64(value)>>63) }
func unzigzag(value uint64) uint64 { return value>>1 ^ -(value & 1) }

// swap reverses the bytes of a real, so that low zero bytes cost nothing.
func swap(kind Kind, value uint64) uint64 { return bits.ReverseBytes64(value) >> (64 - 8*kind.width()) }

func varintLength(value uint64) int { return (bits.Len64(value|1)-1)/7 + 1 }
