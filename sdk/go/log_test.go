package oasis

import (
	"context"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"
)

// logged returns the last record of a handler as DecodeRow reads it.
func logged(t *testing.T, h *Handler) []any {
	t.Helper()
	found, ok := pop(h.pushed.ring)
	if !ok {
		t.Fatal("there is no record")
	}
	values, err := DecodeRow(logType(), found.row)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func TestARecordIsASample(t *testing.T) {
	h := NewHandler(NewNode("go"), "log", slog.LevelDebug)
	slog.New(h).With("pump", 7).WithGroup("pressure").WithGroup("").Warn("it is high", "bar", 8.1, slog.Group("at", "place", "inlet"), slog.Attr{})
	values := logged(t, h)
	_, file, line, _ := runtime.Caller(0)
	fields := []any{[]any{"pump", "7"}, []any{"pressure.bar", "8.1"}, []any{"pressure.at.place", "inlet"}}
	wanted := []any{uint64(13), "oasis", "it is high", cutPath(file), uint64(line - 2), "", "", fields, values[8]}
	if !same(values, wanted) {
		t.Errorf("%v\nwanted %v", values, wanted)
	}
}

func cutPath(file string) string {
	w := logWriter{}
	w.path(file, maxFile)
	text := reader{bytes: w.row}
	return text.text()
}

func TestLongTextsAreCutAndCounted(t *testing.T) {
	h := NewHandler(NewNode("go"), "log", nil)
	long := strings.Repeat("é", 5000)
	attributes := []slog.Attr{}
	for i := 0; i < 20; i++ {
		attributes = append(attributes, slog.String(long, long))
	}
	record := slog.NewRecord(time.Unix(1, 5), slog.LevelError+100, long+"\xff", 0)
	record.AddAttrs(attributes...)
	if err := h.Handle(context.Background(), record); err != nil {
		t.Fatal(err)
	}
	values := logged(t, h)
	message, fields, kept := values[2].(string), values[7].([]any), 0
	for _, field := range fields {
		for _, text := range field.([]any) {
			kept += len(strings.TrimSuffix(text.(string), cutMark))
		}
	}
	kept += len(strings.TrimSuffix(message, cutMark))
	all := 41*len(long) + len("\uFFFD")
	if len(message) > maxMessage || !strings.HasSuffix(message, cutMark) || len(fields) != maxFields || values[8] != uint64(all-kept) {
		t.Errorf("%d bytes, %d fields, %v cut of %d, %d kept", len(message), len(fields), values[8], all, kept)
	}
	if values[0] != uint64(21) || values[3] != "" || values[4] != uint64(0) {
		t.Errorf("%v", values[:1])
	}
}

type itself struct{}

func (itself) LogValue() slog.Value {
	return slog.GroupValue(slog.Any("a", itself{}), slog.Any("b", itself{}))
}

func TestAGroupThatContainsItselfEnds(t *testing.T) {
	h := NewHandler(NewNode("go"), "log", nil)
	slog.New(h).Info("deep", "it", itself{})
	if fields := logged(t, h)[7].([]any); len(fields) != maxFields {
		t.Errorf("%v", fields)
	}
}

func TestLevelsBetweenTwoBecomeTheLowerOne(t *testing.T) {
	for level, wanted := range map[slog.Level]byte{
		-100: 1, -8: 1, -5: 1, slog.LevelDebug: 5, -1: 5, slog.LevelInfo: 9, 3: 9, slog.LevelWarn: 13, slog.LevelError: 17, 12: 21, 100: 21,
	} {
		if found := severity(level); found != wanted {
			t.Errorf("%d becomes %d", level, found)
		}
	}
}

func TestRecordsBelowTheLevelAndOfADisabledProbeAreNotTaken(t *testing.T) {
	level := new(slog.LevelVar)
	h := NewHandler(NewNode("go"), "log", level)
	logger := slog.New(h)
	logger.Debug("not wanted")
	h.pushed.ring.enabled.Store(false)
	logger.Info("disabled")
	if _, ok := pop(h.pushed.ring); ok {
		t.Error("a record was taken")
	}
	if h.Enabled(context.Background(), slog.LevelError) {
		t.Error("it says that it takes records")
	}
	h.pushed.ring.enabled.Store(true)
	level.Set(slog.LevelDebug)
	logger.Debug("wanted")
	logged(t, h)
}
