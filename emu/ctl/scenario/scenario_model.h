/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What happened, while it happens: the records (model.h) of a capture file that the daemon is
 * still writing.
 */
#ifndef CTL_SCENARIO_MODEL_H
#define CTL_SCENARIO_MODEL_H

#include <stddef.h>
#include <stdint.h>

struct scenario_model {
	int fd;
	uint64_t offset; /* of the next block */
	char **record;   /* each a line of words, without time */
	size_t n, room;
};

/* 0 or -errno. */
int scenario_model_open(struct scenario_model *s, const char *file);
void scenario_model_close(struct scenario_model *s);

/* Takes in what the file has more than last time. 0 or -errno (EPROTO: not such a file). */
int scenario_model_read(struct scenario_model *s);

/*
 * How many records are of this kind ("completion") and have all the words: NAME=VALUE or
 * NAME!=VALUE, separated by spaces. Numbers are compared as numbers, texts without regard to case.
 */
uint64_t scenario_model_count(const struct scenario_model *s, const char *kind, const char *words);

#endif
