/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fork's child that makes something new of a context it inherited. Its parent's objects are not
 * the child's to use (device.h), but what several processes may share can be made by a child,
 * too: for that it gets a connection of its own, which joins the parent's as an imported context
 * does.
 */
#ifndef UHCAV_CHILD_H
#define UHCAV_CHILD_H

#include "device.h"

/*
 * The context to use in this process: ctx itself, or in a child the one that joins it. NULL with
 * errno when there can be none (the parent has ended).
 */
struct uhcav_context *uhcav_context_here(struct uhcav_context *ctx);

/* Closes what the child opened, if it did. */
void uhcav_child_close(struct uhcav_context *ctx);

#endif
