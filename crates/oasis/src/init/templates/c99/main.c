/* A device without an operating system, as a process of this host: it sends to the gateway of `oasis up` over UDP. On a
 * board, `send_bytes` and `receive_bytes` use its UART, and `uptime_ns` its timer. */

#define _DEFAULT_SOURCE

#include "probes.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 256, GATEWAY_PORT = 7075 };

static uint32_t ring[OASIS_RING_WORDS(MACHINE_MOTOR_ROW_BYTES, SLOTS)];
static void take(oasis_probe *probe);
static oasis_probe probes[] = {
    {.type = &Machine_Motor_type, .name = "motor", .ring = ring, .slots = SLOTS, .kind = OASIS_PERIODIC, .millihertz = 100000, .take = take},
};
/* On a board in memory that a reset does not clear: OASIS_NOINIT. */
static oasis_kept kept;
static oasis_node node;
static int line = -1;

/* Called at the probe's rate. */
static void take(oasis_probe *probe) {
  static uint32_t turn;
  ++turn;
  const double sawtooth = turn % 1000u / 1000.0;
  const Machine_Motor motor = {3000.0 + 500.0 * sawtooth, 70.0 + 15.0 * sawtooth, Machine_Mode_RUNNING};
  Machine_Motor_sample(probe, &motor);
}

static uint64_t uptime_ns(void *context) {
  struct timespec now;
  (void)context;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* A call is a datagram. What is lost here is counted, as on any line. */
static size_t send_bytes(void *context, const uint8_t *bytes, size_t count) {
  (void)context;
  const ssize_t sent = send(line, bytes, count, 0);
  return sent > 0 ? (size_t)sent : 0;
}

static size_t receive_bytes(void *context, uint8_t *bytes, size_t capacity) {
  /* A datagram is read as a whole. */
  static uint8_t datagram[2048];
  static size_t at, end;
  (void)context;
  if (at == end) {
    const ssize_t received = recv(line, datagram, sizeof datagram, 0);
    at = 0;
    end = received > 0 ? (size_t)received : 0;
  }
  size_t count = 0;
  while (at < end && count < capacity) {
    bytes[count++] = datagram[at++];
  }
  return count;
}

static bool is_set(const char *variable) {
  const char *value = getenv(variable);
  return value != NULL && *value != '\0';
}

int main(void) {
  if (is_set("OASIS_DAC") || is_set("OASIS_CONFIG")) {
    fprintf(stderr, "@name@: OASIS_DAC and OASIS_CONFIG are refused: a device sends to the gateway at 127.0.0.1:%d; unset them\n",
            GATEWAY_PORT);
    return 1;
  }
  struct sockaddr_in gateway = {.sin_family = AF_INET, .sin_port = htons(GATEWAY_PORT)};
  gateway.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  line = socket(AF_INET, SOCK_DGRAM, 0);
  if (line < 0 || connect(line, (const struct sockaddr *)&gateway, sizeof gateway) != 0) {
    perror("@name@");
    return 1;
  }
  fcntl(line, F_SETFL, O_NONBLOCK);
  node.name = "@name@";
  node.software = "@name@ 1.0";
  node.probes = probes;
  node.probe_count = sizeof probes / sizeof probes[0];
  node.port.uptime_ns = uptime_ns;
  node.port.send = send_bytes;
  node.port.receive = receive_bytes;
  node.kept = &kept;
  const oasis_status status = oasis_start(&node);
  if (status != OASIS_OK) {
    fprintf(stderr, "@name@: the node does not start: status %d\n", (int)status);
    return 1;
  }
  printf("@name@ runs; Ctrl-C ends it.\n");
  fflush(stdout);
  for (;;) {
    oasis_poll(&node);
    usleep(250);
  }
}
