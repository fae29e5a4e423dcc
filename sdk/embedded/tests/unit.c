/* Unit tests on the host, with sanitizers. The frames of vectors/embedded-link.json come as a header (vectors.py). */

#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../src/batch.h"
#include "../src/bytes.h"
#include "../src/frame.h"
#include "../src/kept.h"
#include "../src/ring.h"
#include "pump.h"
#include "vectors.h"

#define CHECK(condition)                                                            \
  do {                                                                              \
    if (!(condition)) {                                                             \
      fprintf(stderr, "%s:%d: %s is false\n", __FILE__, __LINE__, #condition);      \
      exit(1);                                                                      \
    }                                                                               \
  } while (0)

enum { SLOTS = 5 };

static uint32_t ring[OASIS_RING_WORDS(PUMP_MOTOR_ROW_BYTES, SLOTS)];
static oasis_kept kept;
static oasis_probe probe;
static oasis_node node;
static uint64_t now_ns;
static uint8_t sent[8192];
static size_t sent_count;
static uint8_t arriving[256];
static size_t arriving_count;
static const oasis_column columns[] = {{OASIS_SIGNED, 2}, {OASIS_SIGNED, 2}, {OASIS_SIGNED, 2}};
static oasis_type type;

static uint64_t uptime_ns(void *context) {
  (void)context;
  return now_ns;
}

static size_t send_bytes(void *context, const uint8_t *bytes, size_t count) {
  (void)context;
  CHECK(sent_count + count <= sizeof sent);
  memcpy(sent + sent_count, bytes, count);
  sent_count += count;
  return count;
}

static size_t receive_bytes(void *context, uint8_t *bytes, size_t capacity) {
  (void)context;
  const size_t count = arriving_count < capacity ? arriving_count : capacity;
  memcpy(bytes, arriving, count);
  memmove(arriving, arriving + count, arriving_count - count);
  arriving_count -= count;
  return count;
}

static oasis_status start(void) {
  memset(&node, 0, sizeof node);
  memset(&probe, 0, sizeof probe);
  probe.type = &type;
  probe.name = "motor";
  probe.ring = ring;
  probe.slots = SLOTS;
  probe.millihertz = 1000000;
  node.name = "pump 7";
  node.software = "demo 1.0";
  node.probes = &probe;
  node.probe_count = 1;
  node.port.uptime_ns = uptime_ns;
  node.port.send = send_bytes;
  node.port.receive = receive_bytes;
  node.kept = &kept;
  sent_count = arriving_count = 0;
  return oasis_start(&node);
}

static void start_cold(void) {
  memset(&kept, 0x5a, sizeof kept);
  now_ns = 0;
  CHECK(start() == OASIS_OK);
}

static bool take(int16_t x, int16_t y, int16_t z) {
  uint8_t *row = oasis_begin(&probe);
  if (row == NULL) {
    return false;
  }
  oasis_put_int16(row, x);
  oasis_put_int16(row + 2, y);
  oasis_put_int16(row + 4, z);
  oasis_commit(&probe);
  return true;
}

/* What a gateway says. */
static void arrive(uint8_t kind, uint32_t session, const uint8_t *body, size_t count) {
  uint8_t out[OASIS_STUFFED_BYTES];
  memcpy(out + OASIS_STUFFING + OASIS_HEAD_BYTES, body, count);
  const size_t bytes = oasis_finish_frame(out, kind, 0, session, count);
  CHECK(arriving_count + bytes <= sizeof arriving);
  memcpy(arriving + arriving_count, out, bytes);
  arriving_count += bytes;
}

static void accept(uint32_t before, uint32_t session) {
  uint8_t body[8];
  oasis_put_uint32(body, session);
  oasis_put_uint32(body + 4, kept.starts);
  arrive(OASIS_KIND_ACCEPT, before, body, sizeof body);
  oasis_poll(&node);
}

static void tell_time(uint64_t asked, uint64_t time_ns) {
  uint8_t body[16];
  oasis_put_uint64(body, asked);
  oasis_put_uint64(body + 8, time_ns);
  arrive(OASIS_KIND_TIME, kept.session, body, sizeof body);
  oasis_poll(&node);
}

static void command(uint32_t id, uint8_t instance, uint8_t what, uint32_t argument) {
  uint8_t body[10];
  oasis_put_uint32(body, id);
  body[4] = instance;
  body[5] = what;
  oasis_put_uint32(body + 6, argument);
  arrive(OASIS_KIND_COMMAND, kept.session, body, sizeof body);
  oasis_poll(&node);
}

/* Opens the last frame of this kind that was sent. */
static const uint8_t *last_sent(uint8_t kind) {
  static uint8_t frame[OASIS_STUFFED_BYTES];
  const uint8_t *found = NULL;
  size_t begin = 0;
  for (size_t at = 0; at < sent_count; ++at) {
    if (sent[at] != 0) {
      continue;
    }
    uint8_t opened[OASIS_STUFFED_BYTES];
    memcpy(opened, sent + begin, at - begin);
    const size_t length = oasis_open_frame(opened, at - begin);
    if (length > 0 && opened[0] == kind) {
      memcpy(frame, opened, length);
      found = frame + OASIS_HEAD_BYTES;
    }
    begin = at + 1;
  }
  return found;
}

static void a_frame_of_any_length_survives_stuffing(void) {
  for (size_t body = 0; body <= OASIS_BODY_BYTES; ++body) {
    for (uint8_t zeros = 0; zeros < 3; ++zeros) {
      uint8_t *out = malloc(OASIS_STUFFED_BYTES);
      CHECK(out != NULL);
      for (size_t at = 0; at < body; ++at) {
        out[OASIS_STUFFING + OASIS_HEAD_BYTES + at] = zeros == 0 ? 1 : zeros == 1 ? 0 : (uint8_t)(at * 7u);
      }
      const size_t stuffed = oasis_finish_frame(out, 1, 2, 3, body);
      CHECK(stuffed <= OASIS_STUFFED_BYTES && memchr(out, 0, stuffed) == out + stuffed - 1);
      CHECK(oasis_open_frame(out, stuffed - 1) == OASIS_HEAD_BYTES + body);
      for (size_t at = 0; at < body; ++at) {
        CHECK(out[OASIS_HEAD_BYTES + at] == (zeros == 0 ? 1 : zeros == 1 ? 0 : (uint8_t)(at * 7u)));
      }
      free(out);
    }
  }
}

static void damaged_frames_are_refused_and_counted(void) {
  for (size_t at = 0; at < sizeof DAMAGED / sizeof DAMAGED[0]; ++at) {
    start_cold();
    memcpy(arriving, DAMAGED[at].bytes, DAMAGED[at].count);
    arriving_count = DAMAGED[at].count;
    oasis_poll(&node);
    CHECK(node.refused == 1);
  }
  memset(arriving, 7, sizeof arriving);
  arriving_count = sizeof arriving;
  oasis_poll(&node);
  arriving[0] = 0;
  arriving_count = 1;
  oasis_poll(&node);
  CHECK(node.refused == 2);
}

static void the_vectors_are_what_the_node_sends(void) {
  /* Samples 1 to 41 in the session of the vectors, and two starts after the one in which memory was cleared. */
  start_cold();
  accept(0, VECTOR_SESSION);
  for (int at = 0; at < 41; ++at) {
    take(1, 2, 3);
  }
  CHECK(start() == OASIS_OK && start() == OASIS_OK);
  oasis_poll(&node);
  CHECK(sent_count == 1 + sizeof VECTOR_ANNOUNCE && memcmp(sent + 1, VECTOR_ANNOUNCE, sizeof VECTOR_ANNOUNCE) == 0);

  start_cold();
  accept(0, VECTOR_SESSION);
  for (int at = 0; at < SLOTS - 1; ++at) {
    take(0, 0, 0);
  }
  /* Two dropped ones, of a batch that begins the session. */
  probe.tail = probe.head;
  probe.sent = probe.base = 4;
  CHECK(take(0, 0, 0));
  probe.tail = probe.head;
  probe.taken_low = kept.counts[0].low = 6;
  static const int16_t samples[4][3] = {{7, 0, 5}, {7, -1, 5}, {8, 256, 5}, {-292, -32768, 5}};
  for (int at = 0; at < 4; ++at) {
    now_ns = 1000000u * (uint64_t)at;
    CHECK(take(samples[at][0], samples[at][1], samples[at][2]));
  }
  now_ns = 4000000u;
  uint8_t out[OASIS_STUFFED_BYTES];
  probe.base = 6;
  const uint64_t offset = VECTOR_NODE_TIME - now_ns;
  const size_t count = oasis_take_batch(&probe, 1, offset, out + OASIS_STUFFING + OASIS_HEAD_BYTES, OASIS_BODY_BYTES);
  const size_t stuffed = oasis_finish_frame(out, OASIS_KIND_BATCH, 17, VECTOR_SESSION, count);
  CHECK(stuffed == sizeof VECTOR_BATCH && memcmp(out, VECTOR_BATCH, stuffed) == 0);

  start_cold();
  accept(0, VECTOR_SESSION);
  memcpy(arriving, VECTOR_COMMAND, sizeof VECTOR_COMMAND);
  arriving_count = sizeof VECTOR_COMMAND;
  oasis_poll(&node);
  const uint8_t *result = last_sent(OASIS_KIND_RESULT);
  CHECK(result != NULL && get_uint32(result) == 9 && result[4] == 0 && get_uint32(result + 6) == 250000);
}

static void a_full_ring_numbers_what_it_drops(void) {
  start_cold();
  for (int16_t at = 0; at < SLOTS + 2; ++at) {
    CHECK(take(at, 0, 0) == (at < SLOTS - 1));
  }
  accept(0, 9);
  tell_time(0, 1000);
  now_ns += 200000000u;
  oasis_poll(&node);
  const uint8_t *batch = last_sent(OASIS_KIND_BATCH);
  CHECK(batch != NULL && get_uint64(batch + 8) == 1 && batch[44] == SLOTS - 1);
  CHECK(take(77, 0, 0));
  now_ns += 200000000u;
  oasis_poll(&node);
  batch = last_sent(OASIS_KIND_BATCH);
  CHECK(get_uint64(batch + 8) == SLOTS + 3 && get_uint32(batch + 40) == 3);
  now_ns += 1000000000u;
  oasis_poll(&node);
  const uint8_t *counters = last_sent(OASIS_KIND_COUNTERS);
  CHECK(get_uint64(counters) == SLOTS + 3 && get_uint64(counters + 8) == SLOTS + 3 && get_uint32(counters + 16) == 3);
}

static void no_batch_is_sent_before_the_time_is_known(void) {
  start_cold();
  accept(0, 9);
  take(1, 2, 3);
  now_ns += 500000000u;
  oasis_poll(&node);
  CHECK(last_sent(OASIS_KIND_BATCH) == NULL && last_sent(OASIS_KIND_TIME_REQUEST) != NULL);
  uint64_t time_ns = 0;
  CHECK(!oasis_time(&node, &time_ns));
  tell_time(now_ns, VECTOR_NODE_TIME);
  CHECK(oasis_time(&node, &time_ns) && time_ns == VECTOR_NODE_TIME);
  CHECK(last_sent(OASIS_KIND_BATCH) != NULL);
}

static void the_shortest_exchange_gives_the_time(void) {
  start_cold();
  accept(0, 9);
  now_ns = 1000000u;
  tell_time(0, 5000000u); /* round trip 1 ms: 5.5 ms now */
  now_ns = 3000000u;
  tell_time(2900000u, 7400000u); /* 0.1 ms: 7.45 ms now */
  now_ns = 9000000u;
  tell_time(3000000u, 77000000u);
  uint64_t time_ns = 0;
  CHECK(oasis_time(&node, &time_ns) && time_ns == 13450000u);
  tell_time(now_ns + 1u, 1); /* an answer from the future */
  CHECK(oasis_time(&node, &time_ns) && time_ns == 13450000u);
}

static void a_command_is_executed_once(void) {
  start_cold();
  accept(0, 9);
  command(1, 0, 1, 20000);
  CHECK(probe.millihertz == 20000 && oasis_due(&probe) && !oasis_due(&probe));
  now_ns += 50000000u;
  CHECK(oasis_due(&probe));
  command(2, 0, 3, 0);
  CHECK(!probe.enabled && oasis_begin(&probe) == NULL && probe.taken_low == 0);
  command(1, 0, 1, 70000); /* late */
  CHECK(probe.millihertz == 20000);
  sent_count = 0;
  command(2, 0, 2, 0); /* repeated: answered, not executed */
  const uint8_t *result = last_sent(OASIS_KIND_RESULT);
  CHECK(!probe.enabled && result != NULL && get_uint32(result) == 2 && result[4] == 0 && result[5] == 0);
  command(3, 0, 9, 0);
  CHECK(last_sent(OASIS_KIND_RESULT)[4] == 4);
  command(4, 7, 2, 0);
  CHECK(last_sent(OASIS_KIND_RESULT)[4] == 1);
  command(5, 0, 1, 1000001);
  CHECK(last_sent(OASIS_KIND_RESULT)[4] == 3 && probe.millihertz == 20000);
}

static void a_restart_knows_its_count(void) {
  start_cold();
  CHECK(kept.starts == 1 && kept.session == 0);
  accept(0, 9);
  take(1, 2, 3);
  take(1, 2, 3);
  CHECK(start() == OASIS_OK);
  CHECK(kept.starts == 2 && kept.session == 9 && probe.sent == 2);
  kept.counts[0].low += 1; /* a reset between the two writes */
  CHECK(start() == OASIS_OK);
  CHECK(kept.starts == 3 && probe.sent == 3);
  oasis_poll(&node);
  const uint8_t *announcement = last_sent(OASIS_KIND_ANNOUNCE);
  CHECK(announcement != NULL && announcement[1] == 1 && get_uint64(announcement + 6 + 7 + 9 + 1 + 28) == 3);
  accept(9, 10);
  CHECK(kept.session == 10 && probe.base == 3);
}

static void decayed_memory_is_no_restart(void) {
  uint8_t whole[sizeof kept];
  start_cold();
  accept(0, 9);
  take(1, 2, 3);
  memcpy(whole, &kept, sizeof kept);
  for (size_t bit = 0; bit < 8u * sizeof kept; ++bit) {
    memcpy(&kept, whole, sizeof kept);
    ((uint8_t *)&kept)[bit / 8u] ^= (uint8_t)(1u << bit % 8u);
    CHECK(start() == OASIS_OK);
    const bool is_used = kept.session == 9;
    /* Counts of instances that the node does not have, and padding, may decay; a count that is off by a bit may not. */
    CHECK(!is_used || probe.sent == 1);
  }
}

static void an_answer_to_an_earlier_start_is_ignored(void) {
  start_cold();
  CHECK(start() == OASIS_OK);
  uint8_t body[8];
  oasis_put_uint32(body, 9);
  oasis_put_uint32(body + 4, 1);
  arrive(OASIS_KIND_ACCEPT, 0, body, sizeof body);
  oasis_poll(&node);
  CHECK(!node.accepted);
  accept(3, 9); /* of another session */
  CHECK(!node.accepted);
  accept(0, 9);
  CHECK(node.accepted);
}

static void silence_and_questions_cause_announcements(void) {
  start_cold();
  accept(0, 9);
  arrive(OASIS_KIND_ASK_ANNOUNCE, 9, (const uint8_t *)"", 0);
  sent_count = 0;
  oasis_poll(&node);
  const uint8_t *announcement = last_sent(OASIS_KIND_ANNOUNCE);
  CHECK(announcement != NULL && announcement[1] == 0);
  accept(9, 9);
  CHECK(node.accepted && probe.base == 0);
  now_ns += 5100000000u;
  sent_count = 0;
  oasis_poll(&node);
  CHECK(!node.accepted && last_sent(OASIS_KIND_ANNOUNCE) != NULL);
}

static void a_schema_is_sent_in_pieces(void) {
  start_cold();
  static const uint8_t wanted[3] = {0, 3, 0};
  arrive(OASIS_KIND_ASK_SCHEMA, 0, wanted, sizeof wanted);
  oasis_poll(&node);
  const uint8_t *piece = last_sent(OASIS_KIND_SCHEMA);
  CHECK(piece != NULL && piece[0] == 0 && piece[1] == 3 && piece[3] == type.schema_bytes);
  CHECK(memcmp(piece + 5, type.schema + 3, type.schema_bytes - 3u) == 0);
  static const uint8_t beyond[3] = {0, 0xff, 0xff};
  arrive(OASIS_KIND_ASK_SCHEMA, 0, beyond, sizeof beyond);
  static const uint8_t nobody[3] = {1, 0, 0};
  arrive(OASIS_KIND_ASK_SCHEMA, 0, nobody, sizeof nobody);
  oasis_poll(&node);
}

static void a_node_that_cannot_work_does_not_start(void) {
  start_cold();
  node.name = "";
  CHECK(oasis_start(&node) == OASIS_NAME_INVALID);
  node.name = "pump 7";
  node.probe_count = OASIS_INSTANCES + 1;
  CHECK(oasis_start(&node) == OASIS_INSTANCES_TOO_MANY);
  node.probe_count = 1;
  probe.slots = 1;
  CHECK(oasis_start(&node) == OASIS_RING_INVALID);
  probe.slots = SLOTS;
  probe.name = "a name that is longer than sixty-four bytes, which is as long as any may be";
  CHECK(oasis_start(&node) == OASIS_NAME_INVALID);
}

static void counts_cross_32_bits(void) {
  start_cold();
  kept.counts[0].low = 0xffffffffu;
  kept.counts[0].check = oasis_count_check(0xffffffffu, 0);
  CHECK(start() == OASIS_OK);
  CHECK(take(1, 2, 3) && oasis_taken(&probe) == 0x100000000u);
  CHECK(start() == OASIS_OK);
  CHECK(probe.sent == 0x100000000u);
}

/* Right frames with any contents: the sanitizers watch. */
static void no_message_harms_the_node(void) {
  static const uint8_t kinds[] = {0x20, 0x21, 0x22, 0x23, 0x24, 0x01, 0xff};
  uint32_t random = 1;
  start_cold();
  for (uint32_t round = 0; round < 200000; ++round) {
    uint8_t body[48];
    for (size_t at = 0; at < sizeof body; ++at) {
      random = random * 1664525u + 1013904223u;
      body[at] = (uint8_t)(random >> 30 == 0 ? 0 : random >> 24);
    }
    if (random >> 28 == 0) {
      oasis_put_uint32(body + 4, kept.starts);
    }
    sent_count = 0;
    now_ns += random >> 4;
    take((int16_t)random, 2, 3);
    arrive(kinds[(random >> 8) % sizeof kinds], kept.session, body, (random >> 16) % sizeof body);
    oasis_poll(&node);
  }
  CHECK(node.refused == 0 && probe.sent > 0);
}

static void a_child_takes_no_samples_and_sends_nothing(void) {
  start_cold();
  accept(0, 7);
  CHECK(take(1, 2, 3) && !oasis_is_forked(&node));
  const size_t sent_before = sent_count;
  const uint32_t taken_before = kept.counts[0].low;
  const pid_t child = fork();
  if (child == 0) {
    const bool took = take(4, 5, 6);
    now_ns += 10u * UINT64_C(1000000000);
    oasis_poll(&node);
    const bool is_silent = sent_count == sent_before && kept.counts[0].low == taken_before;
    _exit(!took && oasis_is_forked(&node) && is_silent ? 0 : 1);
  }
  int status = -1;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK(take(7, 8, 9));
  now_ns += 2u * UINT64_C(1000000000);
  oasis_poll(&node);
  CHECK(sent_count > sent_before);
}

int main(void) {
  static const uint8_t uuid[16] = {0x0f, 0x3c, 0x7d, 0x52, 0x9c, 0x7e, 0x4a, 0x57,
                                   0x8a, 0x9f, 0x62, 0xc1, 0xf1, 0xb8, 0xc7, 0xaa};
  memcpy(type.uuid, uuid, sizeof uuid);
  type.schema = VECTOR_SCHEMA;
  type.schema_bytes = sizeof VECTOR_SCHEMA - 1u;
  type.schema_crc = oasis_crc32((const uint8_t *)VECTOR_SCHEMA, sizeof VECTOR_SCHEMA - 1u);
  type.columns = columns;
  type.column_count = 3;
  type.row_bytes = PUMP_MOTOR_ROW_BYTES;
  a_frame_of_any_length_survives_stuffing();
  damaged_frames_are_refused_and_counted();
  the_vectors_are_what_the_node_sends();
  a_full_ring_numbers_what_it_drops();
  no_batch_is_sent_before_the_time_is_known();
  the_shortest_exchange_gives_the_time();
  a_command_is_executed_once();
  a_restart_knows_its_count();
  decayed_memory_is_no_restart();
  an_answer_to_an_earlier_start_is_ignored();
  silence_and_questions_cause_announcements();
  a_schema_is_sent_in_pieces();
  a_node_that_cannot_work_does_not_start();
  counts_cross_32_bits();
  no_message_harms_the_node();
  a_child_takes_no_samples_and_sends_nothing();
  printf("all unit tests pass\n");
  return 0;
}
