/* SPDX-License-Identifier: BSD-2-Clause */
/* The check of forks: what happens to registered memory. */
#ifndef UHCAV_FORKING_H
#define UHCAV_FORKING_H

#include "provider/context/context.h"
#include "provider/diagnostic/diagnostic.h"

/* The process is about to fork, by "here"; no lock of this module is held. */
void uhcav_forking_look(struct uhcav_here here);

/* A call was made on an object of this context, which may be a parent's. */
void uhcav_forking_used(struct uhcav_here here, struct uhcav_context *ctx, const char *call);

#endif
