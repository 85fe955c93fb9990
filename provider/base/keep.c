/* SPDX-License-Identifier: BSD-2-Clause */
/* The hook by which the sanitizer keeps destroyed objects. See keep.h. */
#include "keep.h"

void (*uhcav_keeper)(void *object);
