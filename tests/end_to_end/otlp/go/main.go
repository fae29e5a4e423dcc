// Command client sends metrics and spans with the SDK of OpenTelemetry for Go: go run . http|grpc HOST:PORT.
//
// Its output names each sample of the archive, as JSON lines: [instance, time, columns]. The expected values are those of the objects that
// the SDK gives its exporters.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"os"
	"sort"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

const rounds = 10

func main() {
	protocol, address := os.Args[1], os.Args[2]
	of := resource.NewSchemaless(attribute.String("service.name", "gopher"), attribute.String("host.name", "hall-2"))
	sendMetrics(metricExporter(protocol, address), of)
	sendSpans(traceClient(protocol, address), of)
}

func metricExporter(protocol, address string) sdkmetric.Exporter {
	var exporter sdkmetric.Exporter
	var err error
	if protocol == "grpc" {
		exporter, err = otlpmetricgrpc.New(context.Background(), otlpmetricgrpc.WithEndpoint(address),
			otlpmetricgrpc.WithInsecure(), otlpmetricgrpc.WithCompressor("gzip"))
	} else {
		exporter, err = otlpmetrichttp.New(context.Background(), otlpmetrichttp.WithEndpoint(address),
			otlpmetrichttp.WithInsecure(), otlpmetrichttp.WithCompression(otlpmetrichttp.GzipCompression))
	}
	check(err)
	return exporter
}

func traceClient(protocol, address string) otlptrace.Client {
	if protocol == "grpc" {
		return otlptracegrpc.NewClient(otlptracegrpc.WithEndpoint(address), otlptracegrpc.WithInsecure())
	}
	return otlptracehttp.NewClient(otlptracehttp.WithEndpoint(address), otlptracehttp.WithInsecure())
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func expect(instance string, at time.Time, columns map[string]any) {
	line, err := json.Marshal([]any{instance, at.UnixNano(), columns})
	check(err)
	fmt.Println(string(line))
}

func sendMetrics(exporter sdkmetric.Exporter, of *resource.Resource) {
	ctx := context.Background()
	reader := sdkmetric.NewManualReader()
	exponential := sdkmetric.Stream{Aggregation: sdkmetric.AggregationBase2ExponentialHistogram{MaxSize: 160, MaxScale: 20}}
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader), sdkmetric.WithResource(of),
		sdkmetric.WithView(sdkmetric.NewView(sdkmetric.Instrument{Name: "payload"}, exponential)))
	meter := provider.Meter("plant")
	temperature, err := meter.Float64Gauge("temperature", metric.WithUnit("Cel"))
	check(err)
	requests, err := meter.Int64Counter("requests")
	check(err)
	level, err := meter.Float64UpDownCounter("level")
	check(err)
	latency, err := meter.Float64Histogram("latency", metric.WithUnit("ms"))
	check(err)
	payload, err := meter.Int64Histogram("payload", metric.WithUnit("By"))
	check(err)
	for round := range rounds {
		temperature.Record(ctx, 20+float64(round)*0.1)
		for pump := range 2 {
			attributes := metric.WithAttributes(attribute.Int("pump", pump), attribute.Bool("spare", pump == 1))
			requests.Add(ctx, math.MaxInt32+int64(round), attributes)
			level.Add(ctx, math.Pow(-1, float64(round))*float64(round), attributes)
			latency.Record(ctx, float64(round)*37.5, attributes)
			payload.Record(ctx, int64(round)*1_000, attributes)
		}
		var data metricdata.ResourceMetrics
		check(reader.Collect(ctx, &data))
		check(exporter.Export(ctx, &data))
		expectMetrics(&data)
	}
	check(exporter.Shutdown(ctx))
}

func expectMetrics(data *metricdata.ResourceMetrics) {
	for _, scope := range data.ScopeMetrics {
		for _, one := range scope.Metrics {
			switch of := one.Data.(type) {
			case metricdata.Gauge[float64]:
				for _, point := range of.DataPoints {
					expect(named(one.Name, point.Attributes), point.Time, map[string]any{"value": point.Value})
				}
			case metricdata.Sum[int64]:
				expectSum(one.Name, of)
			case metricdata.Sum[float64]:
				expectSum(one.Name, of)
			case metricdata.Histogram[float64]:
				for _, point := range of.DataPoints {
					columns := cumulative(point.StartTime)
					least, _ := point.Min.Value()
					most, _ := point.Max.Value()
					columns["histogram.count"], columns["histogram.sum"] = point.Count, point.Sum
					columns["histogram.min"], columns["histogram.max"] = least, most
					columns["histogram.bounds"], columns["histogram.counts"] = point.Bounds, point.BucketCounts
					expect(named(one.Name, point.Attributes), point.Time, columns)
				}
			case metricdata.ExponentialHistogram[int64]:
				for _, point := range of.DataPoints {
					columns := cumulative(point.StartTime)
					columns["histogram.count"], columns["histogram.sum"] = point.Count, point.Sum
					columns["histogram.scale"], columns["histogram.zero_count"] = point.Scale, point.ZeroCount
					columns["histogram.positive_offset"] = point.PositiveBucket.Offset
					columns["histogram.positive_counts"] = append([]uint64{}, point.PositiveBucket.Counts...)
					expect(named(one.Name, point.Attributes), point.Time, columns)
				}
			default:
				log.Fatalf("%s: %T", one.Name, one.Data)
			}
		}
	}
}

func expectSum[N int64 | float64](name string, of metricdata.Sum[N]) {
	for _, point := range of.DataPoints {
		columns := cumulative(point.StartTime)
		columns["value"] = point.Value
		expect(named(name, point.Attributes), point.Time, columns)
	}
}

func cumulative(start time.Time) map[string]any {
	return map[string]any{"temporality": "CUMULATIVE", "start_time": start.UnixNano(), "reset": 0}
}

// named returns the name of the instance of a metric with these attributes.
func named(name string, attributes attribute.Set) string {
	var parts []string
	for _, pair := range attributes.ToSlice() {
		parts = append(parts, fmt.Sprintf(",%s=%s", pair.Key, pair.Value.Emit()))
	}
	sort.Strings(parts)
	return name + strings.Join(parts, "")
}

type spans struct {
	sdktrace.SpanExporter
	sent []sdktrace.ReadOnlySpan
}

func (of *spans) ExportSpans(ctx context.Context, batch []sdktrace.ReadOnlySpan) error {
	of.sent = append(of.sent, batch...)
	return of.SpanExporter.ExportSpans(ctx, batch)
}

func sendSpans(client otlptrace.Client, of *resource.Resource) {
	ctx := context.Background()
	inner, err := otlptrace.New(ctx, client)
	check(err)
	exporter := &spans{SpanExporter: inner}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(of))
	tracer := provider.Tracer("plant")
	for round := range rounds {
		turn, outer := tracer.Start(ctx, fmt.Sprintf("turn %d", round), trace.WithSpanKind(trace.SpanKindServer))
		_, step := tracer.Start(turn, "step")
		if round%4 == 0 {
			step.SetStatus(codes.Error, "too high")
		}
		step.End()
		outer.End()
	}
	check(provider.Shutdown(ctx))
	for _, span := range exporter.sent {
		outcome := "OK"
		if span.Status().Code == codes.Error {
			outcome = "ERROR"
		}
		duration := span.EndTime().Sub(span.StartTime()).Nanoseconds()
		columns := map[string]any{"name": span.Name(), "target": "plant", "duration": duration, "outcome": outcome}
		expect("spans", span.EndTime(), columns)
	}
}
