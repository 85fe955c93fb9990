/* SPDX-License-Identifier: BSD-2-Clause */
/* See keep.h. */
#include "keep.h"

void (*uhcav_keeper)(void *object);
