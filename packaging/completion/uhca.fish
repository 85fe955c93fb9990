# SPDX-License-Identifier: BSD-2-Clause
# fish's completion of uhca-run, uhcactl, uhcad and uhca-sim, from what each says of itself with --help.

function __uhca_options
    $argv[1] --help 2>/dev/null | string match -rg '^ +(?:-[a-z] [A-Z]+, )?(--[a-z-]+)'
end

function __uhca_commands
    $argv[1] --help 2>/dev/null | string match -rg '^  ([a-z]+)(?: |$)' | sort -u
end

function __uhca_second
    set -l words (commandline -opc)
    set -l found ($argv[1] --help 2>/dev/null | string match -rg "^  $words[-1] ([a-z_|]+)(?: |\$)")
    string split '|' -- $found
end

for program in uhca-run uhcactl uhcad uhca-sim
    complete -c $program -n 'string match -q -- "-*" (commandline -ct)' -a "(__uhca_options $program)"
end
complete -c uhca-run -x -a 'doctor (__fish_complete_subcommand)'
complete -c uhcactl -n 'test (count (commandline -opc)) -eq 1' -a '(__uhca_commands uhcactl)'
complete -c uhcactl -n 'test (count (commandline -opc)) -ge 2' -a '(__uhca_second uhcactl)'
complete -c uhca-sim -n 'test (count (commandline -opc)) -eq 1' -a '(__uhca_commands uhca-sim)'
