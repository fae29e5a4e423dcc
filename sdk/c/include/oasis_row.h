/* Packed rows for C: included by the headers that `oasis pdl compile --lang c` makes.
 *
 * The layout of values in a row is in docs/reference/native-batch.md. Nothing here allocates.
 */

#ifndef OASIS_ROW_H
#define OASIS_ROW_H

#include <oasis.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// A row that is being written. `length` counts on where `capacity` ends, so that it tells what was wanted.
typedef struct {
  uint8_t *bytes;
  size_t capacity;
  size_t length;
} oasis_row_buffer;

// The text that ends with NUL. It must live as long as the value is used.
static inline oasis_text oasis_text_of(const char *text) {
  const oasis_text made = {text, text == NULL ? 0 : strlen(text)};
  return made;
}

// Several values of a simple type. They must live as long as the vector is used.
#define OASIS_VECTOR_OF(type, name) \
  typedef struct { \
    const type *items; \
    size_t count; \
  } oasis_##name##_vector

OASIS_VECTOR_OF(int8_t, int8);
OASIS_VECTOR_OF(int16_t, int16);
OASIS_VECTOR_OF(int32_t, int32);
OASIS_VECTOR_OF(int64_t, int64);
OASIS_VECTOR_OF(uint8_t, uint8);
OASIS_VECTOR_OF(uint16_t, uint16);
OASIS_VECTOR_OF(uint32_t, uint32);
OASIS_VECTOR_OF(uint64_t, uint64);
OASIS_VECTOR_OF(float, real32);
OASIS_VECTOR_OF(double, real64);
OASIS_VECTOR_OF(bool, boolean);
OASIS_VECTOR_OF(oasis_text, string);

static inline void oasis_put_bytes(oasis_row_buffer *row, const void *bytes, size_t length) {
  if (length > 0 && row->length <= row->capacity && length <= row->capacity - row->length) {
    memcpy(row->bytes + row->length, bytes, length);
  }
  row->length += length;
}

static inline void oasis_put_uint8(oasis_row_buffer *row, uint8_t value) { oasis_put_bytes(row, &value, 1); }

// The least significant byte first, whatever the machine.
static inline void oasis_put_uint16(oasis_row_buffer *row, uint16_t value) {
  oasis_put_uint8(row, (uint8_t)(value & 0xff));
  oasis_put_uint8(row, (uint8_t)(value >> 8));
}

static inline void oasis_put_uint32(oasis_row_buffer *row, uint32_t value) {
  oasis_put_uint16(row, (uint16_t)(value & 0xffff));
  oasis_put_uint16(row, (uint16_t)(value >> 16));
}

static inline void oasis_put_uint64(oasis_row_buffer *row, uint64_t value) {
  oasis_put_uint32(row, (uint32_t)(value & 0xffffffff));
  oasis_put_uint32(row, (uint32_t)(value >> 32));
}

static inline void oasis_put_int8(oasis_row_buffer *row, int8_t value) { oasis_put_uint8(row, (uint8_t)value); }

static inline void oasis_put_int16(oasis_row_buffer *row, int16_t value) {
  oasis_put_uint16(row, (uint16_t)value);
}

static inline void oasis_put_int32(oasis_row_buffer *row, int32_t value) {
  oasis_put_uint32(row, (uint32_t)value);
}

static inline void oasis_put_int64(oasis_row_buffer *row, int64_t value) {
  oasis_put_uint64(row, (uint64_t)value);
}

static inline void oasis_put_real32(oasis_row_buffer *row, float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  oasis_put_uint32(row, bits);
}

static inline void oasis_put_real64(oasis_row_buffer *row, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  oasis_put_uint64(row, bits);
}

static inline void oasis_put_boolean(oasis_row_buffer *row, bool value) { oasis_put_uint8(row, value ? 1 : 0); }

// Appends the length of a text in bytes, or of a vector in elements: LEB128.
static inline void oasis_put_length(oasis_row_buffer *row, size_t length) {
  for (; length >= 0x80; length >>= 7) {
    oasis_put_uint8(row, (uint8_t)(length & 0x7f) | 0x80);
  }
  oasis_put_uint8(row, (uint8_t)length);
}

// UTF-8, not checked here; a sample with anything else is counted as dropped when the node sees it.
static inline void oasis_put_string(oasis_row_buffer *row, oasis_text value) {
  oasis_put_length(row, value.length);
  oasis_put_bytes(row, value.data, value.length);
}

#endif /* OASIS_ROW_H */
