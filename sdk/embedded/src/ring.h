#ifndef OASIS_RING_H
#define OASIS_RING_H

#include "oasis_embedded.h"

/* Bytes of a slot: uptime, low half of the sequence number, packed row; all little-endian. */
enum { OASIS_SLOT_TIME = 0, OASIS_SLOT_SEQUENCE = 8, OASIS_SLOT_ROW = 12 };

uint8_t *oasis_slot(const oasis_probe *probe, uint16_t index);

/* Samples in the ring. */
uint16_t oasis_waiting(const oasis_probe *probe);

/* Counts samples after the last one sent as dropped. */
void oasis_tell_drops(oasis_probe *probe, uint32_t dropped);

/* Does that with drops that no batch will follow soon, because the ring is empty. */
void oasis_settle(oasis_probe *probe);

/* Last sequence number given, counted over starts. */
uint64_t oasis_taken(const oasis_probe *probe);

/* Check word of a kept count. */
uint32_t oasis_count_check(uint32_t low, uint32_t high);

#endif
