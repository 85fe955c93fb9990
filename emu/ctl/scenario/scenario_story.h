/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What happened, while it happens: the records (story.h) of a capture file that the daemon is
 * still writing.
 */
#ifndef CTL_SCENARIO_STORY_H
#define CTL_SCENARIO_STORY_H

#include <stddef.h>
#include <stdint.h>

struct scenario_story {
	int fd;
	uint64_t offset; /* of the next block */
	char **record;   /* each a line of words, without time */
	size_t n, room;
};

/* 0 or -errno. */
int scenario_story_open(struct scenario_story *s, const char *file);
void scenario_story_close(struct scenario_story *s);

/* Takes in what the file has more than last time. 0 or -errno (EPROTO: not such a file). */
int scenario_story_read(struct scenario_story *s);

/*
 * How many records are of this kind ("completion") and have all the words: NAME=VALUE or
 * NAME!=VALUE, separated by spaces. Numbers are compared as numbers, texts without regard to case.
 */
uint64_t scenario_story_count(const struct scenario_story *s, const char *kind, const char *words);

#endif
