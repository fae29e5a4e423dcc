#ifndef OASIS_BATCH_H
#define OASIS_BATCH_H

#include "oasis_embedded.h"

/* Moves samples from the ring of a probe, of which it has at least one, into a native batch of at most `capacity` bytes.
 * `offset_ns` is the time of the DAC's clock minus uptime. Returns the batch's bytes; 0 if one sample has no room. */
size_t oasis_take_batch(oasis_probe *probe, uint32_t topic, uint64_t offset_ns, uint8_t *out, size_t capacity);

/* Bytes that a batch of one sample takes at most. */
size_t oasis_least_batch(const oasis_type *type);

#endif
