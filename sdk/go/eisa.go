package oasis

import (
	"encoding/binary"
	"fmt"
)

// Packet is an EISA packet: one sample that needs nothing else to be understood (docs/reference/eisa.md).
type Packet struct {
	// UUID is that of the probe type.
	UUID UUID
	// Version is major and minor; EncodePacket writes 1.1.
	Version [2]uint8
	// Seconds and Microseconds are the time of the sample since 1970-01-01 UTC by the node's clock.
	Seconds, Microseconds uint32
	// Sequence is from 1 in each run, and wraps.
	Sequence uint32
	// State is that of the probe; 0 is normal.
	State    uint16
	Instance string
	// Values are the metrics, as DecodeRow has them.
	Values []any
}

const (
	eisaMagic     = "EISA"
	eisaAlignment = 8 // of the probe data
)

// EncodePacket writes a packet of this type. UUID and version of the packet are ignored.
func EncodePacket(of *ProbeType, packet *Packet, order binary.ByteOrder) ([]byte, error) {
	// Its size does not depend on its place: the data is aligned as the packet is.
	data := writer{order: order, aligned: true}
	if err := data.metrics(of, packet.Values); err != nil {
		return nil, err
	}
	w := writer{order: order, aligned: true}
	w.bytes = append(w.bytes, eisaMagic...)
	w.bytes = append(w.bytes, 1, 1)
	w.fixed(4, uint64(binary.BigEndian.Uint32(of.UUID[:4])))
	w.fixed(2, uint64(binary.BigEndian.Uint16(of.UUID[4:6])))
	w.fixed(2, uint64(binary.BigEndian.Uint16(of.UUID[6:8])))
	w.bytes = append(w.bytes, of.UUID[8:]...)
	w.fixed(4, uint64(packet.Seconds))
	w.fixed(4, uint64(packet.Microseconds))
	w.fixed(4, uint64(packet.Sequence))
	w.fixed(2, uint64(packet.State))
	w.fixed(4, uint64(len(data.bytes)))
	w.text(packet.Instance)
	w.align(eisaAlignment)
	return append(w.bytes, data.bytes...), nil
}

// DecodePacket reads a packet of this type. Errors about its bytes wrap ErrMalformed.
func DecodePacket(of *ProbeType, octets []byte, order binary.ByteOrder) (*Packet, error) {
	r := reader{bytes: octets, order: order, aligned: true}
	if magic := r.take(len(eisaMagic)); r.err == nil && string(magic) != eisaMagic {
		r.fail(0, "a packet begins with EISA")
	}
	packet := &Packet{Version: [2]uint8{uint8(r.fixed(1)), uint8(r.fixed(1))}}
	if r.err == nil && (packet.Version[0] != 1 || packet.Version[1] > 1) {
		r.fail(4, "version %d.%d is unknown: 1.0 and 1.1 are known", packet.Version[0], packet.Version[1])
	}
	binary.BigEndian.PutUint32(packet.UUID[:4], uint32(r.fixed(4)))
	binary.BigEndian.PutUint16(packet.UUID[4:6], uint16(r.fixed(2)))
	binary.BigEndian.PutUint16(packet.UUID[6:8], uint16(r.fixed(2)))
	copy(packet.UUID[8:], r.take(8))
	packet.Seconds, packet.Microseconds = uint32(r.fixed(4)), uint32(r.fixed(4))
	packet.Sequence, packet.State = uint32(r.fixed(4)), uint16(r.fixed(2))
	size := r.fixed(4)
	packet.Instance = r.text()
	r.align(eisaAlignment)
	if r.err == nil && size != uint64(r.left()) {
		r.fail(r.at, "%d bytes of probe data are announced, %d are there", size, r.left())
	}
	if r.err != nil {
		return nil, r.err
	}
	if packet.UUID != of.UUID {
		return nil, fmt.Errorf("the packet is of probe type %s, not of %s (%s)", packet.UUID, of.Name, of.UUID)
	}
	values, err := r.metrics(of)
	packet.Values = values
	return packet, err
}
