/* Little-endian numbers in the messages. */

#ifndef OASIS_BYTES_H
#define OASIS_BYTES_H

#include "oasis_embedded.h"

static inline uint32_t get_uint32(const uint8_t *at) {
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline uint64_t get_uint64(const uint8_t *at) { return get_uint32(at) | (uint64_t)get_uint32(at + 4) << 32; }

static inline void copy_bytes(uint8_t *to, const void *from, size_t count) {
  const uint8_t *bytes = (const uint8_t *)from;
  for (size_t at = 0; at < count; ++at) {
    to[at] = bytes[at];
  }
}

static inline void copy_little_endian(uint8_t *to, uint64_t value, size_t width) {
  for (size_t at = 0; at < width; ++at) {
    to[at] = (uint8_t)value;
    value >>= 8;
  }
}

#endif
