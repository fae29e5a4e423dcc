/* Subscribes to the topics of vectors/shapes.pdl. Each sample becomes a C struct, and the struct CDR again, which is printed:
   TOPIC NODE INSTANCE HEX. The bytes differ from those that were sent if any value is read at another place. */

#include "dds/dds.h"
#include "shapes.h"
#include "dds/ddsi/ddsi_serdata.h"
#include <stdio.h>
#include <stdlib.h>

#define SAMPLES 16

typedef struct {
  const char *name;
  const dds_topic_descriptor_t *type;
} topic_t;

static const topic_t topics[] = {
  { "Shapes/Numbers", &Shapes_NumbersSample_desc },
  { "Shapes/Texts", &Shapes_TextsSample_desc },
  { "Shapes/Vectors", &Shapes_VectorsSample_desc },
  { "Shapes/Structs", &Shapes_StructsSample_desc },
  { "Shapes/Enums", &Shapes_EnumsSample_desc },
  { "Shapes/Nothing", &Shapes_NothingSample_desc },
  { "Shapes/Inner/Numbers", &Shapes_Inner_NumbersSample_desc },
  { "Shapes/Inner/Words", &Shapes_Inner_WordsSample_desc },
};
#define TOPICS (sizeof topics / sizeof topics[0])

static dds_entity_t checked (dds_entity_t entity)
{
  if (entity < 0) {
    fprintf (stderr, "%s\n", dds_strretcode (-entity));
    exit (1);
  }
  return entity;
}

static void print_cdr (const struct ddsi_serdata *data)
{
  uint32_t size = ddsi_serdata_size (data);
  unsigned char *bytes = malloc (size);
  ddsi_serdata_to_ser (data, 0, size, bytes);
  for (uint32_t at = 0; at < size; at++)
    printf ("%02x", bytes[at]);
  printf ("\n");
  free (bytes);
}

static void echo (const topic_t *topic, const struct ddsi_serdata *received)
{
  void *sample = calloc (1, topic->type->m_size);
  if (!ddsi_serdata_to_sample (received, sample, NULL, NULL))
    abort ();
  struct ddsi_serdata *again = ddsi_serdata_from_sample (received->type, SDK_DATA, sample);
  /* Each type begins with its key. */
  const char *const *key = sample;
  printf ("%s\t%s\t%s\t", topic->name, key[0], key[1]);
  print_cdr (again);
  ddsi_serdata_unref (again);
  dds_sample_free (sample, topic->type, DDS_FREE_ALL);
}

int main (int count, char **arguments)
{
  if (count != 2)
    return 2;
  dds_entity_t participant = checked (dds_create_participant ((dds_domainid_t) atoi (arguments[1]), NULL, NULL));
  dds_qos_t *qos = dds_create_qos ();
  dds_qset_reliability (qos, DDS_RELIABILITY_RELIABLE, DDS_SECS (1));
  dds_qset_history (qos, DDS_HISTORY_KEEP_ALL, 0);
  dds_entity_t waitset = checked (dds_create_waitset (participant));
  dds_entity_t readers[TOPICS];
  for (size_t at = 0; at < TOPICS; at++) {
    dds_entity_t topic = checked (dds_create_topic (participant, topics[at].type, topics[at].name, NULL, NULL));
    readers[at] = checked (dds_create_reader (participant, topic, qos, NULL));
    dds_waitset_attach (waitset, checked (dds_create_readcondition (readers[at], DDS_ANY_STATE)), 0);
  }
  dds_delete_qos (qos);
  setvbuf (stdout, NULL, _IOLBF, 0);
  for (;;) {
    dds_waitset_wait (waitset, NULL, 0, DDS_INFINITY);
    for (size_t at = 0; at < TOPICS; at++) {
      struct ddsi_serdata *data[SAMPLES];
      dds_sample_info_t info[SAMPLES];
      int taken = dds_takecdr (readers[at], data, SAMPLES, info, DDS_ANY_STATE);
      for (int index = 0; index < taken; index++) {
        if (info[index].valid_data)
          echo (&topics[at], data[index]);
        ddsi_serdata_unref (data[index]);
      }
    }
  }
}
