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

/* Visits the values of a column, one after the other. */
typedef struct {
  const column *of;
  const uint8_t *at;
  const uint8_t *end; /* where the ring begins again */
  size_t slot_bytes;
} walk;

static walk begin_walk(const column *of) {
  const size_t slot_bytes = (size_t)(oasis_slot(of->probe, 1) - oasis_slot(of->probe, 0));
  walk begun = {of, oasis_slot(of->probe, of->probe->tail) + of->place, oasis_slot(of->probe, of->probe->slots), slot_bytes};
  return begun;
}

static const uint8_t *next_place(walk *by) {
  const uint8_t *at = by->at;
  by->at += by->slot_bytes;
  if (by->at >= by->end) {
    by->at -= by->slot_bytes * by->of->probe->slots;
  }
  return at;
}

/* Returns an integer widened to 64 bits. */
static uint64_t next_value(walk *by) {
  const uint8_t *at = next_place(by);
  uint32_t value = at[0];
  uint32_t sign = 0x80u;
  switch (by->of->width) {
    case 1:
      break;
    case 2:
      value |= (uint32_t)at[1] << 8;
      sign = 0x8000u;
      break;
    case 4:
      value = get_uint32(at);
      sign = 0x80000000u;
      break;
    default:
      return get_uint64(at) + by->of->shift;
  }
  if (by->of->kind == OASIS_SIGNED && (value & sign) != 0) {
    return (uint64_t)0 - (sign - (value & (sign - 1u)));
  }
  return value;
}

static uint64_t first_value(const column *of) {
  walk by = begin_walk(of);
  return next_value(&by);
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

/* Where numbers go, or only how many bytes they take: `to` is NULL then. */
typedef struct {
  uint8_t *to;
  size_t bytes;
} varints;

static void put_number(varints *out, uint64_t value) {
  if (out->to == NULL) {
    out->bytes += varint_bytes(value);
  } else {
    out->to = put_varint(out->to, value);
  }
}

/* A token of `delta`: so many repeated values, then one that differs by `delta`. */
static void put_token(varints *out, uint32_t run, uint64_t delta) {
  if (delta == 1u || delta == 2u) {
    put_number(out, run * 4u + delta);
  } else if (delta == ~(uint64_t)0) {
    put_number(out, run * 4u + 3u);
  } else {
    put_number(out, run * 4u);
    put_number(out, zigzag(delta));
  }
}

/* What the values differ by, in all encodings of integers: `delta`, and for `rice` how far from the mean step. */
typedef struct {
  size_t delta_bytes;
  uint64_t residuals; /* saturates */
} differences;

static differences put_delta(const column *of, uint64_t step, uint8_t *to) {
  walk by = begin_walk(of);
  varints out = {to, 0};
  differences found = {0, 0};
  uint32_t run = 0;
  uint64_t before = next_value(&by);
  put_number(&out, zigzag(before - of->base));
  for (uint16_t left = of->count; --left > 0;) {
    const uint64_t value = next_value(&by);
    const uint64_t delta = value - before;
    const uint64_t residual = zigzag(delta - step);
    before = value;
    found.residuals = found.residuals + residual < residual ? ~(uint64_t)0 : found.residuals + residual;
    if (delta == 0) {
      ++run;
    } else {
      put_token(&out, run, delta);
      run = 0;
    }
  }
  if (run > 0) {
    put_number(&out, run * 4u);
  }
  found.delta_bytes = out.bytes;
  return found;
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

/* Returns the mean step from the first value to the last. */
static uint64_t mean_step(const column *of) {
  if (of->count < 2u) {
    return 0;
  }
  const uint32_t steps = of->count - 1u;
  column last = *of;
  uint32_t index = (uint32_t)of->probe->tail + steps;
  index -= index >= of->probe->slots ? of->probe->slots : 0u;
  const uint8_t *at = oasis_slot(of->probe, (uint16_t)index) + of->place;
  walk by = {&last, at, at + 1, 0};
  const uint64_t rise = next_value(&by) - first_value(of);
  return rise >> 63 != 0 ? (uint64_t)0 - divide((uint64_t)0 - rise, steps) : divide(rise, steps);
}

static plan plan_rice(const column *of, uint64_t step, uint64_t residuals) {
  plan made = {RICE, 0, step, 0};
  /* The best parameter is about log2(mean * ln 2). */
  uint64_t mean = divide(residuals, of->count - 1u);
  mean -= mean / 4u;
  while (made.k < RICE_MOST && mean >> (made.k + 1u) != 0) {
    ++made.k;
  }
  walk by = begin_walk(of);
  uint64_t before = next_value(&by);
  made.bytes = varint_bytes(zigzag(before - of->base)) + varint_bytes(zigzag(step)) + 1u;
  size_t bits = 0;
  for (uint16_t left = of->count; --left > 0;) {
    const uint64_t value = next_value(&by);
    bits += rice_bits(zigzag(value - before - step), made.k);
    before = value;
  }
  made.bytes += (bits + 7u) / 8u;
  return made;
}

/* Fills bytes from their least significant bit. */
typedef struct {
  uint8_t *to;
  uint8_t used;
} bit_writer;

static void put_bits(bit_writer *bits, uint32_t value, uint8_t count) {
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

static void put_long(bit_writer *bits, uint64_t value, uint8_t count) {
  put_bits(bits, (uint32_t)value, count < 32u ? count : 32u);
  if (count > 32u) {
    put_bits(bits, (uint32_t)(value >> 32), (uint8_t)(count - 32u));
  }
}

static void put_rice(const column *of, const plan *made, uint8_t *to) {
  walk by = begin_walk(of);
  uint64_t before = next_value(&by);
  to = put_varint(to, zigzag(before - of->base));
  to = put_varint(to, zigzag(made->step));
  *to++ = made->k;
  bit_writer bits = {to, 0};
  for (uint16_t left = of->count; --left > 0;) {
    const uint64_t value = next_value(&by);
    const uint64_t residual = zigzag(value - before - made->step);
    const uint64_t quotient = residual >> made->k;
    before = value;
    if (quotient < RICE_ESCAPE) {
      /* Ones, and the zero after them. */
      put_bits(&bits, ((uint32_t)1 << quotient) - 1u, (uint8_t)(quotient + 1u));
      put_long(&bits, residual, made->k);
    } else {
      put_bits(&bits, 0xffffffu, RICE_ESCAPE);
      put_long(&bits, residual, 64);
    }
  }
}

static bool is_constant(const column *of) {
  walk by = begin_walk(of);
  const uint64_t first = next_value(&by);
  for (uint16_t left = of->count; --left > 0;) {
    if (next_value(&by) != first) {
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
    plan constant = {CONSTANT, 0, 0, varint_bytes(zigzag(first_value(of) - of->base))};
    return constant;
  }
  const uint64_t step = mean_step(of);
  const differences found = put_delta(of, step, NULL);
  const plan rice = plan_rice(of, step, found.residuals);
  if (rice.bytes < best.bytes) {
    best = rice;
  }
  if (found.delta_bytes < best.bytes) {
    best.encoding = DELTA;
    best.bytes = found.delta_bytes;
  }
  return best;
}

/* Bytes up to the next place of a `plain` column. */
static size_t padding(const column *of, const plan *made, size_t length) {
  return made->encoding == PLAIN ? ((size_t)0 - length) & (of->width - 1u) : 0;
}

static void put_column(const column *of, const plan *made, uint8_t *to) {
  walk by = begin_walk(of);
  switch (made->encoding) {
    case CONSTANT:
      put_varint(to, zigzag(next_value(&by) - of->base));
      break;
    case RICE:
      put_rice(of, made, to);
      break;
    case DELTA:
      put_delta(of, 0, to);
      break;
    case PLAIN:
      for (uint16_t left = of->count; left > 0; --left) {
        copy_little_endian(to, next_value(&by), of->width);
        to += of->width;
      }
      break;
    default: /* rows of a fixed size */
      for (uint16_t left = of->count; left > 0; --left) {
        copy_bytes(to, next_place(&by), of->width);
        to += of->width;
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
  walk by = begin_walk(&of);
  uint32_t expected = (uint32_t)next_value(&by);
  uint16_t count = 1;
  while (count < most && (uint32_t)next_value(&by) == ++expected) {
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
  oasis_tell_drops(probe, dropped);
  probe->sent += count;
  OASIS_BARRIER();
  const uint32_t tail = (uint32_t)probe->tail + count;
  probe->tail = (uint16_t)(tail >= probe->slots ? tail - probe->slots : tail);
  return length;
}
