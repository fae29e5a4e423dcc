/* The node's side of the link: what is sent next, and what to do with what arrives. */

#include "batch.h"
#include "bytes.h"
#include "frame.h"
#include "kept.h"
#include "ring.h"

#if OASIS_HAS_PROCESSES
#include <unistd.h>
#endif

#define MILLISECOND UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)

enum { LINK_VERSION = 1, STARTED = 1 };
enum { NAME_MOST = 64 };
/* The gateway is gone after this silence. */
#define SILENCE (5u * SECOND)
/* Between time requests, until enough of them were answered. */
#define FIRST_TIMES (100u * MILLISECOND)

enum { HERTZ = 1, ENABLE = 2, DISABLE = 3, SAMPLE_NOW = 4 };
enum { DONE = 0, UNKNOWN_INSTANCE = 1, NOT_PERIODIC = 2, RATE_INVALID = 3, UNKNOWN_COMMAND = 4 };
enum { MILLIHERTZ_LEAST = 10, MILLIHERTZ_MOST = 1000000 };

static uint64_t uptime(const oasis_node *node) { return node->port.uptime_ns(node->port.context); }

static size_t length_of(const char *text) {
  size_t length = 0;
  while (length <= NAME_MOST && text[length] != '\0') {
    ++length;
  }
  return length;
}

static bool is_name(const char *text) {
  return text != NULL && text[0] != '\0' && length_of(text) <= NAME_MOST;
}

static uint8_t *put_text(uint8_t *to, const char *text) {
  const size_t length = length_of(text);
  *to++ = (uint8_t)length;
  copy_bytes(to, text, length);
  return to + length;
}

/* Processes. */

#if OASIS_HAS_PROCESSES
bool oasis_is_forked(const oasis_node *node) { return node->process != (long)getpid(); }

static void begin_process(oasis_node *node) { node->process = (long)getpid(); }
#else
bool oasis_is_forked(const oasis_node *node) {
  (void)node;
  return false;
}

static void begin_process(oasis_node *node) { (void)node; }
#endif

/* Start. */

static oasis_status check_probe(const oasis_probe *probe) {
  if (!is_name(probe->name)) {
    return OASIS_NAME_INVALID;
  }
  if (probe->ring == NULL || probe->slots < 2u) {
    return OASIS_RING_INVALID;
  }
  return oasis_least_batch(probe->type) > OASIS_BODY_BYTES ? OASIS_FRAME_TOO_SMALL : OASIS_OK;
}

oasis_status oasis_start(oasis_node *node) {
  if (!is_name(node->name) || length_of(node->software) > NAME_MOST) {
    return OASIS_NAME_INVALID;
  }
  if (node->probe_count == 0 || node->probe_count > OASIS_INSTANCES) {
    return OASIS_INSTANCES_TOO_MANY;
  }
  size_t announcement = 9u + length_of(node->name) + length_of(node->software);
  for (uint8_t at = 0; at < node->probe_count; ++at) {
    const oasis_status status = check_probe(&node->probes[at]);
    if (status != OASIS_OK) {
      return status;
    }
    announcement += 37u + length_of(node->probes[at].name);
  }
  if (announcement > OASIS_BODY_BYTES || 20u * node->probe_count > OASIS_BODY_BYTES) {
    return OASIS_FRAME_TOO_SMALL;
  }
  begin_process(node);
  oasis_resume(node);
  for (uint8_t at = 0; at < node->probe_count; ++at) {
    node->probes[at].node = node;
    node->probes[at].enabled = true;
  }
  if (node->batch_ms == 0) {
    node->batch_ms = 100;
  }
  node->announce_ns = uptime(node);
  /* What the line made of the reset ends here. */
  node->out[0] = 0;
  node->out_length = 1;
  return OASIS_OK;
}

/* Samples. */

bool oasis_due(oasis_probe *probe) {
  const uint64_t now = uptime(probe->node);
  const uint32_t rate = probe->millihertz;
  if (!probe->enabled || rate == 0) {
    return false;
  }
  /* A command writes the rate alone: this may be an interrupt, which must not see half of a 64-bit period. */
  if (rate != probe->period_of) {
    probe->period_of = rate;
    probe->period_ns = UINT64_C(1000000000000) / rate;
    probe->due_ns = now;
  }
  if (now < probe->due_ns) {
    return false;
  }
  probe->due_ns += probe->period_ns;
  if (probe->due_ns <= now) {
    probe->due_ns = now + probe->period_ns;
  }
  return true;
}

static void take_samples(oasis_node *node) {
  for (uint8_t at = 0; at < node->probe_count; ++at) {
    oasis_probe *probe = &node->probes[at];
    if (probe->take != NULL && oasis_due(probe)) {
      probe->take(probe);
    }
  }
}

/* Time. */

static const oasis_exchange *best_exchange(const oasis_node *node) {
  const uint8_t known = node->exchanges < OASIS_TIMES ? node->exchanges : OASIS_TIMES;
  const oasis_exchange *best = &node->times[0];
  for (uint8_t at = 1; at < known; ++at) {
    if (node->times[at].round_trip_ns < best->round_trip_ns) {
      best = &node->times[at];
    }
  }
  return best;
}

bool oasis_time(const oasis_node *node, uint64_t *time_ns) {
  *time_ns = uptime(node) + best_exchange(node)->offset_ns;
  return node->has_time;
}

static void on_time(oasis_node *node, const uint8_t *body) {
  const uint64_t now = uptime(node);
  const uint64_t asked = get_uint64(body);
  if (asked > now) {
    return;
  }
  const oasis_exchange exchange = {now - asked, get_uint64(body + 8) + (now - asked) / 2u - now};
  node->times[node->exchanges % OASIS_TIMES] = exchange;
  /* Above OASIS_TIMES only the place matters. */
  node->exchanges = (uint8_t)(node->exchanges == 2u * OASIS_TIMES - 1u ? OASIS_TIMES : node->exchanges + 1u);
  node->has_time = true;
}

/* What arrives. */

/* An answer to an earlier start knows other counts. */
static void on_accept(oasis_node *node, uint32_t session, uint32_t starts) {
  if (node->accepted || session == 0 || starts != node->kept->starts) {
    return;
  }
  if (session != node->kept->session) {
    oasis_begin_session(node, session);
    node->last_command = 0;
  }
  node->accepted = true;
  node->went_on = true;
  node->time_ns = node->counters_ns = uptime(node);
}

static uint8_t set_rate(oasis_probe *probe, uint32_t millihertz) {
  if (probe->millihertz == 0) {
    return NOT_PERIODIC;
  }
  if (millihertz < MILLIHERTZ_LEAST || millihertz > MILLIHERTZ_MOST) {
    return RATE_INVALID;
  }
  probe->millihertz = millihertz;
  return DONE;
}

static uint8_t sample_now(oasis_probe *probe) {
  if (probe->take == NULL) {
    return NOT_PERIODIC;
  }
  const bool was_enabled = probe->enabled;
  probe->enabled = true;
  probe->take(probe);
  probe->enabled = was_enabled;
  return DONE;
}

static uint8_t execute(oasis_probe *probe, uint8_t command, uint32_t argument) {
  switch (command) {
    case HERTZ:
      return set_rate(probe, argument);
    case ENABLE:
      probe->enabled = true;
      return DONE;
    case DISABLE:
      probe->enabled = false;
      return DONE;
    case SAMPLE_NOW:
      return sample_now(probe);
    default:
      return UNKNOWN_COMMAND;
  }
}

static void on_command(oasis_node *node, const uint8_t *body) {
  const uint32_t id = get_uint32(body);
  if (id < node->last_command) {
    return;
  }
  if (id > node->last_command) {
    const uint8_t instance = body[4];
    node->last_command = id;
    node->result.id = id;
    node->result.instance = instance;
    node->result.outcome = instance < node->probe_count
                               ? execute(&node->probes[instance], body[5], get_uint32(body + 6))
                               : (uint8_t)UNKNOWN_INSTANCE;
  }
  node->result.is_due = true;
}

static void announce_again(oasis_node *node) {
  node->accepted = false;
  node->announce_ns = uptime(node);
}

static void on_frame(oasis_node *node, const uint8_t *frame, size_t length) {
  const uint8_t *body = frame + OASIS_HEAD_BYTES;
  const size_t bytes = length - OASIS_HEAD_BYTES;
  if (get_uint32(frame + 2) != node->kept->session) {
    return;
  }
  node->heard_ns = uptime(node);
  switch (frame[0]) {
    case OASIS_KIND_ACCEPT:
      /* A gateway may leave out which start it answers. */
      if (bytes >= 4u) {
        on_accept(node, get_uint32(body), bytes >= 8u ? get_uint32(body + 4) : node->kept->starts);
      }
      break;
    case OASIS_KIND_ASK_SCHEMA:
      if (bytes >= 3u) {
        node->schema.is_asked = true;
        node->schema.instance = body[0];
        node->schema.offset = (uint16_t)(body[1] | body[2] << 8);
      }
      break;
    case OASIS_KIND_ASK_ANNOUNCE:
      announce_again(node);
      break;
    case OASIS_KIND_TIME:
      if (bytes >= 16u) {
        on_time(node, body);
      }
      break;
    case OASIS_KIND_COMMAND:
      if (bytes >= 10u && node->accepted) {
        on_command(node, body);
      }
      break;
    default:
      break;
  }
}

static void on_byte(oasis_node *node, uint8_t byte) {
  if (byte != 0) {
    /* One byte too many marks a frame that is too long. */
    if (node->in_length < OASIS_RECEIVED_BYTES) {
      node->in[node->in_length] = byte;
    }
    if (node->in_length <= OASIS_RECEIVED_BYTES) {
      ++node->in_length;
    }
    return;
  }
  if (node->in_length > 0) {
    const size_t length =
        node->in_length <= OASIS_RECEIVED_BYTES ? oasis_open_frame(node->in, node->in_length) : 0;
    if (length > 0) {
      on_frame(node, node->in, length);
    } else {
      ++node->refused;
    }
  }
  node->in_length = 0;
}

static void receive(oasis_node *node) {
  uint8_t bytes[16];
  size_t count;
  while ((count = node->port.receive(node->port.context, bytes, sizeof bytes)) > 0) {
    for (size_t at = 0; at < count; ++at) {
      on_byte(node, bytes[at]);
    }
  }
}

/* What is sent: each function writes a body and returns its bytes, 0 if there is nothing to send. */

static uint8_t *body_of(oasis_node *node) { return node->out + OASIS_STUFFING + OASIS_HEAD_BYTES; }

static size_t put_announcement(const oasis_node *node, uint8_t *body) {
  uint8_t *to = body;
  *to++ = LINK_VERSION;
  *to++ = node->went_on ? 0 : STARTED;
  oasis_put_uint32(to, node->kept->starts);
  to = put_text(put_text(to + 4, node->name), node->software);
  *to++ = node->probe_count;
  for (uint8_t at = 0; at < node->probe_count; ++at) {
    const oasis_probe *probe = &node->probes[at];
    copy_bytes(to, probe->type->uuid, 16);
    oasis_put_uint32(to + 16, probe->type->schema_crc);
    oasis_put_uint16(to + 20, probe->type->schema_bytes);
    to[22] = probe->kind;
    to[23] = probe->enabled;
    oasis_put_uint32(to + 24, probe->millihertz);
    oasis_put_uint64(to + 28, probe->sent - probe->base);
    to = put_text(to + 36, probe->name);
  }
  return (size_t)(to - body);
}

static size_t put_schema(oasis_node *node, uint8_t *body) {
  node->schema.is_asked = false;
  if (node->schema.instance >= node->probe_count) {
    return 0;
  }
  const oasis_type *type = node->probes[node->schema.instance].type;
  const uint16_t offset = node->schema.offset < type->schema_bytes ? node->schema.offset : type->schema_bytes;
  const size_t rest = (size_t)type->schema_bytes - offset;
  const size_t most = OASIS_BODY_BYTES - 5u;
  const size_t count = rest < most ? rest : most;
  body[0] = node->schema.instance;
  oasis_put_uint16(body + 1, offset);
  oasis_put_uint16(body + 3, type->schema_bytes);
  copy_bytes(body + 5, type->schema + offset, count);
  return 5u + count;
}

static size_t put_result(oasis_node *node, uint8_t *body) {
  const bool is_known = node->result.instance < node->probe_count;
  const oasis_probe *probe = &node->probes[is_known ? node->result.instance : 0];
  node->result.is_due = false;
  oasis_put_uint32(body, node->result.id);
  body[4] = node->result.outcome;
  body[5] = is_known && probe->enabled;
  oasis_put_uint32(body + 6, is_known ? probe->millihertz : 0);
  return 10;
}

static size_t put_counters(oasis_node *node, uint8_t *body) {
  for (uint8_t at = 0; at < node->probe_count; ++at) {
    oasis_probe *probe = &node->probes[at];
    oasis_settle(probe);
    oasis_put_uint64(body, oasis_taken(probe) - probe->base);
    oasis_put_uint64(body + 8, probe->sent - probe->base);
    oasis_put_uint32(body + 16, probe->ring_full);
    body += 20;
  }
  return 20u * node->probe_count;
}

/* A batch is sent when its ring is half full, or its oldest sample has waited long enough. */
static bool is_ripe(const oasis_node *node, const oasis_probe *probe, uint64_t now) {
  const uint16_t waiting = oasis_waiting(probe);
  if (waiting == 0) {
    return false;
  }
  const uint64_t taken_ns = get_uint64(oasis_slot(probe, probe->tail));
  return waiting >= probe->slots / 2u || now - taken_ns >= node->batch_ms * MILLISECOND;
}

static size_t put_batch(oasis_node *node, uint8_t *body, uint64_t now) {
  for (uint8_t tried = 0; tried < node->probe_count; ++tried) {
    const uint8_t at = node->next_probe;
    oasis_probe *probe = &node->probes[at];
    node->next_probe = (uint8_t)(at + 1u == node->probe_count ? 0 : at + 1u);
    if (is_ripe(node, probe, now)) {
      return oasis_take_batch(probe, at + 1u, best_exchange(node)->offset_ns, body, OASIS_BODY_BYTES);
    }
  }
  return 0;
}

/* Writes the next frame. Returns false if there is none. */
static bool next_frame(oasis_node *node) {
  uint8_t *body = body_of(node);
  const uint64_t now = uptime(node);
  size_t bytes = 0;
  uint8_t kind = 0;
  if (node->schema.is_asked) {
    kind = OASIS_KIND_SCHEMA;
    bytes = put_schema(node, body);
  } else if (!node->accepted) {
    if (now >= node->announce_ns) {
      kind = OASIS_KIND_ANNOUNCE;
      bytes = put_announcement(node, body);
      node->announce_ns = now + SECOND;
    }
  } else if (node->result.is_due) {
    kind = OASIS_KIND_RESULT;
    bytes = put_result(node, body);
  } else if (now >= node->time_ns) {
    kind = OASIS_KIND_TIME_REQUEST;
    oasis_put_uint64(body, now);
    bytes = 8;
    node->time_ns = now + (node->exchanges < OASIS_TIMES ? FIRST_TIMES : SECOND);
  } else if (now >= node->counters_ns) {
    kind = OASIS_KIND_COUNTERS;
    bytes = put_counters(node, body);
    node->counters_ns = now + SECOND;
  } else if (node->has_time) {
    kind = OASIS_KIND_BATCH;
    bytes = put_batch(node, body, now);
  }
  if (bytes == 0) {
    return false;
  }
  node->out_at = 0;
  node->out_length = oasis_finish_frame(node->out, kind, node->number++, node->kept->session, bytes);
  return true;
}

/* Returns whether all of the frame is sent. */
static bool send_rest(oasis_node *node) {
  while (node->out_at < node->out_length) {
    const size_t sent =
        node->port.send(node->port.context, node->out + node->out_at, (size_t)node->out_length - node->out_at);
    if (sent == 0) {
      return false;
    }
    node->out_at = (uint16_t)(node->out_at + sent);
  }
  return true;
}

void oasis_poll(oasis_node *node) {
  if (oasis_is_forked(node)) {
    return;
  }
  receive(node);
  take_samples(node);
  if (node->accepted && uptime(node) - node->heard_ns > SILENCE) {
    announce_again(node);
  }
  while (send_rest(node) && next_frame(node)) {
  }
}
