/** The shells whose completion is known. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** Bash breaks words at = and @ too: what it already has of a word must not be given again. */
const BASH = `# bash completion of stoker; use:  source <(stoker completion bash)
_stoker() {
  local line=\${COMP_LINE:0:COMP_POINT} current=\${COMP_WORDS[COMP_CWORD]} answer whole lead
  local -a words
  COMPREPLY=()
  read -ra words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  whole=\${words[\${#words[@]}-1]}
  [[ $current == = ]] && current=
  lead=\${whole%"$current"}
  while IFS=$'\\t' read -r answer _; do
    if [[ $answer == :files ]]; then
      compopt -o filenames
      while IFS= read -r answer; do COMPREPLY+=("$answer"); done < <(compgen -f -- "$current")
    else
      COMPREPLY+=("\${answer#"$lead"}")
      [[ $answer == *= ]] && compopt -o nospace
    fi
  done < <("\${words[0]}" __complete -- "\${words[@]:1}" 2>/dev/null)
}
complete -o nosort -F _stoker stoker
`

const ZSH = `#compdef stoker
# zsh completion of stoker; use:  source <(stoker completion zsh)
_stoker() {
  local line value
  local -a values
  for line in "\${(@f)$("\${words[1]}" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    if [[ $line == ':files' ]]; then
      _files
    elif [[ -n $line ]]; then
      value=\${line%%$'\\t'*}
      values+=("\${value//:/\\\\:}:\${line#*$'\\t'}")
    fi
  done
  (( $#values )) && _describe -V stoker values
}
if [[ $funcstack[1] == _stoker ]]; then _stoker "$@"; else compdef _stoker stoker; fi
`

const FISH = `# fish completion of stoker; use:  stoker completion fish | source
function __stoker_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] __complete -- $words[2..-1] 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path (commandline -ct)
        else
            printf '%s\\n' $line
        end
    end
end
complete -c stoker -f -k -a '(__stoker_complete)'
`

export const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH }
