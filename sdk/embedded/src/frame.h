/* Frames of the link: CRC, COBS, head. */

#ifndef OASIS_FRAME_H
#define OASIS_FRAME_H

#include "oasis_embedded.h"

enum {
  OASIS_KIND_BATCH = 0x01,
  OASIS_KIND_ANNOUNCE = 0x10,
  OASIS_KIND_SCHEMA = 0x11,
  OASIS_KIND_COUNTERS = 0x12,
  OASIS_KIND_TIME_REQUEST = 0x13,
  OASIS_KIND_RESULT = 0x14,
  OASIS_KIND_ACCEPT = 0x20,
  OASIS_KIND_ASK_SCHEMA = 0x21,
  OASIS_KIND_ASK_ANNOUNCE = 0x22,
  OASIS_KIND_TIME = 0x23,
  OASIS_KIND_COMMAND = 0x24
};

#define OASIS_HEAD_BYTES 6u
#define OASIS_CRC_BYTES 4u
#define OASIS_BODY_BYTES (OASIS_FRAME_BYTES - OASIS_HEAD_BYTES - OASIS_CRC_BYTES)

/* Where the frame lies before it is stuffed in place: COBS adds a byte, and one for each 254. */
#define OASIS_STUFFING (OASIS_FRAME_BYTES / 254u + 2u)

/* CRC-32 of zlib. */
uint32_t oasis_crc32(const uint8_t *bytes, size_t count);

/* Writes head and CRC around a body that lies at `OASIS_STUFFING + OASIS_HEAD_BYTES` of `out`, and stuffs the frame to
 * the beginning of `out`. Returns how many bytes to send, delimiter included. */
uint16_t oasis_finish_frame(uint8_t *out, uint8_t kind, uint8_t number, uint32_t session, size_t body);

/* Removes the stuffing of the bytes before a delimiter, in place, and checks the CRC. Returns the bytes of head and body,
 * 0 if they are damaged. */
size_t oasis_open_frame(uint8_t *bytes, size_t count);

#endif
