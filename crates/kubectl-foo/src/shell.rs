//! What shells read when they start, to complete `kubectl foo`. The completion itself is in `completion.rs`.

/// A shell that kubectl has completion for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Shell {
    /// GNU Bash.
    Bash,
    /// Z shell.
    Zsh,
    /// fish.
    Fish,
}

/// What a shell reads when it starts, to complete `kubectl` and `kubectl foo`.
pub fn script(shell: Shell) -> String {
    let (name, check, load) = match shell {
        Shell::Bash => {
            ("bash", "command -v kubectl_complete-foo >/dev/null ||", "source <(kubectl completion bash)")
        }
        Shell::Zsh => {
            ("zsh", "(( $+commands[kubectl_complete-foo] )) ||", "source <(kubectl completion zsh)")
        }
        Shell::Fish => ("fish", "command -q kubectl_complete-foo; or", "kubectl completion fish | source"),
    };
    format!(
        "# Completion of kubectl and of its plugin foo in {name}. kubectl asks the program kubectl_complete-foo for the words\n\
         # after `kubectl foo`: a link to kubectl-foo, beside it on the PATH.\n\
         {check} echo 'kubectl_complete-foo is not on the PATH: link it to kubectl-foo' >&2\n\
         {load}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shell_loads_the_completion_of_kubectl() {
        for (shell, name) in [(Shell::Bash, "bash"), (Shell::Zsh, "zsh"), (Shell::Fish, "fish")] {
            let text = script(shell);
            assert!(text.contains(&format!("kubectl completion {name}")), "{text}");
            assert!(text.lines().all(|line| line.len() <= 120), "{text}");
        }
    }
}
