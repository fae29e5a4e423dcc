/* Memory that survives a start: with it a restart knows how many samples it has lost. */

#include "kept.h"

#include "frame.h"
#include "ring.h"

#define MAGIC 0x0a515e01u

static uint32_t check_of(const oasis_kept *kept) {
  return oasis_crc32((const uint8_t *)kept, offsetof(oasis_kept, check));
}

/* A count whose check word is that of the number before was written halfway: the sample had its number. */
static bool is_whole(const oasis_kept_count *count) {
  return count->check == oasis_count_check(count->low, count->high) ||
         (count->low > 0 && count->check == oasis_count_check(count->low - 1u, count->high));
}

static bool is_left_by_a_start(const oasis_node *node) {
  const oasis_kept *kept = node->kept;
  if (kept->magic != MAGIC || kept->instances != node->probe_count || kept->check != check_of(kept)) {
    return false;
  }
  for (uint8_t at = 0; at < node->probe_count; ++at) {
    if (!is_whole(&kept->counts[at])) {
      return false;
    }
  }
  return true;
}

void oasis_resume(oasis_node *node) {
  oasis_kept *kept = node->kept;
  const bool resumes = is_left_by_a_start(node);
  if (!resumes) {
    kept->magic = MAGIC;
    kept->session = 0;
    kept->starts = 0;
    kept->instances = node->probe_count;
  }
  ++kept->starts;
  for (uint8_t at = 0; at < OASIS_INSTANCES; ++at) {
    if (!resumes || at >= node->probe_count) {
      kept->bases[at] = 0;
      kept->counts[at].low = 0;
      kept->counts[at].high = 0;
    }
    kept->counts[at].check = oasis_count_check(kept->counts[at].low, kept->counts[at].high);
  }
  kept->check = check_of(kept);
  for (uint8_t at = 0; at < node->probe_count; ++at) {
    oasis_probe *probe = &node->probes[at];
    probe->kept = &kept->counts[at];
    probe->taken_low = probe->kept->low;
    probe->taken_high = probe->kept->high;
    probe->sent = oasis_taken(probe);
    probe->base = kept->bases[at];
  }
}

void oasis_begin_session(oasis_node *node, uint32_t session) {
  oasis_kept *kept = node->kept;
  kept->session = session;
  for (uint8_t at = 0; at < node->probe_count; ++at) {
    node->probes[at].base = node->probes[at].sent;
    node->probes[at].ring_full = 0;
    kept->bases[at] = node->probes[at].base;
  }
  kept->check = check_of(kept);
}
