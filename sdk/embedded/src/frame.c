#include "frame.h"

#include "bytes.h"

uint32_t oasis_crc32(const uint8_t *bytes, size_t count) {
  /* Four bits at a time: a table of 256 entries would cost 1 kB. */
  static const uint32_t table[16] = {0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu, 0x76dc4190u, 0x6b6b51f4u,
                                     0x4db26158u, 0x5005713cu, 0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu,
                                     0x9b64c2b0u, 0x86d3d2d4u, 0xa00ae278u, 0xbdbdf21cu};
  uint32_t crc = 0xffffffffu;
  for (size_t at = 0; at < count; ++at) {
    crc ^= bytes[at];
    crc = crc >> 4 ^ table[crc & 15u];
    crc = crc >> 4 ^ table[crc & 15u];
  }
  return ~crc;
}

uint16_t oasis_finish_frame(uint8_t *out, uint8_t kind, uint8_t number, uint32_t session, size_t body) {
  uint8_t *frame = out + OASIS_STUFFING;
  size_t count = OASIS_HEAD_BYTES + body;
  frame[0] = kind;
  frame[1] = number;
  oasis_put_uint32(frame + 2, session);
  oasis_put_uint32(frame + count, oasis_crc32(frame, count));
  count += OASIS_CRC_BYTES;
  /* Writing never overtakes reading: at most OASIS_STUFFING bytes are added. */
  size_t code = 0;
  size_t to = 1;
  for (size_t at = 0; at < count; ++at) {
    const uint8_t byte = frame[at];
    if (byte != 0) {
      out[to++] = byte;
    }
    if (byte == 0 || to - code == 255u) {
      out[code] = (uint8_t)(to - code);
      code = to++;
    }
  }
  out[code] = (uint8_t)(to - code);
  out[to++] = 0;
  return (uint16_t)to;
}

size_t oasis_open_frame(uint8_t *bytes, size_t count) {
  size_t to = 0;
  size_t at = 0;
  while (at < count) {
    const size_t code = bytes[at];
    if (code == 0 || at + code > count) {
      return 0;
    }
    for (size_t in_block = 1; in_block < code; ++in_block) {
      bytes[to++] = bytes[at + in_block];
    }
    at += code;
    if (code < 255u && at < count) {
      bytes[to++] = 0;
    }
  }
  if (to < OASIS_HEAD_BYTES + OASIS_CRC_BYTES) {
    return 0;
  }
  to -= OASIS_CRC_BYTES;
  return oasis_crc32(bytes, to) == get_uint32(bytes + to) ? to : 0;
}
