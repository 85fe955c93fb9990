/* SPDX-License-Identifier: BSD-2-Clause */
/* uhcactl ladder: the packets of a capture, or of the daemon, as a sequence diagram. */
#include "../story/ladder.h"
#include "../story/ladder_text.h"
#include "commands.h"

#include <stdlib.h>
#include <string.h>
