/* Memory and processors of a Windows host, over TCP to a gateway: `host.exe 127.0.0.1 7075`. */

#include <winsock2.h>
/* After winsock2.h, which it would otherwise include in an older version. */
#include <windows.h>

#include <stdio.h>
#include <stdlib.h>

#include "host.h"

enum { SLOTS = 64 };

static uint32_t memory_ring[OASIS_RING_WORDS(HOST_MEMORYPROBE_ROW_BYTES, SLOTS)];
static uint32_t processor_ring[OASIS_RING_WORDS(HOST_PROCESSORPROBE_ROW_BYTES, SLOTS)];

static void take_memory(oasis_probe *probe);
static void take_processors(oasis_probe *probe);

static oasis_probe probes[] = {
    {.type = &Host_MemoryProbe_type, .name = "memory", .ring = memory_ring, .slots = SLOTS, .millihertz = 1000, .take = take_memory},
    {.type = &Host_ProcessorProbe_type,
     .name = "processors",
     .ring = processor_ring,
     .slots = SLOTS,
     .millihertz = 1000,
     .take = take_processors},
};
static oasis_kept kept;
static oasis_node node;

static struct sockaddr_in gateway;
static SOCKET line = INVALID_SOCKET;
static uint64_t next_attempt_ms;

static uint64_t uptime_ns(void *context) {
  LARGE_INTEGER count, frequency;
  (void)context;
  QueryPerformanceCounter(&count);
  QueryPerformanceFrequency(&frequency);
  const uint64_t whole = (uint64_t)(count.QuadPart / frequency.QuadPart);
  const uint64_t rest = (uint64_t)(count.QuadPart % frequency.QuadPart);
  return whole * UINT64_C(1000000000) + rest * UINT64_C(1000000000) / (uint64_t)frequency.QuadPart;
}

static void hang_up(void) {
  closesocket(line);
  line = INVALID_SOCKET;
}

/* Connects at most once a second. The node continues its session when it is connected again. */
static bool is_connected(void) {
  if (line != INVALID_SOCKET) {
    return true;
  }
  if (GetTickCount64() < next_attempt_ms) {
    return false;
  }
  next_attempt_ms = GetTickCount64() + 1000u;
  line = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
  if (line == INVALID_SOCKET || connect(line, (const struct sockaddr *)&gateway, sizeof gateway) != 0) {
    hang_up();
    return false;
  }
  u_long is_on = 1;
  ioctlsocket(line, (long)FIONBIO, &is_on);
  return true;
}

static size_t moved(int count) {
  if (count > 0) {
    return (size_t)count;
  }
  if (count == 0 || WSAGetLastError() != WSAEWOULDBLOCK) {
    hang_up();
  }
  return 0;
}

static size_t send_bytes(void *context, const uint8_t *bytes, size_t count) {
  (void)context;
  return is_connected() ? moved(send(line, (const char *)bytes, (int)count, 0)) : 0;
}

static size_t receive_bytes(void *context, uint8_t *bytes, size_t capacity) {
  (void)context;
  return is_connected() ? moved(recv(line, (char *)bytes, (int)capacity, 0)) : 0;
}

static void take_memory(oasis_probe *probe) {
  MEMORYSTATUSEX status = {.dwLength = sizeof status};
  if (GlobalMemoryStatusEx(&status)) {
    const Host_MemoryProbe memory = {status.dwMemoryLoad, status.ullTotalPhys, status.ullAvailPhys,
                                     status.ullTotalPageFile, status.ullAvailPageFile};
    Host_MemoryProbe_sample(probe, &memory);
  }
}

static uint64_t ticks_of(FILETIME time) { return (uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime; }

static void take_processors(oasis_probe *probe) {
  FILETIME idle, kernel, user;
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  if (GetSystemTimes(&idle, &kernel, &user)) {
    /* The kernel's time contains the idle time. */
    const Host_ProcessorProbe processors = {ticks_of(idle), ticks_of(kernel) - ticks_of(idle), ticks_of(user),
                                            info.dwNumberOfProcessors};
    Host_ProcessorProbe_sample(probe, &processors);
  }
}

int main(int count, char **arguments) {
  static char name[MAX_COMPUTERNAME_LENGTH + 1];
  DWORD length = sizeof name;
  WSADATA winsock;
  if (count != 3) {
    fprintf(stderr, "usage: host.exe ADDRESS PORT, of the gateway\n");
    return 2;
  }
  if (WSAStartup(MAKEWORD(2, 2), &winsock) != 0 || !GetComputerNameA(name, &length)) {
    fprintf(stderr, "Windows has no sockets or no name: error %lu\n", GetLastError());
    return 1;
  }
  gateway.sin_family = AF_INET;
  gateway.sin_addr.s_addr = inet_addr(arguments[1]);
  gateway.sin_port = htons((u_short)strtoul(arguments[2], NULL, 10));
  node.name = name;
  node.software = "OASIS for Windows hosts";
  node.probes = probes;
  node.probe_count = sizeof probes / sizeof probes[0];
  node.port.uptime_ns = uptime_ns;
  node.port.send = send_bytes;
  node.port.receive = receive_bytes;
  node.kept = &kept;
  const oasis_status status = oasis_start(&node);
  if (status != OASIS_OK) {
    fprintf(stderr, "the node does not start: status %d\n", (int)status);
    return 1;
  }
  for (;;) {
    oasis_poll(&node);
    Sleep(10);
  }
}
