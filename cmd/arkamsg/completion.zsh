#compdef arkamsg
# zsh completion for arkamsg: the program itself knows its verbs and flags.
_arkamsg() {
	local -a words_found
	local cur="${words[CURRENT]}"
	if [[ "$cur" == -* ]]; then # one dash asks for all flags
		words_found=("${(@f)$(${words[1,CURRENT-1]} - --generate-bash-completion 2>/dev/null)}")
	else
		words_found=("${(@f)$(${words[1,CURRENT-1]} --generate-bash-completion 2>/dev/null)}")
	fi
	compadd -- "${words_found[@]}" || _files
}
if [[ "${funcstack[1]}" == _arkamsg ]]; then # loaded by compinit, at the first completion
	_arkamsg "$@"
else # sourced
	compdef _arkamsg arkamsg
fi
