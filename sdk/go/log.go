package oasis

import (
	"context"
	"encoding/binary"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"unicode/utf8"
)

// Bounds of texts, in bytes, as docs/reference/probes.md has them.
const (
	maxMessage    = 2048
	maxFile       = 256
	maxTarget     = 128
	maxFields     = 16
	maxFieldName  = 64
	maxFieldValue = 256
	maxGroups     = 8 // within each other
	cutMark       = "…"

	logRingBytes = 256 * 1024
	// severityOfDebug turns the levels of slog into the severities of OpenTelemetry: slog chose its numbers for that.
	severityOfDebug = 9
)

// Handler turns the records of log/slog into samples of the ready-made type LogProbe. A goroutine that logs never waits: a
// record without room is dropped and counted, and the DAC reports the loss. Texts have bounds, and what is cut is counted.
type Handler struct {
	pushed *pushed
	level  slog.Leveler
	// fields are those of WithAttrs, ready to be written; prefix is that of the groups.
	fields []logField
	prefix string
}

type logField struct{ name, value string }

// NewHandler adds an instance to a node for the records of this level and above; nil is slog.LevelInfo. The usual name of
// the instance is "log". RingBytes and WhenFull are options; the ring has 256 KiB by default.
func NewHandler(node *Node, instance string, level slog.Leveler, with ...Option) *Handler {
	if level == nil {
		level = slog.LevelInfo
	}
	with = append([]Option{RingBytes(logRingBytes)}, with...)
	varying := &layout{fixed: -1}
	return &Handler{pushed: node.pushedOf(instance, "event", logType(), varying, with), level: level}
}

// logType is that of pdl/instrument/log.pdl.
func logType() *ProbeType {
	text := func(name, label, doc string) Metric {
		return Metric{Name: name, Type: Type{Kind: String}, Label: label, Doc: doc}
	}
	zero := 0.0
	levels := []Enumerator{
		{Name: "TRACE", Value: 1}, {Name: "DEBUG", Value: 5}, {Name: "INFO", Value: 9}, {Name: "WARN", Value: 13},
		{Name: "ERROR", Value: 17}, {Name: "FATAL", Value: 21},
	}
	field := Type{Kind: Struct, Name: "OASIS::Program::Field", Members: []Metric{
		text("name", "", "Its name."), text("value", "", "The value as text."),
	}}
	return &ProbeType{
		Name:    "OASIS::Program::LogProbe",
		UUID:    UUID{0x55, 0xb8, 0x77, 0xc5, 0x31, 0x83, 0x47, 0xb9, 0xab, 0x12, 0x67, 0x76, 0x1c, 0x2a, 0x61, 0x56},
		Version: "1.0",
		Doc:     "One log record of a program; the time of the sample is that of the record.",
		Metrics: []Metric{
			{Name: "level", Type: Type{Kind: Uint8}, Kind: "event", Label: "Level", Doc: "The severity.",
				Enum: &Enum{Name: "OASIS::Program::LogLevel", Values: levels},
				Warn: &Limits{Values: []int64{13}}, Alarm: &Limits{Values: []int64{17, 21}}},
			text("target", "Target", "The logger or module that writes it."),
			text("message", "Message", "The message."),
			text("file", "File", "The source file."),
			{Name: "line", Type: Type{Kind: Uint32}, Label: "Line", Doc: "The line in that file, 0 if unknown."},
			text("thread", "Thread", "The thread, by name where it has one."),
			text("span", "Span", "The spans around it, the outermost first, with colons between."),
			{Name: "fields", Type: Type{Kind: Vector, Element: &field}, Label: "Fields", Doc: "Further values, by name."},
			{Name: "cut", Type: Type{Kind: Uint64}, Unit: "By", Kind: "gauge", Label: "Cut", Warn: &Limits{Above: &zero},
				Doc: "Bytes cut from texts that exceed their bounds; a cut text has a … in their place."},
		},
	}
}

// Enabled returns whether records of a level are taken.
func (h *Handler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= h.level.Level() && h.pushed.ring != nil && h.pushed.ring.enabled.Load()
}

// WithAttrs returns a handler that adds these fields to each record.
func (h *Handler) WithAttrs(attributes []slog.Attr) slog.Handler {
	with := *h
	with.fields = h.fields[:len(h.fields):len(h.fields)]
	for _, attribute := range attributes {
		with.fields = appendFields(with.fields, h.prefix, attribute, 0)
	}
	return &with
}

// WithGroup returns a handler whose fields have the name of the group before theirs.
func (h *Handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	with := *h
	with.prefix = h.prefix + name + "."
	return &with
}

// scratch is the memory of one record.
type scratch struct {
	row    []byte
	fields []logField
}

var scratches = sync.Pool{New: func() any { return &scratch{} }}

// Handle takes a record. It never fails, and never panics: values of the program may.
func (h *Handler) Handle(_ context.Context, logged slog.Record) error {
	ring := h.pushed.ring
	if ring == nil || !ring.enabled.Load() {
		return nil
	}
	memory, _ := scratches.Get().(*scratch)
	defer func() {
		// A value that panics while it is written as text costs this record.
		if recover() != nil {
			ring.lose()
		}
	}()
	memory.fields = append(memory.fields[:0], h.fields...)
	logged.Attrs(func(attribute slog.Attr) bool {
		memory.fields = appendFields(memory.fields, h.prefix, attribute, 0)
		return true
	})
	w := logWriter{row: memory.row[:0]}
	w.record(&logged, memory.fields)
	at := nowNs()
	if !logged.Time.IsZero() {
		at = uint64(logged.Time.UnixNano())
	}
	ring.put(at, w.row)
	clear(memory.fields)
	memory.row = w.row
	scratches.Put(memory)
	return nil
}

// appendFields resolves an attribute, and flattens groups. A group that contains itself ends at some depth.
func appendFields(fields []logField, prefix string, attribute slog.Attr, depth int) []logField {
	if attribute.Equal(slog.Attr{}) {
		return fields
	}
	value := attribute.Value.Resolve()
	if value.Kind() != slog.KindGroup {
		return append(fields, logField{prefix + attribute.Key, value.String()})
	}
	if depth == maxGroups {
		return append(fields, logField{prefix + attribute.Key, cutMark})
	}
	if attribute.Key != "" {
		prefix += attribute.Key + "."
	}
	for _, member := range value.Group() {
		fields = appendFields(fields, prefix, member, depth+1)
	}
	return fields
}

// logWriter writes the row of a record, and counts the bytes that it cuts.
type logWriter struct {
	row []byte
	cut uint64
}

func (w *logWriter) record(logged *slog.Record, fields []logField) {
	target, file, line := source(logged.PC)
	w.row = append(w.row, severity(logged.Level))
	w.text(target, maxTarget)
	w.text(logged.Message, maxMessage)
	w.path(file, maxFile)
	w.row = binary.LittleEndian.AppendUint32(w.row, line)
	w.text("", 0) // a goroutine has no name
	w.text("", 0)
	w.row = binary.AppendUvarint(w.row, uint64(min(len(fields), maxFields)))
	for i, field := range fields {
		if i < maxFields {
			w.text(field.name, maxFieldName)
			w.text(field.value, maxFieldValue)
		} else {
			w.cut += uint64(len(field.name) + len(field.value))
		}
	}
	w.row = binary.LittleEndian.AppendUint64(w.row, w.cut)
}

// severity returns the greatest level of LogProbe that is not above one of slog.
func severity(level slog.Level) byte {
	number := min(max(int(level), -8), 12) + severityOfDebug
	return byte((number-1)/4*4 + 1)
}

// source returns package, file and line of a record.
func source(pc uintptr) (target, file string, line uint32) {
	if pc == 0 {
		return "", "", 0
	}
	frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	target = frame.Function
	// example.com/plant/pump.(*Pump).turn is of the package example.com/plant/pump.
	slash := strings.LastIndexByte(target, '/') + 1
	if dot := strings.IndexByte(target[slash:], '.'); dot >= 0 {
		target = target[:slash+dot]
	}
	return target, frame.File, uint32(max(frame.Line, 0))
}

// text writes a text of at most `most` bytes, and cuts its end.
func (w *logWriter) text(text string, most int) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= most {
		w.row = append(binary.AppendUvarint(w.row, uint64(len(text))), text...)
		return
	}
	kept := most - len(cutMark)
	for kept > 0 && !utf8.RuneStart(text[kept]) {
		kept--
	}
	w.cut += uint64(len(text) - kept)
	w.row = binary.AppendUvarint(w.row, uint64(kept+len(cutMark)))
	w.row = append(append(w.row, text[:kept]...), cutMark...)
}

// path writes a path of at most `most` bytes, and cuts its beginning: the end identifies a file.
func (w *logWriter) path(text string, most int) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= most {
		w.text(text, most)
		return
	}
	from := len(text) - (most - len(cutMark))
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	w.cut += uint64(from)
	w.row = binary.AppendUvarint(w.row, uint64(len(cutMark)+len(text)-from))
	w.row = append(append(w.row, cutMark...), text[from:]...)
}
