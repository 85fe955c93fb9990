/* SPDX-License-Identifier: BSD-2-Clause */
/* The check of forks: what happens to registered memory. */
#ifndef UHCAV_FORKING_H
#define UHCAV_FORKING_H

#include "provider/diagnostic/diagnostic.h"

/* The process is about to fork, by "here"; no lock of this module is held. */
void uhcav_forking_look(struct uhcav_here here);

#endif
