package oasis

import (
	"encoding/binary"
	"fmt"
	"math"
	"path"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unsafe"
)

// A layout writes the rows of a Go type: its operations in the order of the metrics, members of structs among them.
type layout struct {
	ops []op
	// fixed is the size of a row in bytes if no operation has a size of its own, and -1 otherwise.
	fixed int
}

// op writes one field of a Go value.
type op struct {
	source reflect.Kind
	offset uintptr
	// element, elementSize and count are those of a slice (count -1) or an array.
	element     *layout
	elementSize uintptr
	count       int
}

// Go sources of each primitive type.
var kindOf = map[reflect.Kind]Kind{
	reflect.Bool: Boolean, reflect.Int8: Int8, reflect.Int16: Int16, reflect.Int32: Int32, reflect.Int64: Int64,
	reflect.Int: Int64, reflect.Uint8: Uint8, reflect.Uint16: Uint16, reflect.Uint32: Uint32, reflect.Uint64: Uint64,
	reflect.Uint: Uint64, reflect.Float32: Real32, reflect.Float64: Real64, reflect.String: String,
}

var (
	identifier   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)
	scopedName   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*(::[A-Za-z][A-Za-z0-9_]*)*$`)
	version      = regexp.MustCompile(`^[0-9]{1,5}\.[0-9]{1,5}$`)
	durationType = reflect.TypeOf(time.Duration(0))
)

// TypeOf returns the probe type of a Go struct: each exported field is a metric. The package documentation has the tags.
func TypeOf[T any]() (*ProbeType, error) {
	of, _, err := typeAndLayout(reflect.TypeOf((*T)(nil)).Elem())
	return of, err
}

func typeAndLayout(t reflect.Type) (*ProbeType, *layout, error) {
	if t.Kind() != reflect.Struct {
		return nil, nil, fmt.Errorf("probe type %s: a sample is a struct, its fields are the metrics", t)
	}
	of := &ProbeType{Name: nameOf(t, "Sample"), Version: "1.0", Metrics: []Metric{}}
	hasUUID := false
	for i := 0; i < t.NumField(); i++ {
		if field := t.Field(i); field.Name == "_" {
			found, err := of.apply(field.Tag.Get("oasis"))
			if err != nil {
				return nil, nil, fmt.Errorf("probe type %s: %w", t, err)
			}
			of.Doc = field.Tag.Get("doc")
			hasUUID = hasUUID || found
		}
	}
	of.Name = strings.TrimPrefix(of.Name, "::")
	metrics, lay, err := members(t, 0, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("probe type %s: %w", t, err)
	}
	of.Metrics = append(of.Metrics, metrics...)
	if !hasUUID {
		of.UUID = derivedUUID(of.identity())
	}
	return of, lay, of.Validate()
}

// apply takes the tag of a blank field: `Plant::Engine,uuid=6f0f…,version=1.2,demand=1..100`. It returns whether that
// has a UUID.
func (p *ProbeType) apply(tag string) (hasUUID bool, err error) {
	for i, part := range strings.Split(tag, ",") {
		key, value, _ := strings.Cut(part, "=")
		switch {
		case i == 0 && part == "":
		case i == 0:
			if !scopedName.MatchString(strings.TrimPrefix(part, "::")) {
				return false, fmt.Errorf("%q is no name of a type: write it as Plant::Engine", part)
			}
			p.Name = part
		case key == "uuid":
			hasUUID = true
			if p.UUID, err = ParseUUID(value); err != nil {
				return false, err
			}
		case key == "version":
			if p.Version = value; !version.MatchString(value) {
				return false, fmt.Errorf("version %q: write it as 1.0", value)
			}
		case key == "demand":
			if p.Rate, err = parseDemand(value); err != nil {
				return false, err
			}
		default:
			return false, fmt.Errorf("unknown option %q: uuid=, version= and demand= are known", part)
		}
	}
	return hasUUID, nil
}

func parseDemand(text string) (*Rate, error) {
	low, high, _ := strings.Cut(text, "..")
	from, errFrom := strconv.ParseFloat(low, 64)
	to, errTo := strconv.ParseFloat(high, 64)
	if errFrom != nil || errTo != nil || !isRate(from) || !isRate(to) || from > to {
		return nil, fmt.Errorf("demand %q: write hertz from 0.01 to 1000 as 1..100", text)
	}
	return &Rate{Demand: &Demand{Min: from, Max: to}}, nil
}

// members returns the metrics of a struct that begins at an offset, and what writes them.
func members(t reflect.Type, offset uintptr, depth int) ([]Metric, *layout, error) {
	if depth > maxDepth {
		return nil, nil, fmt.Errorf("%s has more than %d slices and structs within each other: a type cannot contain itself", t, maxDepth)
	}
	var metrics []Metric
	lay := &layout{}
	for i := 0; i < t.NumField(); i++ {
		field := t.Field(i)
		tag, isTagged := field.Tag.Lookup("oasis")
		if tag == "-" || field.Name == "_" || (!field.IsExported() && !field.Anonymous) {
			continue
		}
		if field.Anonymous && !isTagged && field.Type.Kind() == reflect.Struct {
			base, more, err := members(field.Type, offset+field.Offset, depth+1)
			if err != nil {
				return nil, nil, err
			}
			metrics = append(metrics, base...)
			lay.add(more.ops...)
			continue
		}
		if !field.IsExported() {
			continue
		}
		metric, ops, err := metricOf(field, tag, offset+field.Offset, depth)
		if err != nil {
			return nil, nil, fmt.Errorf("field %s: %w", field.Name, err)
		}
		metrics = append(metrics, metric)
		lay.add(ops...)
	}
	lay.settle()
	return metrics, lay, distinct(metrics)
}

func distinct(metrics []Metric) error {
	known := make(map[string]bool, len(metrics))
	for i := range metrics {
		if name := metrics[i].Name; known[name] {
			return fmt.Errorf("two metrics are called %s: give one a name in its tag, `oasis:\"other\"`", name)
		}
		known[metrics[i].Name] = true
	}
	return nil
}

func metricOf(field reflect.StructField, tag string, offset uintptr, depth int) (Metric, []op, error) {
	metric := Metric{Name: snake(field.Name), Doc: field.Tag.Get("doc")}
	of, ops, err := typeOfField(field.Type, field.Name, offset, depth)
	if err != nil {
		return metric, nil, err
	}
	metric.Type = of
	if field.Type == durationType {
		metric.Unit = "ns"
	}
	if err := metric.apply(tag, field.Type); err != nil {
		return metric, nil, err
	}
	if !identifier.MatchString(metric.Name) {
		return metric, nil, fmt.Errorf("%q is no name of a metric: use letters, digits and _, a letter first", metric.Name)
	}
	return metric, ops, nil
}

func typeOfField(t reflect.Type, name string, offset uintptr, depth int) (Type, []op, error) {
	if kind, isPrimitive := kindOf[t.Kind()]; isPrimitive {
		return Type{Kind: kind}, []op{{source: t.Kind(), offset: offset}}, nil
	}
	switch t.Kind() {
	case reflect.Struct:
		inner, lay, err := members(t, offset, depth+1)
		if err == nil && len(inner) == 0 && t.NumField() > 0 {
			err = unsupported(t)
		}
		if err != nil {
			return Type{}, nil, err
		}
		return Type{Kind: Struct, Name: nameOf(t, snake(name)), Members: inner}, lay.ops, nil
	case reflect.Slice, reflect.Array:
		if depth > maxDepth {
			return Type{}, nil, fmt.Errorf("more than %d slices and structs within each other", maxDepth)
		}
		element, ops, err := typeOfField(t.Elem(), name, 0, depth+1)
		if err != nil {
			return Type{}, nil, err
		}
		inner := &layout{}
		inner.add(ops...)
		inner.settle()
		count := -1
		if t.Kind() == reflect.Array {
			count = t.Len()
		}
		outer := op{source: t.Kind(), offset: offset, element: inner, elementSize: t.Elem().Size(), count: count}
		return Type{Kind: Vector, Element: &element}, []op{outer}, nil
	}
	return Type{}, nil, unsupported(t)
}

func unsupported(t reflect.Type) error {
	return fmt.Errorf("%s is no type of a metric: use numbers, bool, string, and slices, arrays and structs of these with "+
		"exported fields, or leave the field out with the tag `oasis:\"-\"`", t)
}

// apply takes the tag of a field: `rpm,unit=1/min,kind=gauge,min=0,max=9000,warn>8000,alarm>8500,label=Speed`.
func (m *Metric) apply(tag string, t reflect.Type) error {
	for i, part := range strings.Split(tag, ",") {
		if i == 0 {
			if part != "" {
				m.Name = part
			}
			continue
		}
		if err := m.option(part, t); err != nil {
			return err
		}
	}
	return nil
}

func (m *Metric) option(part string, t reflect.Type) (err error) {
	at := strings.IndexAny(part, "=<>")
	if at < 0 {
		return unknownOption(part)
	}
	key, sign, value := part[:at], part[at], strings.TrimSpace(part[at+1:])
	switch {
	case key == "warn":
		m.Warn, err = m.limit(m.Warn, sign, value)
	case key == "alarm":
		m.Alarm, err = m.limit(m.Alarm, sign, value)
	case sign != '=':
		err = unknownOption(part)
	case key == "unit":
		m.Unit = value
	case key == "label":
		m.Label = value
	case key == "kind":
		if m.Kind = value; value != "counter" && value != "gauge" && value != "state" && value != "event" {
			err = fmt.Errorf("kind %q: counter, gauge, state and event are known", value)
		}
	case key == "min":
		m.Min, err = number(value)
	case key == "max":
		m.Max, err = number(value)
	case key == "enum":
		err = m.enumerate(value, t)
	default:
		err = unknownOption(part)
	}
	return err
}

func unknownOption(part string) error {
	return fmt.Errorf("unknown option %q: unit=, kind=, label=, min=, max=, enum=, warn>, warn<, alarm> and alarm< are known", part)
}

func number(text string) (*float64, error) {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
		return nil, fmt.Errorf("%q is no number", text)
	}
	return &value, nil
}

func (m *Metric) limit(limits *Limits, sign byte, value string) (*Limits, error) {
	if limits == nil {
		limits = &Limits{}
	}
	var err error
	switch sign {
	case '>':
		limits.Above, err = number(value)
	case '<':
		limits.Below, err = number(value)
	default:
		for _, name := range strings.Split(value, "|") {
			number, isKnown := m.enumerator(name)
			if !isKnown {
				return nil, fmt.Errorf("%q is no value of the enum: name the enum first, enum=IDLE:0|FAILED:6,alarm=FAILED", name)
			}
			limits.Values = append(limits.Values, number)
		}
	}
	return limits, err
}

func (m *Metric) enumerator(name string) (int64, bool) {
	if m.Enum != nil {
		for _, known := range m.Enum.Values {
			if known.Name == name {
				return known.Value, true
			}
		}
	}
	return 0, false
}

// enumerate takes the values of an enum: `IDLE:0|RUNNING:5`.
func (m *Metric) enumerate(text string, t reflect.Type) error {
	of := &m.Type
	for of.Kind == Vector {
		of, t = of.Element, t.Elem()
	}
	if of.Kind < Int8 || of.Kind > Uint64 {
		return fmt.Errorf("an enum needs an integer type, not %s", of.Kind)
	}
	m.Enum = &Enum{Name: nameOf(t, m.Name)}
	if t.PkgPath() == "" {
		m.Enum.Name = m.Name
	}
	for _, part := range strings.Split(text, "|") {
		name, value, _ := strings.Cut(part, ":")
		number, err := strconv.ParseInt(value, 10, 64)
		if err != nil || number < math.MinInt32 || number > math.MaxUint32 || !identifier.MatchString(name) {
			return fmt.Errorf("%q is no value of an enum: write them as IDLE:0|RUNNING:5, with 32 bits at most", part)
		}
		if _, isKnown := m.enumerator(name); isKnown {
			return fmt.Errorf("the enum has two values %s", name)
		}
		m.Enum.Values = append(m.Enum.Values, Enumerator{Name: name, Value: number})
	}
	return nil
}

// nameOf returns the scoped name of a Go type: that of its package, and its own.
func nameOf(t reflect.Type, otherwise string) string {
	name := t.Name()
	if name == "" {
		name = otherwise
	}
	module := path.Base(t.PkgPath())
	if t.PkgPath() == "" {
		module = "main"
	}
	return plainName(module) + "::" + plainName(name)
}

// plainName replaces what PDL has not in names, such as the brackets of a generic type.
func plainName(name string) string {
	plain := strings.Map(func(r rune) rune {
		if r < 128 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, name)
	if plain == "" || !unicode.IsLetter(rune(plain[0])) {
		plain = "T" + plain
	}
	return plain
}

// snake returns the name of a metric for that of a field: OilPressure becomes oil_pressure, RPM rpm.
func snake(name string) string {
	letters := []rune(name)
	var out strings.Builder
	for i, letter := range letters {
		if i > 0 && unicode.IsUpper(letter) && letters[i-1] != '_' &&
			(!unicode.IsUpper(letters[i-1]) || (i+1 < len(letters) && unicode.IsLower(letters[i+1]))) {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(letter))
	}
	return out.String()
}

func (l *layout) add(ops ...op) { l.ops = append(l.ops, ops...) }

// settle finds out whether all rows have one size.
func (l *layout) settle() {
	l.fixed = 0
	for i := range l.ops {
		width := rowWidth(l.ops[i].source)
		if width == 0 {
			l.fixed = -1
			return
		}
		l.fixed += width
	}
}

// size returns the bytes of the row of the value at p.
//
// p points to a live value of the Go type that the layout was made of: every offset is that of a field of it, and
// every source the field's kind. Whoever calls keeps the value alive.
func (l *layout) size(p unsafe.Pointer) int {
	if l.fixed >= 0 {
		return l.fixed
	}
	size := 0
	for i := range l.ops {
		o := &l.ops[i]
		switch at := unsafe.Add(p, o.offset); o.source {
		case reflect.String:
			length := len(*(*string)(at))
			size += varintLength(uint64(length)) + length
		case reflect.Slice, reflect.Array:
			elements, count := o.elements(at)
			size += varintLength(uint64(count))
			if o.element.fixed >= 0 {
				size += count * o.element.fixed
				continue
			}
			for j := 0; j < count; j++ {
				size += o.element.size(unsafe.Add(elements, uintptr(j)*o.elementSize))
			}
		default:
			size += rowWidth(o.source)
		}
	}
	return size
}

// append writes the row of the value at p, as size says. If another goroutine changes the value meanwhile, it stops at
// the capacity of the row, and returns false.
func (l *layout) append(row []byte, p unsafe.Pointer) ([]byte, bool) {
	for i := range l.ops {
		o := &l.ops[i]
		at := unsafe.Add(p, o.offset)
		width := rowWidth(o.source)
		if width > cap(row)-len(row) {
			return row, false
		}
		switch o.source {
		case reflect.String:
			text := *(*string)(at)
			if varintLength(uint64(len(text)))+len(text) > cap(row)-len(row) {
				return row, false
			}
			row = append(binary.AppendUvarint(row, uint64(len(text))), text...)
		case reflect.Slice, reflect.Array:
			var fits bool
			if row, fits = o.appendElements(row, at); !fits {
				return row, false
			}
		case reflect.Bool:
			row = append(row, *(*byte)(at)&1)
		case reflect.Int8, reflect.Uint8:
			row = append(row, *(*byte)(at))
		case reflect.Int16, reflect.Uint16:
			row = binary.LittleEndian.AppendUint16(row, *(*uint16)(at))
		case reflect.Int32, reflect.Uint32, reflect.Float32:
			row = binary.LittleEndian.AppendUint32(row, *(*uint32)(at))
		case reflect.Int:
			row = binary.LittleEndian.AppendUint64(row, uint64(*(*int)(at)))
		case reflect.Uint:
			row = binary.LittleEndian.AppendUint64(row, uint64(*(*uint)(at)))
		default:
			row = binary.LittleEndian.AppendUint64(row, *(*uint64)(at))
		}
	}
	return row, true
}

func (o *op) appendElements(row []byte, at unsafe.Pointer) ([]byte, bool) {
	elements, count := o.elements(at)
	if varintLength(uint64(count)) > cap(row)-len(row) {
		return row, false
	}
	row = binary.AppendUvarint(row, uint64(count))
	for j := 0; j < count; j++ {
		var fits bool
		if row, fits = o.element.append(row, unsafe.Add(elements, uintptr(j)*o.elementSize)); !fits {
			return row, false
		}
	}
	return row, true
}

// elements returns where the elements of a slice or an array begin, and their number.
func (o *op) elements(at unsafe.Pointer) (unsafe.Pointer, int) {
	if o.count >= 0 {
		return at, o.count
	}
	// Any slice has the form of one of bytes: pointer, length, capacity.
	slice := *(*[]byte)(at)
	return unsafe.Pointer(unsafe.SliceData(slice)), len(slice)
}

// rowWidth returns the bytes of a row that a primitive source of fixed width takes, and 0 for others.
func rowWidth(source reflect.Kind) int {
	switch source {
	case reflect.Bool, reflect.Int8, reflect.Uint8:
		return 1
	case reflect.Int16, reflect.Uint16:
		return 2
	case reflect.Int32, reflect.Uint32, reflect.Float32:
		return 4
	case reflect.Int, reflect.Int64, reflect.Uint, reflect.Uint64, reflect.Float64:
		return 8
	}
	return 0
}
