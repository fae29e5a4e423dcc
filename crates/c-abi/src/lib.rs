//! The C interface of the EI node (`sdk/c/include/oasis.h`): nodes and probes ([`node`], [`options`], [`probe`]), log
//! records ([`logger`]), native batches ([`batch`]).
//!
//! No panic unwinds into the caller: a function returns a [`status::Status`], and `oasis_last_error` gives details.
//! Pointers are trusted, because C cannot check them; bytes and texts are not.
//!
//! ```c
//! #include "oasis.h"
//! #include "tank.h" /* from `oasis pdl compile --lang c` */
//!
//! #include <stdio.h>
//!
//! int main(void) {
//!   oasis_node_builder *builder = NULL;
//!   oasis_probe *probe = NULL;
//!   oasis_node *node = NULL;
//!   if (oasis_node_builder_new("plant", &builder) != OASIS_STATUS_OK ||
//!       oasis_node_builder_pushed(builder, "tank", Plant_Tank_schema, 4096, &probe) != OASIS_STATUS_OK ||
//!       oasis_node_builder_start(builder, "127.0.0.1:7071", &node) != OASIS_STATUS_OK) {
//!     fprintf(stderr, "%s\n", oasis_last_error());
//!     return 1;
//!   }
//!   const Plant_Tank tank = {2.5};
//!   uint8_t row[64];
//!   const size_t length = Plant_Tank_row(&tank, row, sizeof row);
//!   oasis_probe_flush(probe, row, length);
//!   oasis_node_shutdown(node);
//!   oasis_probe_free(probe);
//! }
//! ```

mod arguments;
mod batch;
mod log;
mod logger;
mod node;
mod options;
mod probe;
mod recorder;
mod severity;
mod status;
