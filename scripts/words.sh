# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Messages about unknown words in scripts, as of emu/words for programs: the word, the nearest
# known word, and all known words. To be sourced.

no_such() { # WHAT WORD NAME...
	awk -v what="$1" -v word="$2" 'BEGIN {
		n = ARGC - 1
		for (i = 1; i <= n; i++) names[i] = ARGV[i]
		limit = length(word) <= 3 ? 1 : length(word) <= 7 ? 2 : 3
		for (i = 1; i <= n; i++) {
			d = distance(word, names[i])
			if (d <= limit && d < length(word) && (near == "" || d < best)) {
				near = names[i]
				best = d
			}
			if (begun == "" && length(word) >= 3 && index(names[i], word) == 1)
				begun = names[i]
		}
		if (begun != "" && (near == "" || best > 1)) near = begun
		printf "unknown %s \047%s\047", what, word
		if (near != "") printf ": did you mean \047%s\047?", near
		for (i = 1; i <= n; i++) {
			if (i == 1)
				printf "%s ", near != "" ? " Known:" : "; known:"
			else
				printf ", "
			printf "%s", names[i]
		}
		printf "\n"
		exit
	}
	# How many characters must be added, taken away, changed, or swapped with their neighbour.
	function distance(a, b, i, j, d, cost) {
		for (i = 0; i <= length(a); i++) d[i, 0] = i
		for (j = 0; j <= length(b); j++) d[0, j] = j
		for (i = 1; i <= length(a); i++)
			for (j = 1; j <= length(b); j++) {
				cost = substr(a, i, 1) != substr(b, j, 1)
				d[i, j] = least(d[i-1, j-1] + cost, least(d[i-1, j], d[i, j-1]) + 1)
				if (i > 1 && j > 1 && substr(a, i, 1) == substr(b, j - 1, 1) &&
				    substr(a, i - 1, 1) == substr(b, j, 1))
					d[i, j] = least(d[i, j], d[i-2, j-2] + 1)
			}
		return d[length(a), length(b)]
	}
	function least(a, b) { return a < b ? a : b }' "${@:3}"
}
