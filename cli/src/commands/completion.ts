import { Argument, type Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { SCRIPTS, SHELLS, type Shell } from '../completion/scripts.ts'

export function define(command: Command, cli: Cli): void {
  command
    .addArgument(new Argument('<shell>', 'for which shell').choices(SHELLS))
    .addHelpText(
      'after',
      `
Use it now, or put the line into the start file of your shell:
  source <(stoker completion bash)     ~/.bashrc
  source <(stoker completion zsh)      ~/.zshrc, behind compinit
  stoker completion fish | source      ~/.config/fish/config.fish`,
    )
    .action((shell: Shell) => cli.io.stdout.write(SCRIPTS[shell]))
}
