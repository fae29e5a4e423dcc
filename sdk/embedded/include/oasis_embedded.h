/* An OASIS node for devices without an operating system: no heap, no threads, static memory.
 *
 * Headers that `oasis pdl compile --lang c99` generates include this one. How the device and its gateway communicate:
 * docs/reference/embedded.md. */

#ifndef OASIS_EMBEDDED_H
#define OASIS_EMBEDDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Chosen at compile time, for the library and for the application alike. */

/* Most probe instances of a node, 1 to 32. */
#ifndef OASIS_INSTANCES
#define OASIS_INSTANCES 8u
#endif

/* Largest frame before it is stuffed, 128 to 4,096 bytes. Larger frames carry more samples for one head. For UDP at most
 * 1,456. */
#ifndef OASIS_FRAME_BYTES
#define OASIS_FRAME_BYTES 1024u
#endif

#if OASIS_INSTANCES < 1 || OASIS_INSTANCES > 32 || OASIS_FRAME_BYTES < 128 || OASIS_FRAME_BYTES > 4096
#error "OASIS_INSTANCES is 1 to 32, OASIS_FRAME_BYTES 128 to 4096"
#endif

/* Orders the memory accesses of a producer of samples and of `oasis_poll`. An interrupt on the same core needs only the
 * compiler's order; two cores need an instruction, such as `dmb`. */
#ifndef OASIS_BARRIER
#ifdef __GNUC__
#define OASIS_BARRIER() __asm__ volatile("" ::: "memory")
#else
#error "define OASIS_BARRIER() for this compiler: a barrier for memory accesses"
#endif
#endif

/* Where memory lies that a start does not clear; the linker script needs the section. */
#ifndef OASIS_NOINIT
#define OASIS_NOINIT __attribute__((section(".noinit")))
#endif

/* Whether a node recognizes that it is in a child of the process that started it. -DOASIS_HAS_PROCESSES=0 leaves that out:
 * it costs a system call (`getpid`) for each sample. */
#ifndef OASIS_HAS_PROCESSES
#ifdef __unix__
#define OASIS_HAS_PROCESSES 1
#else
#define OASIS_HAS_PROCESSES 0
#endif
#endif

/* Types: generated. */

enum { OASIS_UNSIGNED = 0, OASIS_SIGNED = 1, OASIS_REAL = 2, OASIS_ROWS = 3 };

/* A metric within a packed row. */
typedef struct {
  uint8_t kind;  /* OASIS_UNSIGNED, ... */
  uint8_t width; /* bytes */
} oasis_column;

/* A probe type. */
typedef struct {
  uint8_t uuid[16];
  const char *schema; /* JSON, as docs/reference/schema.md describes it */
  uint16_t schema_bytes;
  uint32_t schema_crc;
  const oasis_column *columns;
  uint16_t column_count;
  uint16_t row_bytes;
} oasis_type;

/* Memory that survives a start. */

/* Samples of one instance, counted over starts. */
typedef struct {
  volatile uint32_t low;
  volatile uint32_t high;
  volatile uint32_t check;
} oasis_kept_count;

/* What a start needs to know of the one before: declare it `static OASIS_NOINIT`. */
typedef struct {
  uint32_t magic;
  uint32_t session;
  uint32_t starts;
  uint32_t instances;
  uint64_t bases[OASIS_INSTANCES]; /* samples counted before the session */
  uint32_t check;
  oasis_kept_count counts[OASIS_INSTANCES];
} oasis_kept;

/* Probes. */

enum { OASIS_PERIODIC = 0, OASIS_PUSHED = 1, OASIS_ON_CHANGE = 2, OASIS_EVENT = 3 };

struct oasis_node;

/* A probe instance. Set the first group; the rest is zero at the start and belongs to the library. */
typedef struct oasis_probe {
  const oasis_type *type;
  const char *name; /* 1 to 64 bytes, unique within the node */
  uint32_t *ring;   /* OASIS_RING_WORDS(row bytes, slots) */
  uint16_t slots;   /* samples that the ring has room for, plus 1; at least 2 */
  uint8_t kind;     /* OASIS_PERIODIC, ... */
  volatile uint32_t millihertz; /* 0: the application decides */
  /* Takes a sample of a probe that `oasis_poll` calls at its rate. NULL: the application calls `oasis_due`, or pushes. */
  void (*take)(struct oasis_probe *probe);
  void *context; /* for `take` */

  struct oasis_node *node;
  oasis_kept_count *kept;
  volatile bool enabled;
  volatile uint16_t head;
  volatile uint16_t tail;
  volatile uint32_t taken_low;
  volatile uint32_t taken_high;
  volatile uint32_t dropped; /* since the start */
  uint32_t told;             /* of them, up to `sent` */
  uint64_t sent;             /* or dropped */
  uint64_t base;
  uint32_t ring_full; /* `told` of the session */
  uint32_t period_of; /* `period_ns` is of this rate */
  uint64_t period_ns;
  uint64_t due_ns;
} oasis_probe;

#define OASIS_SLOT_WORDS(row_bytes) (3u + ((row_bytes) + 3u) / 4u)
#define OASIS_RING_WORDS(row_bytes, slots) (OASIS_SLOT_WORDS(row_bytes) * (slots))

/* Numbers a sample and returns the place of its packed row; NULL if the ring is full (the sample is counted as dropped),
 * the probe is disabled, or this is a child of the node's process (`oasis_is_forked`). One context alone calls this for a probe: an interrupt or the main loop. */
uint8_t *oasis_begin(oasis_probe *probe);

/* Makes the row visible to `oasis_poll`. */
void oasis_commit(oasis_probe *probe);

/* Returns whether the period of a probe at a rate is over, and begins the next one. Never true while it is disabled.
 * Called in the context that takes its samples. */
bool oasis_due(oasis_probe *probe);

/* The node. */

/* What the node needs of the device. All functions return at once. */
typedef struct {
  /* Nanoseconds since any moment before the start; never steps back. May be called from an interrupt. */
  uint64_t (*uptime_ns)(void *context);
  /* Takes bytes; returns how many. Called again with the rest. UDP takes all of them as a datagram, or none. */
  size_t (*send)(void *context, const uint8_t *bytes, size_t count);
  /* Returns up to `capacity` bytes that have arrived. */
  size_t (*receive)(void *context, uint8_t *bytes, size_t capacity);
  void *context;
} oasis_port;

typedef enum {
  OASIS_OK = 0,
  OASIS_NAME_INVALID,        /* a name is empty or has over 64 bytes */
  OASIS_INSTANCES_TOO_MANY,  /* none, or more than OASIS_INSTANCES */
  OASIS_RING_INVALID,        /* no ring, or fewer than 2 slots */
  OASIS_FRAME_TOO_SMALL      /* OASIS_FRAME_BYTES has no room for the announcement or for one sample */
} oasis_status;

#define OASIS_TIMES 8u
#define OASIS_RECEIVED_BYTES 68u
#define OASIS_STUFFED_BYTES (OASIS_FRAME_BYTES + OASIS_FRAME_BYTES / 254u + 4u)

/* An exchange of times with the gateway. */
typedef struct {
  uint64_t round_trip_ns;
  uint64_t offset_ns; /* time of the DAC's clock minus uptime, modulo 2^64 */
} oasis_exchange;

/* A node. Set the first group; the rest is zero at the start and belongs to the library. */
typedef struct oasis_node {
  const char *name;     /* 1 to 64 bytes */
  const char *software; /* name and version of the firmware, at most 64 bytes */
  oasis_probe *probes;
  uint8_t probe_count;
  uint32_t batch_ms; /* a sample waits at most this long for others of its batch; 0: 100 */
  oasis_port port;
  oasis_kept *kept;

#if OASIS_HAS_PROCESSES
  long process; /* that has started the node */
#endif
  uint32_t refused; /* frames that arrived damaged */
  bool accepted;    /* the gateway takes samples */
  bool went_on;     /* it has accepted this start before */
  bool has_time;
  uint8_t number;
  uint8_t next_probe;
  uint8_t exchanges;
  uint64_t heard_ns;
  uint64_t announce_ns;
  uint64_t counters_ns;
  uint64_t time_ns;
  oasis_exchange times[OASIS_TIMES];
  struct {
    bool is_asked;
    uint8_t instance;
    uint16_t offset;
  } schema;
  struct {
    bool is_due;
    uint32_t id;
    uint8_t instance;
    uint8_t outcome;
  } result;
  uint32_t last_command;
  uint16_t out_at;
  uint16_t out_length;
  uint8_t in_length;
  uint8_t in[OASIS_RECEIVED_BYTES];
  uint8_t out[OASIS_STUFFED_BYTES];
} oasis_node;

/* Starts the node: after each reset, before interrupts take samples. */
oasis_status oasis_start(oasis_node *node);

/* Receives, takes samples that are due, and sends: call it in the main loop, at least as often as the fastest probe with
 * `take` is due. Never waits. */
void oasis_poll(oasis_node *node);

/* Returns whether this process is a child of the one that started the node, made by `fork`. There the node takes no samples
 * and sends nothing, because its line is that of the parent: the child starts a node of its own, over a line of its own.
 * Never true on a device without processes. */
bool oasis_is_forked(const oasis_node *node);

/* Sets `time_ns` to the time of the DAC's clock, in nanoseconds since 1970. Returns false if it is not known yet. */
bool oasis_time(const oasis_node *node, uint64_t *time_ns);

/* Values of packed rows: little-endian, at any address. */

static inline void oasis_put_uint8(uint8_t *at, uint8_t value) { at[0] = value; }

static inline void oasis_put_uint16(uint8_t *at, uint16_t value) {
  at[0] = (uint8_t)value;
  at[1] = (uint8_t)(value >> 8);
}

static inline void oasis_put_uint32(uint8_t *at, uint32_t value) {
  oasis_put_uint16(at, (uint16_t)value);
  oasis_put_uint16(at + 2, (uint16_t)(value >> 16));
}

static inline void oasis_put_uint64(uint8_t *at, uint64_t value) {
  oasis_put_uint32(at, (uint32_t)value);
  oasis_put_uint32(at + 4, (uint32_t)(value >> 32));
}

static inline void oasis_put_int8(uint8_t *at, int8_t value) { oasis_put_uint8(at, (uint8_t)value); }
static inline void oasis_put_int16(uint8_t *at, int16_t value) { oasis_put_uint16(at, (uint16_t)value); }
static inline void oasis_put_int32(uint8_t *at, int32_t value) { oasis_put_uint32(at, (uint32_t)value); }
static inline void oasis_put_int64(uint8_t *at, int64_t value) { oasis_put_uint64(at, (uint64_t)value); }
static inline void oasis_put_boolean(uint8_t *at, bool value) { at[0] = value ? 1u : 0u; }

static inline void oasis_put_real32(uint8_t *at, float value) {
  union {
    float real;
    uint32_t bits;
  } of;
  of.real = value;
  oasis_put_uint32(at, of.bits);
}

#if !defined(__SIZEOF_DOUBLE__) || __SIZEOF_DOUBLE__ == 8
static inline void oasis_put_real64(uint8_t *at, double value) {
  union {
    double real;
    uint64_t bits;
  } of;
  of.real = value;
  oasis_put_uint64(at, of.bits);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
