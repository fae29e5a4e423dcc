package oasis

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"sync"
)

// deadbands keep only the samples of a probe on change in which a metric has changed by more than its deadband.
type deadbands struct {
	of *ProbeType
	// mu guards the fields below. A flush only tries to lock it, and keeps its sample if it cannot.
	mu     sync.Mutex
	limits []float64
	kept   []byte
	next   []byte
	isKept bool
}

func newDeadbands(of *ProbeType, wanted map[string]float64) (*deadbands, error) {
	d := &deadbands{of: of, limits: make([]float64, len(of.Metrics))}
	for metric, deadband := range wanted {
		deadband := deadband
		if err := d.set(metric, &deadband); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// set changes the deadband of a metric; without one any change counts.
func (d *deadbands) set(metric string, deadband *float64) error {
	for i := range d.of.Metrics {
		if d.of.Metrics[i].Name != metric {
			continue
		}
		limit := 0.0
		if deadband != nil {
			limit = *deadband
		}
		kind := d.of.Metrics[i].Type.Kind
		if kind == Boolean || kind > Real64 {
			// Such a metric knows only infinity: its changes do not count.
			if limit != 0 && !math.IsInf(limit, 1) {
				return fmt.Errorf("metric %q is no number and has no deadband", metric)
			}
		}
		if math.IsNaN(limit) || limit < 0 {
			return fmt.Errorf("deadband %v of metric %q: use 0 or more, in the metric's unit", limit, metric)
		}
		d.mu.Lock()
		d.limits[i] = limit
		d.mu.Unlock()
		return nil
	}
	return fmt.Errorf("%s has no metric %.60q", d.of.Name, metric)
}

// renew lets the next sample be kept whatever it is: another DAC has none of the earlier ones.
func (d *deadbands) renew() {
	d.mu.Lock()
	d.isKept = false
	d.mu.Unlock()
}

// isChange compares a row with the last one that was kept. The caller has locked mu.
func (d *deadbands) isChange(row []byte) bool {
	if !d.isKept {
		return true
	}
	if bytes.Equal(d.kept, row) {
		return false
	}
	before := reader{bytes: d.kept, order: binary.LittleEndian}
	now := reader{bytes: row, order: binary.LittleEndian}
	for i := range d.of.Metrics {
		of := &d.of.Metrics[i].Type
		fromBefore, fromNow := before.at, now.at
		before.skip(of)
		now.skip(of)
		if before.err != nil || now.err != nil {
			return true
		}
		if differs(of.Kind, d.kept[fromBefore:before.at], row[fromNow:now.at], d.limits[i]) {
			return true
		}
	}
	return false
}

// differs returns whether two packed values differ by more than a deadband.
func differs(kind Kind, before, now []byte, deadband float64) bool {
	if bytes.Equal(before, now) || math.IsInf(deadband, 1) {
		return false
	}
	if deadband == 0 {
		return true
	}
	// A change from or to NaN counts: it is not within any deadband.
	return !(math.Abs(real64Of(kind, now)-real64Of(kind, before)) <= deadband)
}

func real64Of(kind Kind, octets []byte) float64 {
	var padded [8]byte
	copy(padded[:], octets)
	bits := widen(kind, binary.LittleEndian.Uint64(padded[:]))
	switch {
	case kind == Real32:
		return float64(math.Float32frombits(uint32(bits)))
	case kind == Real64:
		return math.Float64frombits(bits)
	case kind.isSigned():
		return float64(int64(bits))
	}
	return float64(bits)
}
