/* A device of sdk/embedded as a process, at the other end of a pseudo-terminal or of UDP: a motor with 1,000 samples a second, and a tank with 20.
 *
 *   device pty LINK        makes a pseudo-terminal, and LINK a symbolic link to its file
 *   device udp PORT        sends to this port of 127.0.0.1
 *
 * Lines on standard input: "reset" (only the kept memory survives), "brown-out" (nothing does), "noise N" (one of N bytes that are sent is
 * changed; 0: none), "lose N" (one of N is left out), "unplug", "plug". It prints "ready", and a line for each of them when it is done. */

#define _XOPEN_SOURCE 700

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "pump.h"

enum { MOTOR_SLOTS = 512, TANK_SLOTS = 16 };

static uint32_t motor_ring[OASIS_RING_WORDS(PUMP_MOTOR_ROW_BYTES, MOTOR_SLOTS)];
static uint32_t tank_ring[OASIS_RING_WORDS(PUMP_TANK_ROW_BYTES, TANK_SLOTS)];
static oasis_kept kept;
static oasis_probe probes[2];
static oasis_node node;

static const char *link_path;
static int line = -1;
static unsigned noise, loss, sent_bytes;
static uint64_t began_ns, pushed;

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t uptime_ns(void *context) {
  (void)context;
  return now_ns() - began_ns;
}

static size_t send_bytes(void *context, const uint8_t *bytes, size_t count) {
  (void)context;
  uint8_t out[OASIS_STUFFED_BYTES];
  size_t length = 0;
  if (line < 0) {
    return count; /* into the air */
  }
  for (size_t at = 0; at < count; ++at, ++sent_bytes) {
    if (loss > 0 && sent_bytes % loss == loss - 1) {
      continue;
    }
    out[length++] = noise > 0 && sent_bytes % noise == noise - 1 ? (uint8_t)(bytes[at] ^ 0x55u) : bytes[at];
  }
  const ssize_t written = write(line, out, length);
  return written == (ssize_t)length ? count : written > 0 && length == count ? (size_t)written : 0;
}

static size_t receive_bytes(void *context, uint8_t *bytes, size_t capacity) {
  /* A datagram is read whole: what a read has no room for is lost. */
  static uint8_t arrived[2048];
  static size_t arrived_at, arrived_count;
  (void)context;
  if (arrived_at == arrived_count && line >= 0) {
    const ssize_t got = read(line, arrived, sizeof arrived);
    arrived_at = 0;
    arrived_count = got > 0 ? (size_t)got : 0;
  }
  size_t count = 0;
  while (count < capacity && arrived_at < arrived_count) {
    bytes[count++] = arrived[arrived_at++];
  }
  return count;
}

static void take_tank(oasis_probe *probe) {
  const Pump_Tank tank = {1.5f, probe->sent, true, Pump_Mode_RUNNING, -3};
  Pump_Tank_sample(probe, &tank);
}

static void start(void) {
  memset(&node, 0, sizeof node);
  memset(probes, 0, sizeof probes);
  probes[0] = (oasis_probe){.type = &Pump_Motor_type, .name = "motor", .ring = motor_ring, .slots = MOTOR_SLOTS};
  probes[0].kind = OASIS_PUSHED;
  probes[1] = (oasis_probe){.type = &Pump_Tank_type, .name = "tank", .ring = tank_ring, .slots = TANK_SLOTS};
  probes[1].millihertz = 20000;
  probes[1].take = take_tank;
  node.name = "pump 7";
  node.software = "demo 1.0";
  node.probes = probes;
  node.probe_count = 2;
  node.port.uptime_ns = uptime_ns;
  node.port.send = send_bytes;
  node.port.receive = receive_bytes;
  node.kept = &kept;
  began_ns = now_ns();
  pushed = 0;
  if (oasis_start(&node) != OASIS_OK) {
    fprintf(stderr, "the node does not start\n");
    exit(1);
  }
}

static void plug(void) {
  struct termios raw;
  line = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
  if (line < 0 || grantpt(line) != 0 || unlockpt(line) != 0) {
    exit(2);
  }
  /* Without an echo until the gateway opens it. */
  const int slave = open(ptsname(line), O_RDWR | O_NOCTTY);
  tcgetattr(slave, &raw);
  raw.c_lflag = 0;
  raw.c_iflag = 0;
  raw.c_oflag = 0;
  tcsetattr(slave, TCSANOW, &raw);
  close(slave);
  unlink(link_path);
  if (symlink(ptsname(line), link_path) != 0) {
    exit(2);
  }
}

static void unplug(void) {
  unlink(link_path);
  close(line);
  line = -1;
}

static void connect_udp(int port) {
  struct sockaddr_in to;
  memset(&to, 0, sizeof to);
  to.sin_family = AF_INET;
  to.sin_port = htons((uint16_t)port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  line = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
  if (connect(line, (const struct sockaddr *)&to, sizeof to) != 0) {
    exit(2);
  }
}

static void obey(const char *command) {
  if (strncmp(command, "reset", 5) == 0) {
    start();
  } else if (strncmp(command, "brown-out", 9) == 0) {
    memset(&kept, 0x5a, sizeof kept);
    start();
  } else if (strncmp(command, "noise ", 6) == 0) {
    noise = (unsigned)atoi(command + 6);
  } else if (strncmp(command, "lose ", 5) == 0) {
    loss = (unsigned)atoi(command + 5);
  } else if (strncmp(command, "unplug", 6) == 0) {
    unplug();
  } else if (strncmp(command, "plug", 4) == 0) {
    plug();
  }
  printf("%s", command);
  fflush(stdout);
}

int main(int count, char **arguments) {
  char command[80];
  setvbuf(stdin, NULL, _IONBF, 0); /* `poll` sees what is not read yet */
  if (count < 3) {
    return 2;
  }
  if (strcmp(arguments[1], "pty") == 0) {
    link_path = arguments[2];
    plug();
  } else {
    connect_udp(atoi(arguments[2]));
  }
  start();
  printf("ready\n");
  fflush(stdout);
  struct pollfd input = {.fd = 0, .events = POLLIN};
  for (;;) {
    if (poll(&input, 1, 1) > 0) {
      if (fgets(command, sizeof command, stdin) == NULL) {
        return 0;
      }
      obey(command);
    }
    for (const uint64_t due = uptime_ns(NULL) / 1000000u; pushed < due; ++pushed) {
      const Pump_Motor motor = {(int16_t)pushed, (int16_t)(pushed / 3u), -7};
      Pump_Motor_sample(&probes[0], &motor);
    }
    oasis_poll(&node);
  }
}
