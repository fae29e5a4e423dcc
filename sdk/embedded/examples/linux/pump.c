/* The pump as a process, for trying a gateway without a board:
 *
 *   pump KEPT serial /dev/ttyUSB0
 *   pump KEPT udp 127.0.0.1 7075
 *   pump KEPT tcp 127.0.0.1 7075
 *
 * KEPT is a file that stands for memory that survives a reset: kill the process and start it again. PUMP_NAME and
 * PUMP_HERTZ in the environment are the node's name and the motor's rate. */

#define _DEFAULT_SOURCE

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "pump.h"

enum { MOTOR_SLOTS = 256, OTHER_SLOTS = 16 };

static uint32_t motor_ring[OASIS_RING_WORDS(PUMP_MOTOR_ROW_BYTES, MOTOR_SLOTS)];
static uint32_t tank_ring[OASIS_RING_WORDS(PUMP_TANK_ROW_BYTES, OTHER_SLOTS)];

static void take_motor(oasis_probe *probe);
static void take_tank(oasis_probe *probe);

static oasis_probe probes[] = {
    {.type = &Pump_Motor_type,
     .name = "motor",
     .ring = motor_ring,
     .slots = MOTOR_SLOTS,
     .take = take_motor},
    {.type = &Pump_Tank_type, .name = "tank", .ring = tank_ring, .slots = OTHER_SLOTS, .millihertz = 20000, .take = take_tank},
};
static oasis_node node;

static const char *const *place;
static int line = -1;
static time_t next_attempt;

static uint64_t uptime_ns(void *context) {
  struct timespec now;
  (void)context;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static int open_serial(const char *path) {
  struct termios mode;
  const int opened = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK);
  if (opened >= 0 && tcgetattr(opened, &mode) == 0) {
    cfmakeraw(&mode);
    cfsetspeed(&mode, B115200);
    tcsetattr(opened, TCSANOW, &mode);
  }
  return opened;
}

static int open_socket(int type, const char *address, const char *port) {
  struct sockaddr_in gateway = {.sin_family = AF_INET, .sin_port = htons((uint16_t)strtoul(port, NULL, 10))};
  inet_pton(AF_INET, address, &gateway.sin_addr);
  const int opened = socket(AF_INET, type, 0);
  if (opened >= 0 && connect(opened, (const struct sockaddr *)&gateway, sizeof gateway) != 0) {
    close(opened);
    return -1;
  }
  if (opened >= 0) {
    fcntl(opened, F_SETFL, O_NONBLOCK);
  }
  return opened;
}

/* Opens the line at most once a second. */
static bool is_open(void) {
  if (line < 0 && time(NULL) >= next_attempt) {
    next_attempt = time(NULL) + 1;
    if (strcmp(place[0], "serial") == 0) {
      line = open_serial(place[1]);
    } else {
      line = open_socket(strcmp(place[0], "udp") == 0 ? SOCK_DGRAM : SOCK_STREAM, place[1], place[2]);
    }
  }
  return line >= 0;
}

static size_t moved(ssize_t count) {
  if (count > 0) {
    return (size_t)count;
  }
  /* A gateway that does not listen yet refuses datagrams. */
  if (count == 0 || (errno != EAGAIN && errno != ECONNREFUSED)) {
    close(line);
    line = -1;
  }
  return 0;
}

static size_t send_bytes(void *context, const uint8_t *bytes, size_t count) {
  (void)context;
  return is_open() ? moved(write(line, bytes, count)) : 0;
}

static size_t receive_bytes(void *context, uint8_t *bytes, size_t capacity) {
  /* A datagram is read as a whole. */
  static uint8_t received[2048];
  static size_t at, end;
  (void)context;
  if (at == end) {
    at = 0;
    end = is_open() ? moved(read(line, received, sizeof received)) : 0;
  }
  const size_t count = end - at < capacity ? end - at : capacity;
  memcpy(bytes, received + at, count);
  at += count;
  return count;
}

static void take_motor(oasis_probe *probe) {
  static uint16_t phase;
  ++phase;
  const Pump_Motor motor = {(int16_t)(phase % 200u), (int16_t)(phase % 77u), (int16_t)(phase & 0x7fffu)};
  Pump_Motor_sample(probe, &motor);
}

static void take_tank(oasis_probe *probe) {
  static uint32_t pulses;
  ++pulses;
  const Pump_Tank tank = {2.5f, pulses, pulses % 100u < 50u, Pump_Mode_RUNNING, (int32_t)(pulses % 31u)};
  Pump_Tank_sample(probe, &tank);
}

static oasis_kept *keep(const char *path) {
  const int file = open(path, O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, sizeof(oasis_kept)) != 0) {
    return NULL;
  }
  void *kept = mmap(NULL, sizeof(oasis_kept), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return kept == MAP_FAILED ? NULL : (oasis_kept *)kept;
}

int main(int count, char **arguments) {
  if (count < 4 || (count == 4) != (strcmp(arguments[2], "serial") == 0)) {
    fprintf(stderr, "usage: pump KEPT serial PATH | udp ADDRESS PORT | tcp ADDRESS PORT\n");
    return 2;
  }
  place = (const char *const *)arguments + 2;
  const char *name = getenv("PUMP_NAME");
  const char *hertz = getenv("PUMP_HERTZ");
  node.name = name != NULL ? name : "pump 7";
  probes[0].millihertz = hertz != NULL ? 1000u * (uint32_t)strtoul(hertz, NULL, 10) : 1000000u;
  node.software = "pump as a process";
  node.probes = probes;
  node.probe_count = sizeof probes / sizeof probes[0];
  node.port.uptime_ns = uptime_ns;
  node.port.send = send_bytes;
  node.port.receive = receive_bytes;
  node.kept = keep(arguments[1]);
  if (node.kept == NULL) {
    fprintf(stderr, "cannot keep counts in %s: %s\n", arguments[1], strerror(errno));
    return 1;
  }
  const oasis_status status = oasis_start(&node);
  if (status != OASIS_OK) {
    fprintf(stderr, "the node does not start: status %d\n", (int)status);
    return 1;
  }
  for (;;) {
    oasis_poll(&node);
    usleep(250);
  }
}
