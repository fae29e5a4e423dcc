/* Native batches: docs/reference/native-batch.md. The caller has checked the room: a column is never longer than its
 * values as `plain`, with the padding of `plain`. */

#include "batch.h"

#include "bytes.h"
#include "ring.h"

enum { HEADER_BYTES = 48, TIME_BYTES = 8, RICE_ESCAPE = 24, RICE_MOST = 56 };
enum { PLAIN = 0, DELTA = 1, RICE = 2, ROWS = 4, CONSTANT = 5 };

/* A column of the samples that become a batch. */
typedef struct {
  const oasis_probe *probe;
  uint16_t count;
  uint8_t kind;
  uint8_t width;
  uint16_t place;  /* bytes from the beginning of a slot */
  uint64_t shift;  /* added to each value */
  uint64_t base;   /* what it counts from */
} column;

/* How a column is encoded, and in how many bytes. */
typedef struct {
  uint8_t encoding;
  uint8_t k;
  uint64_t step;
  size_t bytes;
} plan;

static const uint8_t *place_of(const column *of, uint16_t sample) {
  uint32_t index = (uint32_t)of->probe->tail + sample;
  if (index >= of->probe->slots) {
    index -= of->probe->slots;
  }
  return oasis_slot(of->probe, (uint16_t)index) + of->place;
}

/* Returns an integer widened to 64 bits. */
static uint64_t value_of(const column *of, uint16_t sample) {
  const uint8_t *at = place_of(of, sample);
  uint64_t value = 0;
  for (uint8_t byte = of->width; byte > 0; --byte) {
    value = value << 8 | at[byte - 1u];
  }
  if (of->kind == OASIS_SIGNED && of->width < 8u && (at[of->width - 1u] & 0x80u) != 0) {
    value |= ~(uint64_t)0 << (8u * of->width);
  }
  return value + of->shift;
}

static uint64_t zigzag(uint64_t value) { return (value << 1) ^ ((uint64_t)0 - (value >> 63)); }

static size_t varint_bytes(uint64_t value) {
  size_t bytes = 1;
  while ((value >>= 7) != 0) {
    ++bytes;
  }
  return bytes;
}

static uint8_t *put_varint(uint8_t *to, uint64_t value) {
  while (value > 127u) {
    *to++ = (uint8_t)(value | 128u);
    value >>= 7;
  }
  *to++ = (uint8_t)value;
  return to;
}

/* `delta`, written to `to`; only counted if that is NULL. */
static size_t put_delta(const column *of, uint8_t *to) {
  size_t bytes = 0;
  uint64_t run = 0;
  uint64_t before = of->base;
  for (uint16_t at = 0; at <= of->count; ++at) {
    const uint64_t delta = at < of->count ? value_of(of, at) - before : 0;
    uint64_t words[2] = {run * 4u, zigzag(delta)};
    uint8_t first = 0;
    uint8_t end = 2;
    before += delta;
    if (at == 0) {
      first = 1;
    } else if (at == of->count) {
      end = run > 0 ? 1 : 0;
    } else if (delta == 0) {
      ++run;
      continue;
    } else if (delta == 1u || delta == 2u || delta == ~(uint64_t)0) {
      words[0] += delta == ~(uint64_t)0 ? 3u : delta;
      end = 1;
    }
    for (uint8_t word = first; word < end; ++word) {
      if (to == NULL) {
        bytes += varint_bytes(words[word]);
      } else {
        to = put_varint(to, words[word]);
      }
    }
    run = 0;
  }
  return bytes;
}

/* Returns how much a sample differs from the mean step. */
static uint64_t residual(const column *of, uint16_t sample, uint64_t step) {
  return zigzag(value_of(of, sample) - value_of(of, (uint16_t)(sample - 1u)) - step);
}

/* The bits of a division of 64-bit numbers are 700 bytes of code on a Cortex-M; this one needs to be quick only enough
 * for once a column. */
static uint64_t divide(uint64_t value, uint32_t by) {
  uint64_t quotient = 0;
  uint64_t rest = 0;
  for (uint8_t bit = 64; bit-- > 0;) {
    rest = rest << 1 | (value >> bit & 1u);
    quotient <<= 1;
    if (rest >= by) {
      rest -= by;
      quotient |= 1u;
    }
  }
  return quotient;
}

static size_t rice_bits(uint64_t of, uint8_t k) {
  const uint64_t quotient = of >> k;
  return quotient < RICE_ESCAPE ? (size_t)quotient + 1u + k : RICE_ESCAPE + 64u;
}

static plan plan_rice(const column *of) {
  const uint32_t steps = of->count - 1u;
  const uint64_t rise = value_of(of, (uint16_t)steps) - value_of(of, 0);
  const bool falls = rise >> 63 != 0;
  const uint64_t size = divide(falls ? (uint64_t)0 - rise : rise, steps);
  plan made = {RICE, 0, falls ? (uint64_t)0 - size : size, 0};
  uint64_t sum = 0;
  for (uint16_t at = 1; at < of->count; ++at) {
    const uint64_t more = residual(of, at, made.step);
    sum = sum + more < sum ? ~(uint64_t)0 : sum + more;
  }
  /* The best parameter is about log2(mean * ln 2). */
  uint64_t mean = divide(sum, steps);
  mean -= mean / 4u;
  while (made.k < RICE_MOST && mean >> (made.k + 1u) != 0) {
    ++made.k;
  }
  size_t bits = 0;
  for (uint16_t at = 1; at < of->count; ++at) {
    bits += rice_bits(residual(of, at, made.step), made.k);
  }
  made.bytes = varint_bytes(zigzag(value_of(of, 0) - of->base)) + varint_bytes(zigzag(made.step)) + 1u + (bits + 7u) / 8u;
  return made;
}

/* Fills bytes from their least significant bit. */
typedef struct {
  uint8_t *to;
  uint8_t used;
} bit_writer;

static void put_bits(bit_writer *bits, uint64_t value, uint8_t count) {
  while (count > 0) {
    const uint8_t room = (uint8_t)(8u - bits->used);
    const uint8_t now = count < room ? count : room;
    if (bits->used == 0) {
      *bits->to = 0;
    }
    *bits->to |= (uint8_t)((value & ((1u << now) - 1u)) << bits->used);
    bits->used = (uint8_t)(bits->used + now);
    if (bits->used == 8u) {
      bits->used = 0;
      ++bits->to;
    }
    value >>= now;
    count = (uint8_t)(count - now);
  }
}

static void put_rice(const column *of, const plan *made, uint8_t *to) {
  to = put_varint(to, zigzag(value_of(of, 0) - of->base));
  to = put_varint(to, zigzag(made->step));
  *to++ = made->k;
  bit_writer bits = {to, 0};
  for (uint16_t at = 1; at < of->count; ++at) {
    const uint64_t more = residual(of, at, made->step);
    const uint64_t quotient = more >> made->k;
    if (quotient < RICE_ESCAPE) {
      /* Ones, and the zero after them. */
      put_bits(&bits, ((uint32_t)1 << quotient) - 1u, (uint8_t)(quotient + 1u));
      put_bits(&bits, more, made->k);
    } else {
      put_bits(&bits, 0xffffffu, RICE_ESCAPE);
      put_bits(&bits, more, 64);
    }
  }
}

static bool is_constant(const column *of) {
  const uint64_t first = value_of(of, 0);
  for (uint16_t at = 1; at < of->count; ++at) {
    if (value_of(of, at) != first) {
      return false;
    }
  }
  return true;
}

/* Chooses the encoding of a column. */
static plan choose(const column *of) {
  plan best = {of->kind == OASIS_ROWS ? ROWS : PLAIN, 0, 0, (size_t)of->count * of->width};
  if (of->kind == OASIS_ROWS || of->kind == OASIS_REAL) {
    return best;
  }
  if (is_constant(of)) {
    plan constant = {CONSTANT, 0, 0, varint_bytes(zigzag(value_of(of, 0) - of->base))};
    return constant;
  }
  const plan rice = plan_rice(of);
  if (rice.bytes < best.bytes) {
    best = rice;
  }
  const size_t delta = put_delta(of, NULL);
  if (delta < best.bytes) {
    best.encoding = DELTA;
    best.bytes = delta;
  }
  return best;
}

/* Bytes up to the next place of a `plain` column. */
static size_t padding(const column *of, const plan *made, size_t length) {
  return made->encoding == PLAIN ? ((size_t)0 - length) & (of->width - 1u) : 0;
}

static void put_column(const column *of, const plan *made, uint8_t *to) {
  switch (made->encoding) {
    case CONSTANT:
      put_varint(to, zigzag(value_of(of, 0) - of->base));
      break;
    case RICE:
      put_rice(of, made, to);
      break;
    case DELTA:
      put_delta(of, to);
      break;
    case PLAIN:
      for (uint16_t at = 0; at < of->count; ++at) {
        copy_little_endian(to + (size_t)at * of->width, value_of(of, at), of->width);
      }
      break;
    default: /* rows of a fixed size */
      for (uint16_t at = 0; at < of->count; ++at) {
        copy_bytes(to + (size_t)at * of->width, place_of(of, at), of->width);
      }
  }
}

/* Writes directory and columns of `count` samples to `out`, after the header. Returns the whole length, or 0 if it would
 * exceed the capacity. */
static size_t put_columns(const oasis_probe *probe, uint16_t count, uint64_t offset_ns, uint64_t now, uint8_t *out,
                          size_t capacity) {
  const oasis_type *type = probe->type;
  size_t length = HEADER_BYTES + 1u + type->column_count;
  column of = {probe, count, OASIS_UNSIGNED, TIME_BYTES, OASIS_SLOT_TIME, offset_ns, now};
  uint16_t next = OASIS_SLOT_ROW;
  for (uint16_t at = 0; at <= type->column_count; ++at) {
    const plan made = choose(&of);
    const size_t pad = padding(&of, &made, length);
    if (length + pad + made.bytes > capacity) {
      return 0;
    }
    out[HEADER_BYTES + at] = made.encoding;
    for (size_t zero = 0; zero < pad; ++zero) {
      out[length++] = 0;
    }
    put_column(&of, &made, out + length);
    length += made.bytes;
    if (at < type->column_count) {
      of.kind = type->columns[at].kind;
      of.width = type->columns[at].width;
      of.place = next;
      of.shift = 0;
      of.base = 0;
      next = (uint16_t)(next + of.width);
    }
  }
  return length;
}

size_t oasis_least_batch(const oasis_type *type) {
  /* Each column of a width above 1 may need padding. */
  return HEADER_BYTES + 1u + 8u * (1u + type->column_count) + TIME_BYTES + type->row_bytes + type->column_count;
}

/* Returns how many samples from the oldest on have consecutive numbers. */
static uint16_t consecutive(const oasis_probe *probe, uint16_t most) {
  const column of = {probe, most, OASIS_UNSIGNED, 4, OASIS_SLOT_SEQUENCE, 0, 0};
  const uint32_t first = (uint32_t)value_of(&of, 0);
  uint16_t count = 1;
  while (count < most && (uint32_t)value_of(&of, count) == first + count) {
    ++count;
  }
  return count;
}

size_t oasis_take_batch(oasis_probe *probe, uint32_t topic, uint64_t offset_ns, uint8_t *out, size_t capacity) {
  const uint64_t now = probe->node->port.uptime_ns(probe->node->port.context) + offset_ns;
  uint16_t count = consecutive(probe, oasis_waiting(probe));
  size_t length;
  /* How many samples have room depends on what they contain. */
  while ((length = put_columns(probe, count, offset_ns, now, out, capacity)) == 0) {
    if (count == 1u) {
      return 0;
    }
    count = (uint16_t)(count - (count + 3u) / 4u);
  }
  const uint32_t low = get_uint32(oasis_slot(probe, probe->tail) + OASIS_SLOT_SEQUENCE);
  const uint32_t dropped = low - 1u - (uint32_t)probe->sent;
  const uint64_t first = probe->sent + dropped + 1u;
  out[0] = 1;
  out[1] = 1;
  oasis_put_uint16(out + 2, 0);
  oasis_put_uint32(out + 4, topic);
  oasis_put_uint64(out + 8, first - probe->base);
  oasis_put_uint64(out + 16, 0);
  oasis_put_uint64(out + 24, now);
  oasis_put_uint64(out + 32, 0);
  oasis_put_uint32(out + 40, dropped);
  oasis_put_uint16(out + 44, count);
  oasis_put_uint16(out + 46, (uint16_t)(probe->type->column_count + 1u));
  probe->ring_full += dropped;
  probe->sent = first + count - 1u;
  OASIS_BARRIER();
  const uint32_t tail = (uint32_t)probe->tail + count;
  probe->tail = (uint16_t)(tail >= probe->slots ? tail - probe->slots : tail);
  return length;
}
