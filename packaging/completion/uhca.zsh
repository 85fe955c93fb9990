#compdef uhca-run uhcactl uhcad uhca-sim
# SPDX-License-Identifier: BSD-2-Clause
# zsh's completion of uhca-run, uhcactl, uhcad and uhca-sim, from what each says of itself with --help.

_uhca_options() {
	local -a lines
	lines=(${(f)"$($1 --help 2>/dev/null | sed -nE \
		-e 's/^ +(-[a-z] [A-Z]+, )?(--[a-z-]+) ([A-Z][^ ]*).*/\2=:\3:_files/p' \
		-e 's/^ +(-[a-z] [A-Z]+, )?(--[a-z-]+)($| [^A-Z].*|[=[].*)/\2/p')"})
	reply=($lines)
}

_uhca() {
	local program=$words[1]
	local -a reply second
	_uhca_options $program
	case $service in
	uhca-run)
		_arguments -S $reply '(-):command:_command_names -e' '*::arguments:_normal'
		;;
	uhcactl | uhca-sim)
		if (( CURRENT > 2 )) && [[ $words[CURRENT] != -* && $words[CURRENT-1] != -* ]]; then
			second=(${(s:|:)"$($program --help 2>/dev/null |
				sed -nE "s/^  $words[CURRENT-1] ([a-z_|]+)( .*|$)/\1|/p" | tr -d '\n')"})
			(( $#second )) && compadd -a second && return
			_files && return
		fi
		second=(${(fu)"$($program --help 2>/dev/null |
			sed -nE 's/^  ([a-z]+)( .*|$)/\1/p')"})
		_arguments $reply "1:command:($second)" '*:argument:_files'
		;;
	*) _arguments $reply ;;
	esac
}

_uhca "$@"
