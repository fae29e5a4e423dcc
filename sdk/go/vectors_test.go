package oasis

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"
)

// readVectors reads a file that the tests of every language read (vectors/README.md).
func readVectors(t testing.TB, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "vectors", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

func fromHex(t testing.TB, text string) []byte {
	t.Helper()
	octets, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return octets
}

type exactSample struct {
	Time   uint64 `json:"time,string"`
	Values []any  `json:"values"`
}

type batchCase struct {
	Name   string
	Schema ProbeType
	Header struct {
		State         uint16
		Topic         uint32
		FirstSequence uint64 `json:"first_sequence,string"`
		Offset        uint64 `json:",string"`
		NodeTime      uint64 `json:"node_time,string"`
		DACTime       uint64 `json:"dac_time,string"`
		DroppedBefore uint32 `json:"dropped_before"`
		Count         uint16
		Columns       uint16
	}
	Encodings []string
	Samples   []exactSample
	Bytes     string
}

type batchVectors struct {
	Valid   []batchCase
	Invalid struct {
		Schema ProbeType
		Cases  []struct{ Name, Bytes string }
	}
}

var encodingNames = map[string]encoding{
	"plain": plain, "delta": delta, "rice": rice, "xor": xor, "rows": rows, "constant": constant,
}

// fromExact returns a value of the form in which nothing is rounded.
func fromExact(t testing.TB, of *Type, exact any) any {
	t.Helper()
	switch of.Kind {
	case Boolean:
		return exact
	case String:
		return exact.(map[string]any)["text"]
	case Real32, Real64:
		bits, err := strconv.ParseUint(exact.(map[string]any)["bits"].(string), 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		return valueOf(of.Kind, bits)
	case Vector, Struct:
		values := []any{}
		for i, part := range exact.([]any) {
			member := of.Element
			if of.Kind == Struct {
				member = &of.Members[i].Type
			}
			values = append(values, fromExact(t, member, part))
		}
		return values
	}
	if of.Kind.isSigned() {
		value, err := strconv.ParseInt(exact.(string), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	value, err := strconv.ParseUint(exact.(string), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func fromExactMetrics(t testing.TB, of *ProbeType, exact []any) []any {
	t.Helper()
	values := make([]any, len(exact))
	for i := range exact {
		values[i] = fromExact(t, &of.Metrics[i].Type, exact[i])
	}
	return values
}

// same compares reals by their bits, so that NaN equals itself and zeros differ.
func same(a, b any) bool {
	switch a := a.(type) {
	case float32:
		b, ok := b.(float32)
		return ok && math.Float32bits(a) == math.Float32bits(b)
	case float64:
		b, ok := b.(float64)
		return ok && math.Float64bits(a) == math.Float64bits(b)
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !same(a[i], b[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

func TestBatchesOfTheVectorsAreRead(t *testing.T) {
	var vectors batchVectors
	readVectors(t, "native-batch.json", &vectors)
	for _, c := range vectors.Valid {
		t.Run(c.Name, func(t *testing.T) {
			batch, err := DecodeBatch(&c.Schema, fromHex(t, c.Bytes))
			if err != nil {
				t.Fatal(err)
			}
			if wanted := Header(c.Header); batch.Header != wanted {
				t.Errorf("header %+v, wanted %+v", batch.Header, wanted)
			}
			for i, sample := range c.Samples {
				values, err := batch.Sample(i)
				if err != nil {
					t.Fatal(err)
				}
				if wanted := fromExactMetrics(t, &c.Schema, sample.Values); batch.Times[i] != sample.Time || !same(values, wanted) {
					t.Errorf("sample %d: %d %v, wanted %d %v", i, batch.Times[i], values, sample.Time, wanted)
				}
			}
			if _, err := batch.Sample(len(c.Samples)); err == nil {
				t.Error("there is a sample after the last one")
			}
		})
	}
}

func TestBatchesOfTheVectorsAreWritten(t *testing.T) {
	var vectors batchVectors
	readVectors(t, "native-batch.json", &vectors)
	for _, c := range vectors.Valid {
		t.Run(c.Name, func(t *testing.T) {
			var how []encoding
			for _, name := range c.Encodings {
				how = append(how, encodingNames[name])
			}
			e := newEncoder(&c.Schema)
			pushAll(t, e, &c)
			if written := e.finishAs(Header(c.Header), how); hex.EncodeToString(written) != c.Bytes {
				t.Errorf("wrote %x\nwanted %s", written, c.Bytes)
			}
			// The smallest encodings are read back, and take no more.
			pushAll(t, e, &c)
			smallest := e.finish(Header(c.Header))
			if len(smallest) > len(c.Bytes)/2 {
				t.Errorf("%d bytes, the vector has %d", len(smallest), len(c.Bytes)/2)
			}
			batch, err := DecodeBatch(&c.Schema, smallest)
			if err != nil {
				t.Fatal(err)
			}
			for i, sample := range c.Samples {
				values, _ := batch.Sample(i)
				if !same(values, fromExactMetrics(t, &c.Schema, sample.Values)) {
					t.Errorf("sample %d is another one", i)
				}
			}
		})
	}
}

func pushAll(t *testing.T, e *encoder, c *batchCase) {
	t.Helper()
	for _, sample := range c.Samples {
		row, err := EncodeRow(&c.Schema, fromExactMetrics(t, &c.Schema, sample.Values))
		if err != nil {
			t.Fatal(err)
		}
		if err := e.push(sample.Time, row); err != nil {
			t.Fatal(err)
		}
	}
}

func TestInvalidBatchesOfTheVectorsAreRefused(t *testing.T) {
	var vectors batchVectors
	readVectors(t, "native-batch.json", &vectors)
	for _, c := range vectors.Invalid.Cases {
		t.Run(c.Name, func(t *testing.T) {
			if _, err := DecodeBatch(&vectors.Invalid.Schema, fromHex(t, c.Bytes)); !errors.Is(err, ErrMalformed) {
				t.Errorf("not refused: %v", err)
			}
		})
	}
}

func TestNoPartOfABatchIsABatch(t *testing.T) {
	var vectors batchVectors
	readVectors(t, "native-batch.json", &vectors)
	for _, c := range vectors.Valid {
		octets := fromHex(t, c.Bytes)
		for length := range octets {
			if _, err := DecodeBatch(&c.Schema, octets[:length]); !errors.Is(err, ErrMalformed) {
				t.Fatalf("%s: %d of %d bytes are read: %v", c.Name, length, len(octets), err)
			}
		}
	}
}

var byteOrders = map[string]binary.ByteOrder{"little": binary.LittleEndian, "big": binary.BigEndian}

func TestPacketsOfTheVectors(t *testing.T) {
	var vectors struct {
		Cases []struct {
			Name   string
			Schema ProbeType
			Packet struct {
				State         uint16
				FirstSequence uint32 `json:"first_sequence"`
				Instance      string
			}
			Samples     []exactSample
			Little, Big []string
		}
	}
	readVectors(t, "eisa.json", &vectors)
	for _, c := range vectors.Cases {
		t.Run(c.Name, func(t *testing.T) {
			for i, sample := range c.Samples {
				packet := Packet{
					UUID: c.Schema.UUID, Version: [2]uint8{1, 1}, Seconds: uint32(sample.Time / 1e9),
					Microseconds: uint32(sample.Time % 1e9 / 1e3), Sequence: c.Packet.FirstSequence + uint32(i),
					State: c.Packet.State, Instance: c.Packet.Instance, Values: fromExactMetrics(t, &c.Schema, sample.Values),
				}
				checkPacket(t, &c.Schema, &packet, fromHex(t, c.Little[i]), binary.LittleEndian)
				checkPacket(t, &c.Schema, &packet, fromHex(t, c.Big[i]), binary.BigEndian)
			}
		})
	}
}

func checkPacket(t *testing.T, of *ProbeType, packet *Packet, octets []byte, order binary.ByteOrder) {
	t.Helper()
	written, err := EncodePacket(of, packet, order)
	if err != nil || !bytes.Equal(written, octets) {
		t.Fatalf("wrote %x, wanted %x: %v", written, octets, err)
	}
	read, err := DecodePacket(of, octets, order)
	if err != nil || !same(read.Values, packet.Values) {
		t.Fatalf("read %+v, wanted %+v: %v", read, packet, err)
	}
	read.Values, packet.Values = nil, packet.Values[:len(packet.Values):len(packet.Values)]
	if compared := *packet; fmt.Sprint(*read) != fmt.Sprint(withoutValues(compared)) {
		t.Fatalf("read %+v, wanted %+v", read, packet)
	}
	for length := range octets {
		if _, err := DecodePacket(of, octets[:length], order); !errors.Is(err, ErrMalformed) {
			t.Fatalf("%d of %d bytes are read: %v", length, len(octets), err)
		}
	}
}

func withoutValues(packet Packet) Packet {
	packet.Values = nil
	return packet
}

func TestTheCapturedPacketIsRead(t *testing.T) {
	var vectors struct{ Captured string }
	readVectors(t, "eisa.json", &vectors)
	id, err := ParseUUID("b049990b-17aa-4ca2-8806-e89329963788")
	if err != nil {
		t.Fatal(err)
	}
	of := ProbeType{Name: "OASIS::System::LinuxProcessorProbe", UUID: id}
	for i := 0; i < 7; i++ {
		of.Metrics = append(of.Metrics, Metric{Name: fmt.Sprint("metric_", i), Type: Type{Kind: Uint64}})
	}
	packet, err := DecodePacket(&of, fromHex(t, vectors.Captured), binary.LittleEndian)
	if err != nil {
		t.Fatal(err)
	}
	if packet.Instance != "ProcessorProbe_SmokeTest" || packet.Sequence != 1 || packet.Values[1] != uint64(0x010e81) {
		t.Errorf("read %+v", packet)
	}
}
