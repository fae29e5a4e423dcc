/* A participant that shows what the two topics of the data channel have, and with `spoil` sends messages into the connections of others. */

#include <dds/dds.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "channel.h"

#define BYTES 8192

static const char *const topics[2] = {"OASIS/Channel/V1/ToDac", "OASIS/Channel/V1/ToNode"};

static dds_entity_t checked (dds_entity_t entity)
{
  if (entity < 0) {
    fprintf (stderr, "%s\n", dds_strretcode (-entity));
    exit (1);
  }
  return entity;
}

/* Claims to be a message of this connection, of each kind and of kinds that do not exist. It accepts nobody: then it would be a DAC. */
static void spoil (const dds_entity_t *writers, const OASIS_Channel_Message *message)
{
  static uint8_t bytes[2 * BYTES];
  OASIS_Channel_Message claim = *message;
  claim.bytes._buffer = bytes;
  claim.bytes._release = false;
  for (uint8_t kind = 0; kind < 12; kind++) {
    if (kind == 7)
      continue;
    claim.kind = kind;
    claim.number = message->number + kind % 2;
    claim.bytes._length = claim.bytes._maximum = kind % 3 == 0 ? sizeof bytes : kind % 3 == 1 ? 0 : 16;
    for (size_t at = 0; at < 2; at++)
      (void) dds_write (writers[at], &claim);
  }
}

int main (int count, char **arguments)
{
  if (count != 3)
    return 2;
  bool spoils = strcmp (arguments[2], "spoil") == 0;
  dds_entity_t participant = checked (dds_create_participant ((dds_domainid_t) atoi (arguments[1]), NULL, NULL));
  dds_qos_t *qos = dds_create_qos ();
  dds_qset_reliability (qos, DDS_RELIABILITY_RELIABLE, DDS_MSECS (10));
  dds_qset_history (qos, DDS_HISTORY_KEEP_ALL, 0);
  dds_qset_ignorelocal (qos, DDS_IGNORELOCAL_PARTICIPANT);
  dds_entity_t readers[2], writers[2], waitset = checked (dds_create_waitset (participant));
  for (size_t at = 0; at < 2; at++) {
    dds_entity_t topic = checked (dds_create_topic (participant, &OASIS_Channel_Message_desc, topics[at], NULL, NULL));
    readers[at] = checked (dds_create_reader (participant, topic, qos, NULL));
    writers[at] = spoils ? checked (dds_create_writer (participant, topic, qos, NULL)) : 0;
    dds_waitset_attach (waitset, checked (dds_create_readcondition (readers[at], DDS_ANY_STATE)), 0);
  }
  dds_delete_qos (qos);
  uint64_t heard = 0;
  setvbuf (stdout, NULL, _IOLBF, 0);
  for (;;) {
    dds_waitset_wait (waitset, NULL, 0, DDS_INFINITY);
    for (size_t at = 0; at < 2; at++) {
      void *samples[100] = {NULL};
      dds_sample_info_t info[100];
      int taken = dds_take (readers[at], samples, info, 100, 100);
      for (int index = 0; index < taken; index++) {
        const OASIS_Channel_Message *message = samples[index];
        if (!info[index].valid_data)
          continue;
        printf ("%s %u %" PRIu64 " %" PRIu32 "\n", topics[at], message->kind, message->number, message->bytes._length);
        if (spoils && heard++ % 10 == 0)
          spoil (writers, message);
      }
      if (taken > 0)
        dds_return_loan (readers[at], samples, taken);
    }
  }
}
