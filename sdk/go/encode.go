package oasis

import (
	"encoding/binary"
	"math/bits"
)

// encoder collects the packed rows of one instance and writes them as a native batch. It reuses its memory.
type encoder struct {
	of      *ProbeType
	times   []uint64
	columns []column
	// fixed has the metrics of fixed width, sample after sample.
	fixed  []byte
	stride int
	// isFixed tells whether all metrics are in fixed.
	isFixed bool
	// held counts the bytes of the columns of rows.
	held   int
	values []uint64
}

type column struct {
	of    *Type
	place int
	rows  []byte
}

func newEncoder(of *ProbeType) *encoder {
	e := &encoder{of: of, isFixed: true}
	for i := range of.Metrics {
		kind := of.Metrics[i].Type.Kind
		e.columns = append(e.columns, column{of: &of.Metrics[i].Type, place: e.stride})
		e.stride += kind.width()
		e.isFixed = e.isFixed && kind.width() > 0
	}
	return e
}

func (e *encoder) count() int { return len(e.times) }

// bytesHeld returns about the bytes of a plain batch.
func (e *encoder) bytesHeld() int { return len(e.times)*8 + len(e.fixed) + e.held }

// push appends a sample. A row that does not fit the schema changes nothing.
func (e *encoder) push(time uint64, row []byte) error {
	r := reader{bytes: row, order: binary.LittleEndian}
	for i := range e.columns {
		r.skip(e.columns[i].of)
	}
	if r.err == nil && r.left() > 0 {
		r.fail(r.at, "%d bytes are left after the last metric", r.left())
	}
	if r.err != nil {
		return r.err
	}
	e.times = append(e.times, time)
	if e.isFixed {
		e.fixed = append(e.fixed, row...)
		return nil
	}
	r.at = 0
	for i := range e.columns {
		start := r.at
		r.skip(e.columns[i].of)
		value := row[start:r.at]
		if e.columns[i].of.Kind.width() > 0 {
			e.fixed = append(e.fixed, value...)
		} else {
			e.columns[i].rows = append(e.columns[i].rows, value...)
			e.held += len(value)
		}
	}
	return nil
}

// finish returns the batch and begins the next one.
func (e *encoder) finish(header Header) []byte {
	return e.finishAs(header, nil)
}

// finishAs takes the given encodings, or the smallest ones.
func (e *encoder) finishAs(header Header, wanted []encoding) []byte {
	header.Count, header.Columns = uint16(len(e.times)), uint16(len(e.columns)+1)
	out := make([]byte, headerBytes+len(e.columns)+1, headerBytes+len(e.columns)+64+e.bytesHeld()/4)
	putHeader(out, header)
	how := func(i int, kind Kind, values []uint64, base uint64) encoding {
		if wanted != nil {
			return wanted[i]
		}
		return choose(kind, values, base)
	}
	chosen := how(0, timeKind, e.times, header.NodeTime)
	out[headerBytes] = byte(chosen)
	out = put(out, chosen, timeKind, e.times, header.NodeTime)
	for i := range e.columns {
		column := &e.columns[i]
		chosen = rows
		if kind := column.of.Kind; kind.width() > 0 {
			e.gather(column)
			chosen = how(i+1, kind, e.values, 0)
			out = put(out, chosen, kind, e.values, 0)
		} else {
			out = append(out, column.rows...)
			column.rows = column.rows[:0]
		}
		out[headerBytes+1+i] = byte(chosen)
	}
	e.times, e.fixed, e.held = e.times[:0], e.fixed[:0], 0
	return out
}

func putHeader(out []byte, header Header) {
	le := binary.LittleEndian
	out[0], out[1] = batchKind, 1
	le.PutUint16(out[2:], header.State)
	le.PutUint32(out[4:], header.Topic)
	le.PutUint64(out[8:], header.FirstSequence)
	le.PutUint64(out[16:], header.Offset)
	le.PutUint64(out[24:], header.NodeTime)
	le.PutUint64(out[32:], header.DACTime)
	le.PutUint32(out[40:], header.DroppedBefore)
	le.PutUint16(out[44:], header.Count)
	le.PutUint16(out[46:], header.Columns)
}

// stamp writes the fields that the node learns after encoding.
func stamp(batch []byte, topic, droppedBefore uint32) {
	binary.LittleEndian.PutUint32(batch[4:], topic)
	binary.LittleEndian.PutUint32(batch[40:], droppedBefore)
}

// gather fills values with a column, widened to 64 bits.
func (e *encoder) gather(column *column) {
	e.values = e.values[:0]
	kind := column.of.Kind
	width := kind.width()
	for at := column.place; at < len(e.fixed); at += e.stride {
		var octets [8]byte
		copy(octets[:], e.fixed[at:at+width])
		e.values = append(e.values, widen(kind, binary.LittleEndian.Uint64(octets[:])))
	}
}

// choose returns the encoding that takes the fewest bytes, as other nodes choose it.
func choose(kind Kind, values []uint64, base uint64) encoding {
	plainSize := len(values) * kind.width()
	if kind.isReal() {
		if xorSize(kind, values) < plainSize {
			return xor
		}
		return plain
	}
	changes := 0
	for i := 1; i < len(values); i++ {
		if values[i] != values[i-1] {
			changes++
		}
	}
	if changes == 0 {
		return constant
	}
	deltaSize := 0
	deltaTokens(values, base, func(number uint64) { deltaSize += varintLength(number) })
	// If most values repeat, runs are smaller than a code for each value.
	if changes*4 <= len(values) {
		if deltaSize <= plainSize {
			return delta
		}
		return plain
	}
	_, _, riceSize := ricePlan(values, base)
	switch {
	case plainSize < min(riceSize, deltaSize):
		return plain
	case deltaSize <= riceSize:
		return delta
	}
	return rice
}

func put(out []byte, how encoding, kind Kind, values []uint64, base uint64) []byte {
	switch how {
	case constant:
		return binary.AppendUvarint(out, zigzag(values[0]-base))
	case delta:
		deltaTokens(values, base, func(number uint64) { out = binary.AppendUvarint(out, number) })
		return out
	case rice:
		return putRice(out, values, base)
	case xor:
		xorTokens(kind, values, func(number uint64) { out = binary.AppendUvarint(out, number) })
		return out
	}
	width := kind.width()
	for len(out)%width != 0 {
		out = append(out, 0)
	}
	for _, value := range values {
		var octets [8]byte
		binary.LittleEndian.PutUint64(octets[:], value)
		out = append(out, octets[:width]...)
	}
	return out
}

func deltaTokens(values []uint64, base uint64, token func(uint64)) {
	before := values[0]
	token(zigzag(before - base))
	run := uint64(0)
	for _, value := range values[1:] {
		step := value - before
		before = value
		switch step {
		case 0:
			run++
			continue
		case 1, 2:
			token(run*4 + step)
		case ^uint64(0):
			token(run*4 + 3)
		default:
			token(run * 4)
			token(zigzag(step))
		}
		run = 0
	}
	if run > 0 {
		token(run * 4)
	}
}

func xorTokens(kind Kind, values []uint64, token func(uint64)) {
	before, run := uint64(0), uint64(0)
	for _, value := range values {
		if value == before {
			run++
			continue
		}
		token(run)
		token(swap(kind, value^before))
		before, run = value, 0
	}
	if run > 0 {
		token(run)
	}
}

func xorSize(kind Kind, values []uint64) (size int) {
	xorTokens(kind, values, func(number uint64) { size += varintLength(number) })
	return size
}

// ricePlan returns mean step, parameter and size of a rice column. It needs two values.
func ricePlan(values []uint64, base uint64) (step uint64, k int, size int) {
	deltas := int64(len(values) - 1)
	step = uint64(int64(values[len(values)-1]-values[0]) / deltas)
	sum := uint64(0)
	for i := 1; i < len(values); i++ {
		residual := zigzag(values[i] - values[i-1] - step)
		if sum += residual; sum < residual {
			sum = ^uint64(0)
			break
		}
	}
	// The best parameter of a geometric distribution is about log2(mean * ln 2).
	mean := sum / uint64(deltas)
	k = min(max(bits.Len64(mean-mean/4)-1, 0), maxRice)
	inBits := 0
	for i := 1; i < len(values); i++ {
		if quotient := zigzag(values[i]-values[i-1]-step) >> k; quotient < riceEscape {
			inBits += int(quotient) + 1 + k
		} else {
			inBits += riceEscape + 64
		}
	}
	return step, k, varintLength(zigzag(values[0]-base)) + varintLength(zigzag(step)) + 1 + (inBits+7)/8
}

func putRice(out []byte, values []uint64, base uint64) []byte {
	out = binary.AppendUvarint(out, zigzag(values[0]-base))
	if len(values) == 1 {
		return out
	}
	step, k, _ := ricePlan(values, base)
	out = append(binary.AppendUvarint(out, zigzag(step)), byte(k))
	to := bitWriter{out: out}
	for i := 1; i < len(values); i++ {
		residual := zigzag(values[i] - values[i-1] - step)
		if quotient := residual >> k; quotient < riceEscape {
			to.put(1<<quotient-1, int(quotient)+1) // ones, and the zero after them
			to.put(residual&(1<<k-1), k)
		} else {
			to.put(1<<riceEscape-1, riceEscape)
			to.put(residual, 64)
		}
	}
	return to.finish()
}

// bitWriter fills each byte from its least significant bit on.
type bitWriter struct {
	out    []byte
	word   uint64
	length int
}

func (b *bitWriter) put(value uint64, count int) {
	for count > 0 {
		taken := min(count, 8-b.length)
		b.word |= value & (1<<taken - 1) << b.length
		value >>= taken
		b.length += taken
		count -= taken
		if b.length == 8 {
			b.out = append(b.out, byte(b.word))
			b.word, b.length = 0, 0
		}
	}
}

func (b *bitWriter) finish() []byte {
	if b.length > 0 {
		b.out = append(b.out, byte(b.word))
	}
	return b.out
}
