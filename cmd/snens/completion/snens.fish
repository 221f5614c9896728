# Completion of snens for fish. Nothing that was typed is evaluated.

function __snens_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l plain (string unescape -- "$current"; or echo -- "$current")
    set -l lines (command $words[1] __complete $words[2..-1] "$plain" 2>/dev/null)
    set -l directive (string match -rg '^:([0-9]+)$' -- "$lines[-1]"; or echo 1)
    set -e lines[-1]
    test (math "$directive % 2") = 1; and return
    set -l before (string match -r '^[^=]*=' -- "$current"; or echo '')
    if test (math "floor($directive / 16) % 2") = 1
        for path in (__fish_complete_directories (string replace -- "$before" '' "$current"))
            echo -- "$before$path"
        end
        return
    end
    if test (math "floor($directive / 8) % 2") = 0
        if set -q lines[1]
            # The values of an option come without it.
            string match -q -- '-*' "$before"; or set before ''
            for line in $lines
                echo -- "$before$line"
            end
            return
        end
        test (math "floor($directive / 4) % 2") = 1; and return
    end
    for path in (__fish_complete_path (string replace -- "$before" '' "$current"))
        echo -- "$before$path"
    end
end

complete -c snens -f -a '(__snens_complete)'
