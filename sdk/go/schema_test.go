package oasis

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"
)

func typeOf[T any]() reflect.Type { return reflect.TypeOf((*T)(nil)).Elem() }

type base struct {
	Ticks uint64
}

type engine struct {
	_ struct{} `oasis:"Plant::Engine,uuid=6f0f6e7e-3f0b-4c58-9d3c-0d7b6f2a9f31,version=1.2,demand=1..100" doc:"On its bench."`
	base
	Mode      mode          `oasis:",enum=IDLE:0|RUNNING:5|FAILED:6,kind=state,alarm=FAILED" doc:"What it does."`
	RPM       float64       `oasis:"speed,unit=1/min,min=0,max=9000,warn>8000,alarm>8500,label=Speed"`
	OilTemp   float32       `oasis:",unit=Cel,warn<10,warn>90"`
	Took      time.Duration `oasis:"took"`
	Cylinders []cylinder
	Corners   [2]int16
	Hidden    chan int `oasis:"-"`
	private   int
}

type mode uint8

type cylinder struct {
	Name string
	Hot  bool
}

func TestAStructIsASchema(t *testing.T) {
	of, err := TypeOf[engine]()
	if err != nil {
		t.Fatal(err)
	}
	found, err := json.MarshalIndent(of, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	wanted := `{
  "name": "Plant::Engine",
  "uuid": "6f0f6e7e-3f0b-4c58-9d3c-0d7b6f2a9f31",
  "version": "1.2",
  "doc": "On its bench.",
  "rate": {"demand": {"min": 1, "max": 100}},
  "metrics": [
    {"name": "ticks", "type": "uint64"},
    {"name": "mode", "type": "uint8", "kind": "state", "doc": "What it does.", "enum": {"name": "oasis::mode", "values": [
      {"name": "IDLE", "value": 0}, {"name": "RUNNING", "value": 5}, {"name": "FAILED", "value": 6}]}, "alarm": {"values": [6]}},
    {"name": "speed", "type": "real64", "unit": "1/min", "label": "Speed", "min": 0, "max": 9000, "warn": {"above": 8000}, "alarm": {"above": 8500}},
    {"name": "oil_temp", "type": "real32", "unit": "Cel", "warn": {"below": 10, "above": 90}},
    {"name": "took", "type": "int64", "unit": "ns"},
    {"name": "cylinders", "type": {"vector": {"struct": {"name": "oasis::cylinder", "members": [
      {"name": "name", "type": "string"}, {"name": "hot", "type": "boolean"}]}}}},
    {"name": "corners", "type": {"vector": "int16"}}
  ]
}`
	var a, b any
	if json.Unmarshal(found, &a) != nil || json.Unmarshal([]byte(wanted), &b) != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("%s", found)
	}
	var again ProbeType
	if err := json.Unmarshal(found, &again); err != nil || !reflect.DeepEqual(&again, of) {
		t.Errorf("%v: %+v", err, again)
	}
}

func TestTheIdentityOfATypeIsItsLayout(t *testing.T) {
	type Motor struct {
		RPM float64 `oasis:"rpm,unit=1/min"`
	}
	first, _ := TypeOf[Motor]()
	{
		type Motor struct {
			RPM float64 `oasis:"rpm,unit=1/min,max=9000,label=Speed" doc:"Of the shaft."`
		}
		if same, _ := TypeOf[Motor](); same.UUID != first.UUID {
			t.Error("a limit makes another type")
		}
	}
	{
		type Motor struct {
			RPM float32 `oasis:"rpm,unit=1/min"`
		}
		if other, _ := TypeOf[Motor](); other.UUID == first.UUID {
			t.Error("another layout is the same type")
		}
	}
	if first.Name != "oasis::Motor" || first.UUID[6]>>4 != 5 {
		t.Errorf("%+v", first)
	}
}

type recursive struct{ Children []recursive }

func TestMistakesNameTheFieldAndTheRemedy(t *testing.T) {
	wrong := map[string]reflect.Type{
		"its fields are the metrics": typeOf[int](),
		"cannot contain itself":      typeOf[recursive](),
		"field At: time.Time":        typeOf[struct{ At time.Time }](),
		"field Next: *int":           typeOf[struct{ Next *int }](),
		"field M: map":               typeOf[struct{ M map[string]int }](),
		"field C: complex128":        typeOf[struct{ C complex128 }](),
		"two metrics are called a": typeOf[struct {
			A, B int8 `oasis:"a"`
		}](),
		"unknown option \"units=Cel\"": typeOf[struct {
			A int8 `oasis:"a,units=Cel"`
		}](),
		"unknown option \"max\"": typeOf[struct {
			A int8 `oasis:"a,max"`
		}](),
		"\"x\" is no number": typeOf[struct {
			A int8 `oasis:"a,max=x"`
		}](),
		"\"NaN\" is no number": typeOf[struct {
			A int8 `oasis:"a,warn>NaN"`
		}](),
		"no name of a metric": typeOf[struct {
			A int8 `oasis:"a-b"`
		}](),
		"counter, gauge": typeOf[struct {
			A int8 `oasis:"a,kind=x"`
		}](),
		"no value of the enum": typeOf[struct {
			A int8 `oasis:"a,enum=X:1,alarm=Y"`
		}](),
		"two values X": typeOf[struct {
			A int8 `oasis:"a,enum=X:1|X:2"`
		}](),
		"needs an integer type": typeOf[struct {
			A string `oasis:"a,enum=X:1"`
		}](),
		"is no value of an enum": typeOf[struct {
			A int8 `oasis:"a,enum=X"`
		}](),
		"no name of a type": typeOf[struct {
			_ struct{} `oasis:"Plant Engine"`
		}](),
		"is no UUID": typeOf[struct {
			_ struct{} `oasis:"E,uuid=1"`
		}](),
		"write it as 1.0": typeOf[struct {
			_ struct{} `oasis:"E,version=x"`
		}](),
		"as 1..100": typeOf[struct {
			_ struct{} `oasis:"E,demand=100..1"`
		}](),
		"elements have no members": typeOf[struct{ A []struct{} }](),
	}
	for text, of := range wrong {
		if _, _, err := typeAndLayout(of); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestNamesOfFieldsBecomeNamesOfMetrics(t *testing.T) {
	for field, metric := range map[string]string{
		"RPM": "rpm", "OilPressure": "oil_pressure", "HTTPPort": "http_port", "A1B": "a1_b", "Is_On": "is_on", "ID": "id",
	} {
		if found := snake(field); found != metric {
			t.Errorf("%s becomes %s", field, found)
		}
	}
}

// Types of vectors/shapes.pdl as a program would declare them.
type (
	shapePort struct {
		Name  string
		Bytes uint64
		Up    bool
		Mode  uint8
	}
	shapeRack struct {
		Temperature float32
		Ports       []shapePort
	}
	shapeNumbers struct {
		A int8
		B int64
		C uint8
		D int16
		E float64
		F uint16
		G int32
		H bool
		I uint32
		J float32
		K uint
	}
	shapeTexts struct {
		Text    string
		Between bool
		Texts   []string
	}
	shapeVectors struct {
		Bytes []uint8
		Reals []float64
		Rows  [][]int32
		Flags []bool
		Deep  [][][]string
	}
	shapeStructs struct {
		Uplink shapePort
		Racks  []shapeRack
		Groups [][]shapePort
	}
	shapeEnums struct {
		Mode   uint8
		Trend  int16
		Trends []int16
	}
	shapeNothing struct{}
	shapeClocked struct{ Ticks uint64 }
	shapeInner   struct {
		shapeClocked
		Mode uint8
		Rack shapeRack
	}
	shapeWords struct{ A, B, C, D, E, F, G, H, I, J, K int32 }
)

var shapes = map[string]reflect.Type{
	"Shapes::Numbers": typeOf[shapeNumbers](), "Shapes::Texts": typeOf[shapeTexts](), "Shapes::Vectors": typeOf[shapeVectors](),
	"Shapes::Structs": typeOf[shapeStructs](), "Shapes::Enums": typeOf[shapeEnums](), "Shapes::Nothing": typeOf[shapeNothing](),
	"Shapes::Inner::Numbers": typeOf[shapeInner](), "Shapes::Inner::Words": typeOf[shapeWords](),
}

type shapeCase struct {
	Name, Probe             string
	Values                  []any
	Row, Little, Big, Batch string
}

func TestStructsAreWrittenAsEveryLanguageWritesThem(t *testing.T) {
	var vectors struct{ Cases []shapeCase }
	readVectors(t, "shapes.json", &vectors)
	ids := shapeUUIDs(t)
	for _, c := range vectors.Cases {
		t.Run(c.Name, func(t *testing.T) {
			of, lay, err := typeAndLayout(shapes[c.Probe])
			if err != nil {
				t.Fatal(err)
			}
			of.Name, of.UUID = c.Probe, ids[c.Probe]
			values := fromExactMetrics(t, of, c.Values)
			wanted := fromHex(t, c.Row)
			value := reflect.New(shapes[c.Probe])
			fill(t, value.Elem(), values)
			p := unsafe.Pointer(value.Pointer())
			row, fits := lay.append(make([]byte, 0, lay.size(p)), p)
			if !fits || !bytes.Equal(row, wanted) {
				t.Errorf("wrote %x, wanted %x", row, wanted)
			}
			checkForms(t, of, values, &c)
		})
	}
}

// checkForms reads and writes the sample as row, packets and batch.
func checkForms(t *testing.T, of *ProbeType, values []any, c *shapeCase) {
	t.Helper()
	row := fromHex(t, c.Row)
	if read, err := DecodeRow(of, row); err != nil || !same(read, values) {
		t.Errorf("read %v, wanted %v: %v", read, values, err)
	}
	if written, err := EncodeRow(of, values); err != nil || !bytes.Equal(written, row) {
		t.Errorf("wrote %x, wanted %x: %v", written, row, err)
	}
	for length := range row {
		if _, err := DecodeRow(of, row[:length]); err == nil {
			t.Errorf("%d of %d bytes are a row", length, len(row))
		}
	}
	if _, err := DecodeRow(of, append(row, 0)); err == nil {
		t.Error("a byte after the row")
	}
	for order, octets := range map[string]string{"little": c.Little, "big": c.Big} {
		packet := Packet{UUID: of.UUID, Version: [2]uint8{1, 1}, Seconds: 1763683199, Microseconds: 999000, Sequence: 41, State: 2, Instance: "shapes", Values: values}
		checkPacket(t, of, &packet, fromHex(t, octets), byteOrders[order])
	}
	batch, err := DecodeBatch(of, fromHex(t, c.Batch))
	if err != nil {
		t.Fatal(err)
	}
	if read, err := batch.Sample(0); err != nil || !same(read, values) {
		t.Errorf("read %v, wanted %v: %v", read, values, err)
	}
	e := newEncoder(of)
	if err := e.push(batch.Times[0], row); err != nil {
		t.Fatal(err)
	}
	if written := e.finish(batch.Header); !bytes.Equal(written, fromHex(t, c.Batch)) {
		t.Errorf("wrote %x, wanted %s", written, c.Batch)
	}
}

// shapeUUIDs reads the probes of vectors/shapes.pdl.
func shapeUUIDs(t *testing.T) map[string]UUID {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "vectors", "shapes.pdl"))
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]UUID{}
	module := "Shapes::"
	var id UUID
	for _, line := range strings.Split(string(text), "\n") {
		if strings.Contains(line, "module Inner") {
			module = "Shapes::Inner::"
		}
		if _, rest, found := strings.Cut(line, "[uuid("); found {
			if id, err = ParseUUID(rest[:36]); err != nil {
				t.Fatal(err)
			}
		}
		if _, rest, found := strings.Cut(line, " probe "); found && !strings.Contains(line, "abstract") {
			name, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
			ids[module+name] = id
		}
	}
	return ids
}

// fill sets a Go value from what DecodeRow gives.
func fill(t *testing.T, into reflect.Value, from any) {
	t.Helper()
	switch into.Kind() {
	case reflect.Struct:
		fillStruct(t, into, from.([]any))
	case reflect.Slice:
		into.Set(reflect.MakeSlice(into.Type(), len(from.([]any)), len(from.([]any))))
		for i, element := range from.([]any) {
			fill(t, into.Index(i), element)
		}
	default:
		into.Set(reflect.ValueOf(from).Convert(into.Type()))
	}
}

func fillStruct(t *testing.T, into reflect.Value, from []any) {
	t.Helper()
	for i, next := 0, 0; i < into.NumField(); i++ {
		if into.Type().Field(i).Anonymous {
			inner := reflect.NewAt(into.Field(i).Type(), into.Field(i).Addr().UnsafePointer()).Elem()
			fillStruct(t, inner, from[:inner.NumField()])
			next += inner.NumField()
			continue
		}
		fill(t, into.Field(i), from[next])
		next++
	}
}

func TestAValueThatItsMetricCannotHoldIsNamed(t *testing.T) {
	of := &ProbeType{Name: "P", Metrics: []Metric{{Name: "speed", Type: Type{Kind: Uint16}}}}
	for _, wrong := range []any{uint64(70000), int64(1), "x", true, 1.5, nil, []any{}} {
		if _, err := EncodeRow(of, []any{wrong}); err == nil || !strings.Contains(err.Error(), "P.speed: expected uint16") {
			t.Errorf("%v: %v", wrong, err)
		}
	}
	if _, err := EncodeRow(of, nil); err == nil {
		t.Error("too few values")
	}
}
