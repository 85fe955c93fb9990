/* SPDX-License-Identifier: BSD-2-Clause */
/* See xrcd_files.h. They are a client's, whose file system may not answer: a thread closes them. */
#include "xrcd_files.h"

#include "reaper.h"

#include <errno.h>
#include <stdlib.h>

int io_xrcd_files_prepare(struct io_xrcd_files *f)
{
	uint32_t room = f->room ? 2 * f->room : 4;
	struct io_xrcd_file *at;

	if (f->n < f->room)
		return 0;
	at = realloc(f->at, room * sizeof(*at));
	if (!at)
		return -ENOMEM;
	f->at = at;
	f->room = room;
	return 0;
}

void io_xrcd_files_add(struct io_xrcd_files *f, uint32_t handle, int fd)
{
	f->at[f->n++] = (struct io_xrcd_file){handle, fd};
}

void io_xrcd_files_drop(struct io_xrcd_files *f, uint32_t handle)
{
	uint32_t i = 0;

	while (i < f->n && f->at[i].handle != handle)
		i++;
	if (i == f->n)
		return;
	io_reaper_close(f->at[i].fd);
	f->at[i] = f->at[--f->n];
}

bool io_xrcd_files_close(struct io_xrcd_files *f, uint32_t most)
{
	while (f->n > 0 && most-- > 0)
		io_reaper_close(f->at[--f->n].fd);
	if (f->n > 0)
		return false;
	free(f->at);
	*f = (struct io_xrcd_files){0};
	return true;
}
