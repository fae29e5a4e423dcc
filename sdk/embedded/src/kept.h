#ifndef OASIS_KEPT_H
#define OASIS_KEPT_H

#include "oasis_embedded.h"

/* Reads what the start before left, and gives each probe its count. Without it, all begins at 0 without a session. */
void oasis_resume(oasis_node *node);

/* Notes that the gateway has begun a session: numbers count from the last one sent. */
void oasis_begin_session(oasis_node *node, uint32_t session);

#endif
