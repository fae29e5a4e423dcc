package oasis

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Kind is a type of the Probe Definition Language.
type Kind uint8

// The primitive types, and the two that contain others.
const (
	Boolean Kind = iota
	Int8
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Real32
	Real64
	String
	Vector
	Struct
)

var kindNames = [...]string{
	"boolean", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "real32", "real64", "string",
	"vector", "struct",
}

// String returns the name that PDL has for it.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Type is the type of a metric.
type Type struct {
	Kind Kind
	// Element is the type of the elements of a vector.
	Element *Type
	// Name is that of a struct, scoped.
	Name string
	// Members are those of a struct.
	Members []Metric
}

// Metric is a metric of a probe type, or a member of a struct: docs/reference/schema.md.
type Metric struct {
	Name string `json:"name"`
	Type Type   `json:"type"`
	// Unit is UCUM, such as "1/min" or "Cel".
	Unit string `json:"unit,omitempty"`
	// Kind is "counter", "gauge", "state", "event" or empty.
	Kind  string `json:"kind,omitempty"`
	Label string `json:"label,omitempty"`
	Doc   string `json:"doc,omitempty"`
	Enum  *Enum  `json:"enum,omitempty"`
	// Min and Max are the least and the greatest value that make sense.
	Min   *float64 `json:"min,omitempty"`
	Max   *float64 `json:"max,omitempty"`
	Warn  *Limits  `json:"warn,omitempty"`
	Alarm *Limits  `json:"alarm,omitempty"`
}

// Enum names the numbers of an integer metric.
type Enum struct {
	Name   string       `json:"name"`
	Values []Enumerator `json:"values"`
}

// Enumerator is one number of an Enum.
type Enumerator struct {
	Name  string `json:"name"`
	Value int64  `json:"value"`
	Doc   string `json:"doc,omitempty"`
}

// Limits are values worth a warning or an alarm: those that match one of the fields.
type Limits struct {
	Below  *float64 `json:"below,omitempty"`
	Above  *float64 `json:"above,omitempty"`
	Values []int64  `json:"values,omitempty"`
}

// ProbeType is the schema that a node registers. UUID and Version name one layout.
type ProbeType struct {
	Name    string   `json:"name"`
	UUID    UUID     `json:"uuid"`
	Version string   `json:"version"`
	Doc     string   `json:"doc,omitempty"`
	Rate    *Rate    `json:"rate,omitempty"`
	Metrics []Metric `json:"metrics"`
}

// Rate says what decides how often a probe is sampled.
type Rate struct {
	Demand *Demand `json:"demand,omitempty"`
}

// Demand is a range of rates in hertz that the readers of a periodic probe choose from.
type Demand struct {
	Min float64 `json:"min"`
	Max float64 `json:"max"`
}

const (
	maxDepth   = 16     // vectors and structs within each other: docs/reference/native-batch.md
	maxMetrics = 65_534 // metrics and members of one type: docs/reference/data-channel.md
)

type structJSON struct {
	Name    string   `json:"name"`
	Members []Metric `json:"members"`
}

// MarshalJSON writes the form of docs/reference/schema.md.
func (t Type) MarshalJSON() ([]byte, error) {
	switch t.Kind {
	case Vector:
		return json.Marshal(map[string]*Type{"vector": t.Element})
	case Struct:
		of := structJSON{Name: t.Name, Members: t.Members}
		if of.Members == nil {
			of.Members = []Metric{}
		}
		return json.Marshal(map[string]structJSON{"struct": of})
	}
	return json.Marshal(t.Kind.String())
}

// UnmarshalJSON reads the form of docs/reference/schema.md.
func (t *Type) UnmarshalJSON(text []byte) error {
	var name string
	if json.Unmarshal(text, &name) == nil {
		for kind := Boolean; kind <= String; kind++ {
			if kindNames[kind] == name {
				*t = Type{Kind: kind}
				return nil
			}
		}
		return fmt.Errorf("unknown type %q: docs/reference/pdl.md lists the types", name)
	}
	var of struct {
		Vector *Type       `json:"vector"`
		Struct *structJSON `json:"struct"`
	}
	if err := json.Unmarshal(text, &of); err != nil {
		return err
	}
	switch {
	case of.Vector != nil:
		*t = Type{Kind: Vector, Element: of.Vector}
	case of.Struct != nil:
		*t = Type{Kind: Struct, Name: of.Struct.Name, Members: of.Struct.Members}
	default:
		return fmt.Errorf("type %.40q is neither a name, a vector nor a struct", text)
	}
	return nil
}

// Validate returns why a DAC would refuse this type, or nil.
func (p *ProbeType) Validate() error {
	members := len(p.Metrics)
	for i := range p.Metrics {
		if err := p.Metrics[i].Type.validate(p.Metrics[i].Name, 0, &members); err != nil {
			return fmt.Errorf("probe type %s: %w", p.Name, err)
		}
	}
	if members > maxMetrics {
		return fmt.Errorf("probe type %s has %d metrics and members, the limit is %d: split it", p.Name, members, maxMetrics)
	}
	return nil
}

func (t *Type) validate(metric string, depth int, members *int) error {
	switch {
	case depth > maxDepth:
		return fmt.Errorf("metric %s has more than %d vectors and structs within each other", metric, maxDepth)
	case t.Kind > Struct:
		return fmt.Errorf("metric %s has no type", metric)
	case t.Kind == Vector && (t.Element == nil || t.Element.isEmpty(depth)):
		return fmt.Errorf("metric %s is a vector whose elements have no members", metric)
	case t.Kind == Vector:
		return t.Element.validate(metric, depth+1, members)
	}
	*members += len(t.Members)
	for i := range t.Members {
		if err := t.Members[i].Type.validate(metric, depth+1, members); err != nil {
			return err
		}
	}
	return nil
}

// isEmpty returns whether a value takes no bytes at all.
func (t *Type) isEmpty(depth int) bool {
	if t.Kind != Struct || depth > maxDepth {
		return false
	}
	for i := range t.Members {
		if !t.Members[i].Type.isEmpty(depth + 1) {
			return false
		}
	}
	return true
}

// width returns the bytes of a value in a plain column, or 0 for types that have none.
func (k Kind) width() int {
	switch k {
	case Boolean, Int8, Uint8:
		return 1
	case Int16, Uint16:
		return 2
	case Int32, Uint32, Real32:
		return 4
	case Int64, Uint64, Real64:
		return 8
	}
	return 0
}

func (k Kind) isReal() bool   { return k == Real32 || k == Real64 }
func (k Kind) isSigned() bool { return k >= Int8 && k <= Int64 }

// identity returns what makes a layout: a type without a UUID of its own gets one of it. Limits, labels and
// documentation may change without another identity.
func (p *ProbeType) identity() string {
	var text strings.Builder
	text.WriteString("oasis probe type " + p.Name + " " + p.Version)
	for i := range p.Metrics {
		p.Metrics[i].identity(&text)
	}
	return text.String()
}

func (m *Metric) identity(text *strings.Builder) {
	fmt.Fprintf(text, "\n%q %q ", m.Name, m.Unit)
	of := &m.Type
	for ; of.Kind == Vector; of = of.Element {
		text.WriteString("vector ")
	}
	text.WriteString(of.Kind.String())
	if of.Kind == Struct {
		fmt.Fprintf(text, " %q {", of.Name)
		for i := range of.Members {
			of.Members[i].identity(text)
		}
		text.WriteString("}")
	}
}
