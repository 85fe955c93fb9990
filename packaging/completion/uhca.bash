# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# bash's completion of uhca-run, uhcactl, uhcad and uhca-sim. What there is to complete is asked of the
# program's --help, so that it is never another than what the program takes.

# Words of the commands that uhcactl has, first or behind another one.
_uhca_commands() { # PROGRAM [FIRST]
	"$1" --help 2>/dev/null | awk -v first="${2:-}" '
		/^Options/ { exit }
		/^  [a-z]/ && first == "" { print $1 }
		/^  [a-z]/ && $1 == first {
			n = split($2, words, "|")
			for (i = 1; i <= n; i++) if (words[i] ~ /^[a-z_]+$/) print words[i]
		}' | sort -u
}

_uhca_options() { # PROGRAM
	"$1" --help 2>/dev/null | grep -oE '^ +(-[a-z] [A-Z]+, )?--[a-z-]+' | grep -oE -- '--[a-z-]+'
}

# Does the option take a word of its own?
_uhca_takes_word() { # PROGRAM OPTION
	"$1" --help 2>/dev/null | grep -qE -- "^ +(-[a-z] [A-Z]+, )?$2 [A-Z]"
}

# Where uhca-run's own words end: the index of the command, or nothing.
_uhca_run_command() { # PROGRAM
	local i
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--) echo $((i + 1)) && return ;;
		--*) ! _uhca_takes_word "$1" "${COMP_WORDS[i]}" || i=$((i + 1)) ;;
		*) echo $i && return ;;
		esac
	done
}

_uhca() {
	local program=$1 word=$2 before=$3 command='' words=
	COMPREPLY=()
	if [ "${1##*/}" = uhca-run ]; then
		command=$(_uhca_run_command "$program")
		if [ -n "$command" ] && [ "$command" -lt "$COMP_CWORD" ]; then
			! declare -F _command_offset >/dev/null || _command_offset "$command"
			return
		fi
	fi
	if [[ $before = --* ]] && _uhca_takes_word "$program" "$before"; then
		return # files, as bash has them
	fi
	case ${1##*/}:$word in
	*:-*) words=$(_uhca_options "$program") ;;
	uhca-run:*)
		mapfile -t COMPREPLY < <(compgen -c -W doctor -- "$word")
		return
		;;
	uhcactl:*)
		case $before in
		*[/]uhcactl | uhcactl) words=$(_uhca_commands "$program") ;;
		*) words=$(_uhca_commands "$program" "$before") ;;
		esac
		;;
	uhca-sim:*) [ "$COMP_CWORD" -gt 1 ] || words=$(_uhca_commands "$program") ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -o default -F _uhca uhca-run uhcactl uhcad uhca-sim
