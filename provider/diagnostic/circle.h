/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What several processes have to say together: none of them goes on without the others. A process
 * says of which peers it depends ("hang" of emu/abi/sanitize.h), again and again; the collector
 * joins what all of them say.
 */
#ifndef UHCAV_CIRCLE_H
#define UHCAV_CIRCLE_H

#include "line.h"

#include <stdbool.h>

/* peers: the member "hang" of a line. Do all on whom this process depends say the same? */
bool uhcav_circle_ask(const struct uhcav_line *peers);

/* In the place of uhcav_diagnostic_tell. False: the others have not told theirs yet. */
bool uhcav_circle_tell(const struct uhcav_line *peers);

#endif
