/* Rings of samples: filled by an interrupt or the main loop, emptied by `oasis_poll`. */

#include "ring.h"

#include "oasis_embedded.h"

uint8_t *oasis_slot(const oasis_probe *probe, uint16_t index) {
  return (uint8_t *)(probe->ring + (size_t)index * OASIS_SLOT_WORDS(probe->type->row_bytes));
}

static uint16_t slot_after(const oasis_probe *probe, uint16_t index) {
  const uint16_t next = (uint16_t)(index + 1u);
  return next == probe->slots ? 0 : next;
}

/* Odd factors spread a changed bit over the word. */
uint32_t oasis_count_check(uint32_t low, uint32_t high) { return ~(low * 0x9e3779b1u + high * 0x85ebca6bu); }

/* Numbers a sample. A reset between the two writes is recognized by the next start. */
static void count_taken(oasis_probe *probe) {
  const uint32_t low = probe->taken_low + 1u;
  if (low == 0) {
    probe->taken_high += 1u;
    probe->kept->high = probe->taken_high;
  }
  probe->taken_low = low;
  probe->kept->low = low;
  probe->kept->check = oasis_count_check(low, probe->taken_high);
}

uint8_t *oasis_begin(oasis_probe *probe) {
  if (!probe->enabled || oasis_is_forked(probe->node)) {
    return NULL;
  }
  count_taken(probe);
  const uint16_t head = probe->head;
  if (slot_after(probe, head) == probe->tail) {
    probe->dropped += 1u;
    return NULL;
  }
  uint8_t *slot = oasis_slot(probe, head);
  oasis_put_uint64(slot + OASIS_SLOT_TIME, probe->node->port.uptime_ns(probe->node->port.context));
  oasis_put_uint32(slot + OASIS_SLOT_SEQUENCE, probe->taken_low);
  return slot + OASIS_SLOT_ROW;
}

void oasis_commit(oasis_probe *probe) {
  OASIS_BARRIER();
  probe->head = slot_after(probe, probe->head);
}

uint16_t oasis_waiting(const oasis_probe *probe) {
  const uint16_t head = probe->head;
  OASIS_BARRIER();
  const uint16_t tail = probe->tail;
  return (uint16_t)(head >= tail ? head - tail : head + probe->slots - tail);
}

void oasis_tell_drops(oasis_probe *probe, uint32_t dropped) {
  probe->told += dropped;
  probe->ring_full += dropped;
  probe->sent += dropped;
}

void oasis_settle(oasis_probe *probe) {
  const uint32_t dropped = probe->dropped;
  OASIS_BARRIER();
  /* All that was committed before these drops is sent: their numbers follow the last one. */
  if (oasis_waiting(probe) == 0) {
    oasis_tell_drops(probe, dropped - probe->told);
  }
}

uint64_t oasis_taken(const oasis_probe *probe) {
  uint32_t low, high;
  do {
    high = probe->taken_high;
    low = probe->taken_low;
  } while (high != probe->taken_high);
  return (uint64_t)high << 32 | low;
}
